/* SPDX-License-Identifier: MIT */
/* Tests --recipe of the commands that compile, and the comparison of recipes. */
#include "tests/cli/case.h"

#define MODEL "layer-norm ! linear(64) ! gelu ! linear(50)"
#define ARGUMENTS "--input", "64x32:bf16"

static void
test_plan (void)
{
  g_auto (Outcome) none = lig ("fuse", MODEL, ARGUMENTS, "--device", "null:h200", "--json", NULL);
  g_auto (Outcome) fuse =
    lig ("fuse", MODEL, ARGUMENTS, "--device", "null:h200", "--recipe", "fp8-rows", "--json", NULL);
  g_auto (Outcome) text =
    lig ("plan", MODEL, ARGUMENTS, "--device", "null:h200", "--recipe", "fp8-rows", NULL);
  g_auto (Outcome) own =
    lig ("plan", "linear(64, recipe=fp8-block)", ARGUMENTS, "--device", "cpu", NULL);
  g_assert_cmpstr (text_at (none.json, "recipe"), ==, "none");
  g_assert_cmpstr (text_at (fuse.json, "recipe"), ==, "fp8-rows");
  g_assert_cmpstr (text_at (fuse.json, "ops.1.op"), ==, "quantize");
  g_assert_cmpstr (text_at (fuse.json, "ops.2.recipe"), ==, "fp8-rows");
  g_assert_cmpstr (text_at (fuse.json, "ops.7.recipe"), ==, "none");
  g_assert_cmpstr (text_at (fuse.json, "ops.7.unquantized"), ==,
                   "50 output features, fp8-rows needs a multiple of 16");
  assert_contains (text.out, "recipe fp8-rows");
  assert_contains (text.out, "linear_fp8");
  assert_contains (text.out, "1 of 2 matmuls have quantized operands (fp8-rows); linear at 3 "
                             "computes in bf16:\n  50");
  assert_contains (own.out, "1 of 1 matmul has quantized operands (fp8-block)");
}

static void
test_rejected (void)
{
  static const struct {
    const char *recipe, *device, *message;
    int code;
  } wrong[] = {
    {"fp8", "cpu", "recipe is 'fp8', expected one of none, fp8-delayed, fp8-current, fp8-rows", 2},
    {"fp8-rows:history=3", "cpu",
     "recipe fp8-rows has no parameter 'history'; its parameters are power-of-two, format, "
     "fast-accumulation",
     2},
    {"fp8-delayed:history=", "cpu", "history of recipe fp8-delayed is ''", 2},
    {"fp8-delayed:", "cpu", "recipe fp8-delayed: '' is not a parameter, expected one like margin=1",
     2},
    {"fp8-delayed:margin=1,margin=2", "cpu", "recipe fp8-delayed: margin is given twice", 2},
    {"fp8-rows", "null:a100", "recipe fp8-rows needs compute capability 9.0", 1},
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_auto (Outcome) plan = lig ("plan", MODEL, ARGUMENTS, "--device", wrong[i].device, "--recipe",
                                 wrong[i].recipe, NULL);
    assert_contains (plan.err, wrong[i].message);
    g_assert_cmpint (plan.code, ==, wrong[i].code);
  }
}

