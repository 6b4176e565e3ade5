/* SPDX-License-Identifier: MIT */
/* Small messages between ranks: broadcasts, sums, comparisons and failures. */
#include "engine/ranks/messages.h"

#include "engine/ranks/ranks-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* The longest text of a difference, in characters; long enough for a hash. */
#define LONGEST_TEXT 80

/* Waits for one request, and converts its code to an error. */
static gboolean
wait_for (LigRanks *self, void *request, gsize bytes, gint64 longest, int code, GError **error)
{
  code = lig_mpi_wait (self->mpi, &request, 1, bytes, longest, code);
  return lig_mpi_check (self->mpi, code, error);
}

gboolean
lig_ranks_spread (LigRanks *self, int root, gpointer data, gsize bytes, GError **error)
{
  LigMpi *mpi = self->mpi;
  for (gsize at = 0; at < bytes; at += LIG_RANKS_PIECE) {
    gsize piece = MIN (bytes - at, LIG_RANKS_PIECE);
    void *request = NULL;
    g_mutex_lock (&mpi->lock);
    int code = mpi->ibcast ((char *) data + at, (int) piece, mpi->byte, root, self->comm, &request);
    g_mutex_unlock (&mpi->lock);
    if (!wait_for (self, request, piece, LIG_RANKS_LONG_NAP, code, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lig_ranks_collect (LigRanks *self, gconstpointer own, gsize bytes, gpointer all, GError **error)
{
  LigMpi *mpi = self->mpi;
  void *request = NULL;
  g_mutex_lock (&mpi->lock);
  int code = mpi->iallgather (own, (int) bytes, mpi->byte, all, (int) bytes, mpi->byte, self->comm,
                              &request);
  g_mutex_unlock (&mpi->lock);
  return wait_for (self, request, bytes * (gsize) self->count, LIG_RANKS_NAP, code, error);
}

gboolean
lig_ranks_broadcast (LigRanks *self, gpointer data, gsize bytes, GError **error)
{
  return !self || lig_ranks_spread (self, 0, data, bytes, error);
}

/* Copies the text of a rank, which is null or NUL-terminated. */
static gboolean
spread_text (LigRanks *self, int root, char **text, GError **error)
{
  guint64 bytes = *text ? strlen (*text) + 1 : 0;
  if (!lig_ranks_spread (self, root, &bytes, sizeof bytes, error))
    return FALSE;
  if (self->rank != root) {
    g_free (*text);
    *text = bytes > 0 ? g_malloc (bytes) : NULL;
  }
  return bytes == 0 || lig_ranks_spread (self, root, *text, bytes, error);
}

gboolean
lig_ranks_broadcast_text (LigRanks *self, char **text, GError **error)
{
  return !self || spread_text (self, 0, text, error);
}

gboolean
lig_ranks_gather (LigRanks *self, const double *values, guint count, double *all, GError **error)
{
  return lig_ranks_collect (self, values, count * sizeof *values, all, error);
}

gboolean
lig_ranks_sum (LigRanks *self, double *values, guint count, GError **error)
{
  enum { PART = 4096 };
  if (!self)
    return TRUE;
  g_autofree double *all = g_new (double, (gsize) PART *(gsize) self->count);
  for (guint at = 0; at < count; at += PART) {
    guint part = MIN (count - at, PART);
    if (!lig_ranks_collect (self, values + at, part * sizeof *values, all, error))
      return FALSE;
    for (guint i = 0; i < part; i++) {
      double sum = all[i];
      for (int rank = 1; rank < self->count; rank++)
        sum += all[(gsize) rank * part + i];
      values[at + i] = sum;
    }
  }
  return TRUE;
}

/* --- Comparing ----------------------------------------------------------------------------- */

/* Shortens a text to the part that differs from another one, with a little context before it. */
static char *
shorten (const char *text, const char *other)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1), *like = g_utf8_make_valid (other, -1);
  glong length = g_utf8_strlen (valid, -1), first = 0;
  const char *at = valid, *there = like;
  for (; *at && g_utf8_get_char (at) == g_utf8_get_char (there); first++) {
    at = g_utf8_next_char (at);
    there = g_utf8_next_char (there);
  }
  first = length <= LONGEST_TEXT ? 0 : MAX (first - LONGEST_TEXT / 4, 0);
  glong end = length <= LONGEST_TEXT ? length : MIN (first + LONGEST_TEXT - 1, length);
  g_autofree char *part = g_utf8_substring (valid, first, end);
  g_autofree char *shown = g_strconcat (first > 0 ? "…" : "", part, end < length ? "…" : "", NULL);
  return g_strdelimit (g_steal_pointer (&shown), "\n", ' ');
}

/* Returns the first rank with a text that differs from rank 0's, 0 if there is none, or -1 with an
 * error set. */
static int
find_difference (LigRanks *self, const char *text, GError **error)
{
  g_autofree char *first = self->rank == 0 ? g_strdup (text) : NULL;
  g_autofree guint8 *differs = g_new0 (guint8, (gsize) self->count);
  if (!spread_text (self, 0, &first, error))
    return -1;
  guint8 own = g_strcmp0 (first, text) != 0;
  if (!lig_ranks_collect (self, &own, sizeof own, differs, error))
    return -1;
  for (int rank = 0; rank < self->count; rank++)
    if (differs[rank])
      return rank;
  return 0;
}

gboolean
lig_ranks_agree (LigRanks *self, const char *subject, const char *text, GError **error)
{
  if (!self)
    return TRUE;
  int rank = find_difference (self, text, error);
  if (rank <= 0)
    return rank == 0;
  g_autofree char *first = g_strdup (text), *other = g_strdup (text);
  if (!spread_text (self, 0, &first, error) || !spread_text (self, rank, &other, error))
    return FALSE;
  g_autofree char *own = shorten (first, other), *theirs = shorten (other, first);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s: rank %d on %s has '%s', rank 0 on %s has '%s'; give all ranks the same"),
               subject, rank, self->places[rank].host, theirs, self->places[0].host, own);
  return FALSE;
}

/* --- Failures ------------------------------------------------------------------------------ */

/* Returns the first rank that failed, the number of ranks if none did, or -1. */
static int
find_failed (LigRanks *self, gboolean fine, GError **error)
{
  g_autofree guint8 *failed = g_new0 (guint8, (gsize) self->count);
  guint8 own = !fine;
  if (!lig_ranks_collect (self, &own, sizeof own, failed, fine ? error : NULL))
    return -1;
  int rank = 0;
  while (rank < self->count && !failed[rank])
    rank++;
  return rank;
}

/* Replaces the error by that of another rank, unless all ranks have the same error. */
static void
take_failure (LigRanks *self, int rank, gboolean fine, GError **error)
{
  const GError *own = fine ? NULL : *error;
  g_autofree char *text = g_strdup (own ? own->message : NULL);
  g_autofree char *setting = g_strdup (own ? lig_error_get_setting (own) : NULL);
  g_autofree guint8 *differs = g_new0 (guint8, (gsize) self->count);
  if (!spread_text (self, rank, &text, fine ? error : NULL) ||
      !spread_text (self, rank, &setting, fine ? error : NULL))
    return;
  guint8 other = !own || strcmp (own->message, text) != 0;
  if (!lig_ranks_collect (self, &other, sizeof other, differs, fine ? error : NULL) ||
      !memchr (differs, TRUE, (gsize) self->count))
    return;
  g_autofree char *sentence =
    g_strdup_printf (_ ("rank %d on %s: %s"), rank, self->places[rank].host, text);
  if (self->rank != rank) {
    g_clear_error (error);
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_RANKS, sentence);
    lig_error_set_setting (error, setting);
    return;
  }
  g_free ((*error)->message);
  (*error)->message = g_steal_pointer (&sentence);
}

gboolean
lig_ranks_share_failure (LigRanks *self, gboolean fine, GError **error)
{
  g_autoptr (GError) local = NULL;
  if (!self || self->count == 1)
    return fine;
  if (!fine && error)
    local = g_steal_pointer (error);
  if (!fine && !local)
    local = g_error_new_literal (LIG_ERROR, LIG_ERROR_RANKS, "");
  int rank = find_failed (self, fine, &local);
  if (rank == self->count)
    return TRUE;
  if (rank >= 0)
    take_failure (self, rank, fine, &local);
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}
