/* SPDX-License-Identifier: MIT */
/* Restores covers: a checkpoint names its groups, `FUSION@FIRST+COUNT` each. */
#include "engine/compile/cover.h"

#include <glib/gi18n-lib.h>

static LigCandidate *
find (GArray *candidates, const char *choice)
{
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    g_autofree char *text = g_strdup_printf ("%s@%d+%d", candidate->group.fusion->name,
                                             candidate->group.first, candidate->group.count);
    if (candidate->legal && g_str_equal (text, choice))
      return candidate;
  }
  return NULL;
}

gboolean
lig_cover_choices (LigDraft *draft, GArray *candidates, GError **error)
{
  g_auto (GStrv) choices = g_strsplit (draft->options.choices, " ", -1);
  for (char **choice = choices; *choice; choice++) {
    LigCandidate *candidate = **choice ? find (candidates, *choice) : NULL;
    if (!**choice || (candidate && candidate->taken) ||
        (candidate && lig_cover_claim (draft, candidates, candidate)))
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION, _ ("the group %s cannot be used on %s"),
                 *choice, lig_device_get_name (draft->device));
    return FALSE;
  }
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    LigVerdict *verdict = &g_array_index (draft->verdicts, LigVerdict, candidate->verdict);
    if (!candidate->legal || candidate->taken || candidate->shorter)
      continue;
    verdict->reason = LIG_REASON_CLAIMED;
    verdict->observed = verdict->required =
      g_string_chunk_insert_const (draft->strings, "the groups chosen before");
  }
  return TRUE;
}
