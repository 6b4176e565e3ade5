/* SPDX-License-Identifier: MIT */
/* The axes of a sweep: their text form, their values, and their points. */
#include "engine/base/suggest.h"
#include "engine/train/sweep-private.h"
#include <ligature/json.h>
#include <ligature/recipe.h>
#include <ligature/sequence.h>

#include <glib/gi18n-lib.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* --- Values -------------------------------------------------------------------------------- */

static const LigParam *
find_param (LigOp *op, const char *name)
{
  const LigParam *param = lig_op_get_info (op)->params;
  for (; param && param->name; param++)
    if (g_str_equal (param->name, name))
      return param;
  return NULL;
}

static gboolean
fail_value (const char *key, const char *value, const char *expected, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s is '%s', expected %s"), key, value,
               expected);
  return FALSE;
}

static gboolean
read_value (const LigParam *param, const char *key, const char *text, GValue *to, GError **error)
{
  char *end = NULL;
  gboolean truth = g_str_equal (text, "true");
  switch (param->kind) {
  case LIG_PARAM_INT:
    g_value_init (to, G_TYPE_INT64);
    g_value_set_int64 (to, g_ascii_strtoll (text, &end, 10));
    return (*text && !*end) || fail_value (key, text, _ ("a whole number"), error);
  case LIG_PARAM_FLOAT:
    g_value_init (to, G_TYPE_DOUBLE);
    g_value_set_double (to, g_ascii_strtod (text, &end));
    return (*text && !*end) || fail_value (key, text, _ ("a number"), error);
  case LIG_PARAM_BOOL:
    g_value_init (to, G_TYPE_BOOLEAN);
    g_value_set_boolean (to, truth);
    return truth || g_str_equal (text, "false") ||
           fail_value (key, text, _ ("true or false"), error);
  case LIG_PARAM_CHOICE:
    g_value_init (to, G_TYPE_STRING);
    g_value_set_string (to, text);
    return TRUE;
  default:
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("%s cannot be swept; sweep a number, a boolean or a choice"), key);
    return FALSE;
  }
}

/* Sets `PATH.PARAMETER` of the sequence. */
static gboolean
apply_to_op (const char *key, const char *text, LigSequence *sequence, GError **error)
{
  g_auto (GValue) value = G_VALUE_INIT;
  const char *dot = strrchr (key, '.');
  g_autofree char *path = g_strndup (key, (gsize) (dot - key));
  LigOp *op = lig_sequence_find (sequence, path, error);
  const LigParam *param = op ? find_param (op, dot + 1) : NULL;
  if (op && !param) {
    g_autofree char *like = LIG_SUGGEST_FROM (dot + 1, lig_op_get_info (op)->params, LigParam);
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s has no parameter '%s'%s"),
                 lig_op_get_name (op), path, dot + 1, like);
    return lig_error_set_path (error, path);
  }
  return param && read_value (param, key, text, &value, error) &&
         lig_op_set_value (op, param->name, &value, error);
}

gboolean
lig_sweep_apply (const char *key,
                 const char *value,
                 LigSequence *sequence,
                 LigRunSettings *settings,
                 GError **error)
{
  if (g_str_equal (key, "checkpoint")) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("checkpoint cannot be swept: each run has its own file"));
    return FALSE;
  }
  if (g_str_equal (key, "recipe"))
    return lig_sequence_set_recipe (sequence, value, error);
  return strchr (key, '.') ? apply_to_op (key, value, sequence, error)
                           : lig_run_settings_set (settings, key, value, error);
}

LigSequence *
lig_sweep_resolve (LigSweep *self, GStrv values, LigRunSettings *settings, GError **error)
{
  g_autoptr (LigSequence) sequence = lig_sequence_copy (self->sequence);
  lig_run_settings_copy (&self->settings, settings);
  for (guint i = 0; i < self->axes->len && values[i]; i++)
    if (!lig_sweep_apply (g_array_index (self->axes, LigSweepAxis, i).key, values[i], sequence,
                          settings, error))
      return NULL;
  return lig_run_settings_check (settings, error) ? g_steal_pointer (&sequence) : NULL;
}

