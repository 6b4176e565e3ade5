/* SPDX-License-Identifier: MIT */
/* Reports which kernel computes each attention step: the one that was faster when the kernels
 * compared both, or the built-in one if cuDNN cannot compute the step. */
#include "engine/plan/attention.h"

#include "engine/measure/choices.h"
#include "engine/plan/attention-times.h"
#include "kernels/attention-key.h"
#include <ligature/attention.h>
#include <ligature/json-members.h>
#include <ligature/kernels.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void
lig_attention_times_free (LigAttentionTimes *self)
{
  if (!self)
    return;
  g_free (self->words);
  g_free (self->reason);
  g_free (self);
}

/* --- Stored choices ------------------------------------------------------------------------ */

/* Returns the words of a key without the versions and the device after them: `attention forward
 * bf16 | rows 64 x 1024 to 1024 | ...`. */
static char *
find_words (const char *key)
{
  g_auto (GStrv) parts = g_strsplit (key + strlen ("attention "), " | ", -1);
  for (guint i = g_strv_length (parts); i > 4; i--)
    g_clear_pointer (&parts[i - 1], g_free);
  return g_strjoinv (", ", parts);
}

LigAttentionTimes *
lig_attention_times_parse (const char *line)
{
  const char *choice = strchr (line, '\t');
  if (!choice || !g_str_has_prefix (line, "attention "))
    return NULL;
  g_autofree char *key = g_strndup (line, (gsize) (choice - line));
  const char *reason = strstr (++choice, ": ");
  gint64 cudnn, own;
  if (!reason)
    return NULL;
  LigAttentionTimes *times = g_new0 (LigAttentionTimes, 1);
  times->words = find_words (key);
  times->known = TRUE;
  times->cudnn = g_str_has_prefix (choice, "cuDNN:");
  times->cudnn_seconds = times->built_in_seconds = NAN;
  if (sscanf (reason, ": cuDNN %" G_GINT64_FORMAT " ns, own %" G_GINT64_FORMAT " ns", &cudnn,
              &own) == 2) {
    times->cudnn_seconds = (double) cudnn * 1e-9;
    times->built_in_seconds = (double) own * 1e-9;
  } else {
    times->reason = g_strdup (reason + strlen (": "));
  }
  return times;
}

char *
lig_attention_times_describe (const LigAttentionTimes *self)
{
  if (!self->known)
    return g_strdup (
      _ ("cuDNN or the built-in kernel runs: the first launch on the GPU compares both"));
  if (self->reason)
    return g_strdup_printf (_ ("the built-in kernel runs, without cuDNN: %s"), self->reason);
  g_autofree char *cudnn = lig_units_time (self->cudnn_seconds);
  g_autofree char *own = lig_units_time (self->built_in_seconds);
  return self->cudnn
           ? g_strdup_printf (_ ("cuDNN runs: it takes %s, the built-in kernel %s"), cudnn, own)
           : g_strdup_printf (_ ("the built-in kernel runs: it takes %s, cuDNN %s"), own, cudnn);
}

void
lig_attention_times_to_json (const LigAttentionTimes *self, JsonBuilder *builder)
{
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "case", self->words);
  lig_json_add_text (builder, "ran", !self->known ? NULL : self->cudnn ? "cuDNN" : "built-in");
  lig_json_add_number (builder, "cudnn_us", self->cudnn_seconds * 1e6);
  lig_json_add_number (builder, "built_in_us", self->built_in_seconds * 1e6);
  lig_json_add_text (builder, "reason", self->reason);
  json_builder_end_object (builder);
}

/* --- Steps of plans ------------------------------------------------------------------------ */

/* Returns the words of the step's case, or null if it is not an attention step; sets the reason why
 * cuDNN cannot compute it. */
static gboolean
find_case (const LigPlan *plan, int number, LigCudnnCase *one, const char **why)
{
  const LigPlanStep *step = lig_plan_step (plan, number);
  const LigStepCode *code = lig_plan_code (plan, number);
  LigOperand operands[LIG_MAX_OPERANDS];
  unsigned traits = step->kernel ? step->kernel->traits : 0;
  gboolean backward = (traits & LIG_KERNEL_ATTENTION_BACKWARD) != 0;
  if ((!backward && !(traits & LIG_KERNEL_ATTENTION)) || code->empty)
    return FALSE;
  for (int i = 0; i < step->n_operands; i++) {
    int value = step->operands[i].value;
    operands[i] = lig_value_operand (value < 0 ? NULL : lig_plan_value (plan, value));
    /* Only the presence of an operand matters. */
    operands[i].data = value >= 0 ? operands : NULL;
  }
  lig_cudnn_case (one, operands, (const LigAttentionParams *) (gconstpointer) code->params,
                  backward, !plan->request->options.nondeterministic, why);
  return TRUE;
}

/* Returns the version of cuDNN in its own form, 91900 for `cuDNN 9.19.0`; 0 if it is unknown. */
static gsize
find_version (LigDevice *device)
{
  char libraries[sizeof ((LigDeviceFacts *) NULL)->libraries];
  guint major, minor, patch;
  lig_device_libraries (device, libraries, sizeof libraries);
  const char *at = strstr (libraries, "cuDNN ");
  if (!at || sscanf (at, "cuDNN %u.%u.%u", &major, &minor, &patch) != 3)
    return 0;
  return major * 10000 + minor * 100 + patch;
}

void
lig_attention_recall (const LigPlan *plan)
{
  LigCudnnCase one;
  const char *why, *name = lig_device_get_facts (plan->request->device)->name;
  gsize version = plan->request->options.tuning ? find_version (plan->request->device) : 0;
  for (int i = 0; version > 0 && i < (int) plan->steps->len; i++) {
    char key[768];
    if (!find_case (plan, i, &one, &why) || why)
      continue;
    lig_cudnn_case_key (&one, version, name, key, sizeof key);
    lig_choices_recall (plan->request->options.tuning, key);
  }
}

LigAttentionTimes *
lig_plan_get_attention (LigPlan *self, guint step)
{
  LigCudnnCase one;
  const char *why;
  char words[256];
  g_return_val_if_fail (self && step < self->steps->len, NULL);
  if (!find_case (self, (int) step, &one, &why))
    return NULL;
  const LigDeviceFacts *facts = lig_device_get_facts (self->request->device);
  lig_cudnn_case_words (&one, words, sizeof words);
  g_autofree char *begin = g_strdup_printf ("attention %s | ", words);
  g_autofree char *end = g_strdup_printf (" | %s", facts->name);
  g_autofree char *line = facts->capability > 0 ? lig_choices_find (begin, end) : NULL;
  LigAttentionTimes *times = line ? lig_attention_times_parse (line) : NULL;
  if (times)
    return times;
  times = g_new0 (LigAttentionTimes, 1);
  times->words = find_words (begin);
  times->cudnn_seconds = times->built_in_seconds = NAN;
  if (facts->capability == 0)
    why = _ ("it runs only on GPUs");
  times->known = why != NULL;
  times->reason = g_strdup (why);
  return times;
}
