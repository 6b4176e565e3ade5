/* SPDX-License-Identifier: MIT */
/* Tests the choice among legal fusions: by force, by order, and by measured, predicted and stored
 * times. The results of a plan never depend on it. */
#include "engine/choose/cover.h"
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/store.h>
#include <ligature/tuning.h>

#include <glib/gstdio.h>
#include <omp.h>

static const LigDtype types[][2] = {
  {LIG_FP32, LIG_FP32}, {LIG_FP16, LIG_FP16}, {LIG_BF16, LIG_BF16},
  {LIG_FP16, LIG_FP32}, {LIG_BF16, LIG_FP32},
};

static LigPlanOptions
options_of (LigPolicy policy, gboolean training, gboolean input_gradient)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  options.training = training;
  options.input_gradient = input_gradient;
  return options;
}

static void
test_forced (void)
{
  LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE, FALSE);
  g_autoptr (LigSequence) sequence =
    new_sequence ("layer-norm ! linear(16) ! gelu ! linear(8)", "5x8");
  force (sequence, "1", "forward-bias-activation");
  force (sequence, "2", "backward-bias-gelu-linear");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  check_groups (plan, "[0] [1] [2 3 forward-bias-activation] [4 5 forward-linear-bias-activation]",
                "[0] [1 2 backward-linear-bias] [3 4 5 backward-bias-gelu-linear]");
  options.policy = LIG_POLICY_NONE;
  g_autoptr (LigPlan) none = compile (sequence, &options);
  check_groups (none, "[0] [1] [2 3 forward-bias-activation] [4] [5]",
                "[0] [1] [2] [3 4 5 backward-bias-gelu-linear]");
  /* In an evaluation plan, a forced backward fusion has no effect and is not an error. */
  options.training = FALSE;
  g_autoptr (LigPlan) evaluation = compile (sequence, &options);
  check_groups (evaluation, "[0] [1] [2 3 forward-bias-activation] [4] [5]", "");
}

static void
check_force_rejected (const char *expression,
                      const char *path,
                      const char *fusion,
                      const char *text)
{
  LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence (expression, "5x8");
  force (sequence, path, fusion);
  check_rejected (sequence, &options, LIG_ERROR_FUSION, text);
}

static void
test_force_rejected (void)
{
  check_force_rejected (
    "bias ! dropout ! gelu", "0", "forward-bias-activation",
    "cannot force at 0: forward-bias-activation: needs an activation or a gated "
    "unit after Bias at 0; Dropout at 1 follows");
  check_force_rejected (
    "bias ! | ! gelu", "0", "forward-bias-activation",
    "cannot force at 0: forward-bias-activation: there is a fence before GELU at 1");
  check_force_rejected (
    "bias ! make-extra-output ! gelu", "0", "forward-bias-activation",
    "cannot force at 0: forward-bias-activation: the caller reads the value of Make branch "
    "at 1, between these rows");
  check_force_rejected ("bias ! gelu", "1", "forward-bias-activation",
                        "cannot force at 1: forward-bias-activation does not begin with gelu");
  check_force_rejected ("bias ! gelu", "1", "forward-nothing",
                        "fusion 'forward-nothing' is unknown");
}

static void
test_force_overlap (void)
{
  LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence ("basic-linear(6) ! bias ! gelu", "5x8");
  force (sequence, "0", "forward-linear-bias-activation");
  force (sequence, "1", "forward-bias-activation");
  check_rejected (sequence, &options, LIG_ERROR_FUSION,
                  "cannot force at 1: forward-bias-activation: Bias at 1 is in "
                  "“forward-linear-bias-activation” at 0 to 2, which is forced");
}

static const char *const mixed[] = {
  "layer-norm ! linear(16) ! gelu ! linear(8)",
  "layer-norm ! linear(16, bias=false) ! swiglu ! linear(8)",
  "make-extra-output(to=r) ! rms-norm ! linear(16) ! relu ! linear(8) ! add-extra-input(from=r)",
  "make-extra-output(a) ! linear(8) ! add-extra-input(a) ! make-extra-output(b) ! layer-norm ! "
  "linear(16) ! qgeglu ! linear(8) ! constant-scale(0.5) ! add-extra-input(b) ! silu",
  "make-extra-output(a) ! make-extra-output(b) ! bias ! make-extra-output(c, caller=true) ! gelu ! "
  "add-extra-input(b) ! add-extra-input ! layer-norm ! add-extra-input(c) ! add-extra-input(a)",
  "linear(8) ! make-extra-output(a) ! bias ! relu ! add-extra-input(a) ! make-extra-output(b) ! "
  "rms-norm ! basic-linear(8) ! constant-scale(-2.5) ! add-extra-input(b) ! l2-normalization",
  "block(3) { make-extra-output(to=r) ! rms-norm ! linear(12) ! silu ! linear(8) ! dropout(0.25) ! "
  "add-extra-input(from=r) }",
};