/* --- Adding -------------------------------------------------------------------------------- */

gboolean
lig_sweep_take_axis (LigSweep *self, const char *key, GStrv values, guint with, GError **error)
{
  g_auto (GStrv) taken = values;
  g_auto (LigRunSettings) settings;
  g_autoptr (LigSequence) sequence = lig_sequence_copy (self->sequence);
  lig_run_settings_copy (&self->settings, &settings);
  for (guint i = 0; i < self->axes->len; i++)
    if (g_str_equal (g_array_index (self->axes, LigSweepAxis, i).key, key)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("%s is swept twice; give it all values once"), key);
      return FALSE;
    }
  for (char **value = taken; *value; value++)
    if (!lig_sweep_apply (key, *value, sequence, &settings, error))
      return FALSE;
  LigSweepAxis *first =
    with < self->axes->len ? &g_array_index (self->axes, LigSweepAxis, with) : NULL;
  if (first && g_strv_length (first->values) != g_strv_length (taken)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 g_dngettext (GETTEXT_PACKAGE,
                              "%s has %u value, expected %u like %s, with which it varies",
                              "%s has %u values, expected %u like %s, with which it varies",
                              (gulong) (g_strv_length (taken))),
                 key, g_strv_length (taken), g_strv_length (first->values), first->key);
    return FALSE;
  }
  LigSweepAxis axis = {g_strdup (key), g_steal_pointer (&taken), with};
  g_array_append_val (self->axes, axis);
  return TRUE;
}

/* Adds a value, or the integers of `A..B`. */
static gboolean
add_values (GStrvBuilder *to, const char *text, GError **error)
{
  char *end;
  gint64 from = g_ascii_strtoll (text, &end, 10), last = 0;
  const char *second = end > text && g_str_has_prefix (end, "..") ? end + 2 : NULL;
  if (second)
    last = g_ascii_strtoll (second, &end, 10);
  if (!second || end == second || *end) {
    g_strv_builder_add (to, text);
    return TRUE;
  }
  /* The difference of two gint64 may overflow. */
  if (last < from || (guint64) last - (guint64) from >= LIG_SWEEP_MAX) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("range '%s' is empty or too long; write the smaller number first, like 1..5"),
                 text);
    return FALSE;
  }
  for (gint64 i = from; i <= last; i++) {
    g_autofree char *value = g_strdup_printf ("%" G_GINT64_FORMAT, i);
    g_strv_builder_add (to, value);
  }
  return TRUE;
}

gboolean
lig_sweep_add (LigSweep *self, const char *over, gboolean zip, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && over && !self->uuid, FALSE);
  g_autoptr (GStrvBuilder) values = g_strv_builder_new ();
  const char *equals = strchr (over, '=');
  if (!equals || equals == over || !equals[1]) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("'%s' is not a list of values; write lr=0.1,0.01 or seed=1..5"), over);
    return FALSE;
  }
  g_autofree char *key = g_strstrip (g_strndup (over, (gsize) (equals - over)));
  g_auto (GStrv) texts = g_str_has_suffix (key, "recipe") ? lig_recipe_split (equals + 1)
                                                          : g_strsplit (equals + 1, ",", -1);
  for (char **text = texts; *text; text++)
    if (!add_values (values, g_strstrip (*text), error))
      return FALSE;
  guint last = self->axes->len;
  guint with = zip && last > 0 ? g_array_index (self->axes, LigSweepAxis, last - 1).with : last;
  return lig_sweep_take_axis (self, key, g_strv_builder_end (values), with, error);
}

/* Splits a line at its commas; a quoted cell may contain commas, and doubled quotes. */
static GStrv
split_cells (const char *line)
{
  g_autoptr (GStrvBuilder) cells = g_strv_builder_new ();
  g_autoptr (GString) cell = g_string_new (NULL);
  gboolean quoted = FALSE;
  for (const char *at = line;; at++) {
    if (*at == '"' && quoted && at[1] == '"')
      g_string_append_c (cell, *++at);
    else if (*at == '"')
      quoted = !quoted;
    else if (*at && (quoted || *at != ','))
      g_string_append_c (cell, *at);
    else {
      g_strv_builder_add (cells, g_strstrip (cell->str));
      g_string_truncate (cell, 0);
    }
    if (!*at)
      break;
  }
  return g_strv_builder_end (cells);
}

