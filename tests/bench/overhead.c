/* SPDX-License-Identifier: MIT */
/* Host overhead: compiling a long sequence, replaying steps, use of the arena, the store. Each line
 * has the measurement and its limit; an exceeded limit makes the exit code 1. */
#include "engine/program/private.h"
#include <ligature/compile.h>
#include <ligature/kernels.h>
#include <ligature/store.h>

#include <glib/gstdio.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int missed;

static double
now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static void
tell (const char *what, double value, double bar, const char *unit)
{
  gboolean fine = value <= bar;
  missed += !fine;
  printf ("%-52s %10.3g %-4s bar %g  %s\n", what, value, unit, bar, fine ? "ok" : "MISSED");
}

static LigSequence *
long_sequence (void)
{
  g_autoptr (LigSequence) part =
    lig_sequence_from_expression ("make-extra-output(to=r) ! layer-norm ! linear(64) ! gelu ! "
                                  "linear(32) ! add-extra-input(from=r)"
                                  " ! rms-norm ! linear(64) ! swiglu",
                                  NULL);
  LigSequence *sequence = lig_sequence_new ();
  LigOp *block = lig_op_new ("block", NULL);
  g_object_set (block, "repeat", (gint64) 84, NULL);
  lig_sequence_extend (lig_op_get_body (block), part);
  lig_sequence_append (sequence, block, NULL);
  g_object_unref (block);
  LigShape input;
  lig_shape_init (&input, 2, (gint64) 16, (gint64) 32);
  lig_sequence_set_input (sequence, &input, LIG_FP32);
  return sequence;
}

static void
measure_compile (void)
{
  g_autoptr (LigSequence) sequence = long_sequence ();
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", NULL);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  double best = G_MAXDOUBLE;
  guint ops = 0;
  for (int i = 0; i < 7; i++) {
    g_autoptr (GError) error = NULL;
    double begin = now ();
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
    best = MIN (best, now () - begin);
    if (plan)
      lig_plan_get_ops (plan, &ops);
    else
      printf ("compile: %s\n", error->message);
  }
  g_autofree char *what = g_strdup_printf ("compile %u ops for training", ops);
  tell (what, best * 1e3, 100, "ms");
}

static void
measure_replay (void)
{
  enum { STEPS = 10000, ROUNDS = 21 };
  LigSteps *steps = lig_steps_new (STEPS, STEPS);
  const LigKernel *kernel = lig_kernel_find ("add");
  double best = G_MAXDOUBLE;
  for (int i = 0; i < STEPS; i++) {
    steps->steps[i].function = kernel->functions[LIG_BACKEND_NULL];
    steps->steps[i].launch.operands = &steps->operands[i];
  }
  for (int round = 0; round < ROUNDS; round++) {
    LigStatus status;
    double begin = now ();
    lig_steps_run (steps, 0, STEPS, (LigStepsMode){0}, &status);
    best = MIN (best, now () - begin);
  }
  lig_steps_free (steps);
  tell ("replay, host time of a step on the null backend", best / STEPS * 1e9, 200, "ns");
}

static void
measure_arena (void)
{
  g_autoptr (LigSequence) sequence =
    lig_sequence_from_expression ("layer-norm ! linear(1024) ! gelu ! linear(256)", NULL);
  g_autoptr (LigDevice) device = lig_device_open ("cpu", NULL);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape input;
  lig_shape_init (&input, 2, (gint64) 4096, (gint64) 256);
  lig_sequence_set_input (sequence, &input, LIG_FP32);
  g_autoptr (LigState) state = lig_state_new (sequence, device, &options, 0, NULL);
  g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, &options, NULL);
  g_autoptr (LigProgram) program = lig_program_new (plan, state, NULL);
  gint64 bytes = lig_plan_get_arena_bytes (plan, NULL);
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &input, NULL);
  lig_program_set_input (program, tensor, NULL);
  lig_program_run (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD, NULL);
  gsize page = (gsize) sysconf (_SC_PAGESIZE), touched = 0;
  char *first = (char *) (((gsize) program->arena + page - 1) / page * page);
  gsize pages = ((gsize) bytes - (gsize) (first - program->arena)) / page;
  g_autofree guchar *resident = g_malloc (pages);
  if (mincore (first, pages * page, resident) == 0)
    for (gsize i = 0; i < pages; i++)
      touched += resident[i] & 1;
  double share = 100.0 * (double) touched / (double) pages;
  tell ("arena bytes predicted and not touched", 100 - share, 5, "%");
}

static void
measure_metrics (void)
{
  enum { METRICS = 100000 };
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "ligature-bench.db", NULL);
  g_unlink (path);
  g_autoptr (LigStore) store = lig_store_open (path, NULL);
  LigRunRecord record = {.name = "bench",
                         .sequence = "{}",
                         .kind = "train",
                         .device = "cpu",
                         .dtype = "fp32",
                         .recipe = "none",
                         .policy = "all",
                         .settings = "{}",
                         .versions = "{}"};
  g_autofree char *run = store ? lig_store_begin_run (store, &record, NULL) : NULL;
  if (!run)
    return;
  double begin = now ();
  for (int i = 0; i < METRICS; i++)
    lig_store_add_metric (store, run, i, "loss", 1.0 / (i + 1));
  double queued = now () - begin;
  lig_store_flush (store, NULL);
  tell ("store, a run's time for 100,000 metrics", queued * 1e3, 100, "ms");
  tell ("store, until 100,000 metrics are on disk", (now () - begin) * 1e3, 1000, "ms");
  lig_store_finish_run (store, run, "done", NULL, NULL);
  g_clear_object (&store);
  g_unlink (path);
}

int
main (void)
{
  measure_compile ();
  measure_replay ();
  measure_arena ();
  measure_metrics ();
  return missed > 0;
}
