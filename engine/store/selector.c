/* SPDX-License-Identifier: MIT */
/* Finds the run that a user selects: by `last`, a name, a uuid or the beginning of one, each with
 * `~N` for the Nth run before it. */
#include "engine/store/private.h"
#include <ligature/store-select.h>
#include <ligature/suggest.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* A shorter beginning of a uuid is probably a typing mistake. */
#define MIN_PREFIX 4

/* The maximum number of runs in the message about an ambiguous selector. */
#define MAX_CANDIDATES 6

/* A larger `~N` could not be the number of a run. */
#define FARTHEST 1000000000

#define NEWEST_FIRST " ORDER BY r.started DESC, r.id DESC LIMIT ?3"

/* The statements take a text, a kind or NULL, and the maximum number of rows. */
static const char by_time[] =
  "SELECT r.id FROM run r WHERE r.deleted IS NULL AND (?2 IS NULL OR r.kind = ?2)" NEWEST_FIRST;
static const char by_name[] = "SELECT r.id FROM run r JOIN experiment e ON e.id = r.experiment"
                              " WHERE e.name = ?1 AND r.deleted IS NULL"
                              " AND (?2 IS NULL OR r.kind = ?2)" NEWEST_FIRST;
static const char by_uuid[] =
  "SELECT r.id FROM run r WHERE r.uuid >= ?1 AND r.uuid < ?1 || 'g'" NEWEST_FIRST;
static const char by_successor[] = "SELECT r.id FROM run r, run s WHERE s.uuid = ?1 AND "
                                   "(r.deleted IS NULL OR r.id = s.id) AND "
                                   "(r.started, r.id) <= (s.started, s.id)" NEWEST_FIRST;

/* The names from which a similar one is chosen as a suggestion. */
static const char newest_names[] =
  "SELECT name FROM experiment GROUP BY name ORDER BY max (id) DESC LIMIT 1000";

static GArray *
find_keys (
  LigStore *self, const char *sql, const char *text, const char *kind, gint64 max, GError **error)
{
  g_autoptr (GArray) keys = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *row = lig_store_begin_read (self, &failure, sql, "tti", text, kind, max);
  while (row && lig_sql_next (row, &failure)) {
    gint64 key = sqlite3_column_int64 (row, 0);
    g_array_append_val (keys, key);
  }
  lig_store_end_read (self, row);
  if (!failure)
    return g_steal_pointer (&keys);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

/* Returns the row of the key at this index, NULL with an error set if another process has just
 * deleted it. */
static LigRunRow *
read_key (LigStore *self, GArray *keys, guint index, const char *selector, GError **error)
{
  g_autoptr (GPtrArray) rows =
    lig_store_read_runs (self, &g_array_index (keys, gint64, index), 1, error);
  if (!rows)
    return NULL;
  if (rows->pdata[0])
    return lig_run_row_copy (rows->pdata[0]);
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' has no run '%s'"), self->path,
               selector);
  return NULL;
}

/* --- Failures ------------------------------------------------------------------------------ */

static void
append_candidate (GString *to, const LigRunRow *row)
{
  g_autoptr (GDateTime) moment = g_date_time_new_from_unix_local (row->started / G_USEC_PER_SEC);
  g_autofree char *date = moment ? g_date_time_format (moment, "%Y-%m-%d %H:%M") : NULL;
  g_string_append_printf (to, "%s%.13s %s (%s)", to->len > 0 ? ", " : "", row->uuid, row->name,
                          date ? date : "-");
}

static void
fail_ambiguous (LigStore *self, const char *selector, GArray *keys, GError **error)
{
  g_autoptr (GPtrArray) rows = lig_store_read_runs (self, (const gint64 *) (gpointer) keys->data,
                                                    MIN (keys->len, MAX_CANDIDATES), error);
  g_autoptr (GString) list = g_string_new (NULL);
  if (!rows)
    return;
  for (guint i = 0; i < rows->len; i++)
    if (rows->pdata[i])
      append_candidate (list, rows->pdata[i]);
  if (keys->len > rows->len)
    g_string_append (list, ", …");
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
               g_dngettext (GETTEXT_PACKAGE,
                            "'%s' matches %u run in store '%s'; give more characters: %s",
                            "'%s' matches %u runs in store '%s'; give more characters: %s",
                            (gulong) keys->len),
               selector, keys->len, self->path, list->str);
}

/* Returns the end of the sentence about an unknown run, which suggests a name. */
static char *
suggest_name (LigStore *self, const char *selector)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  sqlite3_stmt *row = lig_store_begin_read (self, NULL, newest_names, "");
  while (row && lig_sql_next (row, NULL)) {
    g_autofree char *name = lig_sql_text (row, 0);
    g_strv_builder_add (builder, name);
  }
  lig_store_end_read (self, row);
  if (!g_str_equal (selector, "last"))
    g_strv_builder_add (builder, "last");
  g_auto (GStrv) names = g_strv_builder_end (builder);
  return lig_suggest_ending (selector, (const char *const *) names);
}

