/* SPDX-License-Identifier: MIT */
/* Tests reports of two plans next to each other, in all formats. */
#include <ligature/compile.h>
#include <ligature/draw.h>
#include <ligature/plan-options.h>
#include <ligature/report.h>

#include <json-glib/json-glib.h>
#include <string.h>

#define FUSED "layer-norm ! linear(3072) ! gelu ! linear(768)"
#define APART "layer-norm ! linear(3072) ! | ! gelu ! linear(768)"

static LigPlan *
compile (const char *expression, const char *device_name)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  LigDtype dtype = LIG_BF16;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_shape_parse ("2048x768:bf16", &shape, &dtype, &error);
  g_assert_no_error (error);
  lig_sequence_set_input (sequence, &shape, dtype);
  lig_sequence_set_name (sequence, "two <plans>");
  g_autoptr (LigDevice) device = lig_device_open (device_name, &error);
  g_assert_no_error (error);
  options.policy = LIG_POLICY_ALL;
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static LigPlanComparison *
compare (const char *before, const char *before_device, const char *after, const char *after_device)
{
  g_autoptr (LigPlan) a = compile (before, before_device);
  g_autoptr (LigPlan) b = compile (after, after_device);
  return lig_plan_compare (a, b);
}

static char *
report (LigPlanComparison *comparison, const char *format)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = lig_report_comparison (comparison, "before", "after", format, &error);
  g_assert_no_error (error);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_assert_cmpuint (size, >, 0);
  return g_strndup (data, size);
}

static void
test_markdown (void)
{
  g_autoptr (LigPlanComparison) comparison = compare (FUSED, "null:h200", APART, "null:h200");
  g_autofree char *text = report (comparison, "md");
  g_assert_nonnull (strstr (text, "before"));
  g_assert_nonnull (strstr (text, "forward-linear-bias-activation"));
  g_assert_nonnull (strstr (text, "| different |"));
  g_assert_nonnull (strstr (text, "| same |"));
  g_assert_nonnull (strstr (text, "| ! gelu"));
  g_assert_nonnull (strstr (text, "≈ "));
  g_assert_nonnull (strstr (text, " +"));
}

static void
test_json (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlanComparison) comparison = compare (FUSED, "null:a100", APART, "null:h200");
  g_autofree char *text = report (comparison, "json");
  g_autoptr (JsonNode) root = json_from_string (text, &error);
  g_assert_no_error (error);
  JsonObject *object = json_node_get_object (root);
  g_assert_cmpstr (
    json_object_get_string_member (json_object_get_object_member (object, "before"), "device"), ==,
    "null:a100");
  JsonObject *total = json_object_get_object_member (object, "total");
  g_assert_false (json_object_get_boolean_member (total, "same"));
  g_assert_cmpfloat (
    json_object_get_double_member (json_object_get_object_member (total, "before"), "microseconds"),
    >,
    json_object_get_double_member (json_object_get_object_member (total, "after"), "microseconds"));
  JsonArray *forward = json_object_get_array_member (object, "forward");
  guint different = 0;
  for (guint i = 0; i < json_array_get_length (forward); i++)
    different +=
      !json_object_get_boolean_member (json_array_get_object_element (forward, i), "same");
  g_assert_cmpuint (different, ==, 1);
}

static void
ignore_text (
  GMarkupParseContext *parser, const char *text, gsize length, gpointer data, GError **error)
{
  g_string_append_len (data, text, (gssize) length);
}

static void
test_svg (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) texts = g_string_new (NULL);
  const GMarkupParser parser = {.text = ignore_text};
  g_autoptr (LigPlanComparison) comparison = compare (FUSED, "null:h200", APART, "null:h200");
  g_autofree char *svg = report (comparison, "svg");
  g_autoptr (GMarkupParseContext) reader = g_markup_parse_context_new (&parser, 0, texts, NULL);
  g_markup_parse_context_parse (reader, svg, -1, &error);
  g_assert_no_error (error);
  g_assert_nonnull (strstr (texts->str, "before | after"));
  g_assert_nonnull (strstr (texts->str, "only in the first plan"));
  g_assert_nonnull (strstr (texts->str, "only in the second plan"));
  g_assert_nonnull (strstr (texts->str, "the same group in both plans"));
}

static void
test_others (void)
{
  static const char *const formats[] = {"html", "pdf", "png", "csv"};
  g_autoptr (LigPlanComparison) comparison = compare (FUSED, "null:h200", APART, "null:a100");
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree char *text = report (comparison, formats[i]);
    if (g_str_equal (formats[i], "html")) {
      g_assert_nonnull (strstr (text, "<svg"));
      g_assert_nonnull (strstr (text, "application/json"));
      g_assert_null (strstr (text, "two <plans>"));
    }
    if (g_str_equal (formats[i], "csv"))
      g_assert_nonnull (strstr (text, "\nforward,1,false,false,forward-linear-bias-activation,"));
  }
  g_autoptr (GError) error = NULL;
  g_assert_null (lig_report_comparison (comparison, "a", "b", "dot", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
}

/* Removed, inserted and repeated ops are drawn within the requested height. */
static void
test_height (void)
{
  static const char *const pairs[][2] = {
    {"gelu ! linear(64)", "linear(64) ! silu ! layer-norm"},
    {"block(6) { linear(768) ! block(3) { gelu } }",
     "block(6) { linear(768) ! block(3) { silu } }"},
    {"gelu", "relu"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    g_autoptr (LigPlanComparison) comparison =
      compare (pairs[i][0], "null:h200", pairs[i][1], "null:h200");
    guint count;
    LigCanvas *canvas = lig_canvas_new_blank ();
    double height = lig_draw_comparison_height (comparison);
    lig_draw_comparison (canvas, lig_colours (LIG_COLOURS_LIGHT), comparison, "a", "b", 900);
    const LigMark *marks = lig_canvas_get_marks (canvas, &count);
    g_assert_cmpuint (count, >, 0);
    for (guint k = 0; k < count; k++) {
      g_assert_cmpfloat (marks[k].y + marks[k].height, <=, height);
      g_assert_cmpfloat (marks[k].x + marks[k].width, <=, 900);
      g_assert_cmpfloat (marks[k].height, >, 0);
    }
    lig_canvas_free (canvas);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report/comparison/markdown", test_markdown);
  g_test_add_func ("/report/comparison/json", test_json);
  g_test_add_func ("/report/comparison/svg", test_svg);
  g_test_add_func ("/report/comparison/others", test_others);
  g_test_add_func ("/report/comparison/height", test_height);
  return g_test_run ();
}
