/* SPDX-License-Identifier: MIT */
/* Tests predictions for device descriptions whose rates were edited by hand. */
#include <ligature/compile.h>
#include <ligature/kernels.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* Attention, matmuls, norms, an embedding and a loss: every kind of cost. */
#define MODEL \
  "embedding(768, vocabulary=4096) ! block(2) { transformer-layer(12) } ! layer-norm ! " \
  "linear(4096) ! cross-entropy"

/* An edit of a description. */
typedef struct {
  double copy, matmuls, launch; /* factors */
  gboolean older;               /* without the rates of the costs */
} Edit;

static void
scale (JsonObject *object, const char *key, double factor)
{
  json_object_set_double_member (object, key, factor * json_object_get_double_member (object, key));
}

/* Opens the shipped description of a GPU after an edit. */
static LigDevice *
open_edited (const char *card, const Edit *edit)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *source =
    g_strdup_printf ("%s/devices/%s.json", g_getenv ("LIGATURE_DATA"), card);
  g_autofree char *folder = g_dir_make_tmp ("lig-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "edited.json", NULL);
  g_autofree char *name = g_strconcat ("null:", path, NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  json_parser_load_from_file (parser, source, &error);
  g_assert_no_error (error);
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));
  JsonObject *matmuls = json_object_get_object_member (root, "matmul");
  g_autoptr (GList) types = json_object_get_members (matmuls);
  scale (root, "copy", edit->copy);
  scale (root, "launch", edit->launch);
  for (GList *type = types; type; type = type->next)
    scale (matmuls, type->data, edit->matmuls);
  if (edit->older)
    json_object_remove_member (json_object_get_object_member (root, "costs"), "rates");
  json_generator_set_root (generator, json_parser_get_root (parser));
  json_generator_to_file (generator, path, &error);
  g_assert_no_error (error);
  LigDevice *device = lig_device_open (name, &error);
  g_assert_no_error (error);
  g_unlink (path);
  g_rmdir (folder);
  return device;
}

static LigPlan *
compile (LigDevice *device, LigDtype dtype)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (MODEL, &error);
  g_assert_no_error (error);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (8), G_GINT64_CONSTANT (1024));
  lig_sequence_set_input (sequence, &shape, LIG_INT32);
  options.compute = options.parameters = (int) dtype;
  options.policy = LIG_POLICY_ALL;
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* No step is faster than its bytes and operations at the rates of the description. */
static void
check_roofline (LigPlan *plan)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  const LigDeviceFacts *facts = lig_device_get_facts (lig_plan_get_device (plan));
  double rate = facts->matmul[lig_plan_get_compute (plan)];
  for (guint i = 0; i < count; i++) {
    gboolean matmul = steps[i].kernel && steps[i].kernel->work < 0;
    double bytes = (steps[i].read + steps[i].written) / facts->copy;
    double min = MAX (bytes, matmul ? steps[i].flops / rate : 0);
    g_assert_cmpfloat (steps[i].predicted, >=, min * (1 - 1e-9));
  }
}

static double
sum (LigPlan *plan)
{
  guint count;
  double seconds = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    seconds += steps[i].predicted;
  return seconds;
}

/* A GPU that is half as fast in every respect takes twice as long for each single step. Overlap
 * also depends on times that are not rates. */
