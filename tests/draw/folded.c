/* SPDX-License-Identifier: MIT */
/* Pictures of folded macros: the channels in them are not drawn, those that lead to them are, and
 * blocks have the bytes of all repetitions. */
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/draw.h>
#include <ligature/units.h>

/* Returns the texts of all marks that start with a word, one per line. */
static char *
list_marks (LigCanvas *canvas, const char *word)
{
  guint count;
  g_autoptr (GString) text = g_string_new (NULL);
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  for (guint i = 0; i < count; i++)
    if (g_str_has_prefix (marks[i].text, word))
      g_string_append_printf (text, "%s\n", marks[i].text);
  return g_strdup (text->str);
}

static void
test_channels (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence =
    new_sequence ("make-extra-output(memory) ! gelu ! "
                  "block(2) { transformer-layer(4, layer-type=decoder, memory=../memory) }",
                  "2x16x64:bf16");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  const LigTimedPlan timed = {.plan = plan};
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (1000, 800);
  lig_draw_score (canvas, lig_colours (LIG_COLOURS_LIGHT), &timed, 1000);
  g_autofree char *channels = list_marks (canvas, "Channel ");
  g_assert_cmpstr (channels, ==, "Channel memory from 0 to 2.0.0\n");
  double bytes = 0;
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &count);
  for (guint i = 0; i < count; i++)
    if (g_str_has_prefix (ops[groups[i].first].path, "2."))
      bytes += groups[i].bytes;
  g_autofree char *moved = lig_units_bytes (bytes);
  g_autofree char *expected = g_strdup_printf (", %s<", moved);
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  g_assert_nonnull (strstr (svg, "all 2 repetitions: "));
  g_assert_nonnull (strstr (svg, expected));
}

/* Draws folded linears with a recipe. Returns the number of framed 8-bit signs in the picture. */
static guint
count_eights (const char *recipe)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence =
    new_sequence ("linear(64) ! swiglu ! linear(32)", "32x32:bf16");
  options.recipe = recipe;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  const LigTimedPlan timed = {.plan = plan};
  g_autoptr (LigCanvas) canvas = lig_canvas_new_svg (1000, 800);
  lig_draw_score (canvas, lig_colours (LIG_COLOURS_LIGHT), &timed, 1000);
  g_autofree char *svg = lig_canvas_to_svg (canvas);
  g_auto (GStrv) parts = g_strsplit (svg, "width=\"9\" height=\"10\"", -1);
  g_assert_true (g_str_equal (recipe, "none") || strstr (svg, recipe));
  return g_strv_length (parts) - 1;
}

/* The sum of a folded macro is marked like its groups; the head names the recipe. */
static void
test_recipe (void)
{
  g_assert_cmpuint (count_eights ("none"), ==, 0);
  g_assert_cmpuint (count_eights ("fp8-delayed"), >=, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/draw/folded/channels", test_channels);
  g_test_add_func ("/draw/folded/recipe", test_recipe);
  return g_test_run ();
}
