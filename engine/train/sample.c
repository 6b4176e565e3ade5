/* SPDX-License-Identifier: MIT */
/* Texts that a run generates between steps. Their draws have a seed of their own, and their
 * programs only read the parameters, so that training is the same without them. */
#include "engine/train/sample.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"
#include <ligature/generator.h>
#include <ligature/tokenizer.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

struct _LigRunSamples {
  LigGenerator *generator;
  LigTokenizer *tokenizer;
  GStrv prompts;
  GPtrArray *tokens; /* GArray of gint32: the prompts' tokens */
};

/* A text in progress. */
typedef struct {
  guint64 id;
  GArray *tokens; /* gint32, generated */
} Text;

void
lig_run_samples_free (LigRunSamples *self)
{
  g_clear_pointer (&self->generator, lig_generator_free);
  g_clear_pointer (&self->tokenizer, lig_tokenizer_unref);
  g_strfreev (self->prompts);
  g_ptr_array_unref (self->tokens);
  g_free (self);
}

/* --- Preparation --------------------------------------------------------------------------- */

static gboolean reject (GError **error, const char *setting, const char *format, ...)
  G_GNUC_PRINTF (3, 4);

static gboolean
reject (GError **error, const char *setting, const char *format, ...)
{
  va_list values;
  va_start (values, format);
  g_autofree char *text = g_strdup_vprintf (format, values);
  va_end (values);
  g_set_error_literal (error, LIG_ERROR, LIG_ERROR_VALUE, text);
  return lig_error_set_setting (error, setting);
}

/* Returns the tokenizer of the data (transfer full) (nullable). */
static char *
find_data_tokenizer (const LigRunSettings *settings)
{
  g_autofree char *path = NULL;
  g_auto (GStrv) options = settings->data ? lig_dataset_split (settings->data, &path) : NULL;
  for (char **option = options; option && *option; option += 2)
    if (g_str_equal (*option, "tokenizer"))
      return g_strdup (option[1]);
  return NULL;
}

static gboolean
open_tokenizer (LigRun *self, LigRunSamples *samples, GError **error)
{
  gint64 size = lig_generator_get_vocabulary (samples->generator);
  g_autofree char *path = self->settings.vocabulary && *self->settings.vocabulary
                            ? g_strdup (self->settings.vocabulary)
                            : find_data_tokenizer (&self->settings);
  if (!path && size > 256)
    return reject (error, "vocabulary",
                   _ ("the vocabulary of the model has size %" PRId64
                      ", so that its tokens are not bytes; set "
                      "vocabulary to a tokenizer.json"),
                   size);
  samples->tokenizer = path ? lig_tokenizer_open (path, error) : lig_tokenizer_new_bytes ();
  if (!samples->tokenizer)
    return lig_error_set_setting (error, "vocabulary");
  gint32 tokens = lig_tokenizer_get_size (samples->tokenizer);
  return tokens <= size || (!path && size <= 256) ||
         reject (
           error, "vocabulary",
           _ ("%s has size %d, the vocabulary of the model %" PRId64 "; give its own tokenizer"),
           path, tokens, size);
}

static gboolean
encode_prompts (LigRun *self, LigRunSamples *samples, GError **error)
{
  const char *text = self->settings.sample_prompts;
  samples->prompts = g_strsplit (text && *text ? text : "\n", "|", -1);
  for (char **prompt = samples->prompts; *prompt; prompt++) {
    gsize count;
    g_autofree gint32 *tokens =
      lig_tokenizer_encode (samples->tokenizer, *prompt, -1, TRUE, &count, error);
    if (!tokens)
      return lig_error_set_setting (error, "sample-prompts");
    GArray *array = g_array_new (FALSE, FALSE, sizeof *tokens);
    g_array_append_vals (array, tokens, (guint) count);
    g_ptr_array_add (samples->tokens, array);
    if (count == 0)
      return reject (error, "sample-prompts", _ ("a prompt is empty; separate prompts by one |"));
  }
  return TRUE;
}

gboolean
lig_run_prepare_samples (LigRun *self, GError **error)
{
  const int shards = lig_device_get_n_ranks (self->device, LIG_GROUP_TENSOR) *
                     lig_device_get_n_ranks (self->device, LIG_GROUP_CONTEXT) *
                     lig_device_get_n_ranks (self->device, LIG_GROUP_EXPERT);
  if (self->settings.sample_every == 0)
    return TRUE;
  if (shards > 1)
    return reject (error, "sample-every",
                   _ ("samples need the whole model on one rank, it is sharded over %d; leave them "
                      "out, or use data-parallel ranks that have all of it"),
                   shards);
  if (!lig_run_writes (self))
    return TRUE;
  LigRunSamples *samples = self->samples = g_new0 (LigRunSamples, 1);
  samples->tokens = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  LigPlanOptions plan = self->eval_options;
  LigGeneratorOptions options = LIG_GENERATOR_OPTIONS_INIT;
  plan.policy = LIG_POLICY_ALL;
  plan.tuning = NULL;
  plan.accuracy = FALSE;
  options.plan = &plan;
  options.fill = '\n';
  samples->generator = lig_generator_new (self->sequence, self->state, &options, error);
  if (!samples->generator) {
    g_prefix_error (error, _ ("samples: "));
    return lig_error_set_setting (error, "sample-every");
  }
  return open_tokenizer (self, samples, error) && encode_prompts (self, samples, error);
}

