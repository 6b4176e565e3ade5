/* SPDX-License-Identifier: MIT */
/* The memory in use over the steps of a plan, by kind, and the place of each value in the arena. */
#include "engine/draw/chart.h"
#include "engine/draw/timed.h"
#include <ligature/draw.h>
#include <ligature/kernels.h>

#include <glib/gi18n-lib.h>
#include <string.h>

#define LEFT 78.0
#define RIGHT 20.0
#define TOP 26.0
#define BOTTOM 44.0

/* The maximum number of marks of the picture. If a plan has more steps, several share a column,
 * which shows the step that uses the most memory. */
#define COLUMNS 240

typedef enum { PARAMETERS, GRADIENTS, OPTIMIZER, SAVED, OTHER, N_KINDS } Kind;

typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  LigPlan *plan;
  double width, height;
  int n_steps, columns;
  double max; /* bytes at the top */
} Memory;

static const char *
kind_title (Kind kind)
{
  static const char *const titles[] = {N_ ("Parameters"), N_ ("Gradients"), N_ ("Optimizer"),
                                       N_ ("Saved for backward"), N_ ("Other")};
  return _ (titles[kind]);
}

static LigColour
kind_colour (const LigColours *colours, Kind kind)
{
  static const int numbers[] = {0, 1, 3, 2, 5};
  return colours->series[numbers[kind]];
}

/* --- Live bytes ----------------------------------------------------------------------------- */

/* Adds the bytes of the state, which is live at all steps. Bytes beyond parameters and gradients
 * are optimizer state. */
static void
count_state (LigPlan *plan, gint64 bytes[N_KINDS])
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  for (guint i = 0; i < count; i++) {
    if (values[i].place != LIG_PLACE_STATE || strchr (values[i].name, '[') ||
        g_str_equal (values[i].name, "scaling"))
      continue;
    bytes[*values[i].name == 'd' ? GRADIENTS : PARAMETERS] += values[i].bytes;
  }
  gint64 rest = lig_plan_get_state_bytes (plan) - bytes[PARAMETERS] - bytes[GRADIENTS];
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  /* Without an update the rest is only padding of the parameters. */
  gboolean updates = count > 0 && steps[count - 1].pass == LIG_PASS_UPDATE;
  bytes[updates ? OPTIMIZER : PARAMETERS] += MAX (rest, 0);
}

static char *
place_key (gint64 offset, int step)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT " %d", offset, step);
}

/* Returns the offsets and first steps of saved values, so that a value is also recognized as saved
 * if the backward pass reads an alias of it. */
static GHashTable *
find_saved (LigPlan *plan)
{
  guint count;
  GHashTable *saved = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  for (guint i = 0; i < count; i++)
    if (values[i].saved && values[i].offset >= 0)
      g_hash_table_add (saved, place_key (values[i].offset, values[i].first));
  return saved;
}

static Kind
kind_of (const LigPlanValue *value, GHashTable *saved)
{
  g_autofree char *key = place_key (value->offset, value->first);
  return g_hash_table_contains (saved, key) ? SAVED : OTHER;
}

/* Returns the offsets in the arena with the steps at which a value begins there. If a step writes
 * its output over its input, both have the same offset at that step, which must be counted once. */
static GHashTable *
find_begun (LigPlan *plan)
{
  guint count;
  GHashTable *begun = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  for (guint i = 0; i < count; i++)
    if ((values[i].place == LIG_PLACE_ARENA))
      g_hash_table_add (begun, place_key (values[i].offset, values[i].first));
  return begun;
}

static int
last_step_of (const LigPlanValue *value, GHashTable *begun, int n_steps)
{
  g_autofree char *key = place_key (value->offset, value->last);
  gboolean taken_over = value->last > value->first && g_hash_table_contains (begun, key);
  return MIN (value->last - taken_over, n_steps - 1);
}

/* Returns (transfer full) (array length=n_steps) the live bytes of each step by kind. Only SAVED
 * and OTHER, the values in the arena, differ between steps. */
