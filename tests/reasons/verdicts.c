/* SPDX-License-Identifier: MIT */
/* Tests the typed parts of verdicts, their gains, and the order in which they are shown. */
#include "engine/reasons/near-miss.h"
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/tuning.h>
#include <ligature/units.h>

#include <math.h>

static LigPlan *
plan_on (const char *device_name, const char *expression, LigPolicy policy, const LigFix *fix)
{
  LigShape shape;
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  options.input_gradient = TRUE;
  g_autoptr (LigDevice) device = lig_device_open (device_name, &error);
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (2048), G_GINT64_CONSTANT (768));
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  if (fix)
    lig_fix_apply (fix, sequence, &error);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static void
test_parts (void)
{
  static const struct {
    const char *expression, *fusion;
    int first;
    LigReason reason;
    LigEvidenceKind kind;
    const char *name, *path;
    gboolean fits;
  } cases[] = {
    {"linear(64) ! | ! gelu", "forward-bias-activation", 1, LIG_REASON_FENCED, LIG_EVIDENCE_FENCE,
     NULL, "1", TRUE},
    {"linear(64) ! silu", "forward-linear-bias-add", 0, LIG_REASON_PATTERN, LIG_EVIDENCE_NAMES,
     "silu", "1", FALSE},
    {"basic-linear(64)", "backward-linear-bias", 0, LIG_REASON_PATTERN, LIG_EVIDENCE_END, NULL,
     NULL, FALSE},
    {"bias ! make-extra-output(to=mid) ! gelu ! add-extra-input(from=mid)",
     "forward-bias-activation", 0, LIG_REASON_IN_USE, LIG_EVIDENCE_CHANNEL, "mid", "1", TRUE},
    {"bias ! make-extra-output ! gelu", "forward-bias-activation", 0, LIG_REASON_IN_USE,
     LIG_EVIDENCE_CALLER, NULL, "1", TRUE},
    {"linear(64) ! gelu", "forward-bias-activation", 1, LIG_REASON_CLAIMED, LIG_EVIDENCE_GROUP,
     NULL, NULL, TRUE},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LigPlan) plan = plan_on ("null:h200", cases[i].expression, LIG_POLICY_ALL, NULL);
    const LigVerdict *verdict = find_verdict (plan, cases[i].fusion, cases[i].first);
    g_test_message ("%s", verdict->text);
    g_assert_cmpint (verdict->reason, ==, cases[i].reason);
    g_assert_cmpint (verdict->found.kind, ==, cases[i].kind);
    g_assert_cmpstr (verdict->found.names ? verdict->found.names[0] : NULL, ==, cases[i].name);
    g_assert_cmpstr (verdict->found.path, ==, cases[i].path);
    g_assert_cmpint (verdict->fits, ==, cases[i].fits);
  }
}

static void
test_alternatives (void)
{
  g_autoptr (LigPlan) plan =
    plan_on ("null:h200", "linear(64, bias=false) ! dropout", LIG_POLICY_ALL, NULL);
  const LigVerdict *verdict = find_verdict (plan, "forward-linear-bias-activation", 0);
  g_assert_cmpint (verdict->needed.kind, ==, LIG_EVIDENCE_NAMES);
  g_autofree char *joined = g_strjoinv ("|", (char **) verdict->needed.names);
  g_assert_cmpstr (joined, ==, verdict->required);
  g_assert_cmpuint (g_strv_length ((char **) verdict->needed.names), ==, 3);
}

static void
test_group_and_wish (void)
{
  g_autoptr (LigPlan) plan = plan_on ("null:h200", "linear(64) ! gelu", LIG_POLICY_ALL, NULL);
  const LigVerdict *claimed = find_verdict (plan, "forward-bias-activation", 1);
  g_assert_cmpstr (claimed->found.fusion, ==, "forward-linear-bias-activation");
  g_assert_cmpint (claimed->found.first, ==, 0);
  g_assert_cmpint (claimed->found.count, ==, 3);
  g_assert_cmpint (claimed->fix->kind, ==, LIG_FIX_FORCE);
  g_autoptr (LigPlan) none = plan_on ("null:h200", "linear(64) ! gelu", LIG_POLICY_NONE, NULL);
  const LigVerdict *rejected = find_verdict (none, "forward-bias-activation", 1);
  g_assert_cmpint (rejected->reason, ==, LIG_REASON_FORBIDDEN);
  g_assert_cmpint (rejected->found.kind, ==, LIG_EVIDENCE_POLICY);
  g_assert_cmpstr (rejected->found.names[0], ==, "none");
  /* No edit of the sequence changes the policy. */
  g_assert_null (rejected->fix);
}

static double
predict (LigPlan *plan)
{
  double seconds = 0;
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    seconds += steps[i].predicted;
  return seconds * 1e6;
}