/* The reason is printed for each matmul that is not quantized, and for a recipe without matmuls. */
static void
test_explained (void)
{
  g_auto (Outcome) why = lig ("fuse", "linear(16) ! linear(17) ! linear(16)", "--input", "32x16",
                              "--recipe", "fp8-rows", "--device", "cpu", "--why", "1", NULL);
  assert_contains (why.out, "its matmul is not quantized: 17 output features, fp8-rows needs a "
                            "multiple of");
  g_auto (Outcome) other = lig ("fuse", "linear(16) ! linear(32)", "--input", "32x16", "--recipe",
                                "fp8-rows", "--device", "cpu", "--why", "1", NULL);
  g_assert_null (strstr (other.out, "not quantized"));
  g_auto (Outcome) none =
    lig ("fuse", "gelu", "--input", "32x16", "--recipe", "fp8-rows", "--device", "cpu", NULL);
  assert_contains (none.out, "fp8-rows quantizes nothing: the sequence has no matmuls");
  g_auto (Outcome) rounds = lig ("fuse", "gelu ! quantize", "--input", "32x16", "--recipe",
                                 "fp8-rows", "--device", "cpu", NULL);
  assert_contains (rounds.out, "1 op quantize rounds to fp8-rows; the sequence has no matmuls");
  g_auto (Outcome) block = lig ("fuse", "block(recipe=fp8-block) { gelu } ! linear(16)", "--input",
                                "32x16", "--recipe", "fp8-rows", "--device", "cpu", NULL);
  assert_contains (block.out, "1 of 1 matmul has quantized operands (fp8-rows); fp8-block "
                              "quantizes nothing:\n  the block that names it has no matmuls");
  g_auto (Outcome) report = lig ("report", "linear(16)", "--input", "32x16", "--device", "cpu",
                                 "--recipe", "fp8-rows", "--format", "md", "-o", "-", NULL);
  assert_contains (report.out, "| Recipe | fp8-rows |");
  assert_contains (report.out, "1 of 1 matmul has quantized operands (fp8-rows)");
  g_auto (Outcome) wrong = lig ("profile", "linear(16)", "--input", "32x16", "--device", "cpu",
                                "--compare-recipes", "none,mxfp8", NULL);
  assert_contains (wrong.err, "(--compare-recipes)");
  g_auto (Outcome) sweep =
    lig ("sweep", "linear(16) ! mean-squared-error", "--input", "16x16", "--data", "synthetic",
         "--steps", "2", "--over", "recipe=none,fp8-delayed:history=4,margin=1", "--device", "cpu",
         "--store", "sweep.db", NULL);
  g_assert_cmpint (sweep.code, ==, 0);
  assert_contains (sweep.out, "fp8-delayed:history=4,margin=1");
}

static void
test_train (void)
{
  g_autofree char *checkpoint = in_folder ("c.safetensors");
  g_auto (Outcome) train =
    lig ("train", "linear(16) ! mean-squared-error", "--input", "32x32", "--data",
         "synthetic?samples=64", "--steps", "3", "--device", "cpu", "--recipe",
         "fp8-delayed:history=8", "--checkpoint", checkpoint, "--json", NULL);
  g_assert_cmpint (train.code, ==, 0);
  g_auto (Outcome) show = lig ("runs", "show", "last", "--json", NULL);
  g_assert_cmpstr (text_at (show.json, "recipe"), ==, "fp8-delayed:history=8");
  g_auto (Outcome) other =
    lig ("train", "--resume", checkpoint, "--steps", "5", "--recipe", "fp8-rows", NULL);
  assert_contains (other.err, "--recipe cannot be combined with --resume");
  g_auto (Outcome) more = lig ("train", "--resume", checkpoint, "--steps", "5", "--json", NULL);
  g_assert_cmpint (int_at (more.json, "steps"), ==, 5);
}

/* A recipe that matmuls cannot use is reported, because results do not show it. */
static void
test_unquantized (void)
{
  const char *reason = "0 of 1 matmul has quantized operands; linear at 0 computes in fp32: "
                       "30 input features, fp8-rows needs a multiple of 16";
  g_auto (Outcome) train =
    lig ("train", "linear(16) ! mean-squared-error", "--input", "32x30", "--data",
         "synthetic?samples=64", "--steps", "1", "--device", "cpu", "--recipe", "fp8-rows", NULL);
  g_auto (Outcome) profile =
    lig ("profile", "linear(16) ! mean-squared-error", "--input", "32x30", "--steps", "1",
         "--device", "cpu", "--compare-recipes", "none,fp8-rows", NULL);
  g_auto (Outcome) fuse = lig ("fuse", "gelu ! linear(16)", "--input", "32x30", "--device", "cpu",
                               "--recipe", "fp8-rows", "--all", NULL);
  g_auto (Outcome) absent =
    lig ("train", "linear(16) ! mean-squared-error", "--input", "32x32", "--data",
         "synthetic?samples=64", "--steps", "1", "--device", "cpu", "--recipe", "mxfp8", NULL);
  assert_contains (train.err, reason);
  assert_contains (profile.err, reason);
  assert_contains (fuse.out, "recipe is none (30 input features");
  assert_contains (absent.err, "not for cpu");
}

