/* SPDX-License-Identifier: MIT */
/* Settings of a run: one table for the command line, files, checkpoints and the store. */
#include "engine/base/json-private.h"
#include "engine/base/number.h"
#include "engine/base/suggest.h"
#include "engine/data/kind.h"
#include "engine/train/data.h"
#include "engine/train/learning-rate.h"
#include "engine/train/types.h"
#include <ligature/dataset.h>
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/run.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A text: its group, field, name, values, help and the effect of its absence. */
#define TEXT(group_, field, name_, argument_, help_, unset_) \
  { \
    .name = name_, .kind = LIG_SETTING_TEXT, .offset = G_STRUCT_OFFSET (LigRunSettings, field), \
    .argument = argument_, .help = help_, .group = group_, .unset = unset_ \
  }
/* A text with a word that stands for its default. */
#define WORD(group_, field, name_, argument_, help_, usual_) \
  { \
    .name = name_, .kind = LIG_SETTING_TEXT, .offset = G_STRUCT_OFFSET (LigRunSettings, field), \
    .argument = argument_, .help = help_, .group = group_, .usual = usual_ \
  }
#define VALUE(group_, field, name_, kind_, minimum_, maximum_, initial_, argument_, help_, unset_) \
  { \
    .name = name_, .kind = kind_, .offset = G_STRUCT_OFFSET (LigRunSettings, field), \
    .minimum = minimum_, .maximum = maximum_, .initial = initial_, .argument = argument_, \
    .help = help_, .group = group_, .unset = unset_ \
  }
#define COUNT(group, field, name, minimum, maximum, initial, help, unset) \
  VALUE (group, field, name, LIG_SETTING_COUNT, minimum, maximum, initial, "N", help, unset)
#define NUMBER(group, field, name, minimum, maximum, initial, help, unset) \
  VALUE (group, field, name, LIG_SETTING_NUMBER, minimum, maximum, initial, "X", help, unset)
/* Marks the place in the table where the parameters of all optimizers are inserted. */
#define OPTIMIZER_PARAMS \
  { \
    .kind = LIG_SETTING_NUMBER \
  }

#define DATA "Data"
#define OPTIMIZER "Optimizer"
#define SCHEDULE "Schedule"
#define DEVICE "Device"
#define OUTPUT "Output"
#define SAMPLES "Samples"

