/* SPDX-License-Identifier: MIT */
/* A trained model for commands that use it: a run, a checkpoint, or a sequence with weights. */
#include "app/cli/model.h"

#include "app/cli/blame.h"
#include "app/cli/find-checkpoint.h"
#include "app/cli/find-run.h"
#include "app/cli/say.h"
#include <ligature/dataset.h>
#include <ligature/plan-options.h>
#include <ligature/weights.h>

void
lig_cli_model_clear (LigCliModel *self)
{
  g_clear_object (&self->sequence);
  g_clear_pointer (&self->weights, g_free);
  g_clear_pointer (&self->table, g_free);
  g_clear_pointer (&self->run, g_free);
  g_clear_pointer (&self->vocabulary, g_free);
  lig_run_settings_clear (&self->settings);
}

/* Reads the sequence, the settings and the preprocessing that a checkpoint contains. */
static gboolean
read_checkpoint (LigTensorFile *file,
                 const LigSequenceOptions *options,
                 LigCliModel *model,
                 GError **error)
{
  const char *json = lig_tensor_file_get_metadata (file, "ligature.sequence");
  const char *settings = lig_tensor_file_get_metadata (file, "ligature.settings");
  if (!json) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 "%s has no sequence; give the sequence, and --weights %s", model->weights,
                 model->weights);
    return FALSE;
  }
  model->sequence = lig_sequence_from_json (json, -1, NULL, error);
  if (!model->sequence ||
      (settings && !lig_run_settings_read (&model->settings, settings, NULL, error)))
    return FALSE;
  return !options->recipe || lig_sequence_set_recipe (model->sequence, options->recipe, error) ||
         lig_cli_blame (error, "recipe");
}

static void
read_metadata (LigTensorFile *file, LigCliModel *model)
{
  model->table = g_strdup (lig_tensor_file_get_metadata (file, LIG_WEIGHTS_TABLE));
  model->run = g_strdup (lig_tensor_file_get_metadata (file, "ligature.run"));
  const char *json = lig_tensor_file_get_metadata (file, "ligature.settings");
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  if (json && lig_run_settings_read (&settings, json, NULL, NULL))
    model->vocabulary = lig_cli_find_vocabulary (&settings);
}

/* Returns whether the text is meant as weights with their sequence. */
static gboolean
is_checkpoint (const char *text)
{
  return g_file_test (text, G_FILE_TEST_IS_REGULAR) && g_str_has_suffix (text, ".safetensors");
}

gboolean
lig_cli_open_model (const char *text,
                    const char *weights,
                    const LigSequenceOptions *options,
                    LigCliModel *model,
                    GError **error)
{
  gboolean recorded = is_checkpoint (text) || lig_cli_is_run (text, options->store);
  if (recorded && is_checkpoint (text)) {
    model->weights = g_strdup (text);
  } else if (recorded) {
    if (!lig_cli_find_weights (text, options->store, &model->weights, error))
      return FALSE;
  } else if (!(model->sequence = lig_cli_open_sequence (text, options, error)) ||
             !lig_cli_find_weights (weights, options->store, &model->weights, error)) {
    return FALSE;
  }
  if (!model->weights)
    return TRUE;
  g_autoptr (LigTensorFile) file = lig_weights_open (model->weights, error);
  if (!file || (recorded && !read_checkpoint (file, options, model, error)))
    return FALSE;
  read_metadata (file, model);
  if (!recorded || !weights)
    return TRUE;
  /* Other weights for the sequence of a run. */
  g_clear_pointer (&model->weights, g_free);
  return lig_cli_find_weights (weights, options->store, &model->weights, error);
}

char *
lig_cli_find_vocabulary (const LigRunSettings *settings)
{
  g_autofree char *path = NULL;
  if (settings->vocabulary && *settings->vocabulary)
    return g_strdup (settings->vocabulary);
  g_auto (GStrv) options = settings->data ? lig_dataset_split (settings->data, &path) : NULL;
  for (char **option = options; option && *option; option += 2)
    if (g_str_equal (*option, "tokenizer"))
      return g_strdup (option[1]);
  return NULL;
}

LigPlanOptions *
lig_cli_new_plan_options (void)
{
  return lig_plan_options_new ();
}

void
lig_cli_free_plan_options (LigPlanOptions *self)
{
  lig_plan_options_free (self);
}

gboolean
lig_cli_model_options (const LigCliModel *self,
                       const LigSequenceOptions *options,
                       LigPlanOptions *plan,
                       GError **error)
{
  LigSequenceOptions whole = *options;
  if (!whole.dtype)
    whole.dtype = self->settings.dtype;
  if (whole.tf32 == LIG_CLI_UNSET && self->settings.tf32 > 0)
    whole.tf32 = 1;
  if (!lig_cli_plan_options (&whole, plan, error))
    return FALSE;
  plan->training = plan->input_gradient = FALSE;
  if (plan->policy == LIG_POLICY_MEASURED)
    return TRUE;
  if (plan->policy == LIG_POLICY_DEFAULT)
    plan->policy = LIG_POLICY_ALL;
  /* The library's heuristic chooses the algorithm of each matmul. */
  g_setenv ("LIGATURE_SEARCH", "none", FALSE);
  return TRUE;
}

LigState *
lig_cli_load_model (const LigCliModel *self,
                    LigDevice *device,
                    const LigPlanOptions *options,
                    guint64 seed,
                    GError **error)
{
  g_autofree char *note = NULL;
  g_autoptr (LigState) state = lig_state_new (self->sequence, device, options, seed, error);
  if (!state || !self->weights)
    return g_steal_pointer (&state);
  if (!lig_state_load_weights (state, self->weights, &note, error))
    return NULL;
  lig_state_leave_out_padding (state, self->sequence, &note);
  if (note)
    lig_cli_say ("%s: %s", self->weights, note);
  return g_steal_pointer (&state);
}
