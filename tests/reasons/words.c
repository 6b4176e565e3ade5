/* SPDX-License-Identifier: MIT */
/* Tests the words of verdicts: titles, rows instead of expanded indexes, folded lists, bytes and
 * both times; dropping a force, lifting a ban, and choosing the policy that measures. */
#include "engine/reasons/near-miss.h"
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/tuning.h>
#include <ligature/units.h>

#include <math.h>

static LigPlan *
compile_on (const char *name, LigSequence *sequence, LigPolicy policy)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  options.input_gradient = TRUE;
  g_autoptr (LigDevice) device = lig_device_open (name, &error);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* Compiles for an H200 whose kernels cost nothing beyond its peak rates. */
static LigPlan *
compile_by_peak_rates (LigSequence *sequence, LigPolicy policy)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  LigDeviceFacts facts = *lig_device_get_facts (device);
  facts.costs.known = FALSE;
  lig_device_set_facts (device, &facts);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static LigPlan *
plan_of (const char *expression, LigPolicy policy)
{
  g_autoptr (LigSequence) sequence = new_sequence (expression, "256x64");
  return compile_on ("null:h200", sequence, policy);
}

static const char residual[] = "make-extra-output(to=r) ! layer-norm ! linear(64) ! gelu ! "
                               "linear(64) ! add-extra-input(from=r)";

/* A title names the ops at hand, backward their gradients; a pattern that does not fit is named by
 * the fusion. */
static void
test_titles (void)
{
  static const struct {
    const char *expression, *fusion;
    int first;
    const char *title;
  } cases[] = {
    {residual, "forward-linear-bias-activation", 2, "Linear + bias + GELU"},
    {residual, "forward-linear-bias-add", 5, "Linear + bias + residual"},
    {residual, "backward-bias-gelu-linear", 3, "GELU's gradient + Linear's input gradient"},
    {residual, "backward-activation-bias", 3, "Linear's bias gradient + GELU's gradient"},
    {residual, "backward-linear-bias", 5, "Linear's weight and bias gradient"},
    {residual, "backward-add-norm", 0, "Branch gradient + Layer norm's gradient"},
    {residual, "forward-linear-scale-add", 2, "Scales and adds the residual in the matmul"},
    {"bias ! | ! silu", "backward-activation-bias", 0, "Bias's gradient + SiLU's gradient"},
    {"make-extra-output(to=r) ! linear(64) ! add-extra-input(from=r)", "backward-linear-add", 0,
     "Branch gradient + Linear's input gradient"},
    {"basic-linear(64) ! constant-scale(2)", "backward-linear-scale", 0,
     "Basic linear's gradients + Constant scale's gradient"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LigPlan) plan = plan_of (cases[i].expression, LIG_POLICY_ALL);
    const LigVerdict *verdict = find_verdict (plan, cases[i].fusion, cases[i].first);
    g_assert_cmpstr (verdict->title, ==, cases[i].title);
    g_assert_true (g_str_has_suffix (verdict->text, verdict->why));
  }
}

/* Reasons name rows by op and path; long lists of accepted ops are folded. */
static void
test_reasons (void)
{
  static const struct {
    const char *expression, *fusion;
    int first;
    const char *why;
  } cases[] = {
    {"linear(64) ! dropout", "forward-bias-activation", 1,
     "needs an activation or a gated unit after Bias of Linear at 0; Dropout at 1 follows"},
    {"linear(64, bias=false) ! dropout", "forward-linear-bias-activation", 0,
     "needs a bias, GELU or ReLU after Linear at 0; Dropout at 1 follows"},
    {"relu ! add-extra-input ! relu", "forward-add-norm", 1,
     "needs a branch or a norm after Add branch at 1; ReLU at 2 follows"},
    {"relu ! bias", "forward-bias-activation", 1,
     "needs an activation or a gated unit after Bias at 1; the sequence ends"},
    {"relu ! bias ! | ! gelu", "forward-bias-activation", 1, "there is a fence before GELU at 2"},
    {"bias ! make-extra-output(to=mid) ! gelu ! add-extra-input(from=mid)",
     "forward-bias-activation", 0,
     "the channel mid reads the value of Make branch at 1, between these rows"},
    {"bias ! make-extra-output ! gelu", "forward-bias-activation", 0,
     "the caller reads the value of Make branch at 1, between these rows"},
    {"linear(64) ! gelu", "forward-bias-activation", 1,
     "Bias of Linear at 0 is already in “Linear + bias + GELU” at 0 to 1"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LigPlan) plan = plan_of (cases[i].expression, LIG_POLICY_ALL);
    g_assert_cmpstr (find_verdict (plan, cases[i].fusion, cases[i].first)->why, ==, cases[i].why);
  }
}

