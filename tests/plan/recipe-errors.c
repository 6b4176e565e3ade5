/* SPDX-License-Identifier: MIT */
/* The errors of recipes op by op: none where nothing is quantized, those of fp8 behind
 * products. */
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
    /* Nothing is rounded before the second product, and no gradient behind it. */
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recipe-errors/ops", test_ops);
  g_test_add_func ("/recipe-errors/none", test_none);
  g_test_add_func ("/recipe-errors/wrong", test_wrong);
  return g_test_run ();
}
