/* SPDX-License-Identifier: MIT */
/* The verdicts about one place of a plan, for forward and backward separately. */
#include "engine/plan/attention-times.h"
#include "engine/reasons/near-miss.h"
#include "engine/report/plan-json.h"
#include "engine/report/quantized.h"
#include "engine/report/verdicts.h"
#include <ligature/attention.h>
#include <ligature/json-members.h>
#include <ligature/report.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* A place as a range of expanded ops. `|3` is the gap before the op at 3. */
typedef struct {
  int first, last;
  gboolean gap;
} Place;

static gboolean
is_inside (const char *path, const char *outer)
{
  gsize length = strlen (outer);
  return strncmp (path, outer, length) == 0 && (path[length] == '\0' || path[length] == '.');
}

/* Sets the error and returns true if the path lacks the repetition number of a block: `1.3` should
 * be `1.0.3`, for the first one. */
static gboolean
suggest_repetition (const LigPlanOp *ops, guint count, const char *path, GError **error)
{
  g_auto (GStrv) asked = g_strsplit (path, ".", -1);
  for (guint i = 0; i < count; i++) {
    g_auto (GStrv) parts = g_strsplit (ops[i].path, ".", -1);
    guint length = g_strv_length (parts), same = 0;
    if (length < 3 || g_strv_length (asked) != (length + 1) / 2)
      continue;
    while (same * 2 < length && g_str_equal (asked[same], parts[same * 2]))
      same++;
    if (same * 2 < length)
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
                 _ ("no op has the path '%s': the block at %s repeats its ops; in the first "
                    "repetition it is %s"),
                 path, asked[0], ops[i].path);
    return TRUE;
  }
  return FALSE;
}

static gboolean
find_place (LigPlan *plan, const char *text, Place *place, GError **error)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  const char *path = *text == '|' ? text + 1 : text;
  *place = (Place){-1, -1, *text == '|'};
  for (guint i = 0; i < count; i++)
    if (is_inside (ops[i].path, path)) {
      place->first = place->first < 0 ? (int) i : place->first;
      place->last = (int) i;
    }
  if (place->first < 0 && suggest_repetition (ops, count, path, error))
    return FALSE;
  if (place->first < 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
                 _ ("no op has the path '%s'; the paths of this plan go from %s to %s"), path,
                 ops[0].path, ops[count - 1].path);
    return FALSE;
  }
  if (!place->gap)
    return TRUE;
  if (place->first == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, _ ("no gap before %s, which is the first op"),
                 path);
    return lig_error_set_path (error, path);
  }
  place->last = place->first--;
  return TRUE;
}

static GPtrArray *
list (LigPlan *plan, const Place *place)
{
  guint n_ops, count;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  lig_plan_get_ops (plan, &n_ops);
  return lig_verdicts_at (verdicts, count, n_ops, place->first, place->last, place->gap);
}

/* --- Text ---------------------------------------------------------------------------------- */

static void
append_title (GString *text, LigPlan *plan, const Place *place)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  const LigPlanOp *first = &ops[place->first], *last = &ops[place->last];
  if (place->gap)
    g_string_append_printf (text, _ ("between %s at %s and %s at %s"), first->info->name,
                            first->path, last->info->name, last->path);
  else if (g_str_equal (first->path, last->path))
    g_string_append_printf (text, _ ("%s at %s"), first->title, first->path);
  else
    g_string_append_printf (text, _ ("from %s at %s to %s at %s"), first->info->name, first->path,
                            last->info->name, last->path);
  g_string_append_c (text, '\n');
}

/* `1.3` is a whole repetition, but users may mean an op of the block. */
static void
append_hint (GString *text, const char *place)
{
  const char *path = *place == '|' ? place + 1 : place;
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);
  guint length = g_strv_length (parts);
  if (length % 2 == 1)
    return;
  g_autofree char *number = g_steal_pointer (&parts[length - 1]);
  g_autofree char *block = g_strjoinv (".", parts);
  g_string_append_printf (text, _ ("repetition %s of the block at %s; its op %s is at %s.0.%s\n"),
                          number, block, number, block, number);
}

/* Returns the attention kernel choices of the ops at a place, each case once; none for a gap, which
 * is only about fusions. */
static GPtrArray *
list_attention (LigPlan *plan, const Place *place, LigPass pass)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_attention_times_free);
  for (guint i = 0; i < count && !place->gap; i++) {
    g_autoptr (LigAttentionTimes) times = NULL;
    if (steps[i].pass != pass || steps[i].part < place->first || steps[i].part > place->last)
      continue;
    times = lig_plan_get_attention (plan, i);
    if (times && g_hash_table_add (known, times->words))
      g_ptr_array_add (list, g_steal_pointer (&times));
  }
  return list;
}

