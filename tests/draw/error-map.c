/* SPDX-License-Identifier: MIT */
/* The map of the errors of recipes: a mark for each error, macros above their parts, and a colour
 * scale that fits the errors. */
#include <ligature/draw-recipes.h>
#include <ligature/op.h>

#include <math.h>
#include <string.h>

enum { OPS = 4 };

/* Returns errors of a sequence `norm ! linear ! gelu`; the matmul's are the largest. */
static LigRecipeErrors *
new_errors (const char *name, double greatest)
{
  static const char *const ops[OPS] = {"layer-norm", "basic-linear", "bias", "gelu"};
  static const char *const written[OPS] = {"0", "1", "1", "2"};
  static const char *const titles[OPS] = {"layer-norm", "linear", "linear", "gelu"};
  LigRecipeErrors *self = g_new0 (LigRecipeErrors, 1);
  self->recipe = g_strdup (name);
  self->output = self->gradient = greatest;
  self->n_ops = OPS;
  self->ops = g_new0 (LigOpErrors, OPS);
  for (int i = 0; i < OPS; i++)
    self->ops[i] = (LigOpErrors){.path = g_strdup (written[i]),
                                 .op = ops[i],
                                 .output = i == 0 ? 0 : greatest / (i == 1 ? 1 : 3),
                                 .gradient = greatest / 4,
                                 .parameters = i == 3 ? NAN : greatest / 5,
                                 .recipe = i == 1 ? "fp8-current" : NULL,
                                 .written = g_strdup (written[i]),
                                 .title = titles[i]};
  return self;
}

static GPtrArray *
new_list (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) lig_recipe_errors_free);
}

static char *
draw (GPtrArray *errors, double width)
{
  double height = lig_draw_recipes_height (errors);
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (width, height);
  guint count;
  lig_draw_recipes (canvas, lig_colours (LIG_COLOURS_LIGHT), errors, width);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  for (guint i = 0; i < count; i++) {
    g_assert_cmpfloat (marks[i].x, >=, 0);
    g_assert_cmpfloat (marks[i].x + marks[i].width, <=, width + 1);
    g_assert_cmpfloat (marks[i].y + marks[i].height, <=, height);
    g_assert_null (strstr (marks[i].text, "nan"));
  }
  return lig_canvas_to_svg (canvas);
}

static void
test_marks (void)
{
  static const char *const tensors[] = {": output ", ": gradient of the output ",
                                        ": gradients of the parameters "};
  g_autoptr (GPtrArray) errors = new_list ();
  g_ptr_array_add (errors, new_errors ("fp8-current", 0.08));
  g_ptr_array_add (errors, new_errors ("fp8-rows", 0.04));
  g_autoptr (LigCanvas) canvas = lig_canvas_new_blank ();
  guint count, n = 0;
  lig_draw_recipes (canvas, lig_colours (LIG_COLOURS_DARK), errors, 800);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  /* All but parameter gradients of gelu, which has no parameters. */
  g_assert_cmpuint (count, ==, OPS * 2 * 3 - 2);
  for (guint op = 0; op < OPS; op++)
    for (guint recipe = 0; recipe < 2; recipe++)
      for (guint tensor = 0; tensor < (op == 3 ? 2 : 3); tensor++, n++) {
        const LigOpErrors *expected = &((LigRecipeErrors *) errors->pdata[0])->ops[op];
        g_assert_true (lig_draw_recipes_get_op (errors, n) == expected);
        g_assert_nonnull (strstr (marks[n].text, lig_op_info_find (expected->op)->title));
        g_assert_nonnull (strstr (marks[n].text, recipe == 0 ? "fp8-current" : "fp8-rows"));
        g_assert_nonnull (strstr (marks[n].text, tensors[tensor]));
      }
  g_assert_null (lig_draw_recipes_get_op (errors, count));
  g_assert_cmpstr (marks[6].text, ==, "Basic linear 1, fp8-current: output 8.0 %");
}

/* A macro has a row above its parts, which counts for the height. */
static void
test_macros (void)
{
  g_autoptr (GPtrArray) errors = new_list ();
  g_ptr_array_add (errors, new_errors ("fp8-current", 0.08));
  double with = lig_draw_recipes_height (errors);
  g_autofree char *svg = draw (errors, 800);
  g_assert_nonnull (strstr (svg, ">1 Linear<"));
  g_assert_nonnull (strstr (svg, ">Basic linear<"));
  g_assert_nonnull (strstr (svg, ">0 Layer norm<"));
  LigRecipeErrors *recipe = errors->pdata[0];
  g_free (recipe->ops[2].written);
  recipe->ops[2].written = g_strdup ("1.bias");
  g_assert_cmpfloat (lig_draw_recipes_height (errors), <, with);
}

/* The scale covers the errors in half decades, at least one decade. */
static void
test_scale (void)
{
  static const struct {
    double greatest;
    const char *first, *last, *beyond;
  } cases[] = {
    {0.08, ">1 %<", ">10 %<", ">30 %<"},
    {0.002, ">0.03 %<", ">0.3 %<", ">1 %<"},
    {0, ">0.1 %<", ">100 %<", ">300 %<"},
    {INFINITY, ">30 %<", ">100 %<", ">300 %<"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) errors = new_list ();
    g_ptr_array_add (errors, new_errors ("fp8-current", cases[i].greatest));
    g_autofree char *svg = draw (errors, 800);
    g_test_message ("greatest error %g", cases[i].greatest);
    g_assert_nonnull (strstr (svg, cases[i].first));
    g_assert_nonnull (strstr (svg, cases[i].last));
    g_assert_null (strstr (svg, cases[i].beyond));
  }
}

/* A few very small errors do not stretch the scale; its first label shows that they are below
 * it. */
static void
test_below (void)
{
  g_autoptr (GPtrArray) errors = new_list ();
  for (int i = 0; i < 2; i++)
    g_ptr_array_add (errors, new_errors ("fp8-current", 0.08));
  g_autofree char *all = draw (errors, 800);
  g_assert_null (strstr (all, ">≤ "));
  ((LigRecipeErrors *) errors->pdata[0])->ops[3].gradient = 1e-4;
  g_autofree char *one = draw (errors, 800);
  g_assert_nonnull (strstr (one, ">≤ 1 %<"));
  g_assert_nonnull (strstr (one, ">10 %<"));
  g_assert_null (strstr (one, ">0.1 %<"));
}

/* Narrow pictures and lists without a recipe can also be drawn. */
static void
test_edges (void)
{
  g_autoptr (GPtrArray) errors = new_list ();
  g_autofree char *none = draw (errors, 320);
  for (int i = 0; i < 5; i++)
    g_ptr_array_add (errors,
                     new_errors ("fp8-delayed:history=1024,amax=most-recent,format=e4m3", 0.1));
  g_autofree char *narrowest = draw (errors, 320);
  g_autofree char *narrow = draw (errors, 900);
  g_assert_nonnull (strstr (narrow, ">dy<"));
  g_autofree char *wide = draw (errors, 1600);
  g_assert_nonnull (strstr (wide, ">gradient<"));
  g_assert_null (strstr (wide, ">dy<"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/draw/error-map/marks", test_marks);
  g_test_add_func ("/draw/error-map/macros", test_macros);
  g_test_add_func ("/draw/error-map/scale", test_scale);
  g_test_add_func ("/draw/error-map/below", test_below);
  g_test_add_func ("/draw/error-map/edges", test_edges);
  return g_test_run ();
}
