/* SPDX-License-Identifier: MIT */
/* The parallelism of the ranks: the sizes of the parallel groups. */
#include "engine/base/layout.h"

#include <ligature/layout.h>
#include <ligature/suggest.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* No training run has more ranks. */
#define MAX_RANKS (1 << 20)

static const char *const names[LIG_N_GROUPS] = {"data",     "context", "tensor",         "all",
                                                "replicas", "expert",  "expert-replicas"};

const char *
lig_rank_group_name (LigRankGroup group)
{
  return names[group];
}

void
lig_layout_init (LigLayout *self, int count)
{
  g_return_if_fail (self && count >= 1 && count <= MAX_RANKS);
  *self = (LigLayout){{count, 1, 1}, 1};
}

/* Returns whether texts give the size of the group; those of the others follow. */
static gboolean
is_given (LigRankGroup group)
{
  return group < LIG_GROUP_ALL || group == LIG_GROUP_EXPERT;
}

/* Reads one word, `tensor=2`. */
static gboolean
read_word (LigLayout *self, const char *word, GError **error)
{
  const char *number = strchr (word, '=');
  guint64 read;
  for (LigRankGroup group = 0; number && group < LIG_N_GROUPS; group++) {
    if (!is_given (group) || strlen (names[group]) != (gsize) (number - word) ||
        strncmp (word, names[group], (gsize) (number - word)) != 0)
      continue;
    int *size = group == LIG_GROUP_EXPERT ? &self->expert : &self->sizes[group];
    if (*size > 0 || !g_ascii_string_to_unsigned (number + 1, 10, 1, MAX_RANKS, &read, NULL))
      break;
    *size = (int) read;
    return TRUE;
  }
  g_autofree char *name = g_strndup (word, strcspn (word, "="));
  const char *const known[] = {names[LIG_GROUP_DATA], names[LIG_GROUP_CONTEXT],
                               names[LIG_GROUP_TENSOR], names[LIG_GROUP_EXPERT], NULL};
  g_autofree char *like =
    g_strv_contains (known, name) ? g_strdup ("") : lig_suggest_ending (name, known);
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_VALUE,
    _ ("the parallelism has '%s', expected data, context, tensor and expert, each once, with a "
       "number from 1: data=2,tensor=2%s"),
    word, like);
  return FALSE;
}

static gboolean
check_count (gint64 count, GError **error)
{
  if (count >= 1 && count <= MAX_RANKS)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("the number of ranks is %" PRId64 ", expected 1 to %d"), count, MAX_RANKS);
  return lig_error_set_setting (error, "ranks");
}

/* Checks that the experts are divided over ranks of one data group, which have all heads and whole
 * sequences. */
static gboolean
check_expert (const LigLayout *self, GError **error)
{
  int expert = MAX (self->expert, 1), data = MAX (self->sizes[LIG_GROUP_DATA], 1);
  for (LigRankGroup group = LIG_GROUP_CONTEXT; group < LIG_GROUP_ALL; group++)
    if (expert > 1 && self->sizes[group] > 1) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("expert is %d and %s is %d: ranks that share the experts must have whole "
                      "sequences and matmuls; omit expert or %s"),
                   expert, names[group], self->sizes[group], names[group]);
      return lig_error_set_setting (error, "ranks");
    }
  if (self->expert >= 0 && data % expert == 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("expert is %d, expected a divisor of data, %d: the ranks that share the experts "
                  "are some of the data-parallel ranks"),
               self->expert, data);
  return lig_error_set_setting (error, "ranks");
}

gboolean
lig_layout_check (const LigLayout *self, GError **error)
{
  gint64 count = 1;
  for (LigRankGroup group = 0; group < LIG_GROUP_ALL; group++) {
    if (self->sizes[group] < 0 || self->sizes[group] > MAX_RANKS)
      return check_count (self->sizes[group], error);
    count *= MAX (self->sizes[group], 1);
    if (!check_count (count, error))
      return FALSE;
  }
  return check_expert (self, error);
}

gboolean
lig_layout_parse (LigLayout *self, const char *text, int count, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text ? text : "", ",", -1);
  *self = (LigLayout){.sizes = {0}};
  if (!check_count (count, error))
    return FALSE;
  for (char **word = words; *word; word++)
    if (!read_word (self, g_strstrip (*word), error))
      return FALSE;
  gboolean data = self->sizes[LIG_GROUP_DATA] > 0;
  gint64 others =
    MAX (self->sizes[LIG_GROUP_TENSOR], 1) * (gint64) MAX (self->sizes[LIG_GROUP_CONTEXT], 1);
  if (!data && count % others == 0)
    self->sizes[LIG_GROUP_DATA] = (int) (count / others);
  for (LigRankGroup group = 0; group < LIG_GROUP_ALL; group++)
    self->sizes[group] = MAX (self->sizes[group], 1);
  self->expert = MAX (self->expert, 1);
  gint64 product = others * self->sizes[LIG_GROUP_DATA];
  if (product == count)
    return check_expert (self, error);
  const char *problem = data ? _ ("the number of ranks is %d, expected %" PRId64)
                             : _ ("the number of ranks is %d, expected a multiple of %" PRId64);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, problem, count, product);
  return FALSE;
}

char *
lig_layout_to_string (const LigLayout *self)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (LigRankGroup group = 0; group < LIG_N_GROUPS; group++)
    if (is_given (group) && lig_layout_size (self, group) > 1)
      g_string_append_printf (text, "%s%s=%d", text->len > 0 ? "," : "", names[group],
                              lig_layout_size (self, group));
  return g_strdup (text->len > 0 ? text->str : "data=1");
}

/* A group without a size has one rank. */
static int
size_of (const LigLayout *self, LigRankGroup group)
{
  return MAX (self->sizes[group], 1);
}

int
lig_layout_size (const LigLayout *self, LigRankGroup group)
{
  if (group < LIG_GROUP_ALL)
    return size_of (self, group);
  int replicas = size_of (self, LIG_GROUP_DATA) * size_of (self, LIG_GROUP_CONTEXT);
  int expert = MAX (self->expert, 1);
  if (group == LIG_GROUP_EXPERT || group == LIG_GROUP_EXPERT_REPLICAS)
    return group == LIG_GROUP_EXPERT ? expert : replicas / expert;
  return group == LIG_GROUP_REPLICAS ? replicas : replicas * size_of (self, LIG_GROUP_TENSOR);
}

gboolean
lig_layout_is_default (const LigLayout *self)
{
  return size_of (self, LIG_GROUP_DATA) == lig_layout_size (self, LIG_GROUP_ALL) &&
         lig_layout_size (self, LIG_GROUP_EXPERT) == 1;
}

int
lig_layout_stride (const LigLayout *self, LigRankGroup group)
{
  int tensor = size_of (self, LIG_GROUP_TENSOR);
  if (group == LIG_GROUP_DATA || group == LIG_GROUP_EXPERT)
    return size_of (self, LIG_GROUP_CONTEXT) * tensor;
  /* With several expert ranks, each sequence has one rank. */
  if (group == LIG_GROUP_EXPERT_REPLICAS)
    return tensor * MAX (self->expert, 1);
  return group == LIG_GROUP_CONTEXT || group == LIG_GROUP_REPLICAS ? tensor : 1;
}

int
lig_layout_place (const LigLayout *self, int rank, LigRankGroup group)
{
  return rank / lig_layout_stride (self, group) % lig_layout_size (self, group);
}
