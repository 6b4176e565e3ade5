/* SPDX-License-Identifier: MIT */
/* Settings of a training: one table for the command line, files, checkpoints and the store. */
#include "engine/base/json-private.h"
#include "engine/base/number.h"
#include <ligature/run.h>

#include <math.h>
#include <string.h>

#define TEXT(field, name, argument, help) \
  { \
    name, LIG_SETTING_TEXT, G_STRUCT_OFFSET (LigRunSettings, field), 0, 0, 0, argument, help \
  }
#define COUNT(field, name, minimum, maximum, initial, help) \
  { \
    name, LIG_SETTING_COUNT, G_STRUCT_OFFSET (LigRunSettings, field), minimum, maximum, initial, \
      "N", help \
  }
#define NUMBER(field, name, minimum, maximum, initial, help) \
  { \
    name, LIG_SETTING_NUMBER, G_STRUCT_OFFSET (LigRunSettings, field), minimum, maximum, initial, \
      "X", help \
  }

static const LigSetting settings[] = {
  TEXT (
    data, "data", "KIND[:PATH][?key=value&…]", "The data set: text, tokens, csv, idx, synthetic"),
  COUNT (steps, "steps", 1, 1e15, 1000, "Optimizer steps in all (1000)"),
  COUNT (batch, "batch", 0, 1e9, 0, "Samples per micro-batch (the input's first axis)"),
  TEXT (optimizer, "optimizer", "sgd|adamw", "adamw by default"),
  NUMBER (lr, "lr", 0, 1e6, 1e-3, "Learning rate (0.001)"),
  NUMBER (min_lr, "min-lr", 0, 1e6, 0, "Where a cosine schedule ends (0)"),
  TEXT (
    schedule, "schedule", "constant|cosine", "How the rate goes on after the warm-up (constant)"),
  COUNT (warmup, "warmup", 0, 1e15, 0, "Steps in which the rate rises linearly (0)"),
  NUMBER (momentum, "momentum", 0, 1, 0, "Of sgd (0)"),
  NUMBER (
    weight_decay, "weight-decay", 0, 1e3, 0, "Of the weights of linear maps and embeddings (0)"),
  /* Below 1 in single precision, and above 0: adamw divides by 1 - beta and by eps. */
  NUMBER (beta1, "beta1", 0, 0.9999999, 0.9, "Of adamw (0.9)"),
  NUMBER (beta2, "beta2", 0, 0.9999999, 0.95, "Of adamw (0.95)"),
  NUMBER (eps, "eps", 1e-30, 1, 1e-8, "Of adamw (1e-8)"),
  NUMBER (clip, "clip", 0, 1e30, 0, "Largest global norm of the gradients; 0: never clipped (0)"),
  NUMBER (loss_scale,
          "loss-scale",
          0,
          1 << 24,
          0,
          "Factor of the gradients of an fp16 training; 0: found on the way, 1: none (0)"),
  COUNT (accumulate, "accumulate", 1, 1e6, 1, "Micro-batches whose gradients are averaged (1)"),
  COUNT (eval_every, "eval-every", 0, 1e15, 0, "Steps between held-out evaluations; 0: at the end"),
  COUNT (eval_batches, "eval-batches", 0, 1e9, 0, "Most held-out batches at a time; 0: all"),
  TEXT (checkpoint, "checkpoint", "FILE", "Where checkpoints go"),
  COUNT (
    checkpoint_every, "checkpoint-every", 0, 1e15, 0, "Steps between checkpoints; 0: a minute"),
  COUNT (seed, "seed", 0, 9e18, 0, "Of initial values, order and dropout (0)"),
  TEXT (dtype, "dtype", "COMPUTE[:PARAMETERS]", "fp32, fp16 or bf16"),
  TEXT (policy, "policy", "none|all|measured", "How fusions are chosen"),
  COUNT (tf32, "tf32", 0, 1, 0, "1: allow TF32 products"),
  TEXT (name, "name", "S", "What the experiment is called"),
};

const LigSetting *
lig_run_setting_nth (guint n)
{
  return n < G_N_ELEMENTS (settings) ? &settings[n] : NULL;
}

static gpointer
field (const LigRunSettings *self, const LigSetting *setting)
{
  return (char *) self + setting->offset;
}

void
lig_run_settings_init (LigRunSettings *self)
{
  memset (self, 0, sizeof *self);
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    if (settings[i].kind == LIG_SETTING_COUNT)
      *(gint64 *) field (self, &settings[i]) = (gint64) settings[i].initial;
    else if (settings[i].kind == LIG_SETTING_NUMBER)
      *(double *) field (self, &settings[i]) = settings[i].initial;
}

void
lig_run_settings_clear (LigRunSettings *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    if (settings[i].kind == LIG_SETTING_TEXT)
      g_clear_pointer ((char **) field (self, &settings[i]), g_free);
}

void
lig_run_settings_copy (const LigRunSettings *from, LigRunSettings *to)
{
  *to = *from;
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    if (settings[i].kind == LIG_SETTING_TEXT)
      *(char **) field (to, &settings[i]) = g_strdup (*(char **) field (from, &settings[i]));
}

static const LigSetting *
find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    if (g_str_equal (settings[i].name, name))
      return &settings[i];
  return NULL;
}

