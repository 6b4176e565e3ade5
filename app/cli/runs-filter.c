/* SPDX-License-Identifier: MIT */
/* Selects the runs for a verb of `lig runs`: by words or by options. */
#include "app/cli/dates.h"
#include "app/cli/runs-columns.h"
#include "app/cli/values.h"

#include <ligature/store-select.h>
#include <ligature/store-sweeps.h>
#include <ligature/suggest.h>

#include <string.h>

const char *const lig_runs_statuses[] = {"running",   "done",        "failed",
                                         "cancelled", "interrupted", NULL};
const char *const lig_runs_kinds[] = {"train", "profile", NULL};

GPtrArray *
lig_runs_new_rows (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
}

gboolean
lig_runs_has_filter (const LigRunsOptions *o)
{
  return o->status || o->kind || o->name || o->device || o->tag || o->sweep || o->since ||
         o->until || o->starred || o->unstarred || o->deleted || o->all ||
         o->limit != LIG_RUNS_NO_LIMIT;
}

/* Rejects unknown words, because an empty list would look like a result. */
static gboolean
check_word (const char *option, const char *value, const char *const *words, GError **error)
{
  if (!value || g_strv_contains (words, value))
    return TRUE;
  g_autofree char *choices = lig_cli_values_join (words);
  g_autofree char *suggestion = lig_suggest_ending (value, words);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%s is '%s', expected %s%s",
               option, value, choices, suggestion);
  return FALSE;
}

static gboolean
read_date (const char *option, const char *text, gint64 *when, GError **error)
{
  if (!text || lig_cli_parse_date (text, g_get_real_time (), when))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--%s is '%s', expected a date (2026-11-20, '2026-11-20 14:30'), a day (today, "
               "yesterday, monday) or a time before now ('2 days', 36h)",
               option, text);
  return FALSE;
}

static gboolean
make_filter (const LigRunsOptions *o, const char *text, LigRunFilter *filter, GError **error)
{
  *filter = (LigRunFilter){.text = text,
                           .status = o->status,
                           .device = o->device,
                           .tag = o->tag,
                           .starred = o->starred,
                           .unstarred = o->unstarred,
                           .deleted = o->deleted,
                           .kind = o->kind,
                           .name = o->name,
                           .limit = o->limit == LIG_RUNS_NO_LIMIT ? 0 : o->limit};
  if (o->starred && o->unstarred) {
    g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                         "--starred and --unstarred together select no runs; give one of them");
    return FALSE;
  }
  return check_word ("status", o->status, lig_runs_statuses, error) &&
         check_word ("kind", o->kind, lig_runs_kinds, error) &&
         read_date ("since", o->since, &filter->started_from, error) &&
         read_date ("until", o->until, &filter->started_to, error);
}

GArray *
lig_runs_select_keys (LigStore *store,
                      const LigRunsOptions *options,
                      const char *text,
                      GError **error)
{
  LigRunFilter filter;
  LigRunOrder order = LIG_RUN_BY_START;
  gboolean descending = TRUE;
  if (!make_filter (options, text, &filter, error))
    return NULL;
  g_autoptr (LigSweepRow) sweep =
    options->sweep ? lig_store_find_sweep (store, options->sweep, error) : NULL;
  if (options->sweep && !sweep)
    return NULL;
  filter.sweep = sweep ? sweep->uuid : NULL;
  if (options->sort &&
      !lig_runs_find_order (store, options->sort, &order, &filter.order_by, &descending, error))
    return NULL;
  return lig_store_list_keys (store, &filter, order, descending != options->reverse, error);
}

static gboolean
add_row (GPtrArray *rows, GHashTable *seen, LigRunRow *row)
{
  if (!row)
    return FALSE;
  if (g_hash_table_add (seen, g_strdup (row->uuid)))
    g_ptr_array_add (rows, row);
  else
    lig_run_row_free (row);
  return TRUE;
}

/* Adds the runs of a word; a name may itself contain a comma. */
static gboolean
add_word (LigStore *store,
          GPtrArray *rows,
          GHashTable *seen,
          const char *word,
          const char *kind,
          GError **error)
{
  g_autoptr (LigRunRow) whole =
    strchr (word, ',') ? lig_store_select_run (store, word, kind, NULL, NULL) : NULL;
  if (whole)
    return add_row (rows, seen, g_steal_pointer (&whole));
  g_auto (GStrv) parts = g_strsplit (word, ",", -1);
  /* An unset variable in a script gives an empty word. */
  if (!*parts)
    return add_row (rows, seen, lig_cli_find_run (store, word, kind, error));
  for (char **part = parts; *part; part++)
    if (!add_row (rows, seen, lig_cli_find_run (store, *part, kind, error)))
      return FALSE;
  return TRUE;
}

GPtrArray *
lig_runs_select (LigStore *store,
                 const LigRunsOptions *options,
                 int n,
                 char **words,
                 const char *kind,
                 GError **error)
{
  g_autoptr (GPtrArray) rows = lig_runs_new_rows ();
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int i = 0; i < n; i++)
    if (!add_word (store, rows, seen, words[i], kind, error))
      return NULL;
  if (n > 0)
    return g_steal_pointer (&rows);
  g_autoptr (GArray) keys = lig_runs_select_keys (store, options, NULL, error);
  GPtrArray *found =
    keys ? lig_store_read_runs (store, (const gint64 *) (gpointer) keys->data, keys->len, error)
         : NULL;
  /* A run may be deleted between the two queries. */
  while (found && g_ptr_array_remove (found, NULL))
    ;
  return found;
}