static void
test_policies (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (mixed); i++)
    for (guint j = 0; j < G_N_ELEMENTS (types); j++)
      for (int training = 0; training < 2; training++) {
        g_autoptr (LigSequence) sequence = new_sequence (mixed[i], "2x5x8");
        LigPlanOptions options = options_of (LIG_POLICY_NONE, training, TRUE);
        options.compute = (int) types[j][0];
        options.parameters = (int) types[j][1];
        g_test_message ("%s in %s", mixed[i], lig_dtype_name (types[j][0]));
        g_autoptr (Results) none = compute (sequence, &options);
        options.policy = LIG_POLICY_ALL;
        g_autoptr (Results) all = compute (sequence, &options);
        compare_results (all, none, plan_tolerance (types[j][0]), mixed[i]);
      }
}

static void
check_times (LigPlan *plan, gboolean predicted)
{
  guint count, legal = 0;
  const LigVerdict *list = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++) {
    if (!list[i].taken && list[i].reason != LIG_REASON_SLOWER)
      continue;
    legal++;
    g_assert_true (g_regex_match_simple ("^[0-9.]+ (ns|µs|ms|s)\\b", list[i].observed, 0, 0));
    g_assert_true (g_regex_match_simple ("^[0-9.]+ (ns|µs|ms|s)\\b", list[i].required, 0, 0));
    g_assert_cmpint (strstr (list[i].observed, "(predicted)") != NULL, ==, predicted);
    g_assert_cmpstr (list[i].found.unit, ==, "us");
    g_assert_cmpfloat (list[i].found.value, >, 0);
    g_assert_cmpfloat (list[i].needed.value, >, 0);
    /* A measured candidate must win by more than its noise, which the verdict does not contain.
     * Predicted whole steps that differ by less than 4 % count as equally fast; of these, the one
     * with every fusion in order is kept, as on a GPU. */
    if (list[i].taken)
      g_assert_cmpfloat (list[i].found.value, <, (predicted ? 1.04 : 0.98) * list[i].needed.value);
    else if (predicted)
      g_assert_cmpfloat (list[i].found.value, >=, 0.98 * list[i].needed.value - 1e-9);
  }
  g_assert_cmpuint (legal, >, 0);
}

static void
test_measured (void)
{
  for (guint i = 0; i < 4; i++) {
    g_autoptr (LigSequence) sequence = new_sequence (mixed[i], "2x5x8");
    LigPlanOptions options = options_of (LIG_POLICY_NONE, TRUE, TRUE);
    g_autoptr (Results) none = compute (sequence, &options);
    options.policy = LIG_POLICY_MEASURED;
    g_autoptr (Results) measured = compute (sequence, &options);
    compare_results (measured, none, 1e-5, mixed[i]);
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    check_times (plan, FALSE);
  }
}

static void
test_predicted (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (mixed); i++) {
    g_autoptr (LigSequence) sequence = new_sequence (mixed[i], "4096x8:bf16");
    LigPlanOptions options = options_of (LIG_POLICY_MEASURED, TRUE, TRUE);
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
    g_assert_no_error (error);
    check_times (plan, TRUE);
  }
}

/* A group that takes longer than its ops says why it was taken. */
static void
test_taken (void)
{
  guint count, slower = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence =
    new_sequence ("layer-norm ! linear(3072) ! gelu ! linear(768)", "2048x768");
  LigPlanOptions options = options_of (LIG_POLICY_MEASURED, TRUE, FALSE);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  const LigVerdict *list = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++)
    if (list[i].taken && list[i].fused > list[i].present) {
      slower++;
      g_assert_true (g_regex_match_simple (
        "^taken; predicted whole steps: [0-9.]+ ms with it, [0-9.]+ ms without; predictions may "
        "err by more than the difference, and it moves [0-9.]+ MB less$",
        list[i].why, 0, 0));
    } else if (list[i].taken) {
      g_assert_cmpstr (list[i].why, ==, "taken");
    }
  g_assert_cmpuint (slower, ==, 1);
}

