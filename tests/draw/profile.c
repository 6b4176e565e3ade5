/* SPDX-License-Identifier: MIT */
/* The pictures of a profile: every mark has a text and is inside the picture, and the figures are
 * those of the plan. */
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/draw.h>
#include <ligature/optimizer.h>

#include <math.h>

static const char *const sequences[] = {
  "layer-norm ! linear(96) ! gelu ! linear(32)",
  "make-extra-output(to=r) ! layer-norm ! linear(96) ! gelu ! linear(32) ! add-extra-input(from=r)",
  "block(repeat=12) { layer-norm ! linear(32) ! relu }",
  "identity",
};

/* Sets facts of a CPU device as if it had been measured. */
static void
give_peak_rates (LigDevice *device)
{
  LigDeviceFacts facts = *lig_device_get_facts (device);
  facts.copy = 1e10;
  facts.launch = 5e-7;
  facts.matmul[LIG_FP32] = 8e10;
  lig_device_set_facts (device, &facts);
}

static LigPlan *
compile_for (const char *expression, const char *device_name, LigPolicy policy, gboolean update)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "64x32");
  g_autoptr (LigDevice) device = lig_device_open (device_name, &error);
  g_assert_no_error (error);
  if (g_str_equal (device_name, "cpu"))
    give_peak_rates (device);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  options.policy = policy;
  options.input_gradient = TRUE;
  options.optimizer = update ? &optimizer : NULL;
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static double *
invent_times (LigPlan *plan)
{
  guint count;
  lig_plan_get_steps (plan, &count);
  double *times = g_new (double, count + 1);
  for (guint i = 0; i < count; i++)
    times[i] = 1e-6 * (i + 1);
  return times;
}

/* Draws one picture on a blank canvas, and checks its marks against its size. */
static LigCanvas *
draw (int which, const LigTimedPlan *timed, const LigTimedPlan *unfused, double width)
{
  guint count;
  LigCanvas *canvas = lig_canvas_new_blank ();
  const LigColours *colours = lig_colours (LIG_COLOURS_LIGHT);
  double height = which == 0 ? lig_draw_times_height (timed) : 300;
  if (which == 0)
    lig_draw_times (canvas, colours, timed, width);
  else if (which == 1)
    lig_draw_timeline (canvas, colours, timed, width, height);
  else if (which == 2)
    lig_draw_roofline (canvas, colours, timed, unfused, width, height);
  else if (which == 3)
    lig_draw_memory (canvas, colours, timed->plan, width, height);
  else
    lig_draw_map (canvas, colours, timed->plan, width, height);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  for (guint i = 0; i < count; i++) {
    g_assert_true (marks[i].text && *marks[i].text && !strstr (marks[i].text, "nan"));
    g_assert_true (isfinite (marks[i].x) && isfinite (marks[i].y));
    g_assert_true (marks[i].width >= 0 && marks[i].height >= 0);
    g_assert_true (marks[i].x >= -8 && marks[i].x + marks[i].width <= width + 8);
    g_assert_true (marks[i].y >= -8 && marks[i].y + marks[i].height <= height + 8);
  }
  return canvas;
}

static void
test_marks (void)
{
  static const char *const devices[] = {"cpu", "null:h200"};
  for (guint i = 0; i < G_N_ELEMENTS (sequences); i++)
    for (guint j = 0; j < G_N_ELEMENTS (devices); j++)
      for (int measured = 0; measured < 2; measured++) {
        g_autoptr (LigPlan) plan = compile_for (sequences[i], devices[j], LIG_POLICY_ALL, j == 0);
        g_autoptr (LigPlan) apart = compile_for (sequences[i], devices[j], LIG_POLICY_NONE, j == 0);
        g_autofree double *times = invent_times (plan);
        LigTimedPlan timed = {.plan = plan, .steps = measured ? times : NULL},
                     unfused = {.plan = apart};
        for (int which = 0; which < 5; which++) {
          g_autoptr (LigCanvas) wide = draw (which, &timed, &unfused, 900);
          g_autoptr (LigCanvas) narrow = draw (which, &timed, NULL, 330);
          guint count, n_steps;
          lig_canvas_get_marks (wide, &count);
          lig_plan_get_steps (plan, &n_steps);
          g_assert_true (count > 0 || n_steps == 0 || which == 4);
        }
      }
}

/* Pictures for a device with unknown peak rates contain no predictions. */
static void
test_unknown (void)
{
  g_autoptr (LigPlan) plan = compile_for (sequences[0], "null", LIG_POLICY_ALL, FALSE);
  g_autofree double *times = invent_times (plan);
  for (int measured = 0; measured < 2; measured++) {
    LigTimedPlan timed = {.plan = plan, .steps = measured ? times : NULL};
    for (int which = 0; which < 5; which++) {
      g_autoptr (LigCanvas) canvas = draw (which, &timed, NULL, 900);
      guint count;
      const LigMark *marks = lig_canvas_get_marks (canvas, &count);
      for (guint i = 0; i < count; i++) {
        g_test_message ("%s", marks[i].text);
        g_assert_null (strstr (marks[i].text, "predicted"));
        g_assert_null (strstr (marks[i].text, "roofline"));
      }
    }
  }
}

