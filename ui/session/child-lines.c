/* SPDX-License-Identifier: MIT */
#include "ui/session/child-lines.h"

#include <ligature/error.h>
#include <ligature/json.h>
#include <ligature/store-rows.h>

#include <math.h>

/* Returns NaN for a number that is null or missing. */
static double
get_number (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  return node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_double (node) : NAN;
}

/* Returns a number whose line of metrics has the digits of single precision, so that both give the
 * same value. */
static double
get_single (JsonObject *object, const char *name)
{
  return (double) (float) get_number (object, name);
}

static JsonObject *
get_object (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  return node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

LigChildLine
lig_child_line_read (JsonNode *root, JsonObject **object)
{
  static const struct {
    const char *name;
    LigChildLine kind;
  } wrapped[] = {
    {"progress", LIG_CHILD_LINE_PROGRESS},
    {"measuring", LIG_CHILD_LINE_MEASURING},
    {"training", LIG_CHILD_LINE_TRAINING},
    {"error", LIG_CHILD_LINE_ERROR},
  };
  *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  if (!*object)
    return LIG_CHILD_LINE_UNKNOWN;
  if (json_object_has_member (*object, "step"))
    return LIG_CHILD_LINE_METRICS;
  for (guint i = 0; i < G_N_ELEMENTS (wrapped); i++) {
    JsonObject *inner = get_object (*object, wrapped[i].name);
    if (inner) {
      *object = inner;
      return wrapped[i].kind;
    }
  }
  return json_object_has_member (*object, "status") || json_object_has_member (*object, "repeats")
           ? LIG_CHILD_LINE_RESULT
           : LIG_CHILD_LINE_UNKNOWN;
}

guint
lig_child_line_get_metrics (JsonObject *object, LigRunMetric *to)
{
  static const struct {
    const char *member, *metric;
    double (*get) (JsonObject *object, const char *name);
  } known[] = {
    {"loss", LIG_METRIC_LOSS, get_single},
    {"lr", "learning-rate", get_number},
    {"grad_norm", "gradient-norm", get_single},
    {"eval_loss", LIG_METRIC_EVAL_LOSS, get_single},
    {"eval_accuracy", LIG_METRIC_EVAL_ACCURACY, get_single},
  };
  gint64 step = lig_json_get_int (object, "step", 0);
  guint count = 0;
  for (guint i = 0; i < G_N_ELEMENTS (known) && count < LIG_CHILD_METRICS; i++) {
    double value = known[i].get (object, known[i].member);
    if (isfinite (value))
      to[count++] = (LigRunMetric){step, known[i].metric, value};
  }
  return count;
}

static LigRunStatus
read_status (const char *name)
{
  for (LigRunStatus status = LIG_RUN_READY; status < LIG_RUN_INTERRUPTED; status++)
    if (g_str_equal (lig_run_status_name (status), name))
      return status;
  return LIG_RUN_INTERRUPTED;
}

void
lig_child_line_get_progress (JsonObject *object, LigRunProgress *to, char **problem)
{
  const char *text = lig_json_get_string (object, "problem", NULL);
  *to = (LigRunProgress){
    .status = read_status (lig_json_get_string (object, "status", "")),
    .step = lig_json_get_int (object, "step", 0),
    .steps = lig_json_get_int (object, "steps", 0),
    .first_step = lig_json_get_int (object, "first_step", 0),
    .seconds = get_number (object, "seconds"),
    .left = get_number (object, "left"),
    .loss = get_single (object, "loss"),
    .first_loss = get_single (object, "first_loss"),
    .eval_loss = get_single (object, "eval_loss"),
    .eval_accuracy = get_single (object, "eval_accuracy"),
    .learning_rate = get_number (object, "lr"),
    .gradient_norm = get_single (object, "grad_norm"),
    .loss_scale = get_number (object, "loss_scale"),
    .skipped = lig_json_get_int (object, "skipped_updates", 0),
    .step_seconds = get_number (object, "step_seconds"),
    .samples_per_second = get_number (object, "samples_per_second"),
    .exposed = get_number (object, "exposed_seconds"),
    .imbalance = get_number (object, "imbalance_seconds"),
    .slowest = (int) lig_json_get_int (object, "slowest_rank", 0),
    .rows_per_second = get_number (object, "rows_per_second"),
    .mfu = get_number (object, "mfu"),
    .tokens = json_object_get_boolean_member_with_default (object, "tokens", FALSE),
    .searching = json_object_get_boolean_member_with_default (object, "searching", FALSE),
  };
  *problem = g_strdup (text);
}

char *
lig_child_line_get_measuring (JsonObject *object)
{
  const char *what = lig_json_get_string (object, "what", "");
  double share = get_number (object, "share");
  return isfinite (share) ? g_strdup_printf ("%s · %.0f %%", what, 100 * share) : g_strdup (what);
}

GError *
lig_child_line_get_error (JsonObject *object)
{
  const char *name = lig_json_get_string (object, "code", "");
  const char *message = lig_json_get_string (object, "message", "");
  int found = LIG_ERROR_RANKS;
  for (int code = 0; code <= LIG_ERROR_ORDER; code++) {
    const GError probe = {.domain = LIG_ERROR, .code = code};
    if (g_str_equal (lig_error_code_name (&probe), name))
      found = code;
  }
  return g_error_new_literal (LIG_ERROR, found, message);
}
