/* SPDX-License-Identifier: MIT */
/* Tests large plans: compile time grows linearly with their length, not quadratically, and their
 * arenas are as small as those of the reference, which compares each value with all others. */
#include "engine/graph/place.h"
#include "engine/steps/steps.h"
#include "tests/base/slowness.h"
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>

#include <time.h>

/* Returns CPU time, which other programs on the machine do not increase. */
static double
seconds_used (void)
{
  struct timespec now;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

static LigPlanOptions
training_options (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  options.input_gradient = TRUE;
  return options;
}

static int
by_size (gconstpointer a, gconstpointer b)
{
  const LigExtent *x = *(LigExtent *const *) a, *y = *(LigExtent *const *) b;
  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x < y ? -1 : x > y);
}

/* The reference: first fit by comparison with every extent placed before. */
static void
place_one (GPtrArray *placed, LigExtent *extent)
{
  gint64 at = 0;
  guint position = placed->len;
  for (guint i = 0; i < placed->len; i++) {
    const LigExtent *other = placed->pdata[i];
    if (other->last < extent->first || extent->last < other->first)
      continue;
    if (other->offset >= at + extent->bytes)
      break;
    at = MAX (at, other->offset + other->bytes);
  }
  extent->offset = at;
  while (position > 0 && ((LigExtent *) placed->pdata[position - 1])->offset > at)
    position--;
  g_ptr_array_insert (placed, (int) position, extent);
}

static gint64
place_plainly (LigExtent *extents, guint count)
{
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  g_autoptr (GPtrArray) placed = g_ptr_array_new ();
  gint64 top = 0;
  for (guint i = 0; i < count; i++)
    g_ptr_array_add (order, &extents[i]);
  g_ptr_array_sort (order, by_size);
  for (guint i = 0; i < count; i++) {
    LigExtent *extent = order->pdata[i];
    place_one (placed, extent);
    top = MAX (top, extent->offset + extent->bytes);
  }
  return top;
}

static void
check_places (const LigExtent *wanted, guint count, int steps)
{
  g_autofree LigExtent *ours = g_memdup2 (wanted, count * sizeof *wanted);
  g_autofree LigExtent *plain = g_memdup2 (wanted, count * sizeof *wanted);
  gint64 top = lig_place (ours, count, steps);
  g_assert_cmpint (top, ==, place_plainly (plain, count));
  for (guint i = 0; i < count; i++)
    g_assert_cmpint (ours[i].offset, ==, plain[i].offset);
}

/* Random lifetimes and sizes; every other round has few sizes, and nested lifetimes like those of
 * saved values. */
static void
test_random_places (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (19);
  for (int round = 0; round < 400; round++) {
    int steps = g_rand_int_range (random, 1, 200), count = g_rand_int_range (random, 0, 300);
    g_autofree LigExtent *extents = g_new0 (LigExtent, count + 1);
    for (int i = 0; i < count; i++) {
      int first = g_rand_int_range (random, -1, steps + 1);
      int last = g_rand_int_range (random, MAX (first, 0), steps + 1);
      if (round % 2 && g_rand_boolean (random))
        last = MAX (first, steps - first);
      extents[i] = (LigExtent){.bytes = 256 * g_rand_int_range (random, 1, round % 2 ? 4 : 100),
                               .first = first,
                               .last = g_rand_int_range (random, 0, 20) ? last : G_MAXINT};
    }
    check_places (extents, (guint) count, steps);
  }
}

/* Compares the placement of the values of a plan. */
static void
check_plan_places (LigPlan *plan)
{
  guint count, n_steps, used = 0;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  g_autofree LigExtent *extents = g_new0 (LigExtent, count + 1);
  lig_plan_get_steps (plan, &n_steps);
  for (guint i = 0; i < count; i++)
    if (values[i].place == LIG_PLACE_ARENA)
      extents[used++] = (LigExtent){.bytes = (values[i].bytes + 255) / 256 * 256,
                                    .first = values[i].first,
                                    .last = values[i].last};
  check_places (extents, used, (int) n_steps);
}

/* Compiles every example and every sequence with a golden plan, for training and evaluation. */
static void
test_files_places (void)
{
  const char *folders[] = {g_getenv ("LIGATURE_TEST_PLANS"), g_getenv ("LIGATURE_DATA")};
  g_autofree char *examples = folders[1] ? g_build_filename (folders[1], "examples", NULL) : NULL;
  guint plans = 0;
  if (!folders[0] || !examples) {
    g_test_skip (
      "LIGATURE_TEST_PLANS and LIGATURE_DATA are not set to the folders of the sequences");
    return;
  }
  folders[1] = examples;
  for (guint n = 0; n < 4; n++) {
    g_autoptr (GDir) directory = g_dir_open (folders[n / 2], 0, NULL);
    const char *file;
    while ((file = g_dir_read_name (directory))) {
      g_autofree char *path = g_build_filename (folders[n / 2], file, NULL);
      g_autoptr (LigSequence) sequence =
        g_str_has_suffix (file, ".lig") ? lig_sequence_load (path, NULL, NULL) : NULL;
      LigPlanOptions options = training_options ();
      options.training = n % 2;
      g_autoptr (LigPlan) plan =
        sequence ? lig_plan_compile (sequence, cpu_device (), &options, NULL) : NULL;
      if (!plan) /* some golden files are errors */
        continue;
      check_plan_places (plan);
      plans++;
    }
  }
  g_assert_cmpuint (plans, >=, 20);
}

