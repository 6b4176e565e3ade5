/* SPDX-License-Identifier: MIT */
/* Figures of groups and passes compared with the unfused plan, whatever is forced. */
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/figures.h>
#include <ligature/report.h>
#include <ligature/tuning.h>

static const char *const mlp =
  "make-extra-output(to=r) ! layer-norm ! linear(3072) ! gelu ! linear(768) ! "
  "add-extra-input(from=r)";

typedef struct {
  LigDevice *device;
  LigSequence *sequence;
  LigPlan *plan, *unfused;
} Fixture;

static LigPlan *
compile_with (Fixture *f, LigPolicy policy)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = plan_options (policy, TRUE);
  LigPlan *plan = lig_plan_compile (f->sequence, f->device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static void
set_up (Fixture *f, const char *expression, LigPolicy policy)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = plan_options (policy, TRUE);
  f->device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  f->sequence = new_sequence (expression, "2048x768:bf16");
  f->plan = compile_with (f, policy);
  f->unfused = lig_plan_compile_unfused (f->sequence, f->device, &options, &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture *f)
{
  lig_plan_unref (f->plan);
  lig_plan_unref (f->unfused);
  g_object_unref (f->sequence);
  g_object_unref (f->device);
}

static void
force_at (LigSequence *sequence, int op, const char *fusion)
{
  const char *const names[] = {fusion, NULL, NULL};
  lig_op_set_forced (lig_sequence_get (sequence, op, NULL), names);
}

static LigFigures
of_pass (LigPlan *plan, const double *steps, LigPlan *unfused, const double *alone, LigPass pass)
{
  const LigTimedPlan timed = {.plan = plan, .steps = steps};
  const LigTimedPlan baseline = {.plan = unfused, .steps = alone};
  LigFigures figures;
  lig_figures_of_pass (&timed, &baseline, pass, &figures);
  return figures;
}

static double
sum_bytes (LigPlan *plan, LigPass pass)
{
  guint count;
  double bytes = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    bytes += steps[i].pass == pass ? steps[i].read + steps[i].written : 0;
  return bytes;
}

static double *
invent_times (LigPlan *plan, double each)
{
  guint count;
  lig_plan_get_steps (plan, &count);
  double *times = g_new (double, count);
  for (guint i = 0; i < count; i++)
    times[i] = each;
  return times;
}

/* A forced fusion does not change the plan that savings are compared with. */
static void
test_baseline (void)
{
  Fixture f;
  set_up (&f, mlp, LIG_POLICY_ALL);
  double before = sum_bytes (f.unfused, LIG_PASS_FORWARD);
  LigFigures free_ = of_pass (f.plan, NULL, f.unfused, NULL, LIG_PASS_FORWARD);
  g_assert_cmpfloat (free_.alone_bytes, ==, before);
  g_assert_cmpfloat (free_.saved_bytes, ==, before - sum_bytes (f.plan, LIG_PASS_FORWARD));
  g_assert_cmpfloat (free_.saved_bytes, >, 0);
  tear_down (&f);

  set_up (&f, mlp, LIG_POLICY_NONE);
  force_at (f.sequence, 2, "forward-linear-bias-activation");
  g_autoptr (LigPlan) forced = compile_with (&f, LIG_POLICY_NONE);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) again = lig_plan_unfuse (forced, &error);
  g_assert_no_error (error);
  g_autofree char *choices = lig_plan_get_choices (forced);
  g_autofree char *none = lig_plan_get_choices (again);
  g_assert_cmpstr (choices, !=, "");
  g_assert_cmpstr (none, ==, "");
  g_assert_cmpfloat (sum_bytes (again, LIG_PASS_FORWARD), ==, before);
  g_assert_cmpuint (lig_plan_get_version (again), ==, lig_plan_get_version (forced));
  LigFigures figures = of_pass (forced, NULL, again, NULL, LIG_PASS_FORWARD);
  g_assert_cmpfloat (figures.saved_bytes, >, 0);
  /* The sequence itself keeps its forced fusion. */
  g_assert_nonnull (lig_op_get_forced (lig_sequence_get (f.sequence, 2, NULL))[0]);
  tear_down (&f);
}

static void
test_forces_in_blocks (void)
{
  Fixture f;
  g_autoptr (GError) error = NULL;
  set_up (&f, "block(repeat=3) { linear(768) ! gelu }", LIG_POLICY_NONE);
  LigSequence *body = lig_op_get_body (lig_sequence_get (f.sequence, 0, NULL));
  force_at (body, 0, "forward-linear-bias-activation");
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigPlan) unfused = lig_plan_compile_unfused (f.sequence, f.device, &options, &error);
  g_assert_no_error (error);
  g_autofree char *choices = lig_plan_get_choices (unfused);
  g_assert_cmpstr (choices, ==, "");
  tear_down (&f);
}

