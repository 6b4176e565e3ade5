/* SPDX-License-Identifier: MIT */
/* Writes SVG: shapes as elements, text as text, a title for each mark. It contains no ids, so that
 * one page can contain any number of pictures. */
#include "engine/draw/canvas.h"
#include <ligature/printable.h>

#include <math.h>
#include <string.h>

/* Two decimals are more precise than any screen. The decimal point does not depend on the
 * locale. */
static void
append_number (GString *to, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd (digits, sizeof digits, "%.2f", lig_canvas_clamp (value));
  char *end = digits + strlen (digits);
  while (end[-1] == '0')
    *--end = '\0';
  if (end[-1] == '.')
    *--end = '\0';
  g_string_append (to, strcmp (digits, "-0") == 0 ? "0" : digits);
}

static void
append_attribute (GString *to, const char *name, double value)
{
  g_string_append_printf (to, " %s=\"", name);
  append_number (to, value);
  g_string_append_c (to, '"');
}

void
lig_svg_append_text (GString *to, const char *text)
{
  for (const char *at = text; *at; at = g_utf8_next_char (at)) {
    gunichar letter = g_utf8_get_char (at);
    if (letter == '<')
      g_string_append (to, "&lt;");
    else if (letter == '>')
      g_string_append (to, "&gt;");
    else if (letter == '&')
      g_string_append (to, "&amp;");
    else if (letter == '"')
      g_string_append (to, "&quot;");
    else if (letter == '\'')
      g_string_append (to, "&#39;");
    else if ((letter < 0x20 && letter != '\n' && letter != '\t') || letter == 0x7f ||
             (letter & 0xfffe) == 0xfffe)
      g_string_append (to, "\xef\xbf\xbd");
    else
      g_string_append_unichar (to, letter);
  }
}

/* --- Colours ------------------------------------------------------------------------------- */

typedef struct {
  const char *name;
  gsize offset;
} NamedColour;

static const NamedColour colours[] = {
  {"ground", G_STRUCT_OFFSET (LigColours, ground)},
  {"card", G_STRUCT_OFFSET (LigColours, card)},
  {"ink", G_STRUCT_OFFSET (LigColours, ink)},
  {"dim", G_STRUCT_OFFSET (LigColours, dim)},
  {"line", G_STRUCT_OFFSET (LigColours, line)},
  {"forward", G_STRUCT_OFFSET (LigColours, forward)},
  {"forward-fill", G_STRUCT_OFFSET (LigColours, forward_fill)},
  {"backward", G_STRUCT_OFFSET (LigColours, backward)},
  {"backward-fill", G_STRUCT_OFFSET (LigColours, backward_fill)},
  {"channel", G_STRUCT_OFFSET (LigColours, channel)},
  {"warning", G_STRUCT_OFFSET (LigColours, warning)},
  {"error", G_STRUCT_OFFSET (LigColours, error)},
  {"series-0", G_STRUCT_OFFSET (LigColours, series[0])},
  {"series-1", G_STRUCT_OFFSET (LigColours, series[1])},
  {"series-2", G_STRUCT_OFFSET (LigColours, series[2])},
  {"series-3", G_STRUCT_OFFSET (LigColours, series[3])},
  {"series-4", G_STRUCT_OFFSET (LigColours, series[4])},
  {"series-5", G_STRUCT_OFFSET (LigColours, series[5])},
  {"series-6", G_STRUCT_OFFSET (LigColours, series[6])},
  {"series-7", G_STRUCT_OFFSET (LigColours, series[7])},
};

static LigColour
get_colour (const LigColours *from, const NamedColour *named)
{
  return G_STRUCT_MEMBER (LigColour, from, named->offset);
}

void
lig_canvas_name_colours (LigCanvas *self, const LigColours *named)
{
  self->colours = named;
}

char *
lig_colours_to_style (const LigColours *from)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (colours); i++)
    g_string_append_printf (text, "%s--lig-%s: #%06x;", i > 0 ? " " : "", colours[i].name,
                            get_colour (from, &colours[i]) >> 8);
  return g_string_free (text, FALSE);
}

