/* SPDX-License-Identifier: MIT */
/* Finds savings: each candidate is compiled as a whole plan and compared with the current one. */
#include "engine/savings/saving-candidates.h"
#include <ligature/comparison.h>
#include <ligature/compile.h>
#include <ligature/device.h>
#include <ligature/json-members.h>
#include <ligature/plan-memory.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* Smaller fractions of the time and of the memory are not worth a change. */
#define MIN_SHARE 0.001

typedef struct {
  LigPlan *present;
  LigDevice *device;
  const LigTuning *tuning;
  GCancellable *cancellable;
  GPtrArray *found;
} Search;

/* --- Comparing ----------------------------------------------------------------------------- */

static LigPlan *
compile (LigDevice *device,
         const LigTuning *tuning,
         LigSequence *sequence,
         const LigPlanOptions *from)
{
  LigPlanOptions options = *from;
  options.tuning = tuning;
  options.recall = TRUE;
  options.choices = NULL;
  return lig_plan_compile (sequence, device, &options, NULL);
}

static gint64
count_rows (LigPlan *plan)
{
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (plan, &shape, &dtype);
  return shape.n_axes > 0 ? MAX (shape.axes[0], 1) : 1;
}

/* Sets the figures of a saving. */
static void
compare (LigSaving *self, LigPlan *present, LigPlan *plan)
{
  LigPlanChange total;
  LigPlanMemory memory;
  g_autoptr (LigPlanComparison) comparison = lig_plan_compare (present, plan);
  double share = (double) count_rows (present) / (double) count_rows (plan);
  lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, &total);
  lig_plan_get_memory (plan, NULL, &memory);
  self->step = total.after.seconds;
  self->seconds = total.after.seconds * share - total.before.seconds;
  self->memory = total.after.memory - total.before.memory;
  self->needed = memory.needed;
  self->measured = total.measured;
  self->fits = memory.fits;
  if (!(fabs (self->seconds) > MIN_SHARE * total.before.seconds) && !isnan (self->seconds))
    self->seconds = 0;
  if (fabs (self->memory) <= MIN_SHARE * total.before.memory)
    self->memory = 0;
}

/* Returns whether an equal change was found before: another fix may lead to the same plan. */
static gboolean
is_known (const GPtrArray *found, const LigSaving *saving)
{
  for (guint i = 0; i < found->len; i++) {
    const LigSaving *other = found->pdata[i];
    if (other->kind == saving->kind && other->kind == LIG_SAVING_FIX &&
        other->step == saving->step && other->needed == saving->needed)
      return TRUE;
  }
  return FALSE;
}

static void
try_candidate (LigSavingCandidate *candidate, gpointer data)
{
  Search *self = data;
  if (g_cancellable_is_cancelled (self->cancellable))
    return;
  g_autoptr (LigPlan) plan =
    compile (self->device, self->tuning, candidate->sequence, &candidate->options);
  if (!plan)
    return;
  g_autoptr (LigSaving) saving = g_new0 (LigSaving, 1);
  *saving = (LigSaving){.kind = candidate->kind,
                        .title = g_strdup (candidate->title),
                        .detail = g_strdup (candidate->detail),
                        .value = g_strdup (candidate->value)};
  compare (saving, self->present, plan);
  gboolean larger = saving->kind == LIG_SAVING_BATCH;
  gboolean saves = saving->seconds < 0 || (saving->memory < 0 && !larger);
  if (saves && (saving->fits || !larger) && !is_known (self->found, saving))
    g_ptr_array_add (self->found, g_steal_pointer (&saving));
}

/* Those that make the plan fit come first, then those that save time, then the others. */
static int
order (gconstpointer a, gconstpointer b, gpointer data)
{
  const LigSaving *one = *(LigSaving *const *) a, *two = *(LigSaving *const *) b;
  const gboolean fits = *(const gboolean *) data;
  if (!fits && one->fits != two->fits)
    return one->fits ? -1 : 1;
  double left = one->seconds < 0 ? one->seconds : 0, right = two->seconds < 0 ? two->seconds : 0;
  if (left != right)
    return left < right ? -1 : 1;
  return one->memory != two->memory ? (one->memory < two->memory ? -1 : 1)
                                    : strcmp (one->title, two->title);
}

