/* SPDX-License-Identifier: MIT */
/* Runs forward and backward passes on demand, so that another program can let Ligature take turns
 * with others on one device. Reads lines, answers each with one:
 *
 *   load DEVICE INPUT POLICY EXPRESSION
 *     answers a number for the plan, its seconds of compiling, its groups
 *   run NUMBER COUNT
 *     answers the microseconds of one forward and backward, COUNT in succession
 *   host NUMBER COUNT
 *     answers the median microseconds that the host takes to launch one, of COUNT
 *
 * An answer that begins with `error` contains the reason. */
#include "engine/measure/stopwatch.h"
#include "engine/plan/results.h"
#include <ligature/store.h>
#include <ligature/tuning.h>

#include <stdio.h>
#include <string.h>

typedef struct {
  LigDevice *device;
  LigSequence *sequence;
  LigState *state;
  LigProgram *program;
  LigStopwatch watch;
} Loaded;

static LigStore *store;

static gboolean
fill (LigProgram *program, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (lig_program_get_plan (program), &shape, &dtype);
  g_autoptr (LigTensor) tensor = lig_tensor_new (dtype, &shape, error);
  if (!tensor)
    return FALSE;
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  gint64 count = MIN (tensor->size, 1 << 20);
  gsize filled = (gsize) count * lig_dtype_size (dtype), bytes = lig_tensor_bytes (tensor);
  for (gint64 i = 0; i < count; i++)
    lig_tensor_set (tensor, i, (float) g_rand_double_range (random, -1, 1));
  for (; filled < bytes; filled *= 2)
    memcpy ((char *) tensor->data + filled, tensor->data, MIN (filled, bytes - filled));
  /* Setting the gradient for every pass would be measured, too. */
  lig_program_keep_gradients (program);
  return lig_program_set_input (program, tensor, error) &&
         lig_program_set_gradient (program, tensor, error);
}

static gboolean
run (Loaded *loaded, int count, GError **error)
{
  for (int i = 0; i < count; i++)
    if (!lig_program_run (loaded->program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD, error))
      return FALSE;
  return TRUE;
}

static gboolean
compile (Loaded *loaded, char **words, GError **error)
{
  LigShape shape;
  LigDtype dtype = LIG_BF16;
  LigTuning tuning;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  if (!lig_policy_from_name (words[3], &options.policy) ||
      !lig_shape_parse (words[2], &shape, &dtype, error))
    return FALSE;
  options.input_gradient = TRUE;
  lig_tuning_init (&tuning, store);
  options.tuning = &tuning;
  loaded->sequence = lig_sequence_from_expression (words[4], error);
  if (!loaded->sequence)
    return FALSE;
  lig_sequence_set_input (loaded->sequence, &shape, dtype);
  loaded->device = lig_device_open (words[1], error);
  loaded->state =
    loaded->device ? lig_state_new (loaded->sequence, loaded->device, &options, 1, error) : NULL;
  g_autoptr (LigPlan) plan =
    loaded->state ? lig_state_plan (loaded->state, loaded->sequence, &options, error) : NULL;
  loaded->program = plan ? lig_program_new (plan, loaded->state, error) : NULL;
  /* The first run lets the kernels choose, the second captures. */
  return loaded->program && fill (loaded->program, error) && run (loaded, 3, error) &&
         lig_stopwatch_init (&loaded->watch, loaded->device, error);
}

static void
load (GPtrArray *all, char **words)
{
  g_autoptr (GError) error = NULL;
  Loaded *loaded = g_new0 (Loaded, 1);
  double begin = lig_now ();
  if (!compile (loaded, words, &error)) {
    printf ("error %s\n", error ? error->message : "no such policy");
    return;
  }
  g_autofree char *choices = lig_plan_get_choices (lig_program_get_plan (loaded->program));
  g_ptr_array_add (all, loaded);
  printf ("%u %.3f %s\n", all->len - 1, lig_now () - begin, choices);
}

static void
answer (double microseconds, const GError *error)
{
  if (error)
    printf ("error %s\n", error->message);
  else
    printf ("%.3f\n", microseconds);
}

static void
measure (Loaded *loaded, int count)
{
  g_autoptr (GError) error = NULL;
  double seconds = 0;
  if (lig_stopwatch_start (&loaded->watch, &error) && run (loaded, count, &error))
    lig_stopwatch_stop (&loaded->watch, &seconds, &error);
  answer (seconds / count * 1e6, error);
}

/* Returns the median over launches, each of which finds the device idle. */
static void
measure_host (Loaded *loaded, int count)
{
  g_autoptr (GError) error = NULL;
  g_autofree double *samples = g_new0 (double, count);
  double ignored;
  for (int i = 0; i < count && !error; i++) {
    if (!lig_stopwatch_start (&loaded->watch, &error) ||
        !lig_stopwatch_stop (&loaded->watch, &ignored, &error))
      break;
    double begin = lig_now ();
    if (run (loaded, 1, &error))
      samples[i] = lig_now () - begin;
  }
  answer (lig_median (samples, (guint) count) * 1e6, error);
}

int
main (void)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  char line[4096];
  store = lig_store_open (NULL, &error);
  while (fgets (line, sizeof line, stdin)) {
    g_auto (GStrv) words = g_strsplit (g_strchomp (line), " ", 5);
    guint count = g_strv_length (words);
    guint number = count > 1 ? (guint) g_ascii_strtoull (words[1], NULL, 10) : 0;
    if (count == 5 && g_str_equal (words[0], "load"))
      load (all, words);
    else if (count == 3 && number < all->len && g_str_equal (words[0], "run"))
      measure (all->pdata[number], MAX (atoi (words[2]), 1));
    else if (count == 3 && number < all->len && g_str_equal (words[0], "host"))
      measure_host (all->pdata[number], MAX (atoi (words[2]), 1));
    else
      printf ("error no such command: %s\n", line);
    fflush (stdout);
  }
  return 0;
}
