/* SPDX-License-Identifier: MIT */
/* Reports in HTML: the tables of the format md, and pictures as inline SVG. */
#include "engine/draw/canvas.h"
#include "engine/draw/score.h"
#include "engine/report/paper-kinds.h"
#include <ligature/draw-histograms.h>
#include <ligature/draw-loads.h>
#include <ligature/draw-recipes.h>

#include <glib/gi18n-lib.h>
#include <string.h>

enum { WIDTH = 1000, CHART = 260, TIMELINE = 260, ROOFLINE = 420, MEMORY = 300 };

/* Appends the text as valid UTF-8 with all markup escaped. */
static void
append_text (GString *to, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  lig_svg_append_text (to, valid);
}

void
lig_html_title (GString *to, const char *kind, const char *text)
{
  g_string_append (to, "<h1><span class=\"kind\">");
  append_text (to, kind);
  g_string_append (to, "</span> ");
  append_text (to, text);
  g_string_append (to, "</h1>\n");
}

void
lig_html_heading (GString *to, const char *text)
{
  g_string_append (to, "<h2>");
  append_text (to, text);
  g_string_append (to, "</h2>\n");
}

void
lig_html_say (GString *to, const char *text)
{
  g_string_append (to, "<p>");
  append_text (to, text);
  g_string_append (to, "</p>\n");
}

void
lig_html_block (GString *to, const char *language, const char *text)
{
  g_string_append (to, "<pre><code>");
  append_text (to, text);
  g_string_append (to, "</code></pre>\n");
}

/* Appends a text; names of kernels and files may be broken after `_`, `|` and `/`. */
static void
append_cell (GString *to, const char *text)
{
  g_autoptr (GString) marked = g_string_new (NULL);
  append_text (marked, text);
  for (const char *at = marked->str; *at; at++) {
    g_string_append_c (to, *at);
    if (at[1] && strchr ("_|/", *at))
      g_string_append (to, "<wbr/>");
  }
}

/* --- Tables -------------------------------------------------------------------------------- */

/* Returns whether the table has column names; a table of facts has none. */
static gboolean
has_names (char *const *names)
{
  for (; *names; names++)
    if ((*names)[**names == '>'])
      return TRUE;
  return FALSE;
}

void
lig_html_head (GString *to, char *const *names)
{
  gboolean named = has_names (names);
  g_string_append_printf (to, "<div class=\"wide\"><table%s>\n", named ? "" : " class=\"facts\"");
  if (named) {
    g_string_append (to, "<thead><tr>");
    for (; *names; names++) {
      gboolean right = **names == '>';
      g_string_append_printf (to, "<th scope=\"col\"%s>", right ? " class=\"number\"" : "");
      append_text (to, *names + right);
      g_string_append (to, "</th>");
    }
    g_string_append (to, "</tr></thead>\n");
  }
  g_string_append (to, "<tbody>\n");
}

void
lig_html_row (GString *to, char *const *columns, const char *const *cells)
{
  gboolean facts = !columns || !has_names (columns);
  g_string_append (to, "<tr>");
  for (guint i = 0; cells[i]; i++) {
    gboolean right = columns && *columns && **columns == '>';
    const char *tag = facts && i == 0 ? "th" : "td";
    g_string_append_printf (to, "<%s%s%s>", tag, facts && i == 0 ? " scope=\"row\"" : "",
                            right ? " class=\"number\"" : "");
    append_cell (to, cells[i]);
    g_string_append_printf (to, "</%s>", tag);
    columns += columns && *columns;
  }
  g_string_append (to, "</tr>\n");
}

void
lig_html_end_table (GString *to)
{
  g_string_append (to, "</tbody></table></div>\n");
}

/* --- Pictures ------------------------------------------------------------------------------ */

/* Begins a picture in the page's colours, light or dark. */
static LigCanvas *
begin_figure (GString *to, double width, double height, const char *name)
{
  LigCanvas *canvas = lig_canvas_new_svg (width, height);
  lig_canvas_name_colours (canvas, lig_colours (LIG_COLOURS_LIGHT));
  g_string_append (to, "<figure>\n");
  g_string_append (to, "<div class=\"wide\" role=\"img\" aria-label=\"");
  append_text (to, name);
  g_string_append (to, "\">\n");
  return canvas;
}

static void
end_figure (GString *to, LigCanvas *canvas, const char *caption)
{
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  g_string_append (to, svg);
  g_string_append (to, "</div>\n");
  if (caption) {
    g_string_append (to, "<figcaption>");
    append_text (to, caption);
    g_string_append (to, "</figcaption>\n");
  }
  g_string_append (to, "</figure>\n");
  lig_canvas_free (canvas);
}

static gboolean
append_score (GString *to, const LigPicture *picture)
{
  const LigColours *colours = lig_colours (LIG_COLOURS_LIGHT);
  LigPlan *plan = picture->timed.plan;
  if (!plan) {
    if (picture->note)
      lig_html_say (to, picture->note);
    return FALSE;
  }
  LigCanvas *canvas =
    begin_figure (to, WIDTH, lig_draw_score_height (plan), _ ("Rails of the plan"));
  lig_draw_score_against (canvas, colours, &picture->timed, picture->unfused,
                          picture->run ? picture->run->loads : NULL, WIDTH);
  end_figure (to, canvas, picture->note);
  return TRUE;
}

