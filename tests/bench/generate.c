/* SPDX-License-Identifier: MIT */
/* Measures how fast a model with random parameters generates text:
 *
 *   generate DEVICE FILE.lig DTYPE KEYS TOKENS PROMPT ROWS...
 *
 * For each number of rows it prints the milliseconds of a token of every row after KEYS earlier
 * ones, first without draws, with the times of its kernels by name, then with draws, and the
 * milliseconds until the first token of a prompt of 16 tokens. `result ROWS SECONDS` is the time of
 * a token by greedy draws, for other programs. Last the milliseconds of a prompt of PROMPT tokens
 * next to those of a forward pass on as many, unless PROMPT is 0. */
#include "engine/measure/stopwatch.h"
#include "engine/program/results.h"
#include <ligature/cache.h>
#include <ligature/compile.h>
#include <ligature/generator.h>
#include <ligature/kernels.h>
#include <ligature/plan-options.h>
#include <ligature/state.h>
#include <ligature/store.h>
#include <ligature/tuning.h>

#include <stdio.h>
#include <string.h>

enum { REPEATS = 4 };

typedef struct {
  LigDevice *device;
  LigSequence *sequence;
  LigState *state;
  LigPlanOptions options;
  gint64 keys, tokens;
  gint32 *text; /* random tokens */
} Bench;

/* --- Only the device ----------------------------------------------------------------------- */

static gboolean
extend_all (const Bench *self, LigCache *cache, LigProgram *program, guint rows, GError **error)
{
  LigCacheStep steps[64];
  for (guint i = 0; i < rows; i++)
    steps[i] = (LigCacheStep){i, self->text + i};
  return lig_cache_extend (cache, program, steps, rows, error);
}

