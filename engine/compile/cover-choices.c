/* SPDX-License-Identifier: MIT */
/* Restores covers: a checkpoint names its groups, `FUSION@FIRST+COUNT` each, followed by `/PIECES`
 * if each rank's rows are exchanged in several parts. */
#include "engine/compile/cover.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Returns whether the text is the number of parts in which the candidate exchanges rows, if any,
 * and lets it do so. */
static gboolean
read_pieces (LigDraft *draft, LigCandidate *candidate, const char *text)
{
  guint64 pieces;
  if (*text == '\0')
    return TRUE;
  if (*text != '/' || candidate->group.fusion->least_pieces < 1 ||
      !g_ascii_string_to_unsigned (text + 1, 10, 1, G_MAXINT, &pieces, NULL) ||
      !lig_group_can_divide (draft, &candidate->group, (int) pieces))
    return FALSE;
  candidate->group.pieces = (int) pieces;
  g_array_index (draft->verdicts, LigVerdict, candidate->verdict).pieces = (int) pieces;
  return TRUE;
}

static LigCandidate *
find (LigDraft *draft, GArray *candidates, const char *choice)
{
  gsize length = strcspn (choice, "/");
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    g_autofree char *text = g_strdup_printf ("%s@%d+%d", candidate->group.fusion->name,
                                             candidate->group.first, candidate->group.count);
    if (candidate->legal && strlen (text) == length && strncmp (text, choice, length) == 0 &&
        read_pieces (draft, candidate, choice + length))
      return candidate;
  }
  return NULL;
}

gboolean
lig_cover_choices (LigDraft *draft, GArray *candidates, GError **error)
{
  g_auto (GStrv) choices = g_strsplit (draft->options.choices, " ", -1);
  for (char **choice = choices; *choice; choice++) {
    LigCandidate *candidate = **choice ? find (draft, candidates, *choice) : NULL;
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