/* The bytes of parameters are those of the listed types: fp32 for weights that are kept in fp32 and
 * fp8, the compute type for biases and for the weight whose size the recipe does not support. */
static void
test_check (void)
{
  static const struct {
    const char *dtype;
    gint64 bytes;
  } cases[] = {{"bf16", 2 * (64 + 32 * 64 + 64 + 64 * 50 + 50)},
               {"bf16:fp32", 4 * (64 + 32 * 64 + 64 + 64 * 50 + 50)},
               {"bf16:fp8", 4 * 32 * 64 + 2 * (64 + 64 + 64 * 50 + 50)}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Outcome) check = lig ("check", MODEL, ARGUMENTS, "--dtype", cases[i].dtype, "--recipe",
                                  "fp8-rows", "--json", NULL);
    g_assert_cmpint (int_at (check.json, "parameters"), ==, 64 + 32 * 64 + 64 + 64 * 50 + 50);
    g_assert_cmpint (int_at (check.json, "parameter_bytes"), ==, cases[i].bytes);
  }
  g_auto (Outcome) text =
    lig ("check", MODEL, ARGUMENTS, "--dtype", "bf16:fp8", "--recipe", "fp8-rows", NULL);
  assert_contains (text.out, "5426 trained elements, 14.9 kB;");
}

#define TRAIN \
  "train", "linear(16) ! mean-squared-error", "--input", "32x32", "--data", \
    "synthetic?samples=64", "--device", "cpu"

static void
test_calibrate (void)
{
  static const struct {
    const char *recipe, *steps, *message;
  } wrong[] = {
    {"fp8-delayed", "4", "calibrate is 4, expected a whole number below steps, 4"},
    {"fp8-delayed", "-1", "--calibrate is '-1', expected a whole number from 0"},
    {"fp8-rows", "2", "calibrate is 2, but recipe fp8-rows keeps no amaxes of earlier steps"},
    {"none", "2", "calibrate is 2, but recipe none keeps no amaxes of earlier steps"},
  };
  g_autofree char *checkpoint = in_folder ("calibrated.safetensors");
  g_auto (Outcome) train = lig (TRAIN, "--steps", "3", "--recipe", "fp8-delayed", "--calibrate",
                                "2", "--checkpoint", checkpoint, "--json", NULL);
  g_assert_cmpint (train.code, ==, 0);
  g_auto (Outcome) other =
    lig ("train", "--resume", checkpoint, "--steps", "5", "--calibrate", "3", NULL);
  assert_contains (other.err, "calibrate 3 does not match the checkpoint, which has 2; omit it");
  g_assert_cmpint (other.code, ==, 2);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_auto (Outcome) outcome =
      lig (TRAIN, "--steps", "4", "--recipe", wrong[i].recipe, "--calibrate", wrong[i].steps, NULL);
    assert_contains (outcome.err, wrong[i].message);
    g_assert_cmpint (outcome.code, !=, 0);
  }
  g_auto (Outcome) help = lig ("train", "--help", NULL);
  assert_contains (help.out, "--calibrate N");
}

