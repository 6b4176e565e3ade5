/* SPDX-License-Identifier: MIT */
/* Finds the fusions that would be taken if they were forced. A force applies to an op as written,
 * so all candidates of a fusion that begin at the same written op are forced together. Forced
 * candidates are taken before all others, in order; two different fusions that overlap are an
 * error. */
#include "engine/compile/cover.h"
#include "engine/compile/offer.h"

typedef struct {
  LigDraft *draft;
  GArray *candidates;
  int *owners[2]; /* of the forced candidates; a group on trial adds its own temporarily */
} Trial;

static int
find_owner (const Trial *self, const LigCandidate *candidate)
{
  for (int pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; lig_covers_pass (candidate, (LigPass) pass) && i < candidate->group.count; i++)
      if (self->owners[pass][candidate->group.first + i] >= 0)
        return self->owners[pass][candidate->group.first + i];
  return -1;
}

static void
set_owner (Trial *self, const LigCandidate *candidate, int owner)
{
  for (int pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; lig_covers_pass (candidate, (LigPass) pass) && i < candidate->group.count; i++)
      self->owners[pass][candidate->group.first + i] = owner;
}

/* Takes the candidates of the group in order; `taken` are the numbers of those that would get their
 * ops. */
static void
try_group (Trial *self, GArray *group, GArray *taken)
{
  for (guint i = 0; i < group->len; i++) {
    guint number = g_array_index (group, guint, i);
    const LigCandidate *candidate = &g_array_index (self->candidates, LigCandidate, number);
    int owner = find_owner (self, candidate);
    if (owner < 0) {
      set_owner (self, candidate, (int) number);
      g_array_append_val (taken, number);
    } else if (g_array_index (self->candidates, LigCandidate, owner).group.fusion !=
               candidate->group.fusion) {
      /* Forcing this fusion would be an error. */
      for (guint k = 0; k < taken->len; k++)
        set_owner (self,
                   &g_array_index (self->candidates, LigCandidate, g_array_index (taken, guint, k)),
                   -1);
      g_array_set_size (taken, 0);
      return;
    }
  }
}

static void
offer_group (Trial *self, GArray *group)
{
  g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (guint));
  try_group (self, group, taken);
  for (guint i = 0; i < taken->len; i++) {
    const LigCandidate *candidate =
      &g_array_index (self->candidates, LigCandidate, g_array_index (taken, guint, i));
    LigVerdict *verdict = &g_array_index (self->draft->verdicts, LigVerdict, candidate->verdict);
    set_owner (self, candidate, -1);
    if ((verdict->reason != LIG_REASON_CLAIMED && verdict->reason != LIG_REASON_SLOWER) ||
        candidate->taken)
      continue;
    LigMatch match = {0};
    lig_offer (&match, LIG_MEND_FORCE, lig_part (self->draft, candidate->group.first)->path, NULL);
    match.mend->fusion = candidate->group.fusion->name;
    self->draft->mends->pdata[candidate->verdict] = match.mend;
  }
}

void
lig_offer_forces (LigDraft *draft, GArray *candidates)
{
  Trial self = {draft, candidates, {NULL, NULL}};
  g_autoptr (GHashTable) groups =
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  for (int pass = 0; pass < 2; pass++) {
    self.owners[pass] = g_new (int, draft->parts->len);
    memset (self.owners[pass], -1, draft->parts->len * sizeof (int));
  }
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (!candidate->legal || candidate->shorter)
      continue;
    if (candidate->forced) {
      if (candidate->taken)
        set_owner (&self, candidate, (int) i);
      continue;
    }
    char *key = g_strdup_printf ("%s %p", candidate->group.fusion->name,
                                 (gpointer) lig_part (draft, candidate->group.first)->written);
    GArray *group = g_hash_table_lookup (groups, key);
    if (group) {
      g_free (key);
    } else {
      group = g_array_new (FALSE, FALSE, sizeof (guint));
      g_hash_table_insert (groups, key, group);
      g_ptr_array_add (order, group);
    }
    g_array_append_val (group, i);
  }
  for (guint i = 0; i < order->len; i++)
    offer_group (&self, order->pdata[i]);
  g_free (self.owners[0]);
  g_free (self.owners[1]);
}