gboolean
lig_run_samples_at (LigRun *self, gint64 step)
{
  gint64 every = self->settings.sample_every;
  return self->samples && (step % every == 0 || step == self->settings.steps);
}

/* --- Texts --------------------------------------------------------------------------------- */

static gboolean
is_requested (LigRun *self)
{
  g_mutex_lock (&self->lock);
  gboolean requested = self->request != LIG_REQUEST_NONE;
  g_mutex_unlock (&self->lock);
  return requested;
}

static gboolean
begin (LigRun *self, GArray *texts, GError **error)
{
  const LigRunSettings *settings = &self->settings;
  LigSampling sampling = LIG_SAMPLING_INIT;
  sampling.temperature = settings->sample_temperature;
  sampling.top_k = MIN (settings->sample_top_k, G_MAXINT32);
  sampling.seed = (guint64) settings->sample_seed;
  sampling.max_tokens = settings->sample_tokens;
  for (guint i = 0; i < self->samples->tokens->len; i++) {
    const GArray *prompt = self->samples->tokens->pdata[i];
    Text text = {.tokens = g_array_new (FALSE, FALSE, sizeof (gint32))};
    g_array_append_val (texts, text);
    if (!lig_generator_add (self->samples->generator, (const gint32 *) (gpointer) prompt->data,
                            prompt->len, &sampling, &g_array_index (texts, Text, i).id, error))
      return FALSE;
  }
  return TRUE;
}

/* Generates until all texts end, or a request ends them. */
static gboolean
extend (LigRun *self, GArray *texts, GError **error)
{
  g_autoptr (GArray) generated = g_array_new (FALSE, FALSE, sizeof (LigGenerated));
  do {
    if (!lig_generator_step (self->samples->generator, generated, error))
      return FALSE;
    for (guint i = 0; i < generated->len; i++) {
      const LigGenerated *one = &g_array_index (generated, LigGenerated, i);
      for (guint k = 0; k < texts->len; k++) {
        Text *text = &g_array_index (texts, Text, k);
        if (text->id == one->id)
          g_array_append_val (text->tokens, one->sampled.chosen.token);
      }
    }
  } while (generated->len > 0 && !is_requested (self));
  for (guint k = 0; k < texts->len; k++)
    lig_generator_cancel (self->samples->generator, g_array_index (texts, Text, k).id);
  return TRUE;
}

static gboolean
record (LigRun *self, gint64 step, guint number, const Text *text, double seconds, GError **error)
{
  g_autoptr (GString) tokens = g_string_new (NULL);
  for (guint i = 0; i < text->tokens->len; i++)
    g_string_append_printf (tokens, "%s%d", i > 0 ? " " : "",
                            g_array_index (text->tokens, gint32, i));
  g_autofree char *decoded =
    lig_tokenizer_decode (self->samples->tokenizer, (const gint32 *) (gpointer) text->tokens->data,
                          text->tokens->len, FALSE, NULL);
  LigSampleRow row = {step,    number,      self->samples->prompts[number],
                      decoded, tokens->str, seconds * 1e6};
  g_mutex_lock (&self->lock);
  if (number == 0) {
    g_free (self->sample);
    self->sample = g_strconcat (row.prompt, decoded, NULL);
    self->sample_step = step;
  }
  g_mutex_unlock (&self->lock);
  return lig_run_record_sample (self, &row, error);
}

static void
clear_text (gpointer text)
{
  g_array_unref (((Text *) text)->tokens);
}

gboolean
lig_run_sample (LigRun *self, gint64 step, GError **error)
{
  g_autoptr (GArray) texts = g_array_new (FALSE, FALSE, sizeof (Text));
  g_array_set_clear_func (texts, clear_text);
  double start = lig_now ();
  if (!begin (self, texts, error) || !extend (self, texts, error))
    return FALSE;
  double seconds = (lig_now () - start) / MAX (texts->len, 1);
  for (guint i = 0; i < texts->len; i++)
    if (!record (self, step, i, &g_array_index (texts, Text, i), seconds, error))
      return FALSE;
  return TRUE;
}

char *
lig_run_get_sample (LigRun *self, gint64 *step)
{
  g_mutex_lock (&self->lock);
  char *text = g_strdup (self->sample);
  *step = self->sample_step;
  g_mutex_unlock (&self->lock);
  return text;
}
