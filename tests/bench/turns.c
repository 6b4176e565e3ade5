/* SPDX-License-Identifier: MIT */
/* Runs passes on demand, so that another program can run Ligature in turns with others on one
 * device. It reads lines and answers each with one:
 *
 *   option NAME VALUE
 *     changes later loads: `dtype` COMPUTE[:PARAMETERS], `nondeterministic` 0 or 1,
 *     `update` 0 or 1 (AdamW and clipping to norm 1 follow each backward pass), `rate` of learning,
 *     `integers` (random integers are below it), `runs` before the load answers,
 *     `recompute` none, cheap or all, `recipe` none or a recipe
 *   open DEVICE
 *     opens a device, for those who measure the memory of what comes after
 *   load DEVICE INPUT POLICY EXPRESSION
 *     answers a number for the plan, its seconds of compiling, its groups
 *   weights NUMBER FILE, inputs NUMBER FILE
 *     read parameters, and the tensors `input`, `extra.N` and `gradient` (of the output)
 *   run NUMBER COUNT
 *     answers the microseconds of one forward and backward pass, COUNT in succession
 *   results NUMBER FILE
 *     writes `output`, `grad.input` and the gradients of the parameters, `grad.PATH`
 *   host NUMBER COUNT
 *     answers the median microseconds that the host takes to launch one, of COUNT
 *   size NUMBER
 *     answers the elements of all parameters, the bytes of the arena and of the state
 *   unload NUMBER
 *
 * An answer that begins with `error` contains the reason. */
#include "engine/measure/stopwatch.h"
#include "engine/program/results.h"
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/recipe.h>
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
  unsigned passes;
} Loaded;

/* The values of the lines `option`. */
static struct {
  int compute, parameters, nondeterministic, update, integers, runs;
  double rate;
  LigRecompute recompute;
  char recipe[64];
} settings = {-1, -1, 0, 0, 256, 3, 1e-4, LIG_RECOMPUTE_DEFAULT, "none"};

static LigStore *store;

/* Returns random elements, which repeat after a million. */
static LigTensor *
random_tensor (const LigShape *shape, LigDtype dtype, GError **error)
{
  LigTensor *tensor = lig_tensor_new (dtype, shape, error);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  if (!tensor)
    return NULL;
  gint64 count = MIN (tensor->size, 1 << 20);
  gsize filled = (gsize) count * lig_dtype_size (dtype), bytes = lig_tensor_bytes (tensor);
  for (gint64 i = 0; i < count; i++)
    if (dtype == LIG_INT32)
      ((gint32 *) tensor->data)[i] = g_rand_int_range (random, 0, settings.integers);
    else
      lig_tensor_set (tensor, i, (float) g_rand_double_range (random, -1, 1));
  for (; filled < bytes; filled *= 2)
    memcpy ((char *) tensor->data + filled, tensor->data, MIN (filled, bytes - filled));
  return tensor;
}

static gboolean
fill (LigProgram *program, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  LigPlan *plan = lig_program_get_plan (program);
  lig_plan_get_input (plan, &shape, &dtype);
  g_autoptr (LigTensor) input = random_tensor (&shape, dtype, error);
  if (!input || !lig_program_set_input (program, input, error))
    return FALSE;
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (plan); i++) {
    lig_plan_get_extra_input (plan, i, &shape, &dtype);
    g_autoptr (LigTensor) extra = random_tensor (&shape, dtype, error);
    if (!extra || !lig_program_set_extra_input (program, i, extra, error))
      return FALSE;
  }
  /* Setting the gradient for every pass would also be measured; a loss has the gradient 1. */
  lig_program_keep_gradients (program);
  lig_plan_get_output (plan, &shape, &dtype);
  if (shape.n_axes == 0)
    return TRUE;
  g_autoptr (LigTensor) gradient = random_tensor (&shape, dtype, error);
  return gradient && lig_program_set_gradient (program, gradient, error);
}

static gboolean
run (Loaded *loaded, int count, GError **error)
{
  for (int i = 0; i < count; i++)
    if (!lig_program_run (loaded->program, loaded->passes, error))
      return FALSE;
  return TRUE;
}