/* A stored price decides without measuring. */
static gboolean
recall (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  *microseconds = strstr (key, "bias_gelu") ? 50 : 10;
  *noise = 0;
  return TRUE;
}

static void
note (gpointer data, const char *key, double microseconds, double noise, const char *choice)
{
  g_assert_not_reached ();
}

static void
test_remembered (void)
{
  LigTuning tuning = {.get = recall, .put = note, .data = NULL};
  LigPlanOptions options = options_of (LIG_POLICY_MEASURED, FALSE, FALSE);
  options.tuning = &tuning;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(8) ! gelu ! linear(8) ! relu", "5x8");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  /* The matmul with bias and gelu loses, but with only the bias it still wins. */
  check_groups (
    plan, "[0 1 forward-linear-bias-activation] [2] [3 4 5 forward-linear-bias-activation]", "");
}

static gboolean
recall_equal (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  *microseconds = 10;
  *noise = 0;
  return TRUE;
}

/* A joint fusion must beat the best covers of both passes, not only the unfused ops. */
static void
test_joint (void)
{
  static const char *const forbidden[] = {"forward-bias-activation-quantize",
                                          "forward-linear-bias-activation", NULL};
  static const char *const one[] = {"forward-bias-activation-quantize", NULL};
  LigTuning tuning = {.get = recall_equal, .put = note, .data = NULL};
  LigPlanOptions options = options_of (LIG_POLICY_MEASURED, TRUE, FALSE);
  options.tuning = &tuning;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(16) ! gelu ! linear(16)", "16x16");
  lig_sequence_set_recipe (sequence, "fp8-delayed", &error);
  g_assert_no_error (error);
  lig_sequence_set_forbidden (sequence, one);
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  check_groups (plan,
                "[0] [1 2 3 forward-linear-bias-activation] [4 5 forward-quantize] "
                "[6 7 8 forward-linear-bias-activation]",
                "[1] [2 3 4 backward-quantize] [5] [6] [7 8 backward-quantize]");
  lig_sequence_set_forbidden (sequence, forbidden);
  g_autoptr (LigPlan) joint = compile (sequence, &options);
  check_groups (joint, "[0] [1] [2 3 4 5 joint-bias-activation-quantize] [6] [7] [8]",
                "[1] [2 3 4 5 joint-bias-activation-quantize] [6] [7 8 backward-quantize]");
}

/* The fused and the unfused time differ by 20 %: enough, unless the noise is as large. */
static gboolean
recall_noisy (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  *microseconds = strstr (key, "bias_gelu") ? 16 : 10;
  *noise = *(const double *) data;
  return TRUE;
}

static void
test_noise (void)
{
  double noise = 0.1;
  LigTuning tuning = {.get = recall_noisy, .put = note, .data = &noise};
  LigPlanOptions options = options_of (LIG_POLICY_MEASURED, FALSE, FALSE);
  options.tuning = &tuning;
  g_autoptr (LigSequence) sequence = new_sequence ("bias ! gelu", "5x8");
  g_autoptr (LigPlan) sure = compile (sequence, &options);
  check_groups (sure, "[0 1 forward-bias-activation]", "");
  noise = 5;
  g_autoptr (LigPlan) unsure = compile (sequence, &options);
  check_groups (unsure, "[0] [1]", "");
}

/* A store in a temporary folder, with counts of its measurements and writes. */
typedef struct {
  char *folder, *path;
  LigStore *store;
  LigTuning inner, tuning;
  guint puts;
} CountedStore;

static gboolean
get_counted (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  CountedStore *counted = data;
  return counted->inner.get (counted->inner.data, key, microseconds, noise, choice);
}

static void
put_counted (gpointer data, const char *key, double microseconds, double noise, const char *choice)
{
  CountedStore *counted = data;
  counted->puts++;
  counted->inner.put (counted->inner.data, key, microseconds, noise, choice);
}

static void
open_counted (CountedStore *counted)
{
  g_autoptr (GError) error = NULL;
  counted->folder = g_dir_make_tmp ("ligature-XXXXXX", &error);
  g_assert_no_error (error);
  counted->path = g_build_filename (counted->folder, "store.db", NULL);
  counted->store = lig_store_open (counted->path, &error);
  g_assert_no_error (error);
  lig_tuning_init (&counted->inner, counted->store);
  counted->tuning = (LigTuning){.get = get_counted, .put = put_counted, .data = counted};
  counted->puts = 0;
}

