/* SPDX-License-Identifier: MIT */
/* The names of the hotspots: each once, with all its locations. */
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/hotspots.h>

#include <math.h>

/* Compiles for training on a described device. */
static LigPlan *
compile_for_gpu (const char *expression, const char *input)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = TRUE;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static const LigHotspot *
find (GPtrArray *list, const char *name)
{
  for (guint i = 0; i < list->len; i++)
    if (g_str_equal (((const LigHotspot *) list->pdata[i])->name, name))
      return list->pdata[i];
  g_error ("nothing is called %s", name);
}

/* Every group with a kernel is in one of them, and no two have the same name. */
static GPtrArray *
list_all (LigPlan *plan)
{
  const LigTimedPlan timed = {.plan = plan};
  GPtrArray *list = lig_hotspot_list (&timed, NULL, G_MAXUINT);
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  guint groups = 0, counted = 0;
  double seconds = 0, sum = 0;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    guint count;
    const LigPlanGroup *all = lig_plan_get_groups (plan, pass, &count);
    for (guint i = 0; i < count; i++) {
      groups += all[i].n_steps > 0;
      seconds += all[i].n_steps > 0 ? all[i].predicted : 0;
    }
  }
  for (guint i = 0; i < list->len; i++) {
    const LigHotspot *hotspot = list->pdata[i];
    g_assert_true (g_hash_table_add (names, hotspot->name));
    counted += hotspot->counts[0] + hotspot->counts[1];
    sum += hotspot->figures.seconds;
    g_assert_cmpfloat_with_epsilon (hotspot->figures.seconds,
                                    hotspot->passes[0].seconds + hotspot->passes[1].seconds, 1e-12);
    if (i > 0)
      g_assert_cmpfloat (hotspot->figures.seconds, <=,
                         ((const LigHotspot *) list->pdata[i - 1])->figures.seconds);
  }
  g_assert_cmpuint (counted, ==, groups);
  g_assert_cmpfloat_with_epsilon (sum, seconds, 1e-9 * seconds);
  return list;
}

/* The parts of macros in a block, and ops outside it in both passes. */
static void
test_block (void)
{
  g_autoptr (LigPlan) plan =
    compile_for_gpu ("embedding(64, vocabulary=100) ! block(6) { transformer-layer(heads=4) } ! "
                     "layer-norm ! linear(100, bias=false) ! cross-entropy",
                     "2x16:int32");
  g_autoptr (GPtrArray) list = list_all (plan);
  const LigHotspot *attention = find (list, "Attention in 6\u00a0× Transformer layer at 1");
  g_assert_cmpuint (attention->counts[0], ==, 6);
  g_assert_cmpuint (attention->counts[1], ==, 6);
  g_assert_cmpstr (attention->path, ==, "1.0.0");
  static const char *const parts[] = {"qkv", "proj", "fc1", "fc2"};
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    guint found = 0;
    g_autofree char *end = g_strdup_printf (" · %s in 6\u00a0× Transformer layer at 1", parts[i]);
    for (guint k = 0; k < list->len; k++)
      found += g_str_has_suffix (((const LigHotspot *) list->pdata[k])->name, end);
    g_assert_cmpuint (found, >, 0);
  }
  const LigHotspot *head = find (list, "Linear at 3");
  g_assert_cmpuint (head->counts[0], ==, 1);
  g_assert_cmpuint (head->counts[1], ==, 1);
  g_autofree char *text = lig_hotspot_describe (head);
  g_assert_true (g_str_has_prefix (text, "forward ≈ "));
  g_assert_nonnull (strstr (text, ", backward ≈ "));
}

/* Macros outside a block share one name; a single macro or op has its path. */
static void
test_places (void)
{
  g_autoptr (LigPlan) plan =
    compile_for_gpu ("transformer-layer(heads=4) ! transformer-layer(heads=4) ! "
                     "transformer-layer(heads=4) ! multi-head-attention(4) ! "
                     "block(3) { layer-norm ! linear(64) ! relu ! l2-normalization }",
                     "2x16x64:bf16");
  g_autoptr (GPtrArray) list = list_all (plan);
  find (list, "Attention in 3\u00a0× Transformer layer");
  find (list, "Attention in Multi-head attention at 3");
  const LigHotspot *norm = find (list, "L2 normalization at 4.*.3\u00a0× 3");
  g_assert_cmpstr (norm->path, ==, "4.0.3");
  g_autofree char *text = lig_hotspot_describe (norm);
  g_assert_true (g_str_has_prefix (text, "forward × 3 ≈ "));
}

/* All but the first are summed, and shares are fractions of the list. */
static void
test_rest (void)
{
  LigFigures whole;
  g_autoptr (LigPlan) plan =
    compile_for_gpu ("layer-norm ! linear(64) ! relu ! l2-normalization", "64x64:bf16");
  const LigTimedPlan timed = {.plan = plan};
  g_autoptr (GPtrArray) all = list_all (plan);
  g_autoptr (GPtrArray) some = lig_hotspot_list (&timed, NULL, 2);
  g_assert_cmpuint (all->len, >, 3);
  g_assert_cmpuint (some->len, ==, 3);
  const LigHotspot *rest = some->pdata[2];
  double sum = 0;
  for (guint i = 2; i < all->len; i++)
    sum += ((const LigHotspot *) all->pdata[i])->figures.seconds;
  g_assert_cmpstr (rest->name, ==, "The rest");
  g_assert_null (rest->path);
  g_assert_null (lig_hotspot_describe (rest));
  g_assert_cmpfloat_with_epsilon (rest->figures.seconds, sum, 1e-12);
  lig_hotspot_sum (some, &whole);
  double shares = 0;
  for (guint i = 0; i < some->len; i++) {
    const LigHotspot *one = some->pdata[i];
    g_autofree char *share = lig_hotspot_share_text (&one->figures, &whole);
    shares += g_ascii_strtod (strstr (share, "· ") + strlen ("· "), NULL);
  }
  g_assert_cmpfloat_with_epsilon (shares, 100, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/hotspots/block", test_block);
  g_test_add_func ("/hotspots/places", test_places);
  g_test_add_func ("/hotspots/rest", test_rest);
  return g_test_run ();
}
