/* SPDX-License-Identifier: MIT */
/* The spreads and conditions of profiles in the store. */
#include "engine/train/profile-spread.h"

#include "engine/base/former-names.h"
#include "engine/train/profile-json.h"
#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/store-spreads.h>
#include <ligature/store.h>

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* The maximum number of last steps of a run that count, like for the time in lists of runs. */
#define MAX_STEPS 1000

#define STEP "step"

gboolean
lig_profile_record_spreads (const LigProfile *self, LigStore *store, GError **error)
{
  const struct {
    const char *figure;
    const LigSpread *spread;
    gboolean exists;
  } figures[] = {
    {"forward", &self->forward_spread, TRUE},
    {"backward", &self->backward_spread, lig_plan_has_pass (self->plan, LIG_PASS_BACKWARD)},
    {"update", &self->update_spread, lig_plan_has_pass (self->plan, LIG_PASS_UPDATE)},
    {"forward-backward", &self->forward_backward_spread,
     lig_plan_has_pass (self->plan, LIG_PASS_BACKWARD)},
    {STEP, &self->step_spread, TRUE},
  };
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++) {
    const LigSpread *spread = figures[i].spread;
    const LigSpreadRow row = {.figure = (char *) figures[i].figure,
                              .count = (int) spread->count,
                              .microseconds = spread->median * 1e6,
                              .lower = spread->lower * 1e6,
                              .upper = spread->upper * 1e6};
    if (figures[i].exists && !lig_store_put_spread (store, self->run, &row, error))
      return FALSE;
  }
  return TRUE;
}

/* Reads the last steps of a training run. */
static gboolean
get_steps (LigStore *store, const char *run, LigSpread *spread, GError **error)
{
  g_autoptr (GArray) steps = NULL, values = NULL;
  if (!lig_store_get_metric (store, run, "step-ms", &steps, &values, error))
    return FALSE;
  guint skipped = values->len > MAX_STEPS ? values->len - MAX_STEPS : 0;
  double *milliseconds = (double *) (gpointer) values->data;
  for (guint i = skipped; i < values->len; i++)
    milliseconds[i] *= 1e-3;
  lig_spread_measure (milliseconds + skipped, values->len - skipped, spread);
  return spread->count > 0;
}

gboolean
lig_profile_get_spread (
  LigStore *store, const char *run, const char *figure, LigSpread *spread, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (store) && run && spread, FALSE);
  const char *wanted = figure ? figure : STEP;
  *spread = (LigSpread){0};
  g_autoptr (GPtrArray) rows = lig_store_get_spreads (store, run, error);
  for (guint i = 0; rows && i < rows->len; i++) {
    const LigSpreadRow *row = rows->pdata[i];
    if (!g_str_equal (row->figure, wanted) || !isfinite (row->microseconds) ||
        !isfinite (row->lower) || !isfinite (row->upper))
      continue;
    *spread = (LigSpread){(guint) row->count, row->microseconds * 1e-6, row->lower * 1e-6,
                          row->upper * 1e-6};
    return TRUE;
  }
  return rows && g_str_equal (wanted, STEP) && get_steps (store, run, spread, error);
}

/* --- Conditions ----------------------------------------------------------------------------- */

static const char *const disturbances[] = {"load", "shared", "clocks", "spread"};

JsonNode *
lig_profile_conditions_to_json (const LigConditions *conditions)
{
  g_return_val_if_fail (conditions, NULL);
  const LigConditions *c = conditions;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_integer (builder, "cpus", c->cpus);
  lig_json_add_number (builder, "load", c->load < 0 ? NAN : c->load);
  lig_json_add_number (builder, "others", c->others < 0 ? NAN : c->others);
  lig_json_add_number (builder, "shared", c->shared < 0 ? NAN : c->shared);
  lig_json_add_truth (builder, "synchronous", c->synchronous);
  lig_json_add_text (builder, "clocks", c->clocks);
  lig_json_begin_array (builder, "disturbances");
  for (guint i = 0; i < G_N_ELEMENTS (disturbances); i++)
    if (c->disturbances & 1u << i)
      json_builder_add_string_value (builder, disturbances[i]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

/* Returns a number of the object, -1 if it is missing. */
static double
get_known (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  return node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_double (node) : -1;
}

/* Returns the number of CPUs, which has another name in runs of earlier versions. */
static int
read_cpus (JsonObject *object)
{
  const char *former = lig_former_name_get (LIG_FORMER_MEMBER, "cpus");
  gint64 count = lig_json_get_int (object, "cpus", lig_json_get_int (object, former, 1));
  return (int) CLAMP (count, 1, 1 << 20);
}

gboolean
lig_profile_read_conditions (const char *settings, LigConditions *conditions)
{
  g_return_val_if_fail (settings && conditions, FALSE);
  g_autoptr (JsonNode) root = lig_json_from_text (settings, NULL);
  JsonObject *all = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  JsonNode *node = all ? json_object_get_member (all, "conditions") : NULL;
  if (!node || !JSON_NODE_HOLDS_OBJECT (node))
    return FALSE;
  JsonObject *object = json_node_get_object (node);
  *conditions = (LigConditions){
    .cpus = read_cpus (object),
    .load = get_known (object, "load"),
    .others = get_known (object, "others"),
    .shared = get_known (object, "shared"),
  };
  JsonNode *synchronous = json_object_get_member (object, "synchronous");
  conditions->synchronous =
    synchronous && JSON_NODE_HOLDS_VALUE (synchronous) && json_node_get_boolean (synchronous);
  g_strlcpy (conditions->clocks, lig_json_get_string (object, "clocks", ""),
             sizeof conditions->clocks);
  lig_conditions_judge (conditions);
  return TRUE;
}