/* Appends the kernels that compute attention. */
static void
append_attention (GString *text, LigPlan *plan, const Place *place, LigPass pass)
{
  g_autoptr (GPtrArray) list = list_attention (plan, place, pass);
  for (guint i = 0; i < list->len; i++) {
    const LigAttentionTimes *times = list->pdata[i];
    g_autofree char *sentence = lig_attention_times_describe (times);
    g_autofree char *name = lig_attention_times_name (times);
    g_string_append_printf (text, "  %s\n    %s\n", name, sentence);
  }
}

/* Appends the reasons why matmuls with a recipe are not quantized, or not in all passes. */
static void
append_unquantized (GString *text, LigPlan *plan, const Place *place)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  g_autofree char *apart = NULL;
  for (int i = place->first; i <= place->last && !place->gap; i++) {
    if (!apart)
      apart = lig_explain_weight_gradient (plan, &ops[i]);
    if (ops[i].unquantized) {
      g_string_append_c (text, '\n');
      g_string_append_printf (text, _ ("its matmul is not quantized: %s"), ops[i].unquantized);
      g_string_append_c (text, '\n');
    }
  }
  if (apart)
    g_string_append_printf (text, "\n%s\n", apart);
}

/* Appends an entry for each fusion: the ops that it would fuse, its name, the reason. */
static void
append_pass (GString *text, LigPlan *plan, const Place *place, LigPass pass, const char *title)
{
  guint n_ops, count;
  const LigVerdict *all = lig_plan_get_verdicts (plan, &count);
  lig_plan_get_ops (plan, &n_ops);
  g_autoptr (GPtrArray) verdicts =
    lig_verdicts_about (all, count, n_ops, place->first, place->last, place->gap, pass);
  g_auto (LigRemedies) remedies = {.plan = plan};
  g_string_append_printf (text, "\n%s\n", title);
  append_attention (text, plan, place, pass);
  for (guint i = 0; i < verdicts->len; i++) {
    const LigVerdict *verdict = verdicts->pdata[i];
    g_autofree char *remedy = lig_report_remedy (&remedies, verdict);
    g_string_append_printf (text, "  %s\n    %s\n", verdict->title, verdict->text);
    if (remedy)
      g_string_append_printf (text, "    %s\n", remedy);
  }
  if (verdicts->len > 0)
    return;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  g_autofree char *none =
    lig_verdict_describe_none (ops[place->first].info, place->gap ? ops[place->last].info : NULL);
  g_string_append_printf (text, "  %s\n", none);
}

char *
lig_plan_explain_place (LigPlan *self, const char *place, GError **error)
{
  Place at;
  if (!find_place (self, place, &at, error))
    return NULL;
  GString *text = g_string_new (NULL);
  append_title (text, self, &at);
  append_hint (text, place);
  append_unquantized (text, self, &at);
  append_pass (text, self, &at, LIG_PASS_FORWARD, _ ("forward"));
  if (lig_plan_has_pass (self, LIG_PASS_BACKWARD))
    append_pass (text, self, &at, LIG_PASS_BACKWARD, _ ("backward"));
  return g_string_free (text, FALSE);
}

/* --- JSON ---------------------------------------------------------------------------------- */

JsonNode *
lig_plan_explain_place_to_json (LigPlan *self, const char *place, GError **error)
{
  static const LigPass passes[] = {LIG_PASS_FORWARD, LIG_PASS_BACKWARD, LIG_PASS_JOINT};
  Place at;
  if (!find_place (self, place, &at, error))
    return NULL;
  g_autoptr (GPtrArray) verdicts = list (self, &at);
  g_auto (LigRemedies) remedies = {.plan = self};
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "place");
  json_builder_add_string_value (builder, place);
  lig_report_add_ops (builder, self, at.first, at.last - at.first + 1);
  for (guint n = 0; n < G_N_ELEMENTS (passes); n++) {
    json_builder_set_member_name (builder, lig_pass_name (passes[n]));
    json_builder_begin_array (builder);
    for (guint i = 0; i < verdicts->len; i++)
      if (((const LigVerdict *) verdicts->pdata[i])->pass == passes[n])
        lig_report_add_verdict (builder, &remedies, verdicts->pdata[i]);
    json_builder_end_array (builder);
  }
  lig_json_begin_array (builder, "attention");
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    g_autoptr (GPtrArray) list = list_attention (self, &at, pass);
    for (guint i = 0; i < list->len; i++)
      lig_attention_times_to_json (list->pdata[i], builder);
  }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}