static const LigSetting common[] = {
  TEXT (DATA, data, "data", "KIND[:PATH][?key=value&…]", NULL, NULL),
  COUNT (SCHEDULE, steps, "steps", 1, 1e15, 1000, "Total optimizer steps", NULL),
  COUNT (DATA,
         batch,
         "batch",
         0,
         1e9,
         0,
         "Samples per micro-batch",
         "the input's first axis, else 32, or all samples if there are fewer"),
  WORD (OPTIMIZER, optimizer, "optimizer", NULL, "Update rule", LIG_OPTIMIZER_DEFAULT),
  NUMBER (OPTIMIZER, lr, "lr", 0, 1e6, 1e-3, "Learning rate", NULL),
  NUMBER (SCHEDULE, min_lr, "min-lr", 0, 1e6, 0, "Final rate of a cosine schedule", NULL),
  WORD (SCHEDULE,
        schedule,
        "schedule",
        "constant|cosine",
        "Schedule of the learning rate after the warm-up",
        "constant"),
  COUNT (SCHEDULE,
         schedule_steps,
         "schedule-steps",
         0,
         1e15,
         0,
         "Step at which a cosine schedule reaches its final rate",
         "0, the last step"),
  COUNT (SCHEDULE, warmup, "warmup", 0, 1e15, 0, "Steps of linear learning-rate warm-up", NULL),
  COUNT (SCHEDULE,
         calibrate,
         "calibrate",
         0,
         1e15,
         0,
         "Initial steps in which matmuls run unquantized and record amaxes for the scales of "
         "recipe fp8-delayed",
         "0, none"),
  OPTIMIZER_PARAMS,
  NUMBER (OPTIMIZER, clip, "clip", 0, 1e30, 0, "Maximum global gradient norm", "0, never clipped"),
  NUMBER (OPTIMIZER,
          loss_scale,
          "loss-scale",
          0,
          1 << 24,
          0,
          "Loss scale for fp16; 1: none",
          "0, dynamic"),
  COUNT (OPTIMIZER,
         accumulate,
         "accumulate",
         1,
         1e6,
         1,
         "Micro-batches per step, for gradient accumulation",
         NULL),
  TEXT (OPTIMIZER,
        freeze,
        "freeze",
        "PATTERN",
        "Parameters that are not trained: path patterns such as 0.* or *.bias, separated by commas",
        "train all"),
  COUNT (OUTPUT,
         eval_every,
         "eval-every",
         0,
         1e15,
         0,
         "Steps between validation evaluations",
         "0, about 20 times in all"),
  COUNT (OUTPUT,
         eval_batches,
         "eval-batches",
         0,
         1e9,
         0,
         "Maximum number of validation batches in each evaluation",
         "0, automatic: all batches at the end, or as many as were trained on (at least 256) if "
         "validation has more than 8 million input values"),
  TEXT (OUTPUT,
        checkpoint,
        "checkpoint",
        "FILE",
        "Checkpoint file",
        "one per run in Ligature's data folder"),
  COUNT (OUTPUT,
         checkpoint_every,
         "checkpoint-every",
         0,
         1e15,
         0,
         "Steps between checkpoints",
         "0, once a minute"),
  COUNT (OUTPUT,
         histograms,
         "histograms",
         0,
         1e15,
         0,
         "Steps between histograms of all trained weights and their gradients",
         "0, none"),
  COUNT (OUTPUT,
         load_every,
         "load-every",
         0,
         1e15,
         50,
         "Steps between records of the load of experts; 0: none",
         NULL),
  COUNT (SAMPLES,
         sample_every,
         "sample-every",
         0,
         1e15,
         0,
         "Steps between texts that the model generates, to show what it has learned",
         "0, never"),
  TEXT (SAMPLES,
        sample_prompts,
        "sample-prompts",
        "TEXTS",
        "Beginnings of these texts, separated by |",
        "a line break"),
  COUNT (SAMPLES, sample_tokens, "sample-tokens", 1, 1e6, 64, "Tokens of each of them", NULL),
  NUMBER (SAMPLES,
          sample_temperature,
          "sample-temperature",
          0,
          100,
          0.8,
          "Divisor of the logits; 0: the most probable token",
          NULL),
  COUNT (SAMPLES,
         sample_top_k,
         "sample-top-k",
         0,
         1e9,
         0,
         "Number of most probable tokens among which one is drawn",
         "0, all"),
  COUNT (SAMPLES, sample_seed, "sample-seed", 0, 9e18, 0, "Seed of the draws", NULL),
  TEXT (SAMPLES,
        vocabulary,
        "vocabulary",
        "FILE",
        "Tokenizer of the model's tokens: a tokenizer.json, or a tokenizer of llm.c",
        "that of the data, else bytes"),
  COUNT (DATA, seed, "seed", 0, 9e18, 0, "Seed for initialization, data order and dropout", NULL),
  TEXT (DEVICE,
        dtype,
        "dtype",
        "COMPUTE[:PARAMETERS]",
        "Compute type (fp32, fp16 or bf16) and parameter type (also fp8)",
        "the file's, else fp32"),
  TEXT (DEVICE,
        policy,
        "policy",
        "none|all|measured",
        "How fusions are chosen",
        "measured on a GPU or a description of one, otherwise all"),
  WORD (DEVICE,
        recompute,
        "recompute",
        "none|cheap|all",
        "Activations that the backward pass recomputes, to save memory; cheap: except those of "
        "matmuls and attention",
        "none"),
  COUNT (DEVICE, tf32, "tf32", 0, 1, 0, "Whether TF32 matmuls are allowed: 0 or 1", NULL),
  COUNT (DEVICE,
         nondeterministic,
         "nondeterministic",
         0,
         1,
         0,
         "Whether a nondeterministic summation order is allowed: 0 or 1",
         NULL),
  COUNT (DEVICE,
         shard_optimizer,
         "shard-optimizer",
         0,
         1,
         0,
         "Whether the data-parallel ranks shard the optimizer state and its update: 0 or 1",
         NULL),
  VALUE (DEVICE,
         bucket_size,
         "bucket-size",
         LIG_SETTING_COUNT,
         1,
         (double) (LIG_BUCKET_MAX >> 20),
         (double) (LIG_BUCKET_INITIAL >> 20),
         "MiB",
         "Size of gradient buckets: larger collectives are faster, smaller ones start earlier",
         NULL),
  TEXT (OUTPUT, name, "name", "S", "Name of the run", "made from the sequence"),
};