/* Words that only certain texts may be. */
static gboolean
check_word (const char *name, const char *text, GError **error)
{
  static const struct {
    const char *name, *words;
  } choices[] = {
    {"optimizer", "sgd|adamw"}, {"schedule", "constant|cosine"}, {"policy", "none|all|measured"}};
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++) {
    if (!g_str_equal (choices[i].name, name))
      continue;
    g_auto (GStrv) words = g_strsplit (choices[i].words, "|", -1);
    if (g_strv_contains ((const char *const *) words, text))
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "%s is '%s', expected %s", name, text,
                 choices[i].words);
    return FALSE;
  }
  return TRUE;
}

static gboolean
set_number (LigRunSettings *self, const LigSetting *setting, const char *text, GError **error)
{
  char *end;
  double value = g_ascii_strtod (text, &end);
  gboolean whole = setting->kind == LIG_SETTING_NUMBER || value == floor (value);
  if (!*text || *end || !whole || !(value >= setting->minimum && value <= setting->maximum)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "%s is '%s', expected a %snumber from %.15g to %.15g", setting->name, text,
                 setting->kind == LIG_SETTING_COUNT ? "whole " : "", setting->minimum,
                 setting->maximum);
    return FALSE;
  }
  if (setting->kind == LIG_SETTING_NUMBER)
    *(double *) field (self, setting) = value;
  else
    *(gint64 *) field (self, setting) = strspn (text, "0123456789") == strlen (text)
                                          ? g_ascii_strtoll (text, NULL, 10)
                                          : (gint64) value;
  return TRUE;
}

gboolean
lig_run_settings_set (LigRunSettings *self, const char *name, const char *text, GError **error)
{
  const LigSetting *setting = find (name);
  if (!setting) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, "a training has no setting '%s'", name);
    return FALSE;
  }
  if (setting->kind != LIG_SETTING_TEXT)
    return set_number (self, setting, text, error);
  if (!check_word (name, text, error))
    return FALSE;
  char **at = field (self, setting);
  g_free (*at);
  *at = *text ? g_strdup (text) : NULL;
  return TRUE;
}

gboolean
lig_run_settings_check (const LigRunSettings *self, GError **error)
{
  if (self->warmup > self->steps) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "warmup is %" G_GINT64_FORMAT
                 ", expected a whole number from 0 to steps, %" G_GINT64_FORMAT,
                 self->warmup, self->steps);
    return FALSE;
  }
  if (self->min_lr > self->lr) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "min-lr is %g, expected a number from 0 to lr, %g", self->min_lr, self->lr);
    return FALSE;
  }
  return TRUE;
}

char *
lig_run_settings_get (const LigRunSettings *self, const char *name)
{
  const LigSetting *setting = find (name);
  g_return_val_if_fail (setting, NULL);
  GString *text;
  switch (setting->kind) {
  case LIG_SETTING_TEXT:
    return g_strdup (*(char **) field (self, setting));
  case LIG_SETTING_COUNT:
    return g_strdup_printf ("%" G_GINT64_FORMAT, *(gint64 *) field (self, setting));
  default:
    text = g_string_new (NULL);
    lig_number_append (text, *(double *) field (self, setting), FALSE);
    return g_string_free (text, FALSE);
  }
}

static gboolean
read_member (LigRunSettings *self, const char *name, JsonNode *node, GError **error)
{
  g_autofree char *text = NULL;
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  if (type == G_TYPE_STRING)
    text = g_strdup (json_node_get_string (node));
  else if (type == G_TYPE_INT64)
    text = g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (node));
  else if (type == G_TYPE_DOUBLE)
    text = g_strdup (g_ascii_dtostr (buffer, sizeof buffer, json_node_get_double (node)));
  else if (type == G_TYPE_BOOLEAN)
    text = g_strdup (json_node_get_boolean (node) ? "1" : "0");
  if (text && lig_run_settings_set (self, name, text, error))
    return TRUE;
  if (!text)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, "it is neither a number nor a string");
  g_prefix_error (error, "$.train.%s: ", name);
  return FALSE;
}

gboolean
lig_run_settings_read (LigRunSettings *self, const char *json, GStrv *warnings, GError **error)
{
  g_autoptr (GStrvBuilder) unknown = g_strv_builder_new ();
  g_autoptr (JsonNode) root = lig_json_read (json, strlen (json), NULL, error);
  if (!root)
    return FALSE;
  if (!JSON_NODE_HOLDS_OBJECT (root)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, "$.train: it is not an object");
    return FALSE;
  }
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;
  json_object_iter_init (&iter, json_node_get_object (root));
  while (json_object_iter_next (&iter, &name, &node)) {
    if (find (name)) {
      if (!read_member (self, name, node, error))
        return FALSE;
      continue;
    }
    g_autofree char *warning = g_strdup_printf ("$.train.%s: unknown key, kept", name);
    g_strv_builder_add (unknown, warning);
  }
  if (warnings)
    *warnings = g_strv_builder_end (unknown);
  return TRUE;
}

char *
lig_run_settings_to_json (const LigRunSettings *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    gconstpointer at = field (self, &settings[i]);
    if (settings[i].kind == LIG_SETTING_TEXT && !*(char *const *) at)
      continue;
    json_builder_set_member_name (builder, settings[i].name);
    if (settings[i].kind == LIG_SETTING_TEXT)
      json_builder_add_string_value (builder, *(char *const *) at);
    else if (settings[i].kind == LIG_SETTING_COUNT)
      json_builder_add_int_value (builder, *(const gint64 *) at);
    else
      json_builder_add_double_value (builder, *(const double *) at);
  }
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  /* json-glib 1.6 writes 1e-08 as 1e-08.0, which nobody can read again. */
  GString *text = g_string_new (NULL);
  lig_json_append (text, root);
  return g_string_free (text, FALSE);
}