gboolean
lig_sweep_add_list (LigSweep *self, const char *text, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && text && !self->uuid, FALSE);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  for (guint i = 0; lines[i]; i++) {
    if (!*g_strstrip (lines[i]) || *lines[i] == '#')
      continue;
    GStrv cells = split_cells (lines[i]);
    g_ptr_array_add (rows, cells);
    guint count = g_strv_length (cells), expected = g_strv_length (rows->pdata[0]);
    if (count != expected) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                   g_dngettext (GETTEXT_PACKAGE, "line %u has %u cell, expected %u",
                                "line %u has %u cells, expected %u", (gulong) (count)),
                   i + 1, count, expected);
      return FALSE;
    }
  }
  if (rows->len < 2) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_FORMAT,
      g_dngettext (
        GETTEXT_PACKAGE,
        "it has %u line, expected the names of settings and at least one line of values",
        "it has %u lines, expected the names of settings and at least one line of values",
        (gulong) (rows->len)),
      rows->len);
    return FALSE;
  }
  GStrv keys = rows->pdata[0];
  guint with = self->axes->len;
  for (guint column = 0; keys[column]; column++) {
    g_autoptr (GStrvBuilder) values = g_strv_builder_new ();
    for (guint row = 1; row < rows->len; row++)
      g_strv_builder_add (values, ((GStrv) rows->pdata[row])[column]);
    if (!lig_sweep_take_axis (self, keys[column], g_strv_builder_end (values), with, error))
      return FALSE;
  }
  return TRUE;
}

/* --- Points -------------------------------------------------------------------------------- */

/* Returns the number of points, at most one more than allowed. */
static guint
count_points (LigSweep *self)
{
  guint64 count = 1;
  for (guint i = 0; i < self->axes->len; i++) {
    const LigSweepAxis *axis = &g_array_index (self->axes, LigSweepAxis, i);
    if (axis->with == i)
      count = MIN (count * g_strv_length (axis->values), LIG_SWEEP_MAX + 1);
  }
  return (guint) count;
}

/* Returns the values of a point: the last axis varies fastest. */
static GStrv
get_values (LigSweep *self, guint number)
{
  GStrv values = g_new0 (char *, self->axes->len + 1);
  g_autofree guint *chosen = g_new0 (guint, self->axes->len + 1);
  for (guint i = self->axes->len; i > 0; i--) {
    const LigSweepAxis *axis = &g_array_index (self->axes, LigSweepAxis, i - 1);
    if (axis->with != i - 1)
      continue;
    guint length = g_strv_length (axis->values);
    chosen[i - 1] = number % length;
    number /= length;
  }
  for (guint i = 0; i < self->axes->len; i++) {
    const LigSweepAxis *axis = &g_array_index (self->axes, LigSweepAxis, i);
    values[i] = g_strdup (axis->values[chosen[axis->with]]);
  }
  return values;
}

gboolean
lig_sweep_expand (LigSweep *self, GError **error)
{
  guint count = count_points (self);
  if (count > LIG_SWEEP_MAX) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("the sweep has more than %d runs; give fewer values"), LIG_SWEEP_MAX);
    return FALSE;
  }
  for (guint i = 0; i < count; i++) {
    g_auto (LigRunSettings) settings;
    LigSweepPoint point = {.number = i,
                           .values = get_values (self, i),
                           .first_loss = NAN,
                           .loss = NAN,
                           .eval_loss = NAN,
                           .eval_accuracy = NAN,
                           .step_ms = NAN,
                           .seconds = NAN};
    g_autoptr (LigSequence) sequence = lig_sweep_resolve (self, point.values, &settings, error);
    point.steps = settings.steps;
    g_array_append_val (self->points, point);
    if (sequence)
      continue;
    g_autofree char *text = lig_sweep_describe_point (self, i);
    g_prefix_error (error, _ ("run %u of %u (%s): "), i + 1, count, text);
    return FALSE;
  }
  return TRUE;
}