static void
append_colour (LigCanvas *self, const char *name, LigColour colour)
{
  const char *variable = NULL;
  if (!(colour & 0xff)) {
    g_string_append_printf (self->svg, " %s=\"none\"", name);
    return;
  }
  for (guint i = 0; self->colours && !variable && i < G_N_ELEMENTS (colours); i++)
    if (get_colour (self->colours, &colours[i]) >> 8 == colour >> 8)
      variable = colours[i].name;
  if (variable)
    g_string_append_printf (self->svg, " %s=\"var(--lig-%s)\"", name, variable);
  else
    g_string_append_printf (self->svg, " %s=\"#%06x\"", name, colour >> 8);
  if ((colour & 0xff) == 0xff)
    return;
  g_autofree char *opacity = g_strconcat (name, "-opacity", NULL);
  append_attribute (self->svg, opacity, (colour & 0xff) / 255.);
}

/* --- Shapes -------------------------------------------------------------------------------- */

void
lig_svg_box (LigCanvas *self,
             double x,
             double y,
             double width,
             double height,
             double radius,
             LigColour fill,
             LigColour stroke,
             double stroke_width)
{
  g_string_append (self->svg, "<rect");
  append_attribute (self->svg, "x", x);
  append_attribute (self->svg, "y", y);
  append_attribute (self->svg, "width", width);
  append_attribute (self->svg, "height", height);
  if (radius > 0)
    append_attribute (self->svg, "rx", MIN (radius, MIN (width, height) / 2));
  append_colour (self, "fill", fill);
  if (stroke & 0xff) {
    append_colour (self, "stroke", stroke);
    append_attribute (self->svg, "stroke-width", stroke_width);
  }
  g_string_append (self->svg, "/>\n");
}

/* Appends a path; with `brief`, horizontal and vertical lines have one number, because the areas of
 * maps have thousands of them. */
static void
append_path (GString *to, const double *points, guint count, gboolean brief)
{
  gboolean begun = FALSE;
  g_string_append (to, "<path d=\"");
  for (guint i = 0; i < count; i++) {
    double x = points[2 * i], y = points[2 * i + 1];
    if (!isfinite (x) || !isfinite (y)) {
      begun = FALSE;
      continue;
    }
    gboolean level = brief && begun && y == points[2 * i - 1];
    gboolean upright = brief && begun && x == points[2 * i - 2];
    g_string_append_c (to, level ? 'H' : upright ? 'V' : begun ? 'L' : 'M');
    if (level || !upright)
      append_number (to, x);
    if (!level && !upright)
      g_string_append_c (to, ' ');
    if (!level)
      append_number (to, y);
    begun = TRUE;
  }
}

static void
end_stroke (LigCanvas *self, LigColour stroke, double width)
{
  g_string_append (self->svg, "\" fill=\"none\"");
  append_colour (self, "stroke", stroke);
  append_attribute (self->svg, "stroke-width", width);
}

void
lig_svg_lines (
  LigCanvas *self, const double *points, guint count, LigColour stroke, double width, double dash)
{
  append_path (self->svg, points, count, FALSE);
  end_stroke (self, stroke, width);
  g_string_append (self->svg, " stroke-linejoin=\"round\"");
  if (dash > 0)
    append_attribute (self->svg, "stroke-dasharray", dash);
  g_string_append (self->svg, "/>\n");
}

void
lig_svg_area (LigCanvas *self, const double *points, guint count, LigColour fill)
{
  append_path (self->svg, points, count, TRUE);
  g_string_append (self->svg, "Z\"");
  append_colour (self, "fill", fill);
  g_string_append (self->svg, "/>\n");
}

void
lig_svg_curve (LigCanvas *self, const double points[8], LigColour stroke, double width)
{
  g_string_append (self->svg, "<path d=\"M");
  for (int i = 0; i < 8; i++) {
    g_string_append (self->svg, i == 2 ? "C" : i > 0 ? " " : "");
    append_number (self->svg, points[i]);
  }
  end_stroke (self, stroke, width);
  g_string_append (self->svg, "/>\n");
}

