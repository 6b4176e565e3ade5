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

/* Returns the mask for people. */
static const char *
name_mask (const char *mask)
{
  return g_str_equal (mask, "causal") ? _ ("causal mask")
         : g_str_equal (mask, "none") ? _ ("no mask")
                                      : _ ("causal mask, aligned at the bottom right");
}

/* Appends what follows the mask: the window and the remarks, such as ` lengths in 2 parts`. */
static void
append_remarks (GString *to, const char *remarks)
{
  int window = 0, read = 0, parts = 0;
  if (sscanf (remarks, " window %d%n", &window, &read) != 1)
    return;
  if (window > 0)
    g_string_append_printf (to, _ (", window %d"), window);
  if (strstr (remarks + read, " lengths"))
    g_string_append (to, _ (", padded rows"));
  if (strstr (remarks + read, " memory"))
    g_string_append (to, _ (", cross-attention"));
  const char *divided = strstr (remarks + read, " in ");
  if (divided && sscanf (divided, " in %d", &parts) == 1)
    g_string_append_printf (to, _ (", split into %d"), parts);
}

char *
lig_attention_times_name (const LigAttentionTimes *self)
{
  long long batch;
  int queries, keys, heads, kv_heads, features;
  g_auto (GStrv) parts = g_strsplit (self->words, ", ", -1);
  const char *type = *parts ? strrchr (parts[0], ' ') : NULL;
  if (g_strv_length (parts) != 4 || !type ||
      sscanf (parts[1], "rows %lld x %d to %d", &batch, &queries, &keys) != 3 ||
      sscanf (parts[2], "heads %d/%d x %d", &heads, &kv_heads, &features) != 3)
    return g_strdup (self->words);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *mask = g_strndup (parts[3], strcspn (parts[3], " "));
  g_string_append (text, !g_str_has_prefix (parts[0], "backward") ? _ ("attention, forward: ")
                         : strstr (parts[0], " deterministic")
                           ? _ ("attention, deterministic backward: ")
                           : _ ("attention, backward: "));
  g_string_append_printf (text, _ ("%s, batch %lld, "), type + 1, batch);
  if (queries == keys)
    g_string_append_printf (text, _ ("length %d, "), keys);
  else
    g_string_append_printf (text, _ ("query length %d, key length %d, "), queries, keys);
  if (heads == kv_heads)
    g_string_append_printf (text, _ ("heads %d x %d, "), heads, features);
  else
    g_string_append_printf (text, _ ("heads %d x %d, key heads %d, "), heads, features, kv_heads);
  g_string_append (text, name_mask (mask));
  append_remarks (text, parts[3] + strlen (mask));
  return g_string_free (g_steal_pointer (&text), FALSE);
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