static void
test_compare (void)
{
  g_autofree char *picture = in_folder ("errors.svg");
  g_auto (Outcome) json =
    lig ("profile", MODEL, ARGUMENTS, "--device", "cpu", "--steps", "1", "--compare-recipes",
         "none,fp8-delayed:history=16,margin=1,fp8-block", "--picture", picture, "--json", NULL);
  g_autofree char *svg = NULL;
  g_assert_cmpint (json.code, ==, 0);
  g_assert_cmpstr (text_at (json.json, "profiles.0.recipe"), ==, "none");
  g_assert_cmpstr (text_at (json.json, "profiles.1.recipe"), ==, "fp8-delayed:history=16,margin=1");
  g_assert_cmpstr (text_at (json.json, "errors.0.recipe"), ==, "fp8-delayed:history=16,margin=1");
  g_assert_cmpstr (text_at (json.json, "errors.1.ops.1.path"), ==, "1");
  g_assert_cmpstr (text_at (json.json, "errors.1.ops.1.recipe"), ==, "fp8-block");
  g_assert_true (g_file_get_contents (picture, &svg, NULL, NULL));
  assert_contains (svg, "fp8-block");
  assert_contains (svg, "Basic linear");
  g_auto (Outcome) show = lig ("runs", "show", "last", NULL);
  g_auto (Outcome) document = lig ("runs", "show", "last", "--json", NULL);
  assert_contains (show.out, "Errors against the compute type");
  assert_contains (show.out, "fp8-delayed:history=16,margin=1");
  g_assert_cmpstr (text_at (document.json, "recipe"), ==, "fp8-block");
  g_assert_cmpstr (text_at (document.json, "errors.1.ops.1.recipe"), ==, "fp8-block");
  g_assert_cmpstr (text_at (document.json, "errors.0.recipe"), ==,
                   "fp8-delayed:history=16,margin=1");
  g_auto (Outcome) again = lig ("runs", "repeat", "last", NULL);
  /* The times may differ; the plan may not. */
  assert_contains (again.out, " repeats ");
  g_auto (Outcome) repeated = lig ("runs", "show", "last", "--json", NULL);
  g_assert_cmpstr (text_at (repeated.json, "recipe"), ==, "fp8-block");
  g_assert_cmpstr (text_at (repeated.json, "run"), !=, text_at (document.json, "run"));
  g_auto (Outcome) text = lig ("profile", MODEL, ARGUMENTS, "--device", "cpu", "--steps", "1",
                               "--compare-recipes", "none,fp8-current", NULL);
  assert_contains (text.out, "Recipe fp8-current, ");
  assert_contains (text.out, "error of y");
  assert_contains (text.out, "error of the gradients of weights");
}

static void
test_compare_wrong (void)
{
  static const struct {
    const char *recipes, *option, *value, *message;
  } wrong[] = {
    {"none,none", NULL, NULL, "--compare-recipes lists none twice"},
    {"none,fp9", NULL, NULL, "--compare-recipes: recipe is 'fp9'"},
    {"none", NULL, NULL, "--compare-recipes lists only none; add a recipe"},
    {"fp8-rows", "--picture", "errors.txt", "--picture is 'errors.txt', expected a name that ends"},
    {"fp8-rows", "--picture", "-", "--picture is '-', expected a name that ends in .svg"},
    {"none", "--compare", "all", "--compare and --compare-recipes are given; use one of them"},
    {"none", "--recipe", "mxfp8", "--recipe and --compare-recipes are given; use one of them"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_auto (Outcome) outcome =
      lig ("profile", MODEL, ARGUMENTS, "--device", "cpu", "--compare-recipes", wrong[i].recipes,
           wrong[i].option, wrong[i].value, NULL);
    g_assert_cmpint (outcome.code, ==, 2);
    assert_contains (outcome.err, wrong[i].message);
  }
  g_auto (Outcome) alone =
    lig ("profile", MODEL, ARGUMENTS, "--device", "cpu", "--picture", "x.svg", NULL);
  assert_contains (alone.err, "also give --compare-recipes");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/recipe/explained", test_explained);
  g_test_add_func ("/cli/recipe/check", test_check);
  g_test_add_func ("/cli/recipe/plan", test_plan);
  g_test_add_func ("/cli/recipe/rejected", test_rejected);
  g_test_add_func ("/cli/recipe/train", test_train);
  g_test_add_func ("/cli/recipe/unquantized", test_unquantized);
  g_test_add_func ("/cli/recipe/calibrate", test_calibrate);
  g_test_add_func ("/cli/recipe/compare", test_compare);
  g_test_add_func ("/cli/recipe/compare-wrong", test_compare_wrong);
  return run_cli_tests ();
}