void
lig_svg_disc (LigCanvas *self, double x, double y, double radius, LigColour fill)
{
  g_string_append (self->svg, "<circle");
  append_attribute (self->svg, "cx", x);
  append_attribute (self->svg, "cy", y);
  append_attribute (self->svg, "r", radius);
  append_colour (self, "fill", fill);
  g_string_append (self->svg, "/>\n");
}

void
lig_svg_text (LigCanvas *self, double x, double y, const LigTextStyle *style, const char *text)
{
  static const char *const anchors[] = {NULL, "middle", "end"};
  g_string_append (self->svg, "<text");
  append_attribute (self->svg, "x", x);
  append_attribute (self->svg, "y", y);
  append_attribute (self->svg, "font-size", style->size);
  if (style->bold)
    g_string_append (self->svg, " font-weight=\"bold\"");
  if (anchors[style->anchor])
    g_string_append_printf (self->svg, " text-anchor=\"%s\"", anchors[style->anchor]);
  append_colour (self, "fill", style->colour);
  if (style->angle != 0) {
    g_string_append (self->svg, " transform=\"rotate(");
    append_number (self->svg, style->angle);
    g_string_append_c (self->svg, ' ');
    append_number (self->svg, x);
    g_string_append_c (self->svg, ' ');
    append_number (self->svg, y);
    g_string_append (self->svg, ")\"");
  }
  g_string_append_c (self->svg, '>');
  lig_svg_append_text (self->svg, text);
  g_string_append (self->svg, "</text>\n");
}

/* An inner <svg> clips its contents and, unlike a clip path, needs no id. */
void
lig_svg_begin_clip (LigCanvas *self, double x, double y, double width, double height)
{
  g_string_append (self->svg, "<svg overflow=\"hidden\"");
  append_attribute (self->svg, "x", x);
  append_attribute (self->svg, "y", y);
  append_attribute (self->svg, "width", MAX (width, 0));
  append_attribute (self->svg, "height", MAX (height, 0));
  g_string_append (self->svg, " viewBox=\"");
  append_number (self->svg, x);
  g_string_append_c (self->svg, ' ');
  append_number (self->svg, y);
  g_string_append_c (self->svg, ' ');
  append_number (self->svg, MAX (width, 0));
  g_string_append_c (self->svg, ' ');
  append_number (self->svg, MAX (height, 0));
  g_string_append (self->svg, "\">\n");
}

void
lig_svg_end_clip (LigCanvas *self)
{
  g_string_append (self->svg, "</svg>\n");
}

void
lig_svg_begin_mark (LigCanvas *self, const char *text)
{
  g_string_append (self->svg, "<g>");
  if (*text) {
    g_string_append (self->svg, "<title>");
    lig_svg_append_text (self->svg, text);
    g_string_append (self->svg, "</title>");
  }
  g_string_append_c (self->svg, '\n');
}

void
lig_svg_begin_translate (LigCanvas *self, double x, double y)
{
  g_string_append (self->svg, "<g transform=\"translate(");
  append_number (self->svg, x);
  g_string_append_c (self->svg, ' ');
  append_number (self->svg, y);
  g_string_append (self->svg, ")\">\n");
}

void
lig_svg_end_group (LigCanvas *self)
{
  g_string_append (self->svg, "</g>\n");
}

char *
lig_canvas_to_svg (LigCanvas *self)
{
  g_return_val_if_fail (self->svg, NULL);
  GString *text = g_string_new ("<svg xmlns=\"http://www.w3.org/2000/svg\"");
  append_attribute (text, "width", self->width);
  append_attribute (text, "height", self->height);
  g_string_append (text, " viewBox=\"0 0 ");
  append_number (text, self->width);
  g_string_append_c (text, ' ');
  append_number (text, self->height);
  g_string_append (text, "\" font-family=\"" LIG_FONT "\">\n");
  g_string_append_len (text, self->svg->str, (gssize) self->svg->len);
  g_string_append (text, "</svg>\n");
  return g_string_free (text, FALSE);
}