/* Makes texts of `keys` tokens in every slot. */
static gboolean
fill_cache (
  const Bench *self, LigCache *cache, LigProgram *prompt, gint64 step, guint rows, GError **error)
{
  for (guint slot = 0; slot < rows; slot++)
    for (gint64 at = 0; at < self->keys; at += step) {
      LigCacheStep one = {slot, self->text + at};
      if (!lig_cache_extend (cache, prompt, &one, 1, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
print_kernels (LigProgram *program, GError **error)
{
  LigPlan *plan = lig_program_get_plan (program);
  guint n;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &n);
  g_autofree double *seconds = g_new0 (double, n);
  g_autoptr (GHashTable) sums = g_hash_table_new (g_str_hash, g_str_equal);
  if (!lig_program_time_steps_freely (program, seconds, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const LigPlanStep *step = &steps[i];
    const char *name = step->kernel ? step->kernel->name : "opaque";
    double *sum = g_hash_table_lookup (sums, name);
    if (!sum)
      g_hash_table_insert (sums, (char *) name, sum = g_new0 (double, 3));
    sum[0] += seconds[i];
    sum[1] += 1;
    sum[2] += step->read + step->written;
  }
  GHashTableIter iter;
  gpointer name, value;
  g_hash_table_iter_init (&iter, sums);
  while (g_hash_table_iter_next (&iter, &name, &value)) {
    const double *sum = value;
    printf ("    %-28s %4.0f x %9.2f us = %8.1f us, %7.1f GB/s\n", (char *) name, sum[1],
            sum[0] / sum[1] * 1e6, sum[0] * 1e6, sum[2] / sum[0] * 1e-9);
    g_free (value);
  }
  return TRUE;
}

static LigProgram *
make_program (
  const Bench *self, gint64 rows, gint64 step, guint slots, LigCache **cache, GError **error)
{
  LigPlanOptions options = self->options;
  options.training = FALSE;
  options.cache = (LigCacheShape){
    .rows = rows, .step = step, .length = self->keys + 2 * self->tokens + 24, .slots = slots};
  g_autoptr (LigPlan) plan = lig_plan_compile (self->sequence, self->device, &options, error);
  if (plan && !*cache)
    *cache = lig_cache_new (plan, error);
  return plan && *cache ? lig_program_new_cached (plan, self->state, *cache, error) : NULL;
}

static gboolean
measure_device (const Bench *self, guint rows, GError **error)
{
  g_autoptr (LigCache) cache = NULL;
  LigStopwatch watch;
  double seconds = 0, begin = lig_now ();
  gint64 step = MIN (self->keys, 256);
  g_autoptr (LigProgram) next = make_program (self, rows, 1, rows, &cache, error);
  g_autoptr (LigProgram) prompt = next ? make_program (self, 1, step, rows, &cache, error) : NULL;
  if (!prompt || !fill_cache (self, cache, prompt, step, rows, error) ||
      !lig_stopwatch_init (&watch, self->device, error))
    return FALSE;
  for (int i = 0; i < 8; i++)
    if (!extend_all (self, cache, next, rows, error))
      return FALSE;
  if (!lig_stopwatch_start (&watch, error))
    return FALSE;
  double ready = lig_now ();
  for (gint64 i = 0; i < self->tokens; i++)
    if (!extend_all (self, cache, next, rows, error))
      return FALSE;
  if (!lig_stopwatch_stop (&watch, &seconds, error))
    return FALSE;
  double host = lig_now () - ready;
  seconds /= (double) self->tokens;
  printf ("rows %u: %.3f ms a token without draws (host %.3f), ready after %.1f s\n", rows,
          seconds * 1e3, host / (double) self->tokens * 1e3, ready - begin);
  lig_stopwatch_clear (&watch);
  return print_kernels (next, error);
}

/* --- With the draws ------------------------------------------------------------------------ */

static gboolean
measure_generator (const Bench *self, guint rows, double temperature, GError **error)
{
  LigGeneratorOptions options = LIG_GENERATOR_OPTIONS_INIT;
  LigSampling sampling = LIG_SAMPLING_INIT;
  LigGeneratorFigures figures;
  double first = 0;
  guint64 id;
  options.plan = &self->options;
  options.rows = rows;
  options.length = self->keys + 2 * self->tokens + 24;
  sampling.temperature = temperature;
  sampling.max_tokens = self->tokens;
  double begin = lig_now ();
  g_autoptr (LigGenerator) generator =
    lig_generator_new (self->sequence, self->state, &options, error);
  g_autoptr (GArray) generated = g_array_new (FALSE, FALSE, sizeof (LigGenerated));
  if (!generator)
    return FALSE;
  double compiled = lig_now () - begin;
  for (int round = 0; round < 3; round++) {
    double now = lig_now ();
    LigSampling one = sampling;
    one.max_tokens = round == 0 ? 4 : 1;
    if (!lig_generator_add (generator, self->text, 16, &one, &id, error) ||
        !lig_generator_step (generator, generated, error))
      return FALSE;
    double took = lig_now () - now;
    if (round == 0)
      first = took;
    else if (round == 2)
      printf ("rows %u: %.1f ms to compile, first token of 16 after %.1f ms, again %.2f ms\n", rows,
              compiled * 1e3, first * 1e3, took * 1e3);
    while (round == 0 && generated->len > 0)
      if (!lig_generator_step (generator, generated, error))
        return FALSE;
  }
  LigGeneratorFigures before;
  lig_generator_get_figures (generator, &before);
  for (guint i = 0; i < rows; i++)
    if (!lig_generator_add (generator, self->text + i, (gsize) self->keys, &sampling, &id, error))
      return FALSE;
  do
    if (!lig_generator_step (generator, generated, error))
      return FALSE;
  while (generated->len > 0);
  lig_generator_get_figures (generator, &figures);
  double seconds =
    (figures.seconds - before.seconds) / (double) (figures.tokens - before.tokens - rows) * rows;
  printf ("rows %u, temperature %g: %.3f ms a token, prompts %.3f s\n", rows, temperature,
          seconds * 1e3, figures.prompt_seconds - before.prompt_seconds);
  if (temperature == 0)
    printf ("result %u %.9f\n", rows, seconds);
  return TRUE;
}

/* --- Prompts ------------------------------------------------------------------------------- */

/* Returns the seconds of a forward pass on `count` tokens, with all logits. */
static double
time_forward (const Bench *self, gint64 count, GError **error)
{
  LigShape shape;
  LigStopwatch watch;
  double seconds = 0;
  LigPlanOptions options = self->options;
  options.training = FALSE;
  options.before_loss = TRUE;
  lig_shape_init (&shape, 2, (gint64) 1, count);
  g_autoptr (LigSequence) whole = lig_sequence_copy (self->sequence);
  lig_sequence_set_input (whole, &shape, LIG_INT32);
  g_autoptr (LigPlan) plan = lig_plan_compile (whole, self->device, &options, error);
  g_autoptr (LigProgram) program = plan ? lig_program_new (plan, self->state, error) : NULL;
  g_autoptr (LigTensor) input = program ? lig_tensor_new (LIG_INT32, &shape, error) : NULL;
  if (!input)
    return 0;
  memcpy (input->data, self->text, (gsize) count * sizeof (gint32));
  if (!lig_program_set_input (program, input, error) ||
      !lig_stopwatch_init (&watch, self->device, error))
    return 0;
  for (int i = 0; i < 3 + REPEATS; i++)
    if ((i == 3 && !lig_stopwatch_start (&watch, error)) ||
        !lig_program_run (program, LIG_RUN_FORWARD, error))
      return 0;
  if (!lig_stopwatch_stop (&watch, &seconds, error))
    return 0;
  lig_stopwatch_clear (&watch);
  return seconds / REPEATS;
}

static gboolean
measure_prompt (const Bench *self, gint64 count, GError **error)
{
  LigGeneratorOptions options = LIG_GENERATOR_OPTIONS_INIT;
  LigSampling sampling = LIG_SAMPLING_INIT;
  guint64 id;
  double seconds[1 + REPEATS];
  options.plan = &self->options;
  options.rows = 1;
  options.length = count + 8;
  sampling.temperature = 0;
  sampling.max_tokens = 1;
  g_autoptr (LigGenerator) generator =
    lig_generator_new (self->sequence, self->state, &options, error);
  g_autoptr (GArray) generated = g_array_new (FALSE, FALSE, sizeof (LigGenerated));
  for (int i = 0; i < 3 + REPEATS && generator; i++) {
    double begin = lig_now ();
    if (!lig_generator_add (generator, self->text, (gsize) count, &sampling, &id, error) ||
        !lig_generator_step (generator, generated, error))
      return FALSE;
    seconds[MAX (i - 3, 0)] = lig_now () - begin;
  }
  g_clear_pointer (&generator, lig_generator_free);
  double forward = time_forward (self, count, error);
  double prompt = lig_median (seconds, REPEATS);
  if (forward > 0)
    printf ("prompt of %" G_GINT64_FORMAT ": %.2f ms, forward pass %.2f ms: %.1f %% of its rate\n",
            count, prompt * 1e3, forward * 1e3, forward / prompt * 100);
  return forward > 0;
}

static gboolean
open_model (Bench *self, char **argv, LigTuning *tuning, GError **error)
{
  LigDtype dtype;
  self->options = (LigPlanOptions) LIG_PLAN_OPTIONS_INIT;
  if (!lig_dtype_from_name (argv[3], &dtype))
    return FALSE;
  self->options.compute = self->options.parameters = (int) dtype;
  self->options.tuning = tuning;
  self->sequence = lig_sequence_open (argv[2], NULL, error);
  self->device = self->sequence ? lig_device_open (argv[1], error) : NULL;
  double begin = lig_now ();
  LigPlanOptions options = self->options;
  options.training = FALSE;
  options.before_loss = TRUE;
  self->state =
    self->device ? lig_state_new (self->sequence, self->device, &options, 1, error) : NULL;
  printf ("state after %.1f s\n", lig_now () - begin);
  return self->state != NULL;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  Bench bench = {0};
  LigTuning tuning;
  if (argc < 8)
    return 2;
  setvbuf (stdout, NULL, _IOLBF, 0);
  g_autoptr (LigStore) store = lig_store_open (NULL, &error);
  lig_tuning_init (&tuning, store);
  bench.keys = atoll (argv[4]);
  bench.tokens = atoll (argv[5]);
  gint64 prompt = atoll (argv[6]), length = MAX (bench.keys, prompt) + 64;
  bench.text = g_new (gint32, length);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  for (gint64 i = 0; i < length; i++)
    bench.text[i] = g_rand_int_range (random, 0, 256);
  gboolean good = store && open_model (&bench, argv, &tuning, &error);
  for (int i = 7; i < argc && good; i++) {
    guint rows = (guint) atoi (argv[i]);
    good = measure_device (&bench, rows, &error) && measure_generator (&bench, rows, 0, &error) &&
           measure_generator (&bench, rows, 0.8, &error);
  }
  good = good && (prompt == 0 || measure_prompt (&bench, prompt, &error));
  if (error)
    printf ("error: %s\n", error->message);
  return !good;
}