/* --- The table ------------------------------------------------------------------------------ */

/* The settings, made once and never freed. */
typedef struct {
  LigSetting *all;
  guint count;
} Table;

static LigSetting *
find_in (GArray *all, const char *name)
{
  for (guint i = 0; i < all->len; i++)
    if (g_str_equal (g_array_index (all, LigSetting, i).name, name))
      return &g_array_index (all, LigSetting, i);
  return NULL;
}

/* Adds a parameter, or adds the optimizer's name to a parameter that several optimizers have. */
static void
add_param (GArray *all, guint *count, const LigParam *param, const char *optimizer)
{
  LigSetting *known = find_in (all, param->name);
  if (known) {
    known->of = known->of ? g_strconcat (known->of, ", ", optimizer, NULL) : NULL;
    return;
  }
  if (*count == LIG_RUN_OPTIMIZER_PARAMS)
    return;
  LigSetting setting = {.name = param->name,
                        .kind = LIG_SETTING_NUMBER,
                        .offset = G_STRUCT_OFFSET (LigRunSettings, optimizer_params) +
                                  (*count)++ * sizeof (double),
                        .minimum = param->minimum,
                        .maximum = param->maximum,
                        .initial = param->initial,
                        .argument = "X",
                        .help = param->help,
                        .label = param->label,
                        .of = optimizer,
                        .group = OPTIMIZER};
  g_array_append_val (all, setting);
}

static void
add_params (GArray *all)
{
  const LigOptimizerInfo *info;
  guint count = 0;
  for (guint n = 0; (info = lig_optimizer_info_nth (n)); n++)
    for (const LigParam *param = info->params; param->name; param++)
      add_param (all, &count, param, info->name);
}

static char *
join_optimizers (void)
{
  GString *text = g_string_new (NULL);
  const LigOptimizerInfo *info;
  for (guint n = 0; (info = lig_optimizer_info_nth (n)); n++)
    g_string_append_printf (text, "%s%s", n > 0 ? "|" : "", info->name);
  return g_string_free (text, FALSE);
}

static char *
join_kinds (void)
{
  GString *text = g_string_new ("The data set: ");
  const LigDatasetInfo *info;
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++)
    g_string_append_printf (text, "%s%s", n > 0 ? ", " : "", info->name);
  return g_string_free (text, FALSE);
}

static gpointer
make_table (gpointer data)
{
  Table *table = data;
  GArray *all = g_array_new (FALSE, TRUE, sizeof (LigSetting));
  for (guint i = 0; i < G_N_ELEMENTS (common); i++) {
    LigSetting setting = common[i];
    if (!setting.name) {
      add_params (all);
      continue;
    }
    if (setting.kind == LIG_SETTING_TEXT && !setting.argument)
      setting.argument = join_optimizers ();
    if (!setting.help)
      setting.help = join_kinds ();
    g_array_append_val (all, setting);
  }
  table->count = all->len;
  table->all = (LigSetting *) g_array_free (all, FALSE);
  return table;
}

static const Table *
get_table (void)
{
  static GOnce once = G_ONCE_INIT;
  static Table table;
  return g_once (&once, make_table, &table);
}

const LigSetting *
lig_run_setting_nth (guint n)
{
  const Table *table = get_table ();
  return n < table->count ? &table->all[n] : NULL;
}

char *
lig_setting_default (const LigSetting *self)
{
  if (self->unset || self->kind == LIG_SETTING_TEXT)
    return g_strdup (self->unset ? self->unset : self->usual);
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_strdup (g_ascii_formatd (text, sizeof text, "%.15g", self->initial));
}

/* --- Values --------------------------------------------------------------------------------- */

static gpointer
field (const LigRunSettings *self, const LigSetting *setting)
{
  return (char *) self + setting->offset;
}

void
lig_run_settings_init (LigRunSettings *self)
{
  memset (self, 0, sizeof *self);
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (setting->kind == LIG_SETTING_COUNT)
      *(gint64 *) field (self, setting) = (gint64) setting->initial;
    else if (setting->kind == LIG_SETTING_NUMBER)
      *(double *) field (self, setting) = setting->initial;
}

void
lig_run_settings_clear (LigRunSettings *self)
{
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (setting->kind == LIG_SETTING_TEXT)
      g_clear_pointer ((char **) field (self, setting), g_free);
}