/* The gain is the difference between the plans before and after, where both are predicted. */
static void
test_gain (void)
{
  static const char expression[] = "make-extra-output(to=r) ! layer-norm ! linear(3072) ! gelu ! "
                                   "linear(768) ! add-extra-input(from=r)";
  guint count, checked = 0;
  g_autoptr (LigPlan) plan = plan_on ("null:h200", expression, LIG_POLICY_ALL, NULL);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++) {
    const LigVerdict *verdict = &verdicts[i];
    /* If ops become free, other fusions may take them. */
    if (verdict->taken || !verdict->fix || verdict->first == 4)
      continue;
    g_autoptr (LigPlan) edited = plan_on ("null:h200", expression, LIG_POLICY_ALL, verdict->fix);
    g_test_message ("%s: %g", verdict->text, verdict->gain);
    g_assert_false (verdict->gain_measured);
    g_assert_cmpfloat (verdict->fix->gain, ==, verdict->gain);
    g_assert_cmpfloat_with_epsilon (predict (plan) - predict (edited), verdict->gain, 1e-3);
    checked++;
  }
  g_assert_cmpuint (checked, >=, 3);
  /* No time is predicted for a device with unknown peak rates, only bytes are counted. */
  g_autoptr (LigPlan) unpriced = plan_on ("null", expression, LIG_POLICY_ALL, NULL);
  verdicts = lig_plan_get_verdicts (unpriced, &count);
  for (guint i = 0; i < count; i++) {
    g_autofree char *text = lig_verdict_describe_gain (&verdicts[i]);
    g_assert_true (isnan (verdicts[i].gain));
    g_assert_true (isnan (verdicts[i].fused) && isnan (verdicts[i].present));
    if (verdicts[i].taken || isnan (verdicts[i].bytes) || verdicts[i].bytes == 0)
      g_assert_null (text);
    else
      g_assert_true (g_str_has_prefix (text, "would move "));
  }
}

/* If both times come from the tuning table, the gain is measured. */
static gboolean
get_time (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  if (choice)
    *choice = NULL;
  *noise = 0;
  *microseconds = strstr (key, "gelu") ? 30 : 20;
  return !g_str_has_prefix (key, "cover|");
}

static void
put_time (gpointer data, const char *key, double microseconds, double noise, const char *choice)
{
}

static void
test_measured (void)
{
  const LigTuning tuning = {.get = get_time, .put = put_time, .data = NULL};
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  options.tuning = &tuning;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_autoptr (LigSequence) sequence = new_sequence ("linear(64) ! gelu", "64x64");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  /* One kernel of 30 us now; with the fix, kernels of 20 and 30 us. */
  const LigVerdict *verdict = find_verdict (plan, "forward-bias-activation", 1);
  g_autofree char *text = lig_verdict_describe_gain (verdict);
  g_assert_true (verdict->gain_measured && verdict->fix->measured);
  g_assert_cmpfloat_with_epsilon (verdict->gain, -20, 1e-6);
  g_assert_cmpfloat_with_epsilon (verdict->fused - verdict->present, 20, 1e-6);
  g_autofree char *more = lig_units_bytes (-verdict->bytes);
  g_autofree char *expected =
    g_strdup_printf ("would cost 20.0 µs, measured, and move %s more", more);
  g_assert_cmpstr (text, ==, expected);
}

/* Near misses come first, by decreasing gain; patterns that do not fit come last. */
static void
test_order (void)
{
  guint count, n_ops, near = 0;
  g_autoptr (LigPlan) plan =
    plan_on ("null:h200",
             "linear(3072) ! | ! gelu ! linear(768) ! make-extra-output(caller=true) ! gelu ! "
             "linear(64) ! relu",
             LIG_POLICY_ALL, NULL);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  lig_plan_get_ops (plan, &n_ops);
  g_autoptr (GPtrArray) all = lig_verdicts_at (verdicts, count, n_ops, 0, (int) n_ops, TRUE);
  for (guint i = 0; i < all->len; i++) {
    const LigVerdict *verdict = all->pdata[i], *before = i > 0 ? all->pdata[i - 1] : NULL;
    gboolean close = !verdict->taken && verdict->fits && verdict->reason != LIG_REASON_CLAIMED;
    near += close;
    g_assert_true (!close || near == i + 1);
    if (close && before)
      g_assert_cmpfloat (before->gain, >=, verdict->gain);
    g_assert_true (!before || before->reason != LIG_REASON_PATTERN ||
                   verdict->reason == LIG_REASON_PATTERN);
  }
  g_assert_cmpuint (near, >=, 3);
  /* The verdicts on the gap before an op, and on the op. */
  g_autoptr (GPtrArray) gap = lig_verdicts_at (verdicts, count, n_ops, 1, 2, TRUE);
  g_autoptr (GPtrArray) op = lig_verdicts_at (verdicts, count, n_ops, 2, 2, FALSE);
  g_assert_cmpuint (gap->len, >, 0);
  g_assert_cmpuint (op->len, >, gap->len);
  for (guint i = 0; i < gap->len; i++)
    g_assert_true (g_ptr_array_find (op, gap->pdata[i], NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/verdicts/parts", test_parts);
  g_test_add_func ("/verdicts/alternatives", test_alternatives);
  g_test_add_func ("/verdicts/group-and-wish", test_group_and_wish);
  g_test_add_func ("/verdicts/gain", test_gain);
  g_test_add_func ("/verdicts/measured", test_measured);
  g_test_add_func ("/verdicts/order", test_order);
  return g_test_run ();
}