/* The rows that people see are those of the first repetition. */
static void
test_repetitions (void)
{
  guint count;
  g_autofree char *expression = g_strdup_printf ("relu ! block(12) { %s }", residual);
  g_autoptr (LigPlan) plan = plan_of (expression, LIG_POLICY_ALL);
  g_autoptr (GRegex) later = g_regex_new ("\\b1\\.[1-9]|#[0-9]|\\[[0-9]", 0, 0, NULL);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++) {
    const LigFix *fix = verdicts[i].fix;
    const char *texts[] = {verdicts[i].title, verdicts[i].text, verdicts[i].observed,
                           verdicts[i].required, fix ? fix->path : NULL};
    for (guint k = 0; k < G_N_ELEMENTS (texts); k++)
      if (texts[k] && g_regex_match (later, texts[k], 0, NULL))
        g_error ("expanded: %s", texts[k]);
  }
  g_assert_cmpuint (count, >, 150);
  /* A fusion that ends in the next repetition says so. */
  g_autoptr (LigPlan) round = plan_of ("relu ! block(3) { silu ! dropout ! bias }", LIG_POLICY_ALL);
  const LigVerdict *verdict = find_verdict (round, "forward-bias-activation", 3);
  g_assert_true (verdict->taken);
  g_autoptr (LigPlan) apart = plan_of ("relu ! block(3) { dropout ! bias }", LIG_POLICY_ALL);
  g_assert_cmpstr (
    find_verdict (apart, "forward-bias-activation", 2)->why, ==,
    "needs an activation or a gated unit after Bias at 1.0.1; Dropout at 1.0.0 of the "
    "next repetition follows");
}

/* --- Bytes and times ----------------------------------------------------------------------- */

static double
count_bytes (LigPlan *plan, LigPass pass)
{
  guint count;
  double bytes = 0;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = 0; i < count; i++)
    bytes += groups[i].bytes;
  return bytes;
}

/* The bytes of a verdict are those that the plan moves less once the edit is made. */
static void
test_bytes (void)
{
  guint count, checked = 0;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(256) ! | ! gelu ! linear(64)", "512x64");
  g_autoptr (LigPlan) plan = compile_on ("null:h200", sequence, LIG_POLICY_ALL);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++) {
    const LigVerdict *verdict = &verdicts[i];
    if (verdict->taken || !verdict->fix || verdict->fix->kind != LIG_FIX_FORCE)
      continue;
    g_autoptr (GError) error = NULL;
    g_autoptr (LigSequence) edited = lig_sequence_copy (sequence);
    g_assert_true (lig_fix_apply (verdict->fix, edited, &error));
    g_autoptr (LigPlan) after = compile_on ("null:h200", edited, LIG_POLICY_ALL);
    double less = count_bytes (plan, verdict->pass) - count_bytes (after, verdict->pass);
    g_test_message ("%s: %g", verdict->text, verdict->bytes);
    g_assert_cmpfloat_with_epsilon (verdict->bytes, less, 1);
    g_assert_cmpfloat (verdict->fix->bytes, ==, verdict->bytes);
    checked++;
  }
  g_assert_cmpuint (checked, >=, 1);
  /* A fusion that is kept out is judged by the values between its ops: pre-activation, 512 x 256.
   */
  const LigVerdict *fenced = find_verdict (plan, "forward-bias-activation", 1);
  g_assert_cmpfloat (fenced->bytes + 2.0 * 512 * 256 * 4, <, 1e7);
  g_assert_false (isnan (fenced->bytes));
  /* One that was taken, by its ops alone. */
  g_autoptr (LigPlan) none = compile_on ("null:h200", sequence, LIG_POLICY_NONE);
  const LigVerdict *taken = find_verdict (plan, "forward-linear-bias-activation", 0);
  g_assert_true (taken->taken);
  g_assert_cmpfloat (taken->bytes, >, 0);
  g_assert_cmpfloat (taken->bytes, <=,
                     count_bytes (none, LIG_PASS_FORWARD) - count_bytes (plan, LIG_PASS_FORWARD) +
                       1);
}

/* Every kernel with a GELU takes 30 µs, any other 20 µs, each with a spread of 0.8 µs. */
static gboolean
get_time (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  if (choice)
    *choice = NULL;
  *noise = 0.4;
  *microseconds = strstr (key, "gelu") ? 30 : 20;
  return !g_str_has_prefix (key, "cover|");
}

static void
put_time (gpointer data, const char *key, double microseconds, double noise, const char *choice)
{
}