static char *
describe (LigSweep *self, guint point, gboolean seed)
{
  const LigSweepPoint *at = &g_array_index (self->points, LigSweepPoint, point);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < self->axes->len; i++) {
    const char *key = g_array_index (self->axes, LigSweepAxis, i).key;
    if (seed || !g_str_equal (key, "seed"))
      g_string_append_printf (text, "%s%s %s", text->len > 0 ? ", " : "", key, at->values[i]);
  }
  return g_string_free (text, FALSE);
}

char *
lig_sweep_describe_point (LigSweep *self, guint point)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && point < self->points->len, NULL);
  return describe (self, point, TRUE);
}

char *
lig_sweep_describe_settings (LigSweep *self, guint point)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && point < self->points->len, NULL);
  return describe (self, point, FALSE);
}

gboolean
lig_sweep_is_alike (LigSweep *self, const LigSweepPoint *a, const LigSweepPoint *b)
{
  for (guint i = 0; i < self->axes->len; i++)
    if (!g_str_equal (g_array_index (self->axes, LigSweepAxis, i).key, "seed") &&
        !g_str_equal (a->values[i], b->values[i]))
      return FALSE;
  return TRUE;
}

/* --- Using a point in another sequence -------------------------------------------------------- */

/* Returns a copy of the sequence's `train` object that can be changed. */
static JsonObject *
read_train (LigSequence *sequence)
{
  const char *train = lig_sequence_get_train (sequence);
  g_autoptr (JsonNode) root = train ? lig_json_from_text (train, NULL) : NULL;
  return root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_dup_object (root) : json_object_new ();
}

static void
write_train (LigSequence *sequence, JsonObject *train)
{
  g_autoptr (JsonNode) root = json_node_init_object (json_node_alloc (), train);
  g_autoptr (GString) text = g_string_new (NULL);
  lig_json_append (text, root);
  lig_sequence_set_train (sequence, json_object_get_size (train) > 0 ? text->str : NULL);
}

/* Sets a member of `train` to the value as the settings write it; a default value has none. */
static void
put_setting (JsonObject *train, const char *key, const LigRunSettings *settings)
{
  g_auto (LigRunSettings) usual;
  const LigSetting *setting;
  lig_run_settings_init (&usual);
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    if (!g_str_equal (setting->name, key))
      continue;
    g_autofree char *value = lig_run_settings_get (settings, key);
    g_autofree char *initial = lig_run_settings_get (&usual, key);
    if (!value || g_strcmp0 (value, initial) == 0)
      json_object_remove_member (train, key);
    else if (setting->kind == LIG_SETTING_TEXT)
      json_object_set_string_member (train, key, value);
    else if (setting->kind == LIG_SETTING_COUNT)
      json_object_set_int_member (train, key, g_ascii_strtoll (value, NULL, 10));
    else
      json_object_set_double_member (train, key, g_ascii_strtod (value, NULL));
  }
}

LigSequence *
lig_sweep_apply_point (LigSweep *self, guint point, LigSequence *sequence, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && point < self->points->len && sequence, NULL);
  const LigSweepPoint *at = &g_array_index (self->points, LigSweepPoint, point);
  g_autoptr (LigSequence) copy = lig_sequence_copy (sequence);
  g_autoptr (JsonObject) train = read_train (copy);
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  for (guint i = 0; i < self->axes->len; i++) {
    const char *key = g_array_index (self->axes, LigSweepAxis, i).key;
    if (g_str_equal (key, "seed"))
      continue;
    if (!lig_sweep_apply (key, at->values[i], copy, &settings, error))
      return NULL;
    put_setting (train, key, &settings);
  }
  write_train (copy, train);
  return g_steal_pointer (&copy);
}