static void
close_counted (CountedStore *counted)
{
  static const char *const suffixes[] = {"", "-wal", "-shm"};
  g_clear_object (&counted->store);
  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++) {
    g_autofree char *path = g_strconcat (counted->path, suffixes[i], NULL);
    g_unlink (path);
  }
  g_rmdir (counted->folder);
  g_free (counted->path);
  g_free (counted->folder);
}

static char *
choose_from (CountedStore *counted, const char *expression, const char *input)
{
  LigPlanOptions options = options_of (LIG_POLICY_MEASURED, TRUE, TRUE);
  options.tuning = &counted->tuning;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  return lig_plan_get_choices (plan);
}

/* The same store always gives the same groups, and each is measured once. */
static void
test_same_store (void)
{
  CountedStore counted;
  open_counted (&counted);
  for (guint i = 0; i < G_N_ELEMENTS (mixed); i++) {
    g_autofree char *first = choose_from (&counted, mixed[i], "2x5x8");
    g_assert_cmpuint (counted.puts, >, 0);
    counted.puts = 0;
    for (int again = 0; again < 5; again++) {
      g_autofree char *next = choose_from (&counted, mixed[i], "2x5x8");
      g_assert_cmpstr (next, ==, first);
    }
    g_assert_cmpuint (counted.puts, ==, 0);
    /* The next sequence then has something to measure. */
    close_counted (&counted);
    open_counted (&counted);
  }
  close_counted (&counted);
}

/* If another process has stored a price first, that price is kept. */
static void
test_first_price_stays (void)
{
  double microseconds, noise;
  CountedStore counted;
  open_counted (&counted);
  counted.inner.put (counted.inner.data, "a key", 12.5, 0.25, NULL);
  counted.inner.put (counted.inner.data, "a key", 99, 9, NULL);
  g_assert_true (counted.inner.get (counted.inner.data, "a key", &microseconds, &noise, NULL));
  g_assert_cmpfloat (microseconds, ==, 12.5);
  g_assert_cmpfloat (noise, ==, 0.25);
  close_counted (&counted);
}

/* A time measured with other threads or params does not apply. */
static void
test_other_keys (void)
{
  int threads = omp_get_max_threads ();
  CountedStore counted;
  open_counted (&counted);
  g_autofree char *two = choose_from (&counted, "bias ! gelu", "64x64");
  counted.puts = 0;
  omp_set_num_threads (threads == 1 ? 2 : 1);
  g_autofree char *one = choose_from (&counted, "bias ! gelu", "64x64");
  g_assert_cmpuint (counted.puts, >, 0);
  omp_set_num_threads (threads);
  counted.puts = 0;
  g_autofree char *again = choose_from (&counted, "bias ! gelu", "64x64");
  g_assert_cmpuint (counted.puts, ==, 0);
  g_assert_cmpstr (again, ==, two);
  g_autofree char *plain = choose_from (&counted, "bias ! clamped-swiglu(limit=7)", "64x64");
  g_assert_cmpuint (counted.puts, >, 0);
  counted.puts = 0;
  g_autofree char *other = choose_from (&counted, "bias ! clamped-swiglu(limit=3)", "64x64");
  g_assert_cmpuint (counted.puts, >, 0);
  close_counted (&counted);
}

/* Repetitions differ only in the path of their random numbers, and are measured once. */
static void
test_repetitions (void)
{
  guint puts[2];
  for (int i = 0; i < 2; i++) {
    CountedStore counted;
    open_counted (&counted);
    g_autofree char *expression =
      g_strdup_printf ("block(%d) { bias ! gelu ! dropout(0.5) }", i == 0 ? 2 : 4);
    g_autofree char *choices = choose_from (&counted, expression, "64x64");
    puts[i] = counted.puts;
    close_counted (&counted);
  }
  g_assert_cmpuint (puts[0], ==, puts[1]);
}