/* A size that exceeds any memory is an error and does not wrap around. */
static void
test_too_much (void)
{
  const gint64 bytes = G_GINT64_CONSTANT (1) << 60;
  LigExtent extents[] = {{bytes, 0, 4, 0}, {bytes / 2, 1, 5, 0}, {bytes / 2, 2, 6, 0}};
  g_assert_cmpint (lig_place (extents, 2, 8), ==, bytes / 2 * 3);
  g_assert_cmpint (lig_place (extents, 3, 8), ==, -1);
  extents[0].bytes = G_MAXINT64 / 2;
  g_assert_cmpint (lig_place (extents, 1, 8), ==, -1);
}

/* Returns the CPU time of compiling a repeated block, and the number of steps. */
static double
compile_seconds (const char *body, int repeat, guint *steps)
{
  LigPlanOptions options = training_options ();
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  options.optimizer = &optimizer;
  g_autofree char *expression = g_strdup_printf ("block(%d) { %s }", repeat, body);
  double start = seconds_used ();
  g_autoptr (LigSequence) sequence = new_sequence (expression, "4x16");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  double seconds = seconds_used () - start;
  lig_plan_get_steps (plan, steps);
  g_test_message ("%s: %u steps in %.2f s", expression, *steps, seconds);
  return seconds;
}

static const char transformer[] =
  "make-extra-output(to=r) ! layer-norm ! linear(32) ! gelu ! linear(16) ! add-extra-input(from=r)";

static void
test_many_steps (void)
{
  guint steps;
  double best = G_MAXDOUBLE;
  /* Other work competes for caches and memory bandwidth, so the best of several runs counts. */
  for (int i = 0; i < 3 && best >= 5 * SLOWNESS; i++)
    best = MIN (best, compile_seconds (transformer, 11200, &steps));
  g_assert_cmpuint (steps, >, 100000);
  g_assert_cmpfloat (best, <, 5 * lig_test_slowness ());
}

/* Tests sequences that are prone to quadratic time, for example by walking all earlier ops for
 * each op. A sequence of four times the length may take about four times as long, but not
 * sixteen. */
static void
test_growth (gconstpointer data)
{
  guint steps;
  compile_seconds (data, 2500, &steps);
  double small = compile_seconds (data, 2500, &steps);
  double large = compile_seconds (data, 20000, &steps);
  g_assert_cmpfloat (large, <, 0.2 * lig_test_slowness () + 8 * 2.5 * small);
}

static void
test_compile_time (void)
{
  g_autoptr (LigSequence) sequence = new_sequence (
    "embedding(64) ! block(77) { make-extra-output(r) ! layer-norm ! linear(256) ! gelu ! "
    "linear(64) ! dropout ! add-extra-input(r) ! rms-norm ! linear(128) ! swiglu } ! linear(10) ! "
    "cross-entropy",
    "64x32:int32");
  LigPlanOptions options = training_options ();
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  options.optimizer = &optimizer;
  double best = G_MAXDOUBLE;
  guint count = 0;
  for (int i = 0; i < 7; i++) {
    double begin = seconds_used ();
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    best = MIN (best, seconds_used () - begin);
    lig_plan_get_ops (plan, &count);
  }
  g_assert_cmpuint (count, >=, 1000);
  g_test_message ("%u ops: %.1f ms", count, best * 1e3);
  g_assert_cmpfloat (best, <, 0.1 * lig_test_slowness ());
}

static LigStatus
do_nothing (LigLaunch *launch)
{
  return LIG_OK;
}

static void
test_replay_time (void)
{
  enum { STEPS = 1000, TIMES = 200 };
  LigSteps *steps = lig_steps_new (STEPS, 1);
  LigStatus status;
  for (int i = 0; i < STEPS; i++)
    steps->steps[i].function = do_nothing;
  double begin = seconds_used ();
  for (int i = 0; i < TIMES; i++)
    g_assert_cmpint (lig_steps_run (steps, 0, STEPS, (LigStepsMode){0}, &status), ==, STEPS);
  double each = (seconds_used () - begin) / STEPS / TIMES;
  g_test_message ("%.1f ns a step", each * 1e9);
  g_assert_cmpfloat (each, <, 200e-9 * lig_test_slowness ());
  lig_steps_free (steps);
}

int
main (int argc, char **argv)
{
  static const char *const bodies[] = {
    "identity",
    "linear(16) ! identity",
    "make-extra-output(to=nobody)",
    "make-extra-output",
    "make-extra-output(to=r) ! add-extra-input(from=r)",
    "gelu",
  };
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile-size/places/random", test_random_places);
  g_test_add_func ("/compile-size/places/files", test_files_places);
  g_test_add_func ("/compile-size/places/too-much", test_too_much);
  g_test_add_func ("/compile-size/many-steps", test_many_steps);
  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++) {
    g_autofree char *path = g_strdup_printf ("/compile-size/growth/%u", i);
    g_test_add_data_func (path, bodies[i], test_growth);
  }
  g_test_add_func ("/compile-size/compile-time", test_compile_time);
  g_test_add_func ("/compile-size/replay-time", test_replay_time);
  return g_test_run ();
}
