/* SPDX-License-Identifier: MIT */
/* What a canvas is made of, and what the drawing code says besides the public calls. */
#pragma once

#include <ligature/draw.h>

#include <pango/pangocairo.h>

#define LIG_FONT "Cantarell, Inter, Noto Sans, DejaVu Sans, sans-serif"

struct _LigCanvas {
  cairo_t *cairo; /* null: no surface */
  GString *svg;   /* null: no SVG */
  const LigInks *inks;
  double width, height;
  PangoLayout *layout;
  PangoFontDescription *font;
  GArray *marks;       /* LigMark */
  GArray *shifts;      /* double: x and y in turn, of each that is open */
  double across, down; /* all of them */
};

/* An SVG canvas that names the colours of @inks, `var(--lig-ink)`, so that a style chooses them. */
void lig_canvas_name_inks (LigCanvas *self, const LigInks *inks);

/* (transfer full): the definitions for a style: `--lig-ink: #1e1e1e; …`. */
char *lig_inks_to_style (const LigInks *inks);

/* A pixel that a surface can hold, near the one that is meant; 0 for what is none. */
double lig_canvas_hold (double pixel);

/* --- What the SVG canvas does of each call -------------------------------------------------- */

void lig_svg_box (LigCanvas *self,
                  double x,
                  double y,
                  double width,
                  double height,
                  double radius,
                  LigColour fill,
                  LigColour stroke,
                  double stroke_width);
void lig_svg_lines (
  LigCanvas *self, const double *points, guint count, LigColour stroke, double width, double dash);
void lig_svg_area (LigCanvas *self, const double *points, guint count, LigColour fill);
void lig_svg_curve (LigCanvas *self, const double points[8], LigColour stroke, double width);
void lig_svg_disc (LigCanvas *self, double x, double y, double radius, LigColour fill);
void
lig_svg_text (LigCanvas *self, double x, double y, const LigTextStyle *style, const char *text);
void lig_svg_begin_clip (LigCanvas *self, double x, double y, double width, double height);
void lig_svg_end_clip (LigCanvas *self);
void lig_svg_begin_shift (LigCanvas *self, double x, double y);
void lig_svg_end_group (LigCanvas *self);
void lig_svg_begin_mark (LigCanvas *self, const char *text);

/* Text of XML: what means something escaped, what XML cannot hold replaced. */
void lig_svg_append_text (GString *to, const char *text);

/* --- Shared by the pictures ----------------------------------------------------------------- */

/* The colour with another opacity, 0 to 255. */
static inline LigColour
lig_colour_fade (LigColour colour, guint alpha)
{
  return (colour & 0xffffff00u) | alpha;
}
