/* SPDX-License-Identifier: MIT */
/* The load of a router's experts as a small strip of bars. */
#include "engine/draw/canvas.h"
#include <ligature/draw-loads.h>
#include <ligature/loads.h>

#include <math.h>

/* The load with the highest bar and the strongest colour: a multiple of the mean. */
#define HIGHEST 2.0

/* The widths of an expert's bar, and of the whole strip. */
enum { WIDEST = 9, NARROWEST = 3, LONGEST = 120 };

double
lig_draw_load_strip_width (guint experts)
{
  double each = CLAMP (floor (LONGEST / (double) MAX (experts, 1)), NARROWEST, WIDEST);
  return MIN (each * experts, LONGEST);
}

/* Returns the largest load of the experts of a column. */
static double
load_of (const double *load, guint experts, guint column, guint columns)
{
  guint first = experts * column / columns, end = experts * (column + 1) / columns;
  double largest = load[first];
  for (guint e = first + 1; e < end; e++)
    largest = fmax (largest, load[e]);
  return largest;
}

void
lig_draw_load_strip (LigCanvas *canvas,
                     const LigColours *colours,
                     const double *load,
                     guint experts,
                     double x,
                     double y,
                     double width,
                     double height)
{
  LigLoadFigures figures;
  g_return_if_fail (canvas && colours && load);
  if (experts == 0 || width < 1 || height < 2)
    return;
  guint columns = MIN (experts, (guint) MAX (floor (width / NARROWEST), 1));
  lig_load_measure (load, experts, &figures);
  double mean = figures.rows / experts, each = width / columns, gap = each >= 4 ? 1 : 0.5;
  /* The line is at the mean: even loads reach it. */
  double even[] = {x, round (y + height / 2) + 0.5, x + width, round (y + height / 2) + 0.5};
  for (guint i = 0; i < columns; i++) {
    double here = load_of (load, experts, i, columns);
    double share = mean > 0 ? fmin (here / mean / HIGHEST, 1) : 0;
    double bar = here > 0 ? fmax (share * height, 1) : 1;
    LigColour colour =
      here > 0 ? lig_colour_fade (colours->forward, (guint) (100 + 155 * share)) : colours->error;
    lig_canvas_box (canvas, x + i * each, y + height - bar, each - gap, bar, 0, colour, 0, 0);
  }
  lig_canvas_lines (canvas, even, 2, lig_colour_fade (colours->ink, 0x60), 1, 2);
}
