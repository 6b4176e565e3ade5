/* SPDX-License-Identifier: MIT */
/* The sums of errors over ranks, whose plans may have different values: in a ring the first and the
 * last ranks attend to different keys. */
#include "engine/figures/verify-witnesses.h"
#include "engine/plan/plan-private.h"
#include "engine/ranks/messages.h"

#include <string.h>

/* Returns a number for each value, at least 0 and exact in a double, that is the same on ranks
 * where it has the same name. Equal names are distinguished by their order (FNV-1a, Fowler, Noll
 * and Vo). */
static double *
number_values (const LigPlan *plan)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  double *numbers = g_new (double, plan->values->len + 1);
  for (guint i = 0; i < plan->values->len; i++) {
    const char *name = lig_plan_value (plan, i)->name;
    name = name ? name : "";
    guint before = GPOINTER_TO_UINT (g_hash_table_lookup (seen, name));
    guint64 hash = (G_GUINT64_CONSTANT (14695981039346656037) ^ before) * 1099511628211u;
    for (const char *at = name; *at; at++)
      hash = (hash ^ (guchar) *at) * 1099511628211u;
    g_hash_table_insert (seen, (gpointer) name, GUINT_TO_POINTER (before + 1));
    numbers[i] = (double) (hash >> 11);
  }
  return numbers;
}

/* Sets the largest number of values that a rank has. */
static gboolean
find_max_count (LigRanks *ranks, guint own, guint *max_count, GError **error)
{
  int count = lig_ranks_get_count (ranks);
  g_autofree double *all = g_new0 (double, (gsize) count);
  double number = own;
  if (!lig_ranks_gather (ranks, &number, 1, all, error))
    return FALSE;
  for (int rank = 0; rank < count; rank++)
    *max_count = MAX (*max_count, (guint) all[rank]);
  return TRUE;
}

/* Adds the rows of another rank, each a number and its sums, to this rank's sums. */
static void
add_rows (const double *rows, guint n_rows, gsize width, GHashTable *places, double *sums)
{
  for (guint i = 0; i < n_rows; i++) {
    const double *row = rows + i * (width + 1);
    gpointer place = g_hash_table_lookup (places, row);
    for (gsize k = 0; place && k < width; k++)
      sums[(GPOINTER_TO_SIZE (place) - 1) * width + k] += row[1 + k];
  }
}

gboolean
lig_verify_join (
  LigRanks *ranks, const LigPlan *plan, LigErrorSum *sums, guint per_value, GError **error)
{
  guint own = plan->values->len, max_count = 0;
  if (!find_max_count (ranks, own, &max_count, error))
    return FALSE;
  gsize width = per_value * (sizeof *sums / sizeof (double)), all = max_count * (width + 1);
  int count = lig_ranks_get_count (ranks), self = lig_ranks_get_rank (ranks);
  g_autofree double *numbers = number_values (plan), *gathered = g_new (double, all *(gsize) count);
  g_autofree double *rows = g_new (double, all + 1);
  g_autoptr (GHashTable) places = g_hash_table_new (g_double_hash, g_double_equal);
  for (guint i = 0; i < max_count; i++) {
    rows[i * (width + 1)] = i < own ? numbers[i] : -1;
    for (gsize k = 0; k < width; k++)
      rows[i * (width + 1) + 1 + k] = i < own ? ((const double *) sums)[i * width + k] : 0;
    if (i < own)
      g_hash_table_insert (places, &numbers[i], GSIZE_TO_POINTER ((gsize) i + 1));
  }
  if (!lig_ranks_gather (ranks, rows, (guint) all, gathered, error))
    return FALSE;
  for (int rank = 0; rank < count; rank++)
    if (rank != self)
      add_rows (gathered + all * (gsize) rank, max_count, width, places, (double *) sums);
  return TRUE;
}