static void
test_judge (void)
{
  const LigPrice clear[] = {{10.282e-3, 1e-5, TRUE}, {10.5e-3, 1e-5, TRUE}, {10.2e-3, 1e-5, TRUE}};
  const LigPrice even[] = {{10.22e-3, 1e-5, TRUE}, {10.2e-3, 1e-5, TRUE}, {10.4e-3, 1e-5, TRUE}};
  const LigPrice gains[] = {{9.8e-3, 1e-5, TRUE}, {10.5e-3, 1e-5, TRUE}, {10.2e-3, 1e-5, TRUE}};
  const LigPrice wild[] = {{9.9e-3, 3e-4, TRUE}, {10.5e-3, 1e-5, TRUE}, {10.2e-3, 1e-5, TRUE}};
  const double bytes[] = {5e9, 6e9, 5.5e9};
  /* A difference of 0.75 % decides, regardless of the order of the proposals. */
  g_assert_cmpuint (lig_cover_judge (clear, bytes, 3, FALSE), ==, 2);
  /* Bytes decide between equal times. */
  g_assert_cmpuint (lig_cover_judge (even, bytes, 3, FALSE), ==, 0);
  g_assert_cmpuint (lig_cover_judge (clear, bytes, 1, FALSE), ==, 0);
  /* A variation must win by more than one percent plus the noise. */
  g_assert_cmpuint (lig_cover_judge (gains, bytes, 3, TRUE), ==, 0);
  g_assert_cmpuint (lig_cover_judge (wild, bytes, 3, TRUE), ==, 2);
  g_assert_cmpuint (lig_cover_judge (even, bytes, 3, TRUE), ==, 1);
}

/* Clocks that differ by 6 % between rounds do not hide a difference of 2 %; noise in only one of
 * the lists remains. */
static void
test_level (void)
{
  enum { TURNS = 6 };
  static const double clocks[TURNS] = {1, 1.06, 0.97, 1.03, 0.98, 1.05};
  static const double scatter[TURNS] = {0.004, -0.004, 0.004, -0.004, 0.004, -0.004};
  double first[TURNS], second[TURNS], alone[TURNS] = {1, 2, 3, 4, 5, 6};
  double *const both[] = {first, second}, *const one[] = {alone};
  for (int i = 0; i < TURNS; i++) {
    first[i] = 1e-3 * clocks[i];
    second[i] = 0.98e-3 * clocks[i] * (1 + scatter[i]);
  }
  lig_price_level (both, 2, TURNS);
  double min = INFINITY, max = 0;
  for (int i = 0; i < TURNS; i++) {
    g_assert_cmpfloat (second[i], <, first[i] * 0.99);
    min = MIN (min, second[i]);
    max = MAX (max, second[i]);
  }
  g_assert_cmpfloat (max / min, <, 1.02);
  g_assert_cmpfloat (max / min, >, 1.004);
  lig_price_level (one, 1, TURNS);
  g_assert_cmpfloat (alone[5], ==, 6);
}

/* The reported progress of measuring. */
static double first_share, last_share;
static guint n_shares;

static void
note_share (const char *what, double seconds, double share)
{
  g_assert_cmpfloat (share, >=, n_shares ? last_share : 0);
  g_assert_cmpfloat (share, <=, 1);
  first_share = n_shares ? first_share : share;
  last_share = share;
  n_shares++;
}

/* Progress increases; a compilation with known prices measures nothing. */
static void
test_progress (void)
{
  CountedStore counted;
  open_counted (&counted);
  LigPlanOptions options = options_of (LIG_POLICY_MEASURED, TRUE, TRUE);
  options.tuning = &counted.tuning;
  g_autoptr (LigSequence) sequence =
    new_sequence ("layer-norm ! linear(32) ! gelu ! linear(16) ! relu", "8x16");
  lig_tuning_set_monitor (note_share);
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_assert_cmpuint (n_shares, >, 3);
  g_assert_cmpfloat (first_share, ==, 0);
  g_assert_cmpfloat (last_share, >, 0.4);
  n_shares = 0;
  g_autoptr (LigPlan) again = compile (sequence, &options);
  g_assert_cmpuint (n_shares, ==, 0);
  lig_tuning_set_monitor (NULL);
  close_counted (&counted);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policies/forced", test_forced);
  g_test_add_func ("/policies/force-rejected", test_force_rejected);
  g_test_add_func ("/policies/force-overlap", test_force_overlap);
  g_test_add_func ("/policies/policies", test_policies);
  g_test_add_func ("/policies/measured", test_measured);
  g_test_add_func ("/policies/predicted", test_predicted);
  g_test_add_func ("/policies/taken", test_taken);
  g_test_add_func ("/policies/remembered", test_remembered);
  g_test_add_func ("/policies/noise", test_noise);
  g_test_add_func ("/policies/same-store", test_same_store);
  g_test_add_func ("/policies/joint", test_joint);
  g_test_add_func ("/policies/first-price-stays", test_first_price_stays);
  g_test_add_func ("/policies/other-keys", test_other_keys);
  g_test_add_func ("/policies/repetitions", test_repetitions);
  g_test_add_func ("/policies/judge", test_judge);
  g_test_add_func ("/policies/level", test_level);
  g_test_add_func ("/policies/progress", test_progress);
  return g_test_run ();
}