GPtrArray *
lig_saving_list (LigPlan *plan,
                 LigDevice *device,
                 const LigTuning *tuning,
                 GCancellable *cancellable)
{
  g_return_val_if_fail (plan, NULL);
  LigPlanMemory memory;
  LigDevice *on = device ? device : lig_plan_get_device (plan);
  GPtrArray *found = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_saving_free);
  g_autoptr (LigPlan) present =
    compile (on, tuning, lig_plan_get_sequence (plan), lig_plan_get_options (plan));
  if (!present)
    return found;
  Search self = {present, on, tuning, cancellable, found};
  /* Fixes have the numbers of the given plan. */
  lig_saving_visit (plan, try_candidate, &self);
  lig_plan_get_memory (present, NULL, &memory);
  g_ptr_array_sort_with_data (found, order, &memory.fits);
  return found;
}

/* --- Applying ------------------------------------------------------------------------------ */

gboolean
lig_saving_is_edit (const LigSaving *self)
{
  g_return_val_if_fail (self, FALSE);
  return self->kind != LIG_SAVING_POLICY && self->kind != LIG_SAVING_SHARD;
}

/* Sets types from a text such as `bf16:fp32`. */
static gboolean
set_types (LigSequence *sequence, const char *types, GError **error)
{
  LigDtype compute;
  int parameters;
  g_auto (GStrv) names = g_strsplit (types, ":", 2);
  if (!names[0] || !names[1] || !lig_dtype_from_name (names[0], &compute) ||
      !lig_parameters_from_name (names[1], &parameters)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                 _ ("types are '%s', expected two types such as bf16:fp32"), types);
    return FALSE;
  }
  lig_sequence_set_types (sequence, (int) compute, parameters);
  return TRUE;
}

/* Sets a member of the `train` object. */
static void
set_setting (LigSequence *sequence, const char *name, const char *value)
{
  const char *train = lig_sequence_get_train (sequence);
  g_autoptr (JsonNode) root = train ? json_from_string (train, NULL) : NULL;
  if (!root || !JSON_NODE_HOLDS_OBJECT (root)) {
    g_clear_pointer (&root, json_node_unref);
    root = json_node_init_object (json_node_alloc (), json_object_new ());
    json_object_unref (json_node_get_object (root));
  }
  json_object_set_string_member (json_node_get_object (root), name, value);
  g_autofree char *text = json_to_string (root, FALSE);
  lig_sequence_set_train (sequence, text);
}

gboolean
lig_saving_apply (const LigSaving *self, LigPlan *plan, LigSequence *sequence, GError **error)
{
  g_return_val_if_fail (self && plan && LIG_IS_SEQUENCE (sequence), FALSE);
  gint64 number = g_ascii_strtoll (self->value, NULL, 10);
  const LigFix *fix;
  switch (self->kind) {
  case LIG_SAVING_FIX:
    fix = lig_plan_find_fix (plan, (guint) number, error);
    return fix && lig_fix_apply (fix, sequence, error);
  case LIG_SAVING_RECIPE:
    return lig_sequence_set_recipe (sequence, self->value, error);
  case LIG_SAVING_DTYPE:
    return set_types (sequence, self->value, error);
  case LIG_SAVING_RECOMPUTE:
    set_setting (sequence, "recompute", self->value);
    return TRUE;
  case LIG_SAVING_BATCH:
    lig_sequence_set_batch (sequence, number);
    return TRUE;
  default:
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION,
                 _ ("%s %s is a compile option, not a part of the sequence; compile with it"),
                 lig_saving_kind_name (self->kind), self->value);
    return FALSE;
  }
}

void
lig_saving_free (LigSaving *self)
{
  if (!self)
    return;
  g_free (self->title);
  g_free (self->detail);
  g_free (self->value);
  g_free (self);
}

/* --- Texts --------------------------------------------------------------------------------- */

const char *
lig_saving_kind_name (LigSavingKind kind)
{
  static const char *const names[] = {"fix",       "policy", "recipe", "dtype",
                                      "recompute", "batch",  "shard"};
  return kind < G_N_ELEMENTS (names) ? names[kind] : "unknown";
}

static char *
describe (double difference, char *(*format) (double), const char *prefix)
{
  if (isnan (difference))
    return g_strdup ("–");
  if (difference == 0)
    return g_strdup (_ ("same"));
  g_autofree char *amount = format (fabs (difference));
  return g_strconcat (prefix, difference < 0 ? "−" : "+", amount, NULL);
}

char *
lig_saving_time_text (const LigSaving *self)
{
  g_return_val_if_fail (self, NULL);
  return describe (self->seconds, lig_units_time, self->measured ? "" : "≈ ");
}

char *
lig_saving_memory_text (const LigSaving *self)
{
  g_return_val_if_fail (self, NULL);
  return describe (self->memory, lig_units_bytes, "");
}
