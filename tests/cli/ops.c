/* SPDX-License-Identifier: MIT */
/* Tests `lig ops WORD`: ops with their fusions, fusions, and the search in both. */
#include "tests/cli/case.h"

#include <ligature/fusion.h>
#include <ligature/recipe.h>

/* Returns whether the array below the place has an object whose member is the text. */
static gboolean
has (JsonNode *root, const char *place, const char *member, const char *text)
{
  JsonArray *array = json_node_get_array (at (root, place));
  for (guint i = 0; i < json_array_get_length (array); i++) {
    JsonObject *object = json_array_get_object_element (array, i);
    if (g_str_equal (json_object_get_string_member (object, member), text))
      return TRUE;
  }
  return FALSE;
}

static void
test_fusions_of_op (void)
{
  g_auto (Outcome) text = lig ("ops", "gelu", NULL);
  g_assert_cmpint (text.code, ==, 0);
  const char *forward = strstr (text.out, "\nFusions, forward:\n");
  const char *backward = strstr (text.out, "\nFusions, backward:\n");
  g_assert_true (forward && backward && forward < backward);
  assert_contains (forward, "  forward-linear-bias-activation  basic-linear [bias] [gelu|relu]: ");
  assert_contains (backward, "  backward-bias-gelu-linear       [bias] gelu basic-linear [bias]: ");
  g_assert_null (strstr (text.out, "add-norm"));
  g_auto (Outcome) json = lig ("ops", "gelu", "--json", NULL);
  g_assert_true (has (json.json, "fusions", "fusion", "forward-bias-activation"));
  g_assert_false (has (json.json, "fusions", "fusion", "forward-add-norm"));
  assert_keys (at (json.json, "fusions.0"), "fusion pass summary pattern");
  /* A fusion of its parts counts for a macro; some ops are in no fusion. */
  g_auto (Outcome) macro = lig ("ops", "linear", "--json", NULL);
  g_assert_true (has (macro.json, "fusions", "fusion", "backward-linear-bias"));
  g_auto (Outcome) none = lig ("ops", "dropout", "--json", NULL);
  g_assert_cmpuint (length_at (none.json, "fusions"), ==, 0);
}

/* Returns a text with line breaks and margins replaced by single spaces. */
static char *
in_one_line (const char *text)
{
  g_auto (GStrv) words = g_strsplit_set (text, " \n", -1);
  GString *line = g_string_new (NULL);
  for (char **word = words; *word; word++)
    if (**word)
      g_string_append_printf (line, "%s%s", line->len > 0 ? " " : "", *word);
  return g_string_free (line, FALSE);
}

/* Describes each recipe with its parameters; a search finds them along with ops and fusions. */
static void
test_recipes (void)
{
  const LigRecipeInfo *info;
  g_auto (Outcome) all = lig ("ops", NULL);
  for (guint i = 0; (info = lig_recipe_info_nth (i)); i++) {
    g_auto (Outcome) text = lig ("ops", info->name, NULL);
    g_auto (Outcome) json = lig ("ops", info->name, "--json", NULL);
    assert_contains (all.out, info->name);
    g_autofree char *flat = in_one_line (text.out);
    assert_contains (flat, info->help);
    g_assert_cmpstr (text_at (json.json, "recipe"), ==, info->name);
    for (const LigParam *param = info->params; param->name; param++) {
      assert_contains (text.out, param->name);
      g_assert_true (has (json.json, "params", "name", param->name));
    }
  }
  g_auto (Outcome) found = lig ("ops", "block", "fp8", "--json", NULL);
  g_assert_true (has (found.json, "recipes", "recipe", "fp8-block"));
}

/* Describes each fusion; its example is fused as described. */
static void
test_each_fusion (void)
{
  const LigFusion *fusion;
  for (guint i = 0; (fusion = lig_fusion_nth (i)); i++) {
    /* A joint fusion has kernels in both passes. */
    const char *pass = fusion->pass == LIG_PASS_JOINT ? "forward" : lig_pass_name (fusion->pass);
    g_autofree char *place = g_strdup_printf ("kernels.%s", pass);
    g_autofree char *alone = g_strdup_printf ("unfused.%s", pass);
    g_auto (Outcome) json = lig ("ops", fusion->name, "--json", NULL);
    g_assert_cmpint (json.code, ==, 0);
    assert_keys (json.json, "fusion pass summary pattern ops example unfused kernels");
    g_assert_cmpstr (text_at (json.json, "pattern"), ==, fusion->pattern);
    g_assert_cmpuint (length_at (json.json, "ops"), >=, 2);
    g_assert_cmpuint (length_at (json.json, place), >=, 1);
    /* Those that overlap a collective have more kernels, one per chunk. */
    gboolean collectives = strstr (fusion->pattern, "all-gather") != NULL ||
                           strstr (fusion->pattern, "all-reduce") != NULL ||
                           strstr (fusion->pattern, "reduce-scatter") != NULL;
    if (!collectives)
      g_assert_cmpuint (length_at (json.json, place), <, length_at (json.json, alone));
    g_auto (Outcome) text = lig ("ops", fusion->name, NULL);
    g_autofree char *words = in_one_line (text.out);
    assert_contains (words, fusion->pattern);
    assert_contains (text.out, "→ ");
    g_autofree char *command = g_strstrip (g_strdup (strstr (text.out, "lig fuse ")));
    g_autofree char *line = g_strconcat (command, " --device null --json", NULL);
    g_auto (Outcome) example = shell (line);
    g_assert_cmpint (example.code, ==, 0);
    g_assert_true (has (example.json, "verdicts", "fusion", fusion->name));
    g_assert_nonnull (strstr (example.out, "\"taken\": true"));
  }
}