void
lig_run_settings_copy (const LigRunSettings *from, LigRunSettings *to)
{
  *to = *from;
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (setting->kind == LIG_SETTING_TEXT)
      *(char **) field (to, setting) = g_strdup (*(char **) field (from, setting));
}

LigRunSettings *
lig_run_settings_new (void)
{
  LigRunSettings *self = g_new (LigRunSettings, 1);
  lig_run_settings_init (self);
  return self;
}

void
lig_run_settings_free (LigRunSettings *self)
{
  if (self)
    lig_run_settings_clear (self);
  g_free (self);
}

static LigRunSettings *
dup_settings (LigRunSettings *self)
{
  LigRunSettings *copy = g_new (LigRunSettings, 1);
  lig_run_settings_copy (self, copy);
  return copy;
}

G_DEFINE_BOXED_TYPE (LigRunSettings, lig_run_settings, dup_settings, lig_run_settings_free)

static const LigSetting *
find (const char *name)
{
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (g_str_equal (setting->name, name))
      return setting;
  return NULL;
}

/* A setting whose argument is a list of words accepts only these. */
static gboolean
check_word (const LigSetting *setting, const char *text, GError **error)
{
  g_auto (GStrv) words = g_strsplit (setting->argument, "|", -1);
  if (!words[0] || !words[1] || g_strv_contains ((const char *const *) words, text))
    return TRUE;
  g_autofree char *like = lig_suggest_ending (text, (const char *const *) words);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s is '%s', expected %s%s"), setting->name,
               text, setting->argument, like);
  return FALSE;
}

static gboolean
set_number (LigRunSettings *self, const LigSetting *setting, const char *text, GError **error)
{
  char *end;
  double value = g_ascii_strtod (text, &end);
  gboolean whole = setting->kind == LIG_SETTING_NUMBER || value == floor (value);
  if (!*text || *end || !whole || !(value >= setting->minimum && value <= setting->maximum)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("%s is '%s', expected a %snumber from %.15g to %.15g"), setting->name, text,
                 setting->kind == LIG_SETTING_COUNT ? _ ("whole ") : "", setting->minimum,
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

static const char *
get_name (guint n)
{
  const LigSetting *setting = lig_run_setting_nth (n);
  return setting ? setting->name : NULL;
}

gboolean
lig_run_settings_set (LigRunSettings *self, const char *name, const char *text, GError **error)
{
  const LigSetting *setting = find (name);
  if (!setting) {
    g_autofree char *like = lig_suggest_nth (name, get_name);
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("training has no setting '%s'%s"), name, like);
    return FALSE;
  }
  if (setting->kind != LIG_SETTING_TEXT)
    return set_number (self, setting, text, error);
  if (!check_word (setting, text, error))
    return FALSE;
  char **at = field (self, setting);
  int types[2];
  if (at == &self->dtype && !lig_run_read_types (text, &types[0], &types[1], error))
    return FALSE;
  g_free (*at);
  *at = *text ? g_strdup (text) : NULL;
  return TRUE;
}

/* A C program sets fields directly, without lig_run_settings_set(), which checks the same
 * ranges. */
static gboolean
check_range (const LigRunSettings *self, const LigSetting *setting, GError **error)
{
  gboolean count = setting->kind == LIG_SETTING_COUNT;
  if (setting->kind == LIG_SETTING_TEXT) {
    const char *text = *(char **) field (self, setting);
    return !text || !*text || check_word (setting, text, error) ||
           lig_error_set_setting (error, setting->name);
  }
  double value =
    count ? (double) *(gint64 *) field (self, setting) : *(double *) field (self, setting);
  if (value >= setting->minimum && value <= setting->maximum)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s is '%.15g', expected a %snumber from %.15g to %.15g"), setting->name, value,
               count ? _ ("whole ") : "", setting->minimum, setting->maximum);
  return lig_error_set_setting (error, setting->name);
}

gboolean
lig_run_settings_check (const LigRunSettings *self, GError **error)
{
  const char *limit = self->schedule_steps > 0 ? "schedule-steps" : "steps";
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (!check_range (self, setting, error))
      return FALSE;
  if (self->warmup > lig_run_schedule_steps (self)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("warmup is %" PRId64 ", expected a whole number from 0 to %s, %" PRId64),
                 self->warmup, limit, lig_run_schedule_steps (self));
    return FALSE;
  }
  if (self->calibrate > 0 && self->calibrate >= self->steps) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("calibrate is %" PRId64 ", expected a whole number below steps, %" PRId64),
                 self->calibrate, self->steps);
    return FALSE;
  }
  if (self->min_lr > self->lr) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("min-lr is %g, expected a number from 0 to lr, %g"), self->min_lr, self->lr);
    return FALSE;
  }
  return TRUE;
}