/* Appends the pictures of each group's time, of the timeline and of the roofline. */
static gboolean
append_times (GString *to, const LigPicture *picture)
{
  const LigColours *colours = lig_colours (LIG_COLOURS_LIGHT);
  const LigTimedPlan *timed = &picture->timed;
  LigTimedPlan unfused = {.plan = picture->unfused};
  if (!timed->plan)
    return FALSE;
  LigCanvas *canvas =
    begin_figure (to, WIDTH, lig_draw_times_height (timed), _ ("Time of each group"));
  lig_draw_times (canvas, colours, timed, WIDTH);
  end_figure (to, canvas, NULL);
  canvas = begin_figure (to, WIDTH, TIMELINE, _ ("One step from left to right"));
  lig_draw_timeline (canvas, colours, timed, WIDTH, TIMELINE);
  end_figure (to, canvas, NULL);
  canvas = begin_figure (to, WIDTH, ROOFLINE, _ ("Roofline"));
  lig_draw_roofline (canvas, colours, timed, picture->unfused && !timed->steps ? &unfused : NULL,
                     WIDTH, ROOFLINE);
  end_figure (to, canvas,
              _ ("Operations per second over operations per byte, below the peak rates of the "
                 "device; an arrow leads from the unfused ops to the fusion."));
  return TRUE;
}

static gboolean
append_memory (GString *to, const LigPicture *picture)
{
  if (!picture->timed.plan)
    return FALSE;
  LigCanvas *canvas = begin_figure (to, WIDTH, MEMORY, _ ("Memory over one step"));
  lig_draw_memory (canvas, lig_colours (LIG_COLOURS_LIGHT), picture->timed.plan, WIDTH, MEMORY);
  end_figure (to, canvas, NULL);
  return TRUE;
}

/* Appends the charts: the first at full width, the others in pairs. */
static gboolean
append_charts (GString *to, const LigPicture *picture)
{
  guint count = picture->run ? lig_picture_count_charts (picture->run) : 0;
  for (guint i = 0; i < count; i++) {
    double width = i == 0 ? WIDTH : WIDTH / 2.;
    if (i == 1)
      g_string_append (to, "<div class=\"pairs\">\n");
    LigCanvas *canvas = begin_figure (to, width, CHART, _ ("Curve of the run"));
    lig_picture_draw_chart (picture->run, i, canvas, lig_colours (LIG_COLOURS_LIGHT), width, CHART);
    end_figure (to, canvas, NULL);
  }
  if (count > 1)
    g_string_append (to, "</div>\n");
  return count > 0;
}

static gboolean
append_comparison (GString *to, const LigPicture *picture)
{
  const LigReportPair *pair = picture->pair;
  LigCanvas *canvas = begin_figure (to, WIDTH, lig_draw_comparison_height (pair->plans),
                                    _ ("Both plans next to each other"));
  lig_draw_comparison (canvas, lig_colours (LIG_COLOURS_LIGHT), pair->plans, pair->titles[0],
                       pair->titles[1], WIDTH);
  end_figure (to, canvas, NULL);
  return TRUE;
}

/* Appends the error heat map, whose width depends on the number of recipes. */
static gboolean
append_errors (GString *to, const LigPicture *picture)
{
  GPtrArray *errors = picture->run->errors;
  double width = lig_draw_recipes_width (errors);
  LigCanvas *canvas =
    begin_figure (to, width, lig_draw_recipes_height (errors), _ ("Errors of recipes, op by op"));
  lig_draw_recipes (canvas, lig_colours (LIG_COLOURS_LIGHT), errors, width);
  end_figure (
    to, canvas,
    _ ("Relative errors of each op's output, of the output's gradient and of the gradients of its "
       "parameters, compared with the unquantized run on one random batch."));
  return TRUE;
}

/* Appends a heat map for each weight, with that of its gradient next to it. */
static gboolean
append_histograms (GString *to, const LigPicture *picture)
{
  GPtrArray *all = picture->run->histograms;
  g_string_append (to, "<div class=\"pairs\">\n");
  for (guint i = 0; i < MIN (all->len, LIG_PAPER_MAX_ROWS); i++) {
    const LigHistogramSeries *series = all->pdata[i];
    const double width = WIDTH / 2., height = lig_draw_histograms_height (series);
    LigCanvas *canvas = begin_figure (to, width, height,
                                      series->gradient ? _ ("Histograms of a gradient")
                                                       : _ ("Histograms of weights"));
    lig_draw_histograms (canvas, lig_colours (LIG_COLOURS_LIGHT), series, LIG_HISTOGRAM_MARK_STEPS,
                         width, height);
    end_figure (to, canvas, NULL);
  }
  g_string_append (to, "</div>\n");
  return TRUE;
}

static gboolean
append_loads (GString *to, const LigPicture *picture)
{
  GPtrArray *loads = picture->run->loads;
  const double height = lig_draw_loads_height (loads);
  LigCanvas *canvas = begin_figure (to, WIDTH, height, _ ("Load of experts"));
  lig_draw_loads (canvas, lig_colours (LIG_COLOURS_LIGHT), loads, -1, WIDTH, height);
  end_figure (to, canvas, _ ("The rows that each expert received in all recorded steps."));
  return TRUE;
}

gboolean
lig_html_figure (GString *to, const LigPicture *picture, LigFigure figure)
{
  switch (figure) {
  case LIG_FIGURE_SCORE:
    return append_score (to, picture);
  case LIG_FIGURE_METRICS:
    return append_charts (to, picture);
  case LIG_FIGURE_TIMES:
    return append_times (to, picture);
  case LIG_FIGURE_COMPARISON:
    return append_comparison (to, picture);
  case LIG_FIGURE_ERRORS:
    return append_errors (to, picture);
  case LIG_FIGURE_HISTOGRAMS:
    return append_histograms (to, picture);
  case LIG_FIGURE_LOADS:
    return append_loads (to, picture);
  default:
    return append_memory (to, picture);
  }
}