static gint64 (*count_alive (LigPlan *plan, guint n_steps))[N_KINDS]
{
  guint count;
  gint64 (*alive)[N_KINDS] = g_malloc0_n (n_steps + 1, sizeof *alive);
  g_autoptr (GHashTable) saved = find_saved (plan);
  g_autoptr (GHashTable) begun = find_begun (plan);
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  for (guint i = 0; i < count; i++) {
    int first = values[i].first, last = last_step_of (&values[i], begun, (int) n_steps);
    if (values[i].place != LIG_PLACE_ARENA || first > last)
      continue;
    Kind kind = kind_of (&values[i], saved);
    alive[MAX (first, 0)][kind] += values[i].bytes;
    alive[last + 1][kind] -= values[i].bytes;
  }
  count_state (plan, alive[0]);
  for (guint i = 1; i < n_steps; i++)
    for (int kind = 0; kind < N_KINDS; kind++)
      alive[i][kind] += alive[i - 1][kind];
  return alive;
}

static gint64
sum_of (const gint64 bytes[N_KINDS])
{
  gint64 sum = 0;
  for (int kind = 0; kind < N_KINDS; kind++)
    sum += bytes[kind];
  return sum;
}

/* --- Axes and legends ----------------------------------------------------------------------- */

static double
to_x (const Memory *memory, double step)
{
  return LEFT + step / memory->n_steps * (memory->width - LEFT - RIGHT);
}

static double
to_y (const Memory *memory, double bytes)
{
  return memory->height - BOTTOM - bytes / memory->max * (memory->height - TOP - BOTTOM);
}

static void
draw_grid (Memory *memory)
{
  LigTextStyle style = {.size = 11, .colour = memory->colours->dim, .anchor = LIG_TEXT_END};
  double tick = lig_timed_tick (memory->max, 4);
  for (int i = 0; i * tick <= memory->max * 1.0001; i++) {
    double y = to_y (memory, i * tick), points[] = {LEFT, y, memory->width - RIGHT, y};
    g_autofree char *text = lig_axis_trim (lig_draw_bytes (i * tick));
    lig_canvas_lines (memory->canvas, points, 2, memory->colours->line, 1, 0);
    lig_canvas_text (memory->canvas, LEFT - 6, y + 4, &style, text);
  }
}

/* Draws the boundaries between the passes and their titles. */
static void
draw_passes (Memory *memory)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (memory->plan, &count);
  LigTextStyle style = {.size = 11, .colour = memory->colours->dim};
  for (guint i = 0; i < count; i++) {
    if (i > 0 && steps[i].pass == steps[i - 1].pass)
      continue;
    double x = to_x (memory, i), end = x;
    for (guint j = i; j < count && steps[j].pass == steps[i].pass; j++)
      end = to_x (memory, j + 1);
    double points[] = {x, TOP - 4, x, memory->height - BOTTOM};
    if (i > 0)
      lig_canvas_lines (memory->canvas, points, 2, memory->colours->dim, 1, 3);
    style.width = end - x - 6;
    if (style.width > 24)
      lig_canvas_text (memory->canvas, x + 4, memory->height - BOTTOM + 15, &style,
                       lig_timed_pass_title (steps[i].pass));
  }
}

static void
draw_legend (Memory *memory, const gboolean used[N_KINDS])
{
  LigTextStyle style = {.size = 11, .colour = memory->colours->dim};
  double x = LEFT, y = memory->height - 9;
  for (int kind = 0; kind < N_KINDS; kind++) {
    if (!used[kind])
      continue;
    double width = lig_canvas_text_width (memory->canvas, &style, kind_title (kind));
    if (x + width + 16 > memory->width)
      break;
    lig_canvas_box (memory->canvas, x, y - 9, 10, 10, 2,
                    lig_colour_fade (kind_colour (memory->colours, kind), 0xb8), 0, 0);
    lig_canvas_text (memory->canvas, x + 15, y, &style, kind_title (kind));
    x += width + 33;
  }
}

static void
draw_nothing (LigCanvas *canvas, const LigColours *colours, double width, double height)
{
  LigTextStyle style = {.size = 12, .colour = colours->dim, .anchor = LIG_TEXT_MIDDLE};
  lig_canvas_text (canvas, width / 2, height / 2, &style, _ ("The plan has no steps"));
}

