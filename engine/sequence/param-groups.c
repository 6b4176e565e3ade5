/* SPDX-License-Identifier: MIT */
/* Groups of parameters: headings for ops that have many. */
#include "engine/base/rejection.h"
#include "engine/sequence/table.h"

#include <string.h>

#define reject(error, table, ...) lig_reject (error, LIG_ERROR_OP, "op", (table)->name, __VA_ARGS__)

/* Returns whether the name is a word of the text. */
static gboolean
has_word (const char *text, const char *name, gsize length)
{
  for (; *text; text += strspn (text, " ")) {
    gsize word = strcspn (text, " ");
    if (word == length && strncmp (text, name, length) == 0)
      return TRUE;
    text += word;
  }
  return FALSE;
}

static const LigParamGroup *
find_group (const LigOpInfo *info, const char *name)
{
  for (const LigParamGroup *group = info->groups; group && group->title; group++)
    if (has_word (group->params, name, strlen (name)))
      return group;
  return NULL;
}

static const LigParam *
find_param (const LigOpInfo *info, const char *name, gsize length)
{
  for (const LigParam *param = info->params; param && param->name; param++)
    if (strlen (param->name) == length && strncmp (param->name, name, length) == 0)
      return param;
  return NULL;
}

const LigParam *
lig_op_info_nth_shown (const LigOpInfo *info, guint n, const char **group)
{
  const char *ignored;
  group = group ? group : &ignored;
  *group = NULL;
  for (const LigParam *param = info->params; param && param->name; param++)
    if (!find_group (info, param->name) && n-- == 0)
      return param;
  for (const LigParamGroup *at = info->groups; at && at->title; at++)
    for (const char *word = at->params; *word; word += strspn (word, " ")) {
      gsize length = strcspn (word, " ");
      if (n-- == 0) {
        *group = at->title;
        return find_param (info, word, length);
      }
      word += length;
    }
  return NULL;
}

/* The words of a group are separated by one space, so an empty one is not a parameter either. */
static gboolean
check_group (const LigOpInfo *info, const LigParamGroup *group, GHashTable *seen, GError **error)
{
  g_auto (GStrv) names = g_strsplit (group->params ? group->params : "", " ", -1);
  if (!*names)
    return reject (error, info, "the group %s has no parameters", group->title);
  for (char **name = names; *name; name++) {
    const LigParam *param = find_param (info, *name, strlen (*name));
    if (!param)
      return reject (error, info, "the group %s has '%.60s', which is not a parameter of the op",
                     group->title, *name);
    if (!g_hash_table_add (seen, (gpointer) param->name))
      return reject (error, info, "the group %s has %s, which is already in a group", group->title,
                     param->name);
  }
  return TRUE;
}

gboolean
lig_op_groups_check (const LigOpInfo *info, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  for (const LigParamGroup *at = info->groups; at && at->title; at++)
    if (!check_group (info, at, seen, error))
      return FALSE;
  return TRUE;
}