/* The text of each bar contains the times of its group. */
static void
test_times (void)
{
  guint count, n_forward, n_backward;
  g_autoptr (LigPlan) plan = compile_for (sequences[0], "null:h200", LIG_POLICY_ALL, FALSE);
  g_autofree double *times = invent_times (plan);
  LigTimedPlan timed = {.plan = plan, .steps = times};
  g_autoptr (LigCanvas) canvas = draw (0, &timed, NULL, 900);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  const LigPlanGroup *forward = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &n_forward);
  const LigPlanGroup *backward = lig_plan_get_groups (plan, LIG_PASS_BACKWARD, &n_backward);
  g_assert_cmpuint (count, ==, n_forward + n_backward);
  for (guint i = 0; i < count; i++) {
    const LigPlanGroup *group = i < n_forward ? &forward[i] : &backward[i - n_forward];
    double seconds = 0;
    for (int j = 0; j < group->n_steps; j++)
      seconds += times[group->steps[j]];
    g_autofree char *measured = lig_draw_time (seconds);
    g_autofree char *predicted = lig_draw_time (group->predicted);
    g_autofree char *text = g_strdup_printf ("measured %s, predicted %s", measured, predicted);
    g_assert_nonnull (strstr (marks[i].text, text));
    g_assert_true (!group->fusion == !strstr (marks[i].text, "fused: "));
  }
  g_assert_nonnull (strstr (marks[1].text, "Linear + bias + GELU"));
}

/* Steps outside of any group have a row, so that the rows' sum is the pass's time. */
static void
test_outside (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(96) ! gelu ! linear(32)", "64x32:bf16");
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.parameters = LIG_FP32;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  guint count, n_groups;
  double outside = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    outside += steps[i].pass == LIG_PASS_FORWARD && steps[i].group < 0 ? steps[i].predicted : 0;
  g_assert_cmpfloat (outside, >, 0);
  LigTimedPlan timed = {.plan = plan};
  g_autoptr (LigCanvas) canvas = draw (0, &timed, NULL, 900);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  lig_plan_get_groups (plan, LIG_PASS_FORWARD, &n_groups);
  g_autofree char *time = lig_draw_time (outside);
  g_assert_nonnull (strstr (marks[n_groups].text, "Outside of groups: convert · Forward"));
  g_assert_nonnull (strstr (marks[n_groups].text, time));
}

/* The repetitions of a group are one row with the sum of their times. */
static void
test_repeats (void)
{
  guint count, n_groups;
  double sum = 0;
  g_autoptr (LigPlan) plan = compile_for (sequences[2], "null:h200", LIG_POLICY_ALL, FALSE);
  LigTimedPlan timed = {.plan = plan};
  g_autoptr (LigCanvas) canvas = draw (0, &timed, NULL, 900);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &n_groups);
  g_assert_cmpuint (n_groups, ==, 24);
  g_assert_cmpuint (count, <=, 8);
  for (guint i = 0; i < n_groups; i += 2)
    sum += groups[i].predicted;
  g_autofree char *time = lig_draw_time (sum);
  g_assert_nonnull (strstr (marks[0].text, "× 12"));
  g_assert_nonnull (strstr (marks[0].text, time));
}

/* Each step of the timeline starts at the end of the previous step, and its width is its time. */
static void
test_timeline (void)
{
  guint count, n_steps;
  g_autoptr (LigPlan) plan = compile_for (sequences[1], "cpu", LIG_POLICY_ALL, TRUE);
  g_autofree double *times = invent_times (plan);
  LigTimedPlan timed = {.plan = plan, .steps = times};
  g_autoptr (LigCanvas) canvas = draw (1, &timed, NULL, 900);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  lig_plan_get_steps (plan, &n_steps);
  g_assert_cmpuint (count, ==, n_steps);
  for (guint i = 1; i < count; i++)
    g_assert_cmpfloat (fabs (marks[i].x - marks[i - 1].x - marks[i - 1].width), <, 1.5);
  g_assert_cmpfloat (fabs (marks[1].width / marks[0].width - 2), <, 0.01);
}

/* The copy of the next batch is below the steps of a device with its own memory. */
static void
test_copies (void)
{
  guint count;
  g_autoptr (LigPlan) plan =
    compile_for ("linear(16) ! mean-squared-error", "null:h200", LIG_POLICY_ALL, TRUE);
  LigTimedPlan timed = {.plan = plan};
  g_autoptr (LigCanvas) canvas = draw (1, &timed, NULL, 900);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  g_assert_cmpuint (count, >, 1);
  g_assert_true (g_str_has_prefix (marks[count - 1].text, "next batch · "));
  for (guint i = 0; i + 1 < count; i++)
    g_assert_cmpfloat (marks[i].y + marks[i].height, <=, marks[count - 1].y);
}

/* Returns the timeline of a rank as SVG. */
static char *
draw_rank (int ranks)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (sequences[0], "64x32");
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  LigLayout layout;
  lig_layout_init (&layout, ranks);
  lig_device_assume_ranks (device, 0, &layout);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  LigTimedPlan timed = {.plan = plan};
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (900, 240);
  lig_draw_timeline (canvas, lig_colours (LIG_COLOURS_LIGHT), &timed, 900, 240);
  return lig_canvas_to_svg (canvas);
}