/* A prediction has no achieved rate. */
static void
test_predicted (void)
{
  Fixture f;
  guint count;
  set_up (&f, mlp, LIG_POLICY_ALL);
  const LigPlanGroup *groups = lig_plan_get_groups (f.plan, LIG_PASS_FORWARD, &count);
  const LigTimedPlan timed = {.plan = f.plan}, unfused = {.plan = f.unfused};
  double seconds = 0;
  for (guint i = 0; i < count; i++) {
    LigFigures figures;
    lig_figures_of_group (&timed, &unfused, &groups[i], &figures);
    seconds += figures.seconds;
    g_autofree char *time = lig_figures_time_text (&figures);
    g_autofree char *rate = lig_figures_rate_text (&figures);
    g_autofree char *roofline = lig_figures_roofline_text (&figures);
    g_autofree char *saving = lig_figures_saving_text (&figures);
    g_assert_null (roofline);
    if (groups[i].n_steps == 0) {
      g_assert_cmpstr (time, ==, "0");
      g_assert_null (rate);
      continue;
    }
    g_assert_false (figures.measured);
    g_assert_true (isnan (figures.rate) && isnan (figures.copy_share));
    g_assert_true (g_str_has_prefix (time, "≈ "));
    g_assert_null (strchr (rate, '%'));
    g_assert_cmpint (saving != NULL, ==, groups[i].fusion != NULL);
    if (saving)
      g_assert_true (g_str_has_prefix (saving, "≈ ") && g_str_has_suffix (saving, " MB less"));
  }
  LigFigures pass = of_pass (f.plan, NULL, f.unfused, NULL, LIG_PASS_FORWARD);
  g_assert_cmpfloat_with_epsilon (pass.seconds, seconds, 1e-12);
  g_assert_false (pass.measured);
  tear_down (&f);
}

static void
test_measured (void)
{
  Fixture f;
  guint count;
  set_up (&f, mlp, LIG_POLICY_ALL);
  g_autofree double *steps = invent_times (f.plan, 1e-5);
  g_autofree double *alone = invent_times (f.unfused, 2e-5);
  const LigPlanGroup *groups = lig_plan_get_groups (f.plan, LIG_PASS_FORWARD, &count);
  const LigTimedPlan timed = {.plan = f.plan, .steps = steps};
  const LigTimedPlan unfused = {.plan = f.unfused, .steps = alone};
  const LigPlanGroup *fused = NULL;
  for (guint i = 0; i < count && !fused; i++)
    if (groups[i].fusion && groups[i].first == 2)
      fused = &groups[i];
  g_assert_nonnull (fused);
  LigFigures figures;
  lig_figures_of_group (&timed, &unfused, fused, &figures);
  g_assert_true (figures.measured && figures.saved_measured);
  g_assert_cmpfloat (figures.seconds, ==, 1e-5 * fused->n_steps);
  g_assert_cmpfloat_with_epsilon (figures.alone_seconds, 2e-5 * fused->count, 1e-12);
  g_assert_cmpint (figures.bound, ==, LIG_BOUND_COMPUTE);
  g_assert_cmpfloat_with_epsilon (figures.rate, fused->flops / figures.seconds, 1);
  g_assert_cmpfloat_with_epsilon (figures.roofline, fused->floor / figures.seconds, 1e-9);
  g_autofree char *time = lig_figures_time_text (&figures);
  g_autofree char *saving = lig_figures_saving_text (&figures);
  g_autofree char *rate = lig_figures_rate_text (&figures);
  g_assert_cmpstr (time, ==, "10.0 µs");
  g_assert_true (g_str_has_prefix (saving, "50.0 µs, "));
  g_assert_true (g_str_has_suffix (rate, " TFLOP/s · compute"));
  /* A layer norm of 3 MB is shorter than a launch; a GELU of 25 MB moves memory. */
  lig_figures_of_group (&timed, &unfused, &groups[1], &figures);
  g_autofree char *small = lig_figures_rate_text (&figures);
  g_assert_true (g_str_has_suffix (small, " % of copy · launch"));
  groups = lig_plan_get_groups (f.unfused, LIG_PASS_FORWARD, &count);
  lig_figures_of_group (&unfused, &unfused, &groups[4], &figures);
  g_autofree char *share = lig_figures_rate_text (&figures);
  g_autofree char *nothing = lig_figures_saving_text (&figures);
  g_assert_cmpstr (share, ==, "30 % of copy · memory");
  g_assert_null (nothing);

  /* A time below the floor does not count as an achieved rate. */
  g_autofree double *fast = invent_times (f.plan, 1e-8);
  const LigTimedPlan cached = {.plan = f.plan, .steps = fast};
  g_autofree char *before = lig_figures_describe (&figures);
  lig_figures_of_group (&cached, &unfused, fused, &figures);
  g_autofree char *after = lig_figures_describe (&figures);
  g_assert_null (strstr (before, "faster than the device’s peak rates"));
  g_assert_nonnull (strstr (after, "faster than the device’s peak rates"));

  /* Measured times are not compared with predicted ones. */
  const LigTimedPlan predicted = {.plan = f.unfused};
  lig_figures_of_group (&timed, &predicted, fused, &figures);
  g_assert_true (figures.measured);
  g_assert_false (figures.saved_measured);
  g_assert_cmpfloat_with_epsilon (figures.fused_seconds, fused->predicted, 1e-12);
  g_autofree char *guess = lig_figures_saving_text (&figures);
  g_assert_true (g_str_has_prefix (guess, "≈ "));
  tear_down (&f);
}

