/* SPDX-License-Identifier: MIT */
/* The errors of recipes per op: none where nothing is quantized, fp8 errors after matmuls. */
#include "tests/plan/case.h"

#include <ligature/recipe-errors.h>

static LigRecipeErrors *
measure (LigSequence *sequence, const char *recipe)
{
  g_autoptr (GError) error = NULL;
  const char *const recipes[] = {recipe, NULL};
  g_autoptr (GPtrArray) all =
    lig_recipe_errors_measure (sequence, cpu_device (), NULL, recipes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (all->len, ==, 1);
  LigRecipeErrors *errors = g_ptr_array_steal_index (all, 0);
  g_assert_cmpstr (errors->recipe, ==, recipe);
  return errors;
}

static const LigOpErrors *
find (const LigRecipeErrors *errors, const char *path, const char *op)
{
  for (guint i = 0; i < errors->n_ops; i++)
    if (g_str_equal (errors->ops[i].path, path) && g_str_equal (errors->ops[i].op, op))
      return &errors->ops[i];
  g_error ("no %s at %s", op, path);
}

static void
test_ops (void)
{
  static const char *const recipes[] = {"fp8-delayed", "fp8-current", "fp8-rows", "fp8-block"};
  g_autoptr (LigSequence) sequence = new_sequence (
    "layer-norm ! make-extra-output(r) ! linear(64, recipe=none) ! gelu ! linear(48, bias=false) ! "
    "add-extra-input(r)",
    "64x48");
  for (guint i = 0; i < G_N_ELEMENTS (recipes); i++) {
    g_autoptr (LigRecipeErrors) errors = measure (sequence, recipes[i]);
    g_assert_cmpuint (errors->n_ops, ==, 6);
    g_assert_cmpint (errors->bytes, >, 0);
    const LigOpErrors *norm = find (errors, "0", "layer-norm");
    const LigOpErrors *first = find (errors, "2", "basic-linear");
    const LigOpErrors *second = find (errors, "4", "basic-linear");
    g_assert_null (first->recipe);
    g_assert_cmpstr (second->recipe, ==, recipes[i]);
    /* Nothing is rounded before the second matmul, and no gradient after it. */
    g_assert_cmpfloat (norm->output, ==, 0);
    g_assert_cmpfloat (first->output, ==, 0);
    g_assert_cmpfloat (second->gradient, ==, 0);
    g_assert_cmpfloat (second->output, >, 0.005);
    g_assert_cmpfloat (second->output, <, 0.1);
    g_assert_cmpfloat (second->parameters, >, 0.005);
    g_assert_cmpfloat (first->gradient, >, 0.005);
    g_assert_cmpfloat (norm->parameters, <, 0.2);
    g_assert_true (isnan (find (errors, "3", "gelu")->parameters));
    g_assert_cmpfloat (errors->output, ==, find (errors, "5", "add-extra-input")->output);
    g_assert_cmpfloat (errors->gradient, >, 0);
  }
}

/* A recipe that needs extra runs for its histories is compared with the same masks. */
static void
test_dropout (void)
{
  g_autoptr (LigSequence) sequence =
    new_sequence ("linear(64) ! dropout(0.5) ! linear(48) ! mean-squared-error", "64x48");
  g_autoptr (LigRecipeErrors) delayed = measure (sequence, "fp8-delayed");
  g_autoptr (LigRecipeErrors) current = measure (sequence, "fp8-current");
  g_assert_cmpfloat (find (delayed, "1", "dropout")->output, <,
                     2 * find (current, "1", "dropout")->output);
  g_assert_cmpfloat (delayed->gradient, <, 2 * current->gradient);
}

static void
test_none (void)
{
  g_autoptr (LigSequence) sequence =
    new_sequence ("block(2, recipe=fp8-rows) { linear(48) ! silu }", "64x48");
  g_autoptr (LigRecipeErrors) errors = measure (sequence, "none");
  for (guint i = 0; i < errors->n_ops; i++) {
    g_assert_cmpfloat (errors->ops[i].output, ==, 0);
    g_assert_null (errors->ops[i].recipe);
  }
  g_autoptr (LigRecipeErrors) again = measure (sequence, "fp8-current");
  g_assert_cmpfloat (again->output, >, 0.005);
}

static void
test_wrong (void)
{
  g_autoptr (GError) error = NULL;
  const char *const recipes[] = {"fp8-rows", "fp8-cows", NULL};
  g_autoptr (LigSequence) sequence = new_sequence ("linear(48)", "64x48");
  g_assert_null (lig_recipe_errors_measure (sequence, cpu_device (), NULL, recipes, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
}

/* Parts of a macro name the macro, and a matmul that cannot follow its recipe has the reason. */
static void
test_names (void)
{
  g_autoptr (LigSequence) sequence =
    new_sequence ("linear(40, bias=true) ! linear(48, bias=false)", "64x48");
  g_autoptr (LigRecipeErrors) errors = measure (sequence, "fp8-current");
  const LigOpErrors *first = find (errors, "0", "basic-linear"), *bias = find (errors, "0", "bias");
  g_assert_cmpstr (first->written, ==, "0");
  g_assert_cmpstr (bias->written, ==, "0");
  g_assert_cmpstr (bias->title, ==, "linear");
  g_assert_null (first->recipe);
  g_assert_nonnull (strstr (first->unquantized, "40"));
  g_assert_nonnull (strstr (first->unquantized, "multiple of 16"));
  g_autoptr (LigRecipeErrors) copy = g_boxed_copy (LIG_TYPE_RECIPE_ERRORS, errors);
  g_assert_cmpstr (find (copy, "0", "basic-linear")->unquantized, ==, first->unquantized);
  g_assert_cmpstr (find (copy, "1", "basic-linear")->written, ==, "1");
}

/* Weights stored in fp8 have errors relative to weights in the compute type, and recipes are
 * compared with a plan without fp8 weights. */
static void
test_kept_in_fp8 (void)
{
  static const char *const recipes[] = {"fp8-rows", NULL};
  static const int parameters[] = {LIG_BF16, LIG_FP8_E4M3};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence =
    new_sequence ("linear(64) ! gelu ! linear(48, bias=false)", "64x48");
  GPtrArray *errors[2];
  for (int i = 0; i < 2; i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    options.compute = LIG_BF16;
    options.parameters = parameters[i];
    errors[i] = lig_recipe_errors_measure (sequence, cpu_device (), &options, recipes, &error);
    g_assert_no_error (error);
  }
  const LigRecipeErrors *stored = errors[0]->pdata[0], *kept = errors[1]->pdata[0];
  g_assert_cmpfloat (stored->gradient, >, 0.001);
  g_assert_cmpfloat (stored->gradient, ==, kept->gradient);
  g_assert_cmpfloat (stored->output, ==, kept->output);
  g_assert_cmpint (kept->bytes, <, stored->bytes + 2 * (64 * 48 + 48 * 64));
  for (int i = 0; i < 2; i++)
    g_ptr_array_unref (errors[i]);
  /* The type of the parameters may be that of the file. */
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  lig_sequence_set_types (sequence, LIG_FP16, LIG_FP8_E4M3);
  lig_recipe_choose_for (&options, sequence, "fp8-rows");
  g_assert_cmpstr (options.recipe, ==, "fp8-rows");
  g_assert_cmpint (options.parameters, ==, -1);
  lig_recipe_choose_for (&options, sequence, "none");
  g_assert_cmpint (options.parameters, ==, LIG_FP16);
}

static void
test_devices (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) blackwell = lig_device_open ("null:b200", &error);
  g_assert_no_error (error);
  g_assert_true (lig_recipe_check_device ("none", cpu_device (), &error));
  g_assert_true (lig_recipe_check_device ("fp8-delayed:history=16", cpu_device (), &error));
  g_assert_true (lig_recipe_check_device ("mxfp8", blackwell, &error));
  g_assert_no_error (error);
  g_assert_false (lig_recipe_check_device ("mxfp8", cpu_device (), &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_DEVICE);
  g_assert_nonnull (strstr (error->message, "10.0"));
  g_clear_error (&error);
  g_assert_false (lig_recipe_check_device ("fp9", cpu_device (), &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
}

/* The arguments of a monitor, and the number of calls after which it ends the measurement. */
typedef struct {
  guint calls, max, last, count;
} Told;

static gboolean
listen (guint done, guint count, gpointer data)
{
  Told *told = data;
  g_assert_cmpuint (done, >=, told->last);
  told->last = done;
  told->count = count;
  return ++told->calls < told->max;
}

static GPtrArray *
measure_told (Told *told, GError **error)
{
  static const char *const recipes[] = {"fp8-current", "fp8-rows", NULL};
  g_autoptr (LigSequence) sequence = new_sequence ("linear(48)", "64x48");
  return lig_recipe_errors_measure_watched (sequence, cpu_device (), NULL, recipes, listen, told,
                                            error);
}

static void
test_watched (void)
{
  g_autoptr (GError) error = NULL;
  Told told = {.max = G_MAXUINT};
  g_autoptr (GPtrArray) all = measure_told (&told, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (all->len, ==, 2);
  g_assert_cmpuint (told.calls, >=, 3);
  g_assert_cmpuint (told.last, ==, 2);
  g_assert_cmpuint (told.count, ==, 3);
  told = (Told){.max = 2};
  g_assert_null (measure_told (&told, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_CANCELLED);
  g_assert_cmpuint (told.calls, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recipe-errors/ops", test_ops);
  g_test_add_func ("/recipe-errors/dropout", test_dropout);
  g_test_add_func ("/recipe-errors/none", test_none);
  g_test_add_func ("/recipe-errors/wrong", test_wrong);
  g_test_add_func ("/recipe-errors/names", test_names);
  g_test_add_func ("/recipe-errors/kept-in-fp8", test_kept_in_fp8);
  g_test_add_func ("/recipe-errors/devices", test_devices);
  g_test_add_func ("/recipe-errors/watched", test_watched);
  return g_test_run ();
}