/* --- Bytes over steps ------------------------------------------------------------------------ */

/* Returns the step of a column that uses the most memory. */
static guint
fullest (const Memory *memory, gint64 (*alive)[N_KINDS], int column)
{
  int first = (int) ((gint64) column * memory->n_steps / memory->columns);
  int end = (int) ((gint64) (column + 1) * memory->n_steps / memory->columns), best = first;
  for (int i = first + 1; i < end; i++)
    if (sum_of (alive[i]) > sum_of (alive[best]))
      best = i;
  return (guint) best;
}

static void
draw_kind (Memory *memory, gint64 (*alive)[N_KINDS], Kind kind)
{
  guint n = 0, count = (guint) memory->columns * 4;
  g_autofree double *points = g_new (double, (gsize) count * 2);
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < memory->columns; i++) {
      int column = side == 0 ? i : memory->columns - 1 - i;
      const gint64 *bytes = alive[fullest (memory, alive, column)];
      double base = 0, share = memory->n_steps / (double) memory->columns;
      for (int below = 0; below < (int) kind + (side == 0); below++)
        base += (double) bytes[below];
      for (int edge = 0; edge < 2; edge++) {
        points[n++] = to_x (memory, (column + (side == 0 ? edge : 1 - edge)) * share);
        points[n++] = to_y (memory, base);
      }
    }
  lig_canvas_area (memory->canvas, points, count,
                   lig_colour_fade (kind_colour (memory->colours, kind), 0xb8));
}

static char *
describe_step (const Memory *memory, guint step, const gint64 bytes[N_KINDS])
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (memory->plan, &count);
  g_autofree char *sum = lig_draw_bytes ((double) sum_of (bytes));
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, _ ("step %u: %s · %s alive"), step,
                          steps[step].kernel ? steps[step].kernel->name : "opaque", sum);
  for (int kind = 0; kind < N_KINDS; kind++) {
    g_autofree char *share = lig_draw_bytes ((double) bytes[kind]);
    if (bytes[kind] > 0)
      g_string_append_printf (text, "\n%s: %s", kind_title (kind), share);
  }
  return g_string_free (text, FALSE);
}

static void
draw_marks (Memory *memory, gint64 (*alive)[N_KINDS])
{
  double share = memory->n_steps / (double) memory->columns;
  for (int i = 0; i < memory->columns; i++) {
    guint step = fullest (memory, alive, i);
    g_autofree char *text = describe_step (memory, step, alive[step]);
    double x = to_x (memory, i * share), y = to_y (memory, (double) sum_of (alive[step]));
    lig_canvas_begin_mark (memory->canvas, x, y, to_x (memory, (i + 1) * share) - x,
                           memory->height - BOTTOM - y, text);
    lig_canvas_end_mark (memory->canvas);
  }
}

static void
draw_peak (Memory *memory, gint64 (*alive)[N_KINDS])
{
  int best = 0;
  for (int i = 1; i < memory->n_steps; i++)
    if (sum_of (alive[i]) > sum_of (alive[best]))
      best = i;
  double x = to_x (memory, best + 0.5), y = to_y (memory, (double) sum_of (alive[best]));
  g_autofree char *bytes = lig_draw_bytes ((double) sum_of (alive[best]));
  g_autofree char *text = g_strdup_printf (_ ("peak %s at step %d"), bytes, best);
  gboolean right = x > memory->width / 2;
  LigTextStyle style = {.size = 12, .bold = TRUE, .colour = memory->colours->ink};
  style.anchor = right ? LIG_TEXT_END : LIG_TEXT_START;
  lig_canvas_disc (memory->canvas, x, y, 4.5, memory->colours->ink);
  lig_canvas_disc (memory->canvas, x, y, 2.5, memory->colours->card);
  lig_canvas_text (memory->canvas, x + (right ? -9 : 9), y - 7, &style, text);
}

