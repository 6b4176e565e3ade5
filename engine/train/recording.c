/* SPDX-License-Identifier: MIT */
/* Reads the record of a run from the store or from a report. */
#include "engine/train/recording.h"

#include "engine/base/json-private.h"
#include <ligature/store-spreads.h>
#include <ligature/store-sweeps.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The maximum number of runs in a message. */
#define MAX_NAMED 6

static void
clear (gpointer data)
{
  LigRecording *self = data;
  char *const texts[] = {self->run,    self->name,  self->kind,   self->status, self->message,
                         self->device, self->dtype, self->policy, self->choices};
  JsonNode *const documents[] = {self->settings, self->versions, self->inputs, self->sequence};
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  for (guint i = 0; i < G_N_ELEMENTS (documents); i++)
    if (documents[i])
      json_node_unref (documents[i]);
  g_clear_pointer (&self->metrics, g_ptr_array_unref);
}

void
lig_recording_free (LigRecording *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear);
}

G_DEFINE_BOXED_TYPE (LigRecording, lig_recording, g_atomic_rc_box_acquire, lig_recording_free)

char *
lig_recording_to_text (JsonNode *document)
{
  GString *text = g_string_new (NULL);
  lig_json_append (text, document);
  return g_string_free (text, FALSE);
}

/* Returns the object in the text; an empty object without a text. */
static JsonNode *
read_object (const char *text, const char *what, GError **error)
{
  if (!text || !*text)
    return json_node_init_object (json_node_alloc (), json_object_new ());
  g_autoptr (JsonNode) root = lig_json_read (text, strlen (text), NULL, error);
  if (!root)
    return NULL;
  if (JSON_NODE_HOLDS_OBJECT (root))
    return g_steal_pointer (&root);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("the %s are not an object"), what);
  return NULL;
}

/* --- From the store ------------------------------------------------------------------------ */

/* Returns the groups in the format of lig_plan_get_choices(). A joint group is recorded in both
 * passes and listed once. */
static char *
list_choices (GPtrArray *fusions)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < fusions->len; i++) {
    const LigFusionRow *row = fusions->pdata[i];
    if (!row->fusion)
      continue;
    char *choice = g_strdup_printf ("%s@%d+%d", row->fusion, row->first_op, row->count);
    if (!g_hash_table_contains (seen, choice))
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", choice);
    g_hash_table_add (seen, choice);
  }
  return g_string_free (text, FALSE);
}

static gboolean
read_spreads (LigRecording *self, LigStore *store, GError **error)
{
  g_autoptr (GPtrArray) spreads = lig_store_get_spreads (store, self->run, error);
  g_autoptr (GPtrArray) timings = spreads ? lig_store_get_timings (store, self->run, error) : NULL;
  if (!timings)
    return FALSE;
  for (guint i = 0; i < spreads->len; i++) {
    const LigSpreadRow *row = spreads->pdata[i];
    if (g_str_equal (row->figure, "step"))
      self->step = (LigSpread){(guint) MAX (row->count, 0), row->microseconds * 1e-6,
                               row->lower * 1e-6, row->upper * 1e-6};
  }
  for (guint i = 0; i < timings->len; i++)
    self->update |= g_str_equal (((const LigTimingRow *) timings->pdata[i])->pass, "update");
  return TRUE;
}

static void
copy_row (LigRecording *self, const LigRunRow *row)
{
  self->run = g_strdup (row->uuid);
  self->name = g_strdup (row->name);
  self->kind = g_strdup (row->kind);
  self->status = g_strdup (row->status);
  self->message = g_strdup (row->message);
  self->device = g_strdup (row->device);
  self->dtype = g_strdup (row->dtype);
  self->policy = g_strdup (row->policy);
}

LigRecording *
lig_recording_read_run (LigStore *store, const char *selector, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (store) && selector, NULL);
  g_autoptr (LigRunRow) row = lig_store_find_run (store, selector, error);
  if (!row)
    return NULL;
  g_autoptr (LigRecording) self = g_atomic_rc_box_new0 (LigRecording);
  g_autofree char *inputs = lig_store_get_inputs (store, row->uuid, NULL);
  g_autoptr (GPtrArray) fusions = lig_store_get_fusions (store, row->uuid, error);
  copy_row (self, row);
  if (!fusions || !(self->metrics = lig_store_get_metrics (store, row->uuid, error)) ||
      !read_spreads (self, store, error))
    return NULL;
  self->choices = list_choices (fusions);
  if (!(self->settings = read_object (row->settings, "settings", error)) ||
      !(self->versions = read_object (row->versions, "versions", error)) ||
      !(self->inputs = read_object (inputs, "inputs", error)) ||
      !(self->sequence = read_object (row->sequence, "sequence's members", error)))
    return NULL;
  return g_steal_pointer (&self);
}

/* --- From a report ------------------------------------------------------------------------- */

