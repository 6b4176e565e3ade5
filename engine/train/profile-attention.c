/* SPDX-License-Identifier: MIT */
/* Lists the choices of this process between cuDNN and the built-in attention kernels. */
#include <ligature/profile.h>

#include "engine/measure/choices.h"
#include "engine/plan/attention-times.h"
#include "engine/train/profile-json.h"

#include <json-glib/json-glib.h>

GPtrArray *
lig_profile_list_attention (void)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_attention_times_free);
  g_autofree char *text = lig_algorithms_list ();
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++) {
    LigAttentionTimes *times = lig_attention_times_parse (*line);
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
  for (guint i = 0; i < list->len; i++)
    lig_attention_times_to_json (list->pdata[i], builder);
  json_builder_end_array (builder);
  return json_builder_get_root (builder);
}