static gboolean
compile (Loaded *loaded, char **words, GError **error)
{
  LigShape shape;
  LigDtype dtype = LIG_BF16;
  LigTuning tuning;
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  if (!lig_policy_from_name (words[3], &options.policy)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "no such policy: %s", words[3]);
    return FALSE;
  }
  if (!lig_shape_parse (words[2], &shape, &dtype, error))
    return FALSE;
  options.input_gradient = lig_dtype_is_floating (dtype);
  options.compute = settings.compute;
  options.parameters = settings.parameters;
  options.nondeterministic = settings.nondeterministic;
  options.recompute = settings.recompute;
  options.recipe = settings.recipe;
  options.optimizer = settings.update ? &optimizer : NULL;
  lig_tuning_init (&tuning, store);
  options.tuning = &tuning;
  loaded->passes = LIG_RUN_FORWARD | LIG_RUN_BACKWARD | (settings.update ? LIG_RUN_UPDATE : 0);
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
  if (!loaded->program)
    return FALSE;
  lig_program_set_rate (loaded->program, settings.rate, 1);
  /* The first run lets the kernels choose, the second captures. */
  return fill (loaded->program, error) && run (loaded, settings.runs, error) &&
         lig_stopwatch_init (&loaded->watch, loaded->device, error);
}

/* The program keeps references only to its plan and its state. */
static void
unload (gpointer data)
{
  Loaded *loaded = data;
  if (loaded->watch.device)
    lig_stopwatch_clear (&loaded->watch);
  g_clear_pointer (&loaded->program, lig_program_unref);
  g_clear_object (&loaded->state);
  g_clear_object (&loaded->sequence);
  g_clear_object (&loaded->device);
}

static void
load (GPtrArray *all, char **words, GError **error)
{
  Loaded *loaded = g_new0 (Loaded, 1);
  double begin = lig_now ();
  if (!compile (loaded, words, error)) {
    unload (loaded);
    g_free (loaded);
    return;
  }
  g_autofree char *choices = lig_plan_get_choices (lig_program_get_plan (loaded->program));
  g_ptr_array_add (all, loaded);
  printf ("%u %.3f %s\n", all->len - 1, lig_now () - begin, choices);
}

static gboolean
set_option (char **words, GError **error)
{
  const struct {
    const char *name;
    int *to;
  } numbers[] = {{"nondeterministic", &settings.nondeterministic},
                 {"update", &settings.update},
                 {"integers", &settings.integers},
                 {"runs", &settings.runs}};
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (g_str_equal (words[1], numbers[i].name)) {
      *numbers[i].to = atoi (words[2]);
      return TRUE;
    }
  if (g_str_equal (words[1], "rate")) {
    settings.rate = g_ascii_strtod (words[2], NULL);
    return TRUE;
  }
  if (g_str_equal (words[1], "recompute") &&
      lig_recompute_from_name (words[2], &settings.recompute))
    return TRUE;
  if (g_str_equal (words[1], "recipe") && lig_recipe_check (words[2], NULL)) {
    g_strlcpy (settings.recipe, words[2], sizeof settings.recipe);
    return TRUE;
  }
  g_auto (GStrv) types = g_strsplit (words[2], ":", 2);
  LigDtype compute, parameters;
  gboolean both = types[0] && types[1];
  if (!g_str_equal (words[1], "dtype") || !types[0] || !lig_dtype_from_name (types[0], &compute) ||
      (both && !lig_dtype_from_name (types[1], &parameters))) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "no such option: %s %s", words[1], words[2]);
    return FALSE;
  }
  settings.compute = (int) compute;
  settings.parameters = both ? (int) parameters : -1;
  return TRUE;
}