static void
test_times (void)
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
  /* The matmul alone and bias with GELU, against one kernel. */
  g_autofree char *rejected =
    lig_verdict_describe_times (find_verdict (plan, "forward-bias-activation", 1));
  g_assert_cmpstr (rejected, ==, "measured: 50.0 ± 0.4 µs fused, 30.0 ± 0.4 µs currently");
  g_autofree char *taken =
    lig_verdict_describe_times (find_verdict (plan, "forward-linear-bias-activation", 0));
  g_assert_cmpstr (taken, ==, "measured: 30.0 ± 0.4 µs fused, 70.0 ± 1.2 µs unfused");
}

/* Fused kernels take 40.1 µs, less than single ones by less than the noise. */
static gboolean
get_close_time (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  if (choice)
    *choice = NULL;
  *noise = 2;
  *microseconds = strstr (key, "bias_gelu") ? 40.1 : 20.2;
  return !g_str_has_prefix (key, "cover|");
}

static void
test_noise (void)
{
  const LigTuning tuning = {.get = get_close_time, .put = put_time, .data = NULL};
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_MEASURED;
  options.tuning = &tuning;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_autoptr (LigSequence) sequence = new_sequence ("bias ! gelu", "64x64");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  const LigVerdict *verdict = find_verdict (plan, "forward-bias-activation", 0);
  g_assert_cmpint (verdict->reason, ==, LIG_REASON_SLOWER);
  g_assert_cmpfloat (verdict->gain, ==, 0);
  g_assert_cmpstr (verdict->why, ==,
                   "measured: 40.1 ± 2 µs fused, 40.4 ± 4 µs currently; the difference is "
                   "within 2 % or the noise");
}

/* --- Fixes --------------------------------------------------------------------------------- */

static void
force_first (LigSequence *sequence, int index, const char *fusion)
{
  const char *const names[] = {fusion, NULL};
  lig_op_set_forced (lig_sequence_get (sequence, index, NULL), names);
}

/* A force keeps out what the policy would take: it is dropped. */
static void
test_unforce (void)
{
  static const LigPolicy policies[] = {LIG_POLICY_ALL, LIG_POLICY_MEASURED};
  for (guint i = 0; i < G_N_ELEMENTS (policies); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigSequence) sequence = new_sequence ("linear(256) ! relu ! gelu", "512x64");
    force_first (sequence, 0, "forward-bias-activation");
    g_autoptr (LigPlan) plan = compile_on ("null:h200", sequence, policies[i]);
    const LigVerdict *verdict = find_verdict (plan, "forward-linear-bias-activation", 0);
    g_assert_cmpint (verdict->reason, ==, LIG_REASON_CLAIMED);
    g_assert_cmpstr (verdict->why, ==,
                     "Bias of Linear at 0 is in “Bias + ReLU” at 0 to 1, which is "
                     "forced");
    g_assert_cmpint (verdict->fix->kind, ==, LIG_FIX_UNFORCE);
    g_assert_cmpstr (lig_fix_kind_name (verdict->fix->kind), ==, "unforce");
    g_assert_cmpstr (verdict->fix->path, ==, "0");
    g_assert_cmpstr (verdict->fix->value, ==, "forward-bias-activation");
    g_assert_cmpfloat (verdict->fix->gain, >, 0);
    g_autofree char *text = lig_fix_describe (verdict->fix);
    g_assert_cmpstr (text, ==, "do not force forward-bias-activation at 0");
    g_assert_true (lig_fix_apply (verdict->fix, sequence, &error));
    g_autoptr (LigPlan) after = compile_on ("null:h200", sequence, policies[i]);
    g_assert_true (find_verdict (after, "forward-linear-bias-activation", 0)->taken);
  }
}

/* If the policy would take the forced fusion anyway, the other one is forced in its place. */
static void
test_replaced (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(256) ! gelu ! linear(64)", "512x64");
  force_first (sequence, 0, "backward-activation-bias");
  g_autoptr (LigPlan) plan = compile_on ("null:h200", sequence, LIG_POLICY_ALL);
  const LigVerdict *verdict = find_verdict (plan, "backward-bias-gelu-linear", 1);
  g_assert_cmpint (verdict->fix->kind, ==, LIG_FIX_FORCE);
  g_assert_cmpstr (verdict->fix->value, ==, "backward-activation-bias@0");
  g_autofree char *text = lig_fix_describe (verdict->fix);
  g_assert_cmpstr (text, ==,
                   "force backward-bias-gelu-linear@0 instead of backward-activation-bias@0");
  g_assert_true (lig_fix_apply (verdict->fix, sequence, &error));
  g_autoptr (LigPlan) after = compile_on ("null:h200", sequence, LIG_POLICY_ALL);
  g_assert_true (find_verdict (after, "backward-bias-gelu-linear", 1)->taken);
}