/* The row of collectives is labelled once, in the pass that has them. */
static void
test_collectives (void)
{
  g_autofree char *alone = draw_rank (1), *shared = draw_rank (4);
  g_assert_null (strstr (alone, "Collectives"));
  const char *named = strstr (shared, "Collectives");
  g_assert_nonnull (named);
  g_assert_null (strstr (named + 1, "Collectives"));
}

static void
test_roofline (void)
{
  guint count, arrows = 0, fused = 0, n_groups;
  g_autoptr (LigPlan) plan = compile_for (sequences[1], "null:h200", LIG_POLICY_ALL, FALSE);
  g_autoptr (LigPlan) apart = compile_for (sequences[1], "null:h200", LIG_POLICY_NONE, FALSE);
  LigTimedPlan timed = {.plan = plan}, unfused = {.plan = apart};
  g_autoptr (LigCanvas) canvas = draw (2, &timed, &unfused, 900);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  for (guint i = 0; i < count; i++)
    arrows += strstr (marks[i].text, "its ops unfused") != NULL;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &n_groups);
    for (guint i = 0; i < n_groups; i++)
      fused += groups[i].fusion != NULL && groups[i].flops > 0;
  }
  g_assert_cmpuint (fused, >, 2);
  g_assert_cmpuint (arrows, ==, fused);
}

/* Groups that are faster than a copy get a slope of their own; predictions never are. */
static void
test_cached (void)
{
  guint n_steps;
  g_autoptr (LigPlan) plan = compile_for (sequences[1], "null:h200", LIG_POLICY_ALL, FALSE);
  const LigPlanStep *steps = lig_plan_get_steps (plan, &n_steps);
  g_autofree double *seconds = g_new (double, n_steps);
  double copy = lig_device_get_facts (lig_plan_get_device (plan))->copy;
  for (int fast = 0; fast < 2; fast++) {
    guint count, slopes = 0;
    for (guint i = 0; i < n_steps; i++)
      seconds[i] = (steps[i].read + steps[i].written) / copy * (fast ? 0.25 : 2);
    LigTimedPlan timed = {.plan = plan, .steps = seconds};
    g_autoptr (LigCanvas) canvas = draw (2, &timed, NULL, 900);
    const LigMark *marks = lig_canvas_get_marks (canvas, &count);
    for (guint i = 0; i < count; i++)
      slopes += strstr (marks[i].text, "/s in cache") != NULL;
    g_assert_cmpuint (slopes, ==, fast);
  }
}

/* The tallest mark of the picture is the peak of the plan's arena plus its state. */
static void
test_memory (void)
{
  guint count, tallest = 0;
  gint64 peak;
  g_autoptr (LigPlan) plan = compile_for (sequences[0], "null:h200", LIG_POLICY_ALL, FALSE);
  LigTimedPlan timed = {.plan = plan};
  g_autoptr (LigCanvas) canvas = draw (3, &timed, NULL, 900);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  for (guint i = 0; i < count; i++)
    if (marks[i].height > marks[tallest].height)
      tallest = i;
  lig_plan_get_arena_bytes (plan, &peak);
  g_autofree char *bytes = lig_draw_bytes ((double) (peak + lig_plan_get_state_bytes (plan)));
  g_autofree char *text = g_strdup_printf ("%s alive", bytes);
  g_test_message ("%s in %s", text, marks[tallest].text);
  g_assert_nonnull (strstr (marks[tallest].text, text));
}

static void
draw_all (LigCanvas *canvas, gpointer data)
{
  lig_draw_times (canvas, lig_colours (LIG_COLOURS_DARK), data, 700);
}

static void
test_files (void)
{
  static const char *const formats[] = {"svg", "pdf", "png"};
  g_autoptr (LigPlan) plan = compile_for (sequences[2], "null:h200", LIG_POLICY_ALL, TRUE);
  LigTimedPlan timed = {.plan = plan};
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GBytes) bytes = lig_draw_to_file (formats[i], 700, lig_draw_times_height (&timed),
                                                 0xffffffff, draw_all, &timed, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (g_bytes_get_size (bytes), >, 500);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/draw-profile/marks", test_marks);
  g_test_add_func ("/draw-profile/unknown", test_unknown);
  g_test_add_func ("/draw-profile/times", test_times);
  g_test_add_func ("/draw-profile/repeats", test_repeats);
  g_test_add_func ("/draw-profile/outside", test_outside);
  g_test_add_func ("/draw-profile/timeline", test_timeline);
  g_test_add_func ("/draw-profile/copies", test_copies);
  g_test_add_func ("/draw-profile/exchanges", test_collectives);
  g_test_add_func ("/draw-profile/roofline", test_roofline);
  g_test_add_func ("/draw-profile/cached", test_cached);
  g_test_add_func ("/draw-profile/memory", test_memory);
  g_test_add_func ("/draw-profile/files", test_files);
  return g_test_run ();
}
