/* SPDX-License-Identifier: MIT */
/* Names groups of runs. */
#include "ui/history/group-names.h"

#include "ui/history/format.h"
#include "ui/history/varying.h"
#include "ui/widgets/figures.h"
#include <ligature/store-sweeps.h>

#include <glib/gi18n.h>
#include <string.h>

static GStrv
name_repetitions (LigStore *store, GPtrArray *groups, GError **error)
{
  g_autofree gint64 *keys = g_new (gint64, MAX (groups->len, 1));
  for (guint i = 0; i < groups->len; i++)
    keys[i] = ((LigRunGroup *) groups->pdata[i])->sample;
  g_autoptr (GPtrArray) rows = lig_store_read_runs (store, keys, groups->len, error);
  if (!rows)
    return NULL;
  g_auto (GStrv) differences = lig_history_describe_varying (rows);
  GStrv names = g_new0 (char *, rows->len + 1);
  for (guint i = 0; i < rows->len; i++) {
    const LigRunRow *row = rows->pdata[i];
    const char *name = row && *row->name ? row->name : _ ("Untitled");
    names[i] =
      *differences[i] ? g_strdup_printf ("%s · %s", name, differences[i]) : g_strdup (name);
  }
  return names;
}

/* Returns a number without superfluous digits: SQLite writes 3e-05 as 3.0e-05. */
static char *
format_value (const char *value)
{
  char *end;
  double number = g_ascii_strtod (value, &end);
  if (end == value || *end || !strpbrk (value, ".eE"))
    return g_strdup (value);
  return lig_history_number (number);
}

/* Formats the name and the start of the uuid, because a sweep that was started twice is two
 * sweeps. */
static char *
name_sweep (GPtrArray *sweeps, const char *uuid)
{
  for (guint i = 0; i < sweeps->len; i++) {
    const LigSweepRow *row = sweeps->pdata[i];
    if (strcmp (row->uuid, uuid) == 0 && *row->name)
      return g_strdup_printf ("%s · %.8s", row->name, uuid);
  }
  return g_strndup (uuid, 8);
}

static GStrv
name_sweeps (LigStore *store, GPtrArray *groups, GError **error)
{
  g_autoptr (GPtrArray) sweeps = lig_store_list_sweeps (store, error);
  if (!sweeps)
    return NULL;
  GStrv names = g_new0 (char *, groups->len + 1);
  for (guint i = 0; i < groups->len; i++) {
    const char *uuid = ((LigRunGroup *) groups->pdata[i])->value;
    names[i] = uuid ? name_sweep (sweeps, uuid) : g_strdup (_ ("no sweep"));
  }
  return names;
}

GStrv
lig_history_name_groups (LigStore *store, GPtrArray *groups, const char *by, GError **error)
{
  if (strcmp (by, LIG_RUN_ALL_BUT_SEED) == 0)
    return name_repetitions (store, groups, error);
  if (strcmp (by, "sweep") == 0)
    return name_sweeps (store, groups, error);
  GStrv names = g_new0 (char *, groups->len + 1);
  for (guint i = 0; i < groups->len; i++) {
    const char *value = ((LigRunGroup *) groups->pdata[i])->value;
    g_autofree char *text = value ? format_value (value) : NULL;
    names[i] = !value                     ? g_strdup (_ ("not set"))
               : strcmp (by, "kind") == 0 ? g_strdup (lig_history_kind_word (value))
               : *value                   ? lig_figure_excerpt (text)
                                          : g_strdup (_ ("empty"));
  }
  return names;
}