static void
fail_unknown (LigStore *self, const char *selector, GError **error)
{
  g_autofree char *suggestion = suggest_name (self, selector);
  gsize length = strlen (selector);
  if (!*suggestion && length > 0 && length < MIN_PREFIX &&
      strspn (selector, "0123456789abcdefABCDEF") == length)
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_STORE,
      g_dngettext (
        GETTEXT_PACKAGE, "store '%s' has no run called '%s'; a uuid needs at least %d character",
        "store '%s' has no run called '%s'; a uuid needs at least %d characters", MIN_PREFIX),
      self->path, selector, MIN_PREFIX);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' has no run '%s'%s"), self->path,
                 selector, suggestion);
}

static void
fail_far (LigStore *self, const char *selector, const char *kind, guint found, GError **error)
{
  if (found == 0 && kind)
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' has no run of the kind '%s'"),
                 self->path, kind);
  else if (found == 0)
    fail_unknown (self, selector, error);
  else
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_STORE,
      g_dngettext (GETTEXT_PACKAGE, "store '%s' has no run '%s'; only %u run matches without ~",
                   "store '%s' has no run '%s'; only %u runs match without ~", (gulong) found),
      self->path, selector, found);
}

/* --- The parts of a selector --------------------------------------------------------------- */

/* Removes `~N` from the end and returns N; `~` alone counts as `~1`, as in git. Returns -1 if the
 * end is not such a number. */
static gint64
cut_distance (char *selector)
{
  gint64 distance = 0;
  char *tilde = strrchr (selector, '~');
  if (!tilde || tilde == selector)
    return -1;
  const char *digits = tilde + 1;
  if (strspn (digits, "0123456789") != strlen (digits) || strlen (digits) > 9)
    return -1;
  distance = *digits ? g_ascii_strtoll (digits, NULL, 10) : 1;
  *tilde = '\0';
  return distance;
}

/* Finds the runs from the selected one backwards, at most `max`. `alike` is set to the number of
 * runs with that name if the selector is a name. NULL with an error set if none matches. */
static GArray *
find_backwards (
  LigStore *self, const char *selector, const char *kind, gint64 max, guint *alike, GError **error)
{
  if (strcmp (selector, "last") == 0)
    return find_keys (self, by_time, NULL, kind, max, error);
  g_autoptr (GArray) named = find_keys (self, by_name, selector, kind, -1, error);
  if (!named)
    return NULL;
  *alike = named->len;
  if (named->len > 0)
    return g_steal_pointer (&named);
  g_autofree char *prefix = g_ascii_strdown (selector, -1);
  g_autoptr (GArray) keys = strlen (prefix) < MIN_PREFIX
                              ? g_array_ref (named)
                              : find_keys (self, by_uuid, prefix, NULL, -1, error);
  if (!keys)
    return NULL;
  if (keys->len == 0)
    fail_unknown (self, selector, error);
  else if (keys->len > 1)
    fail_ambiguous (self, selector, keys, error);
  if (keys->len != 1)
    return NULL;
  g_autoptr (LigRunRow) row = read_key (self, keys, 0, selector, error);
  return row ? find_keys (self, by_successor, row->uuid, NULL, max, error) : NULL;
}

LigRunRow *
lig_store_select_run (
  LigStore *self, const char *selector, const char *kind, guint *alike, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && selector, NULL);
  guint unused = 0, *count = alike ? alike : &unused;
  g_autofree char *base = g_strdup (selector);
  *count = 0;
  /* A name may end in `~1` itself. */
  g_autoptr (GArray) exact = find_keys (self, by_name, selector, kind, -1, error);
  if (!exact)
    return NULL;
  *count = exact->len;
  if (exact->len > 0 && strcmp (selector, "last") != 0)
    return read_key (self, exact, 0, selector, error);
  gint64 back = 0, one;
  while ((one = cut_distance (base)) >= 0)
    back = MIN (back + one, FARTHEST);
  *count = 0;
  g_autoptr (GArray) keys = find_backwards (self, base, kind, back + 1, count, error);
  if (!keys)
    return NULL;
  if (keys->len > back)
    return read_key (self, keys, (guint) back, selector, error);
  fail_far (self, selector, kind, keys->len, error);
  return NULL;
}

LigRunRow *
lig_store_find_run (LigStore *self, const char *selector, GError **error)
{
  return lig_store_select_run (self, selector, NULL, NULL, error);
}