static void
test_half (void)
{
  static const char *const cards[] = {"a100", "h100", "h200", "b200"};
  static const Edit same = {1, 1, 1, FALSE}, half = {0.5, 0.5, 2, FALSE};
  for (guint i = 0; i < G_N_ELEMENTS (cards); i++)
    for (LigDtype dtype = LIG_FP32; dtype <= LIG_BF16; dtype++) {
      guint count, slow_count;
      g_autoptr (LigDevice) device = open_edited (cards[i], &same);
      g_autoptr (LigDevice) slow_device = open_edited (cards[i], &half);
      g_autoptr (LigPlan) plan = compile (device, dtype), slow = compile (slow_device, dtype);
      const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
      const LigPlanStep *slow_steps = lig_plan_get_steps (slow, &slow_count);
      g_assert_null (lig_device_get_remark (device));
      g_assert_nonnull (strstr (lig_device_get_remark (slow_device), "the costs are scaled"));
      g_assert_cmpuint (count, ==, slow_count);
      for (guint k = 0; k < count; k++)
        if (steps[k].lane == LIG_LANE_MAIN && slow_steps[k].lane == LIG_LANE_MAIN)
          g_assert_cmpfloat_with_epsilon (slow_steps[k].predicted / steps[k].predicted, 2, 1e-9);
      check_roofline (plan);
      check_roofline (slow);
    }
}

/* Edits of single rates, with and without cost rates. */
static void
test_roofline (void)
{
  static const Edit edits[] = {
    {0.5, 1, 1, FALSE}, {1, 0.5, 1, FALSE}, {1, 0.95, 1, TRUE},   {0.5, 1, 1, TRUE},
    {1, 0.3, 1, TRUE},  {4, 4, 1, FALSE},   {1, 0.5, 0.1, FALSE}, {0.5, 0.5, 1, TRUE},
  };
  for (guint i = 0; i < G_N_ELEMENTS (edits); i++)
    for (LigDtype dtype = LIG_FP32; dtype <= LIG_BF16; dtype++) {
      g_autoptr (LigDevice) device = open_edited ("h200", &edits[i]);
      g_autoptr (LigPlan) plan = compile (device, dtype);
      check_roofline (plan);
    }
}

/* Without cost rates, costs that contradict the description are dropped. */
static void
test_older (void)
{
  static const Edit same = {1, 1, 1, TRUE}, half = {0.5, 0.5, 1, TRUE}, fast = {1, 4, 1, FALSE};
  g_autoptr (LigDevice) untouched = open_edited ("h200", &same);
  g_autoptr (LigDevice) device = open_edited ("h200", &half), faster = open_edited ("h200", &fast);
  g_autoptr (LigDevice) shipped = lig_device_open ("null:h200", NULL);
  g_assert_true (lig_device_get_facts (untouched)->costs.known);
  g_assert_null (lig_device_get_remark (untouched));
  g_assert_false (lig_device_get_facts (device)->costs.known);
  g_assert_nonnull (strstr (lig_device_get_remark (device), "the costs are not used"));
  g_autoptr (LigPlan) as_shipped = compile (shipped, LIG_BF16), quick = compile (faster, LIG_BF16);
  g_autoptr (LigPlan) as_before = compile (untouched, LIG_BF16);
  g_assert_cmpfloat (sum (as_before), ==, sum (as_shipped));
  g_assert_cmpfloat (sum (quick), <, 0.75 * sum (as_shipped));
}

/* A written description has the rates of its costs. */
static void
test_written (void)
{
  g_autoptr (GError) error = NULL;
  static const Edit half = {0.5, 0.25, 1, FALSE};
  g_autoptr (LigDevice) device = open_edited ("h200", &half);
  LigDeviceFacts facts;
  g_autofree char *json = lig_device_facts_to_json (lig_device_get_facts (device));
  g_assert_true (lig_device_facts_from_json (json, &facts, &error));
  g_assert_no_error (error);
  const LigDeviceCosts *now = &facts.costs, *then = &lig_device_get_facts (device)->costs;
  g_assert_true (now->known);
  for (int i = 0; i < LIG_COST_AREAS * LIG_COST_DEPTHS; i++)
    g_assert_cmpfloat_with_epsilon (now->matmuls[i] / then->matmuls[i], 1, 1e-3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/edited-rates/half", test_half);
  g_test_add_func ("/edited-rates/roofline", test_roofline);
  g_test_add_func ("/edited-rates/older", test_older);
  g_test_add_func ("/edited-rates/written", test_written);
  return g_test_run ();
}
