/* SPDX-License-Identifier: MIT */
/* Reads the choices between cuDNN and the own kernels of attention, which the kernels made by
 * measuring, from the text in which they keep them. */
#include <ligature/profile.h>

#include "engine/measure/choices.h"
#include <ligature/json-members.h>

#include <json-glib/json-glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void
free_times (gpointer data)
{
  LigAttentionTimes *times = data;
  g_free (times->words);
  g_free (times->reason);
  g_free (times);
}

/* Returns the words of a key without the versions and the device behind them: `attention forward
 * bf16 | rows 64 x 1024 to 1024 | ...`. */
static char *
find_words (const char *key)
{
  g_auto (GStrv) parts = g_strsplit (key + strlen ("attention "), " | ", -1);
  for (guint i = g_strv_length (parts); i > 4; i--)
    g_clear_pointer (&parts[i - 1], g_free);
  return g_strjoinv (", ", parts);
}

/* Returns the times of a line, `key<tab>choice`; null if it is about another kernel. */
static LigAttentionTimes *
read_line (const char *line)
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
  times->cudnn = g_str_has_prefix (choice, "cuDNN:");
  times->cudnn_seconds = times->own_seconds = NAN;
  if (sscanf (reason, ": cuDNN %" G_GINT64_FORMAT " ns, own %" G_GINT64_FORMAT " ns", &cudnn,
              &own) == 2) {
    times->cudnn_seconds = (double) cudnn * 1e-9;
    times->own_seconds = (double) own * 1e-9;
  } else {
    times->reason = g_strdup (reason + strlen (": "));
  }
  return times;
}

GPtrArray *
lig_profile_list_attention (void)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (free_times);
  g_autofree char *text = lig_algorithms_list ();
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++) {
    LigAttentionTimes *times = read_line (*line);
    if (times)
      g_ptr_array_add (list, times);
  }
  return list;
}

JsonNode *
lig_profile_attention_to_json (void)
{
  g_autoptr (GPtrArray) list = lig_profile_list_attention ();
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_array (builder);
  for (guint i = 0; i < list->len; i++) {
    const LigAttentionTimes *times = list->pdata[i];
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "case", times->words);
    lig_json_add_text (builder, "ran", times->cudnn ? "cuDNN" : "own");
    lig_json_add_number (builder, "cudnn_us", times->cudnn_seconds * 1e6);
    lig_json_add_number (builder, "own_us", times->own_seconds * 1e6);
    lig_json_add_text (builder, "reason", times->reason);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  return json_builder_get_root (builder);
}