/* Reads the tensors that the file contains. */
static gboolean
set_inputs (Loaded *loaded, const char *path, GError **error)
{
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, error);
  if (!file)
    return FALSE;
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++) {
    g_autoptr (LigTensor) tensor = lig_tensor_file_get (file, *name, error);
    gboolean extra = g_str_has_prefix (*name, "extra.");
    guint n = extra ? (guint) atoi (*name + strlen ("extra.")) : 0;
    if (!tensor || !(extra ? lig_program_set_extra_input (loaded->program, n, tensor, error)
                     : g_str_equal (*name, "input")
                       ? lig_program_set_input (loaded->program, tensor, error)
                       : lig_program_set_gradient (loaded->program, tensor, error)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
write_results (Loaded *loaded, const char *path, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autoptr (LigTensor) output = lig_program_read_output (loaded->program, error);
  if (!output)
    return FALSE;
  lig_tensor_file_add (file, "output", output);
  lig_plan_get_input (lig_program_get_plan (loaded->program), &shape, &dtype);
  if (lig_dtype_is_floating (dtype)) {
    g_autoptr (LigTensor) gradient = lig_program_read_input_gradient (loaded->program, error);
    if (!gradient)
      return FALSE;
    lig_tensor_file_add (file, "grad.input", gradient);
  }
  for (const char *const *name = lig_state_get_paths (loaded->state); *name; name++) {
    g_autofree char *title = g_strconcat ("grad.", *name, NULL);
    g_autoptr (LigTensor) tensor = lig_state_get (loaded->state, LIG_STATE_GRADIENTS, *name, error);
    if (!tensor)
      return FALSE;
    lig_tensor_file_add (file, title, tensor);
  }
  return lig_tensor_file_save (file, path, error);
}

static void
print_size (Loaded *loaded)
{
  LigPlan *plan = lig_program_get_plan (loaded->program);
  printf ("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
          lig_state_get_n_elements (loaded->state), lig_plan_get_arena_bytes (plan, NULL),
          lig_plan_get_state_bytes (plan));
}

static void
measure (Loaded *loaded, int count, GError **error)
{
  double seconds = 0;
  if (lig_stopwatch_start (&loaded->watch, error) && run (loaded, count, error) &&
      lig_stopwatch_stop (&loaded->watch, &seconds, error))
    printf ("%.3f\n", seconds / count * 1e6);
}

/* Prints the median over launches, each of which finds the device idle. */
static void
measure_host (Loaded *loaded, int count, GError **error)
{
  g_autofree double *samples = g_new0 (double, count);
  double ignored;
  for (int i = 0; i < count; i++) {
    if (!lig_stopwatch_start (&loaded->watch, error) ||
        !lig_stopwatch_stop (&loaded->watch, &ignored, error))
      return;
    double begin = lig_now ();
    if (!run (loaded, 1, error))
      return;
    samples[i] = lig_now () - begin;
  }
  printf ("%.3f\n", lig_median (samples, (guint) count) * 1e6);
}

/* Answers the lines about one program: a word, its number, an argument. */
static gboolean
serve (Loaded *loaded, char **words, GError **error)
{
  const char *verb = words[0], *argument = words[2];
  if (argument && g_str_equal (verb, "run"))
    measure (loaded, MAX (atoi (argument), 1), error);
  else if (argument && g_str_equal (verb, "host"))
    measure_host (loaded, MAX (atoi (argument), 1), error);
  else if (argument && (g_str_equal (verb, "weights")
                          ? lig_state_load_weights (loaded->state, argument, NULL, error)
                        : g_str_equal (verb, "inputs")  ? set_inputs (loaded, argument, error)
                        : g_str_equal (verb, "results") ? write_results (loaded, argument, error)
                                                        : FALSE))
    printf ("done\n");
  else if (!argument && g_str_equal (verb, "size"))
    print_size (loaded);
  else if (!argument && g_str_equal (verb, "unload"))
    unload (loaded), printf ("done\n");
  else
    return FALSE;
  return TRUE;
}

static void
answer (GPtrArray *all, const char *line, GError **error)
{
  g_auto (GStrv) words = g_strsplit (line, " ", 5);
  guint count = g_strv_length (words);
  guint number = count > 1 ? (guint) g_ascii_strtoull (words[1], NULL, 10) : 0;
  if (count == 5 && g_str_equal (words[0], "load"))
    load (all, words, error);
  else if (count == 3 && g_str_equal (words[0], "option")) {
    if (set_option (words, error))
      printf ("done\n");
  } else if (count == 2 && g_str_equal (words[0], "open")) {
    /* Stays open to the end. */
    if (lig_device_open (words[1], error))
      printf ("done\n");
  } else if (count < 2 || number >= all->len || !((Loaded *) all->pdata[number])->program ||
             !serve (all->pdata[number], words, error))
    if (!*error)
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "no such command: %s", line);
}

int
main (void)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  g_autoptr (GError) unopened = NULL;
  char line[4096];
  store = lig_store_open (NULL, &unopened);
  while (fgets (line, sizeof line, stdin)) {
    g_autoptr (GError) error = NULL;
    answer (all, g_strchomp (line), &error);
    if (error)
      printf ("error %s\n", error->message);
    fflush (stdout);
  }
  return 0;
}