static void
test_search (void)
{
  g_auto (Outcome) text = lig ("ops", "NORM", NULL);
  g_assert_cmpint (text.code, ==, 0);
  assert_contains (text.out, "Ops:\n  layer-norm ");
  assert_contains (text.out, "\nFusions:\n  forward-add-norm-quantize ");
  assert_contains (text.out, "\n  forward-add-norm ");
  g_assert_null (strstr (text.out, "gelu"));
  /* All words must match, also in the summaries. */
  g_auto (Outcome) words = lig ("ops", "Gradient", "BIAS", "--json", NULL);
  g_assert_cmpuint (length_at (words.json, "ops"), ==, 0);
  g_assert_true (has (words.json, "fusions", "fusion", "backward-linear-bias"));
  g_assert_false (has (words.json, "fusions", "fusion", "backward-add-norm"));
  g_auto (Outcome) swish = lig ("ops", "swish", "--json", NULL);
  g_assert_cmpstr (text_at (swish.json, "ops.0.op"), ==, "silu");
  /* Only if no name or summary matches, parameters and their choices do. */
  g_auto (Outcome) param = lig ("ops", "kv-heads", "--json", NULL);
  g_assert_true (has (param.json, "ops", "op", "attention"));
  g_assert_true (has (param.json, "ops", "op", "transformer-layer"));
  g_assert_false (has (param.json, "ops", "op", "linear"));
  g_auto (Outcome) choice = lig ("ops", "causal-bottom-right", "--json", NULL);
  g_assert_true (has (choice.json, "ops", "op", "attention"));
}

static void
test_unknown (void)
{
  g_auto (Outcome) op = lig ("ops", "gleu", "--json", NULL);
  assert_failed (&op, 1, "op", "did you mean 'gelu'?");
  g_auto (Outcome) fusion = lig ("ops", "forward-ad-norm", "--json", NULL);
  assert_failed (&fusion, 1, "op", "did you mean 'forward-add-norm'?");
  g_auto (Outcome) nothing = lig ("ops", "zzzzzzzzzzzz", "--json", NULL);
  assert_failed (&nothing, 1, "op", "lig ops lists them");
  g_assert_null (strstr (nothing.err, "did you mean"));
}

/* The parameters of an op that has many are grouped under headings; each choice can still be
 * read. */
static void
test_groups (void)
{
  g_setenv ("COLUMNS", "80", TRUE);
  g_auto (Outcome) text = lig ("ops", "transformer-layer", NULL);
  g_unsetenv ("COLUMNS");
  const char *masks = strstr (text.out, "\n\nMasks\nmask "),
             *mlp = strstr (text.out, "\n\nMLP\nactivation "),
             *clamped = strstr (text.out, "sreglu,\n    swiglu,");
  g_assert_true (masks && mlp && clamped && masks < mlp && mlp < clamped);
  g_auto (Outcome) json = lig ("ops", "transformer-layer", "--json", NULL);
  guint last = length_at (json.json, "params") - 1;
  g_autofree char *name = g_strdup_printf ("params.%u.name", last);
  g_autofree char *group = g_strdup_printf ("params.%u.group", last);
  g_assert_cmpstr (text_at (json.json, "params.0.name"), ==, "heads");
  g_assert_cmpstr (text_at (json.json, "params.0.group"), ==, "Sizes");
  g_assert_cmpstr (text_at (json.json, name), ==, "recompute");
  g_assert_cmpstr (text_at (json.json, group), ==, "Backward pass");
  g_auto (Outcome) few = lig ("ops", "linear", "--json", NULL);
  g_assert_true (json_node_is_null (at (few.json, "params.0.group")));
}

static void
test_widths (void)
{
  static const char *const names[] = {NULL, "gelu", "forward-linear-bias-activation", "norm",
                                      "transformer-layer"};
  static const int widths[] = {60, 80, 120};
  for (guint i = 0; i < G_N_ELEMENTS (names) * G_N_ELEMENTS (widths); i++) {
    int width = widths[i % G_N_ELEMENTS (widths)];
    g_autofree char *columns = g_strdup_printf ("%d", width);
    g_setenv ("COLUMNS", columns, TRUE);
    g_auto (Outcome) found = lig ("ops", names[i / G_N_ELEMENTS (widths)], NULL);
    g_unsetenv ("COLUMNS");
    g_auto (GStrv) lines = g_strsplit (found.out, "\n", -1);
    for (char **line = lines; *line; line++)
      if (!strstr (*line, "lig fuse "))
        g_assert_cmpint (g_utf8_strlen (*line, -1), <=, width);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_unsetenv ("COLUMNS");
  g_test_add_func ("/ops/fusions", test_fusions_of_op);
  g_test_add_func ("/ops/each-fusion", test_each_fusion);
  g_test_add_func ("/ops/recipes", test_recipes);
  g_test_add_func ("/ops/search", test_search);
  g_test_add_func ("/ops/unknown", test_unknown);
  g_test_add_func ("/ops/groups", test_groups);
  g_test_add_func ("/ops/widths", test_widths);
  return run_cli_tests ();
}