/* A ban everywhere is lifted everywhere, and no op is named. */
static void
test_unforbid (void)
{
  static const char *const names[] = {"forward-linear-bias-activation", NULL};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(64) ! gelu", "64x64");
  lig_sequence_set_forbidden (sequence, names);
  g_autoptr (LigPlan) plan = compile_on ("null:h200", sequence, LIG_POLICY_ALL);
  const LigVerdict *verdict = find_verdict (plan, names[0], 0);
  g_assert_cmpstr (verdict->why, ==, "forbidden everywhere");
  g_assert_cmpint (verdict->fix->kind, ==, LIG_FIX_UNFORBID);
  g_assert_null (verdict->fix->path);
  g_autofree char *text = lig_fix_describe (verdict->fix);
  g_assert_cmpstr (text, ==, "allow forward-linear-bias-activation everywhere");
  g_assert_true (lig_fix_apply (verdict->fix, sequence, &error));
  g_assert_null (lig_sequence_get_forbidden (sequence)[0]);
}

/* Policy `all` leaves a gain: on a device that measures, that policy is offered. It is an option
 * and no edit. */
static void
test_policy (void)
{
  static const char expression[] = "linear(256) ! gelu ! linear(64)";
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "512x64");
  g_autofree char *before = lig_sequence_to_json (sequence);
  g_autoptr (LigPlan) described = compile_by_peak_rates (sequence, LIG_POLICY_ALL);
  const LigVerdict *left = find_verdict (described, "backward-bias-gelu-linear", 1);
  g_assert_cmpfloat (left->gain, >, 0);
  g_assert_true (g_str_has_suffix (left->why, "policy all takes the first match, not the "
                                              "fastest"));
  g_assert_null (left->alternative);
  g_autoptr (LigPlan) plan = compile_on ("cpu", sequence, LIG_POLICY_ALL);
  guint count, offered = 0;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++) {
    const LigFix *fix = verdicts[i].alternative;
    if (!fix)
      continue;
    offered++;
    g_assert_false (verdicts[i].gain <= 0);
    g_assert_cmpint (fix->kind, ==, LIG_FIX_CHOOSE_POLICY);
    g_assert_cmpstr (lig_fix_kind_name (fix->kind), ==, "choose-policy");
    g_assert_cmpstr (fix->value, ==, "measured");
    g_assert_true (lig_plan_find_fix (plan, fix->number, &error)->kind == fix->kind);
    g_assert_false (lig_fix_is_edit (fix));
    g_assert_false (lig_fix_apply (fix, sequence, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FUSION);
    g_clear_error (&error);
  }
  g_assert_cmpuint (offered, >, 0);
  g_autofree char *after = lig_sequence_to_json (sequence);
  g_assert_cmpstr (before, ==, after);
}

/* One entry a fusion, that it was taken before all, else the most important one. */
static void
test_about (void)
{
  guint count, n_ops;
  g_autoptr (LigPlan) plan = plan_of (residual, LIG_POLICY_ALL);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  lig_plan_get_ops (plan, &n_ops);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    g_autoptr (GPtrArray) every =
      lig_verdicts_at (verdicts, count, n_ops, 0, (int) n_ops - 1, FALSE);
    g_autoptr (GPtrArray) list =
      lig_verdicts_about (verdicts, count, n_ops, 0, (int) n_ops - 1, FALSE, pass);
    g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
    for (guint i = 0; i < list->len; i++) {
      const LigVerdict *verdict = list->pdata[i];
      g_assert_true (verdict->pass == pass || verdict->pass == LIG_PASS_JOINT);
      g_assert_true (g_hash_table_add (seen, (gpointer) verdict->fusion));
      for (guint k = 0; k < every->len; k++) {
        const LigVerdict *other = every->pdata[k];
        g_assert_true (other->fusion != verdict->fusion || !other->taken || verdict->taken);
      }
    }
    g_assert_cmpuint (list->len, >, 2);
    g_assert_cmpuint (list->len, <, every->len);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/words/titles", test_titles);
  g_test_add_func ("/words/reasons", test_reasons);
  g_test_add_func ("/words/repetitions", test_repetitions);
  g_test_add_func ("/words/bytes", test_bytes);
  g_test_add_func ("/words/times", test_times);
  g_test_add_func ("/words/noise", test_noise);
  g_test_add_func ("/words/unforce", test_unforce);
  g_test_add_func ("/words/replaced", test_replaced);
  g_test_add_func ("/words/unforbid", test_unforbid);
  g_test_add_func ("/words/policy", test_policy);
  g_test_add_func ("/words/about", test_about);
  return g_test_run ();
}