/* A pass that was measured as a whole is only compared with another such pass. */
static void
test_whole_passes (void)
{
  Fixture f;
  const double passes[] = {7e-5, 9e-5, 0}, apart[] = {9e-5, 1.2e-4, 0};
  set_up (&f, mlp, LIG_POLICY_ALL);
  g_autofree double *steps = invent_times (f.plan, 1e-5);
  g_autofree double *alone = invent_times (f.unfused, 2e-5);
  const LigTimedPlan timed = {f.plan, steps, passes, NULL},
                     unfused = {f.unfused, alone, apart, NULL};
  const LigTimedPlan split = {.plan = f.unfused, .steps = alone};
  LigFigures pass, step;
  lig_figures_of_pass (&timed, &unfused, LIG_PASS_FORWARD, &pass);
  g_assert_true (pass.measured && pass.saved_measured);
  g_assert_cmpfloat (pass.seconds, ==, 7e-5);
  g_assert_cmpfloat_with_epsilon (pass.saved_seconds, 2e-5, 1e-12);
  lig_figures_of_step (&timed, &unfused, &step);
  g_autofree char *against = lig_figures_against_text (&step);
  g_assert_cmpfloat_with_epsilon (step.seconds, 1.6e-4, 1e-12);
  g_assert_cmpstr (against, ==, "210 µs, 24 % less");
  lig_figures_of_pass (&timed, &split, LIG_PASS_FORWARD, &pass);
  g_assert_cmpfloat (pass.seconds, ==, 7e-5);
  g_assert_cmpfloat (pass.fused_seconds, <, 5e-5);
  g_assert_cmpfloat_with_epsilon (pass.saved_seconds, pass.alone_seconds - pass.fused_seconds,
                                  1e-12);
  tear_down (&f);
}

/* A single part without a measurement makes the sum a prediction. */
static void
test_sums (void)
{
  Fixture f;
  guint count;
  set_up (&f, mlp, LIG_POLICY_ALL);
  g_autofree double *steps = invent_times (f.plan, 1e-5);
  const LigPlanGroup *groups = lig_plan_get_groups (f.plan, LIG_PASS_FORWARD, &count);
  const LigTimedPlan timed = {.plan = f.plan, .steps = steps};
  const LigTimedPlan untimed = {.plan = f.plan}, unfused = {.plan = f.unfused};
  LigFigures sum, part;
  lig_figures_init (&sum);
  for (guint i = 0; i < count; i++) {
    lig_figures_of_group (&timed, &unfused, &groups[i], &part);
    lig_figures_add (&sum, &part);
  }
  g_assert_true (sum.measured);
  double measured = sum.seconds;
  lig_figures_of_group (&untimed, &unfused, &groups[1], &part);
  lig_figures_add (&sum, &part);
  g_assert_false (sum.measured);
  g_assert_cmpfloat_with_epsilon (sum.seconds, measured + groups[1].predicted, 1e-12);
  g_assert_true (isnan (sum.roofline));

  LigFigures pass = of_pass (f.plan, NULL, NULL, NULL, LIG_PASS_FORWARD);
  g_assert_true (isnan (pass.saved_bytes));
  g_autofree char *saving = lig_figures_saving_text (&pass);
  g_assert_null (saving);
  tear_down (&f);
}

static gboolean
get_price (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  *microseconds = strstr (key, "gelu") ? 3 : 5;
  *noise = 0.1;
  if (choice)
    *choice = NULL;
  return TRUE;
}

