/* SPDX-License-Identifier: MIT */
/* The signs of forced and forbidden fusions and of quantized copies in a drawn score, like those of
 * the window: a pin for forced, a crossed circle for forbidden, an 8 or a 4 for bits. */
#include "engine/draw/score.h"

enum { SIZE = 11, SPACE = 4 };

/* Returns whether a fusion that would begin within the group is forbidden. */
static gboolean
is_forbidden (const LigScoreLayout *layout, const LigPlanGroup *group)
{
  for (int i = group->first; i < group->first + group->count; i++)
    if (layout->forbidden[i] >> group->pass & 1)
      return TRUE;
  return FALSE;
}

static void
draw_pin (const LigScoreDrawing *self, double x, double y, LigColour ink)
{
  const double body[] = {x + 3.6, y - 3.2, x + 7.4, y - 3.2, x + 9.2, y + 1, x + 1.8, y + 1};
  const double needle[] = {x + 5.5, y + 1, x + 5.5, y + 5.2};
  lig_canvas_box (self->canvas, x + 2.3, y - 5, 6.4, 1.8, 0.4, ink, 0, 0);
  lig_canvas_area (self->canvas, body, 4, ink);
  lig_canvas_lines (self->canvas, needle, 2, ink, 1.2, 0);
}

static void
draw_bar (const LigScoreDrawing *self, double x, double y, LigColour ink)
{
  const double radius = 4.3, slant = 3;
  const double bar[] = {x + 5.5 - slant, y - slant, x + 5.5 + slant, y + slant};
  lig_canvas_box (self->canvas, x + 5.5 - radius, y - radius, 2 * radius, 2 * radius, radius, 0,
                  ink, 1.5);
  lig_canvas_lines (self->canvas, bar, 2, ink, 1.5, 0);
}

/* Draws an 8 in a frame. */
static void
draw_eight (const LigScoreDrawing *self, double x, double y, LigColour ink)
{
  lig_canvas_box (self->canvas, x + 1, y - 5, 9, 10, 2.3, 0, ink, 1.1);
  lig_canvas_box (self->canvas, x + 4.1, y - 3.1, 2.8, 2.8, 1.4, 0, ink, 1.1);
  lig_canvas_box (self->canvas, x + 3.8, y - 0.2, 3.4, 3.4, 1.7, 0, ink, 1.1);
}

/* Draws a 4 in a frame. */
static void
draw_four (const LigScoreDrawing *self, double x, double y, LigColour ink)
{
  const double lines[] = {x + 7.2, y + 1.3, x + 3.6, y + 1.3, x + 6.2, y - 3, x + 6.2, y + 3};
  lig_canvas_box (self->canvas, x + 1, y - 5, 9, 10, 2.3, 0, ink, 1.1);
  lig_canvas_lines (self->canvas, lines, 4, ink, 1.1, 0);
}

double
lig_score_draw_bits (const LigScoreDrawing *self, int bits, double x, double y, LigColour ink)
{
  if (bits == 0)
    return 0;
  (bits == 4 ? draw_four : draw_eight) (self, x, y, ink);
  return SIZE + SPACE;
}

double
lig_score_draw_signs (
  const LigScoreDrawing *self, const LigPlanGroup *group, double x, double y, LigColour ink)
{
  double start = x;
  if (lig_plan_is_forced (self->layout->plan, group)) {
    draw_pin (self, x, y, ink);
    x += SIZE + SPACE;
  }
  if (is_forbidden (self->layout, group)) {
    draw_bar (self, x, y, self->colours->warning);
    x += SIZE + SPACE;
  }
  x += lig_score_draw_bits (self, lig_plan_get_bits (self->layout->plan, group), x, y, ink);
  return x - start;
}