/* Returns the JSON document of a report: the whole file, or the script element of a web page. */
static const char *
find_document (const char *text, gsize length, gsize *size, GError **error)
{
  static const char begin[] = "<script type=\"application/json\" id=\"document\">";
  const char *at = text + strspn (text, " \t\r\n");
  *size = length - (gsize) (at - text);
  if (*at == '{')
    return at;
  const char *start = strstr (text, begin), *end = start ? strstr (start, "</script>") : NULL;
  if (!end) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FORMAT,
                         _ ("it is not a report of a run; give a file in the format html or json"));
    return NULL;
  }
  start += strlen (begin);
  *size = (gsize) (end - start);
  return start;
}

static char *
dup_text (JsonObject *object, const char *name)
{
  return g_strdup (lig_json_get_string (object, name, ""));
}

static JsonNode *
dup_object (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  if (node && JSON_NODE_HOLDS_OBJECT (node))
    return json_node_copy (node);
  return json_node_init_object (json_node_alloc (), json_object_new ());
}

/* Returns a number of an array, NaN for anything else. */
static double
get_number (JsonArray *array, guint i)
{
  JsonNode *node = json_array_get_element (array, i);
  return JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) != G_TYPE_STRING
           ? json_node_get_double (node)
           : NAN;
}

static void
free_metric (gpointer data)
{
  LigMetricRow *metric = data;
  g_free (metric->name);
  g_array_unref (metric->steps);
  g_array_unref (metric->values);
  g_free (metric);
}

static LigMetricRow *
read_metric (const char *name, JsonArray *steps, JsonArray *values)
{
  LigMetricRow *metric = g_new0 (LigMetricRow, 1);
  guint count = MIN (json_array_get_length (steps), json_array_get_length (values));
  metric->name = g_strdup (name);
  metric->steps = g_array_new (FALSE, FALSE, sizeof (gint64));
  metric->values = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i < count; i++) {
    double step = get_number (steps, i), value = get_number (values, i);
    gint64 whole = isfinite (step) ? (gint64) CLAMP (step, 0, 1e15) : 0;
    g_array_append_val (metric->steps, whole);
    g_array_append_val (metric->values, value);
  }
  return metric;
}

static void
read_metrics (LigRecording *self, JsonObject *object)
{
  JsonNode *node = json_object_get_member (object, "metrics");
  JsonObjectIter iter;
  const char *name;
  self->metrics = g_ptr_array_new_with_free_func (free_metric);
  if (!node || !JSON_NODE_HOLDS_OBJECT (node))
    return;
  json_object_iter_init_ordered (&iter, json_node_get_object (node));
  while (json_object_iter_next_ordered (&iter, &name, &node)) {
    JsonObject *metric = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
    JsonArray *steps = lig_json_get_array (metric, "steps"),
              *values = lig_json_get_array (metric, "values");
    if (steps && values)
      g_ptr_array_add (self->metrics, read_metric (name, steps, values));
  }
}

static double
get_microseconds (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  return node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_double (node) * 1e-6 : 0;
}

static void
read_times (LigRecording *self, JsonObject *object)
{
  JsonArray *spreads = lig_json_get_array (object, "spreads"),
            *timings = lig_json_get_array (object, "timings");
  for (guint i = 0; spreads && i < json_array_get_length (spreads); i++) {
    JsonObject *row = lig_json_get_element (spreads, i);
    if (row && g_str_equal (lig_json_get_string (row, "figure", ""), "step"))
      self->step =
        (LigSpread){(guint) CLAMP (lig_json_get_int (row, "count", 0), 0, 1000000),
                    get_microseconds (row, "median_us"), get_microseconds (row, "lower_us"),
                    get_microseconds (row, "upper_us")};
  }
  for (guint i = 0; timings && i < json_array_get_length (timings); i++) {
    JsonObject *row = lig_json_get_element (timings, i);
    self->update |= row && g_str_equal (lig_json_get_string (row, "pass", ""), "update");
  }
}

/* Returns the groups of the report, in the format of lig_plan_get_choices(). */
static char *
read_choices (JsonObject *object)
{
  GString *text = g_string_new (NULL);
  JsonArray *fusions = lig_json_get_array (object, "fusions");
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; fusions && i < json_array_get_length (fusions); i++) {
    JsonObject *row = lig_json_get_element (fusions, i);
    const char *fusion = row ? lig_json_get_string (row, "fusion", NULL) : NULL;
    JsonArray *ops = lig_json_get_array (row, "ops");
    if (!fusion || !ops || json_array_get_length (ops) == 0)
      continue;
    char *choice =
      g_strdup_printf ("%s@%d+%u", fusion, (int) get_number (ops, 0), json_array_get_length (ops));
    if (!g_hash_table_contains (seen, choice))
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", choice);
    g_hash_table_add (seen, choice);
  }
  return g_string_free (text, FALSE);
}