static void
put_price (gpointer data, const char *key, double microseconds, double noise, const char *choice)
{
}

/* The tuning table has times of single ops: both plans know them, and so do heads and brackets. */
static void
test_recalled (void)
{
  Fixture f;
  guint count;
  g_autoptr (GError) error = NULL;
  const LigTuning tuning = {.get = get_price, .put = put_price};
  set_up (&f, mlp, LIG_POLICY_ALL);
  LigPlanOptions options = plan_options (LIG_POLICY_MEASURED, TRUE);
  options.tuning = &tuning;
  g_autoptr (LigPlan) plan = lig_plan_compile (f.sequence, f.device, &options, &error);
  g_assert_no_error (error);
  g_autoptr (LigPlan) unfused = lig_plan_unfuse (plan, &error);
  g_assert_no_error (error);
  const LigPlanGroup *groups = lig_plan_get_groups (unfused, LIG_PASS_BACKWARD, &count);
  for (guint i = 0; i < count; i++)
    g_assert_cmpint (groups[i].measured > 0, ==, groups[i].n_steps > 0);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    LigFigures figures = of_pass (plan, NULL, unfused, NULL, pass);
    g_assert_true (figures.measured && figures.saved_measured);
    g_assert_cmpfloat (figures.saved_seconds, >, 0);
    g_assert_cmpfloat_with_epsilon (figures.fused_seconds, figures.seconds, 1e-12);
  }
  tear_down (&f);
}

/* A device without peak rates: bytes are known, times are not. */
static void
test_unknown (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (mlp, "64x768");
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (lig_device_get_facts (cpu_device ())->copy, ==, 0);
  g_autoptr (LigPlan) unfused = lig_plan_unfuse (plan, &error);
  g_assert_no_error (error);
  LigFigures pass = of_pass (plan, NULL, unfused, NULL, LIG_PASS_FORWARD);
  g_assert_true (isnan (pass.seconds) && isnan (pass.saved_seconds));
  g_autofree char *time = lig_figures_time_text (&pass);
  g_autofree char *rate = lig_figures_rate_text (&pass);
  g_autofree char *saving = lig_figures_saving_text (&pass);
  g_assert_null (time);
  g_assert_null (rate);
  g_assert_true (g_str_has_suffix (saving, " less"));
  g_assert_null (strstr (saving, ","));
}

/* --- Copies -------------------------------------------------------------------------------- */

static LigUpload
upload_of (const char *device_name, const char *expression, const char *input)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open (device_name, &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  options.input_gradient = FALSE;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  LigUpload upload;
  lig_figures_of_upload (plan, &upload);
  g_autofree char *sentence = lig_plan_explain_upload (plan);
  g_assert_true ((sentence != NULL) == (upload.exposed > 0));
  return upload;
}

/* A batch is the input and the targets; a short step waits for its copy, a long step hides it. */
static void
test_upload (void)
{
  const char *loss = "linear(16) ! mean-squared-error";
  LigUpload wide = upload_of ("null:h200", loss, "1024x65536");
  g_assert_cmpfloat (wide.bytes, ==, 4.0 * 1024 * (65536 + 16));
  g_assert_cmpfloat_with_epsilon (wide.seconds, wide.bytes / 50e9, 1e-12);
  g_assert_cmpfloat (wide.exposed, >, 0);
  g_assert_cmpfloat (wide.exposed, <, wide.seconds);
  LigUpload deep =
    upload_of ("null:h200", "block(8) { linear(4096) ! gelu } ! mean-squared-error", "4096x4096");
  g_assert_cmpfloat (deep.seconds, >, 0);
  g_assert_cmpfloat (deep.exposed, ==, 0);
  g_assert_cmpfloat (upload_of ("null:h200", "linear(16)", "64x64").seconds, ==, 0);
  g_assert_cmpfloat (upload_of ("cpu", loss, "64x64").seconds, ==, 0);
  g_assert_cmpfloat (upload_of ("null", loss, "64x64").seconds, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/figures/baseline", test_baseline);
  g_test_add_func ("/figures/forces-in-blocks", test_forces_in_blocks);
  g_test_add_func ("/figures/predicted", test_predicted);
  g_test_add_func ("/figures/measured", test_measured);
  g_test_add_func ("/figures/whole-passes", test_whole_passes);
  g_test_add_func ("/figures/sums", test_sums);
  g_test_add_func ("/figures/recalled", test_recalled);
  g_test_add_func ("/figures/unknown", test_unknown);
  g_test_add_func ("/figures/upload", test_upload);
  return g_test_run ();
}