gboolean
lig_run_settings_get_optimizer (const LigRunSettings *self, LigOptimizer *optimizer, GError **error)
{
  const LigOptimizerInfo *info = lig_optimizer_info_find (self->optimizer, error);
  if (!info || !lig_optimizer_init (optimizer, info->name, error))
    return FALSE;
  for (const LigParam *param = info->params; param->name; param++) {
    const LigSetting *setting = find (param->name);
    if (!lig_optimizer_set (optimizer, param->name, *(double *) field (self, setting), error))
      return FALSE;
  }
  optimizer->loss_scale = self->loss_scale;
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
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("it is neither a number nor a string"));
  g_prefix_error (error, _ ("$.train.%s: "), name);
  g_autofree char *path = g_strconcat ("$.train.", name, NULL);
  return lig_error_set_path (error, path);
}

/* Warns of an unknown key, and rejects one that resembles a known key: otherwise a typing mistake
 * would silently keep the default. */
static gboolean
note_unknown (const char *name, GStrvBuilder *unknown, GError **error)
{
  g_autofree char *like = lig_suggest_nth (name, get_name);
  g_autofree char *warning = g_strdup_printf ("$.train.%s: unknown key, kept", name);
  if (!*like) {
    g_strv_builder_add (unknown, warning);
    return TRUE;
  }
  g_autofree char *path = g_strconcat ("$.train.", name, NULL);
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s: unknown key%s"), path, like);
  return lig_error_set_path (error, path);
}

/* Reads an object of settings. `unknown` (nullable) collects warnings; without it unknown keys are
 * ignored. */
static gboolean
read_object (LigRunSettings *self, const char *json, GStrvBuilder *unknown, GError **error)
{
  if (!json) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("the settings are null, expected an object"));
    return FALSE;
  }
  g_autoptr (JsonNode) root = lig_json_read (json, strlen (json), NULL, error);
  if (!root)
    return FALSE;
  if (!JSON_NODE_HOLDS_OBJECT (root)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("$.train: it is not an object"));
    return lig_error_set_path (error, "$.train");
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
    if (unknown && !note_unknown (name, unknown, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lig_run_settings_read (LigRunSettings *self, const char *json, GStrv *warnings, GError **error)
{
  g_autoptr (GStrvBuilder) unknown = g_strv_builder_new ();
  if (!read_object (self, json, unknown, error))
    return FALSE;
  if (warnings)
    *warnings = g_strv_builder_end (unknown);
  return TRUE;
}

gboolean
lig_run_settings_read_record (LigRunSettings *self, const char *json, GError **error)
{
  if (!read_object (self, json, NULL, error))
    return FALSE;
  if (self->data) {
    char *data = lig_dataset_name_split (self->data, LIG_SPLIT_END);
    g_free (self->data);
    self->data = data;
  }
  return TRUE;
}

char *
lig_run_settings_to_json (const LigRunSettings *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    gconstpointer at = field (self, setting);
    if (setting->kind == LIG_SETTING_TEXT && !*(char *const *) at)
      continue;
    json_builder_set_member_name (builder, setting->name);
    if (setting->kind == LIG_SETTING_TEXT)
      json_builder_add_string_value (builder, *(char *const *) at);
    else if (setting->kind == LIG_SETTING_COUNT)
      json_builder_add_int_value (builder, *(const gint64 *) at);
    else
      json_builder_add_double_value (builder, *(const double *) at);
  }
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  /* json-glib 1.6 writes 1e-08 as 1e-08.0, which is not valid JSON. */
  GString *text = g_string_new (NULL);
  lig_json_append (text, root);
  return g_string_free (text, FALSE);
}

void
lig_run_locate_data (LigRunSettings *settings)
{
  g_autofree char *given = settings->data;
  g_autofree char *located = given ? lig_dataset_locate (given) : NULL;
  settings->data = located ? lig_dataset_name_split (located, LIG_SPLIT_USUAL) : NULL;
  if (settings->vocabulary && *settings->vocabulary) {
    g_autofree char *vocabulary = settings->vocabulary;
    settings->vocabulary = g_canonicalize_filename (vocabulary, NULL);
  }
}