/* Sets the error for the report of a sweep; it names the sweep's runs. */
static void
fail_sweep (JsonObject *object, GError **error)
{
  JsonArray *runs = lig_json_get_array (object, "runs");
  g_autoptr (GString) names = g_string_new (NULL);
  guint count = runs ? json_array_get_length (runs) : 0;
  for (guint i = 0; i < MIN (count, MAX_NAMED); i++) {
    JsonObject *run = lig_json_get_element (runs, i);
    const char *uuid = run ? lig_json_get_string (run, "run", NULL) : NULL;
    if (uuid)
      g_string_append_printf (names, "%s%.8s", names->len > 0 ? ", " : "", uuid);
  }
  if (count > MAX_NAMED)
    g_string_append (names, ", …");
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
               _ ("it is a report of a sweep; repeat one of its runs, or a report of one: %s"),
               names->len > 0 ? names->str : "-");
}

static LigRecording *
read_document (JsonObject *object, GError **error)
{
  if (json_object_has_member (object, "sweep") && json_object_has_member (object, "axes")) {
    fail_sweep (object, error);
    return NULL;
  }
  const char *kind = lig_json_get_string (object, "kind", "");
  if (!g_str_equal (kind, "train") && !g_str_equal (kind, "profile")) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FORMAT,
                         _ ("it is not a report of a run; a plan has nothing to repeat"));
    return NULL;
  }
  LigRecording *self = g_atomic_rc_box_new0 (LigRecording);
  self->run = dup_text (object, "run");
  self->name = dup_text (object, "name");
  self->kind = g_strdup (kind);
  self->status = dup_text (object, "status");
  self->message = dup_text (object, "message");
  self->device = dup_text (object, "device");
  self->dtype = dup_text (object, "dtype");
  self->policy = dup_text (object, "policy");
  self->settings = dup_object (object, "settings");
  self->versions = dup_object (object, "versions");
  self->inputs = dup_object (object, "inputs");
  self->sequence = dup_object (object, "sequence");
  self->choices = read_choices (object);
  read_metrics (self, object);
  read_times (self, object);
  return self;
}

LigRecording *
lig_recording_read_report (const char *path, GError **error)
{
  g_return_val_if_fail (path, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) failure = NULL;
  gsize length, size;
  if (!g_file_get_contents (path, &text, &length, &failure)) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FILE, failure->message);
    return NULL;
  }
  const char *document = find_document (text, length, &size, error);
  g_autoptr (JsonNode) root = document ? lig_json_read (document, size, NULL, error) : NULL;
  LigRecording *self = NULL;
  if (root && JSON_NODE_HOLDS_OBJECT (root))
    self = read_document (json_node_get_object (root), error);
  else if (root)
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("it is not a report of a run"));
  if (!self)
    g_prefix_error (error, "%s: ", path);
  return self;
}

/* --- Getting ------------------------------------------------------------------------------- */

char *
lig_recording_explain_length (const LigRecording *self)
{
  g_return_val_if_fail (self, NULL);
  const LigMetricRow *loss = lig_recording_find_metric (self, "loss");
  gint64 steps = lig_json_get_int (json_node_get_object (self->settings), "steps", 0);
  gint64 last = loss ? g_array_index (loss->steps, gint64, loss->steps->len - 1) : 0;
  if (lig_recording_is_profile (self) || g_str_equal (self->status, "done") || last >= steps)
    return NULL;
  return g_strdup_printf (_ ("run %.8s ended at step %" PRId64 " of %" PRId64 "; all %" PRId64
                             " are repeated, the first %" PRId64 " compared"),
                          self->run, last, steps, steps, last);
}

const LigMetricRow *
lig_recording_find_metric (const LigRecording *self, const char *name)
{
  for (guint i = 0; i < self->metrics->len; i++)
    if (g_str_equal (((const LigMetricRow *) self->metrics->pdata[i])->name, name))
      return self->metrics->pdata[i];
  return NULL;
}

const char *
lig_recording_get_run (const LigRecording *self)
{
  return self->run;
}

int
lig_recording_get_ranks (const LigRecording *self)
{
  JsonNode *inputs = self->inputs;
  return inputs && JSON_NODE_HOLDS_OBJECT (inputs)
           ? (int) CLAMP (lig_json_get_int (json_node_get_object (inputs), "ranks", 1), 0, G_MAXINT)
           : 1;
}

const char *
lig_recording_get_layout (const LigRecording *self)
{
  JsonNode *inputs = self->inputs;
  return inputs && JSON_NODE_HOLDS_OBJECT (inputs)
           ? lig_json_get_string (json_node_get_object (inputs), "parallel", NULL)
           : NULL;
}

const char *
lig_recording_get_name (const LigRecording *self)
{
  return self->name;
}

gboolean
lig_recording_is_profile (const LigRecording *self)
{
  return g_str_equal (self->kind, "profile");
}

const char *
lig_recording_get_device (const LigRecording *self)
{
  return self->device;
}