void
lig_draw_memory (
  LigCanvas *canvas, const LigColours *colours, LigPlan *plan, double width, double height)
{
  guint count;
  gboolean used[N_KINDS] = {FALSE};
  Memory memory = {canvas, colours, plan, .width = width, .height = height};
  lig_plan_get_steps (plan, &count);
  if (count == 0) {
    draw_nothing (canvas, colours, width, height);
    return;
  }
  g_autofree gint64 (*alive)[N_KINDS] = count_alive (plan, count);
  memory.n_steps = (int) count;
  memory.columns = MIN (memory.n_steps, COLUMNS);
  for (guint i = 0; i < count; i++) {
    memory.max = MAX (memory.max, (double) sum_of (alive[i]));
    for (int kind = 0; kind < N_KINDS; kind++)
      used[kind] |= alive[i][kind] > 0;
  }
  memory.max = MAX (memory.max, 1);
  draw_grid (&memory);
  for (int kind = 0; kind < N_KINDS; kind++)
    if (used[kind])
      draw_kind (&memory, alive, (Kind) kind);
  draw_passes (&memory);
  draw_marks (&memory, alive);
  draw_peak (&memory, alive);
  draw_legend (&memory, used);
}

/* --- Offsets over steps ----------------------------------------------------------------------- */

/* Draws a value; @end is the last step before another value replaces it. */
static void
draw_value (Memory *memory, const LigPlanValue *value, Kind kind, int end)
{
  /* Inputs are live before the first step, outputs after the last. */
  int first = MAX (value->first, 0), last = MIN (value->last, memory->n_steps - 1);
  double x = to_x (memory, first), width = to_x (memory, end + 1) - x;
  double y = to_y (memory, (double) (value->offset + value->bytes));
  double height = to_y (memory, (double) value->offset) - y;
  g_autofree char *bytes = lig_draw_bytes ((double) value->bytes);
  g_autofree char *offset = lig_draw_bytes ((double) value->offset);
  g_autofree char *shape = lig_shape_to_string (&value->shape);
  g_autofree char *name = lig_plan_name_values (memory->plan, value->name);
  g_autofree char *text =
    g_strdup_printf (_ ("%s: %s %s, %s at %s\nlive from step %d to %d\n%s"), name, shape,
                     lig_dtype_name (value->dtype), bytes, offset, first, last, kind_title (kind));
  LigColour colour = kind_colour (memory->colours, kind);
  LigTextStyle style = {.size = 11, .colour = memory->colours->ink};
  lig_canvas_begin_mark (memory->canvas, x, y, MAX (width, 1), MAX (height, 1), text);
  lig_canvas_box (memory->canvas, x, y, MAX (width, 1), MAX (height, 1), MIN (2, height / 4),
                  lig_colour_fade (colour, 0x60), height > 3 && width > 3 ? colour : 0, 1);
  if (height > 14 && lig_canvas_text_width (memory->canvas, &style, name) + 8 < width)
    lig_canvas_text (memory->canvas, x + 4, y + MIN (height / 2, 40) + 4, &style, name);
  lig_canvas_end_mark (memory->canvas);
}

void
lig_draw_map (
  LigCanvas *canvas, const LigColours *colours, LigPlan *plan, double width, double height)
{
  guint count, n_values;
  gboolean used[N_KINDS] = {FALSE};
  Memory memory = {canvas, colours, plan, .width = width, .height = height};
  const LigPlanValue *values = lig_plan_get_values (plan, &n_values);
  lig_plan_get_steps (plan, &count);
  if (count == 0) {
    draw_nothing (canvas, colours, width, height);
    return;
  }
  g_autoptr (GHashTable) begun = find_begun (plan);
  g_autoptr (GHashTable) saved = find_saved (plan);
  memory.n_steps = memory.columns = (int) count;
  memory.max = MAX ((double) lig_plan_get_arena_bytes (plan, NULL), 1);
  draw_grid (&memory);
  for (guint i = 0; i < n_values; i++) {
    if (values[i].place != LIG_PLACE_ARENA || values[i].first >= memory.n_steps)
      continue;
    Kind kind = kind_of (&values[i], saved);
    used[kind] = TRUE;
    draw_value (&memory, &values[i], kind, last_step_of (&values[i], begun, memory.n_steps));
  }
  draw_passes (&memory);
  draw_legend (&memory, used);
}
