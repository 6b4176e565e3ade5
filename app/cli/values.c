/* SPDX-License-Identifier: MIT */
/* The values of options and arguments, read from the registries when a shell completes a word. */
#include "app/cli/values.h"

#include "app/cli/runs-columns.h"
#include <ligature/dataset.h>
#include <ligature/fusion.h>
#include <ligature/op.h>
#include <ligature/plan.h>
#include <ligature/recipe.h>
#include <ligature/report.h>
#include <ligature/run.h>
#include <ligature/store-sweeps.h>

#include <string.h>

/* The number of newest runs that completion offers. */
#define MAX_RUNS 50

static void
list_ops (GStrvBuilder *to)
{
  for (guint i = 0; lig_op_info_nth (i); i++)
    g_strv_builder_add (to, lig_op_info_nth (i)->name);
}

static void
list_fusions (GStrvBuilder *to)
{
  for (guint i = 0; lig_fusion_nth (i); i++)
    g_strv_builder_add (to, lig_fusion_nth (i)->name);
}

static void
list_devices (GStrvBuilder *to)
{
  g_auto (GStrv) names = lig_device_list ();
  g_strv_builder_addv (to, (const char **) names);
}

static void
list_policies (GStrvBuilder *to)
{
  for (int i = 0; i < LIG_POLICY_DEFAULT; i++)
    g_strv_builder_add (to, lig_policy_name ((LigPolicy) i));
}

static void
list_dtypes (GStrvBuilder *to)
{
  for (int i = 0; i < LIG_N_DTYPES; i++)
    if (lig_dtype_is_floating ((LigDtype) i))
      g_strv_builder_add (to, lig_dtype_name ((LigDtype) i));
}

static void
list_formats (GStrvBuilder *to)
{
  for (guint i = 0; lig_report_format_nth (i); i++)
    g_strv_builder_add (to, lig_report_format_nth (i));
}

static void
list_recipes (GStrvBuilder *to)
{
  g_strv_builder_add (to, "none");
  for (guint i = 0; lig_recipe_info_nth (i); i++)
    g_strv_builder_add (to, lig_recipe_info_nth (i)->name);
}

static void
list_statuses (GStrvBuilder *to)
{
  g_strv_builder_addv (to, (const char **) lig_runs_statuses);
}

static void
list_data_kinds (GStrvBuilder *to)
{
  for (guint i = 0; lig_dataset_info_nth (i); i++)
    g_strv_builder_add (to, lig_dataset_info_nth (i)->name);
}

/* Returns whether a shell needs no quoting for the word. */
static gboolean
is_plain (const char *word)
{
  return *word && *word != '-' &&
         strspn (word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+") ==
           strlen (word);
}

/* Adds the runs, first by their names. A completion shows no errors, so without a store only `last`
 * is offered. */
static void
list_runs (GStrvBuilder *to)
{
  const LigRunFilter filter = {.limit = MAX_RUNS};
  g_autoptr (LigStore) store = lig_store_open_existing (NULL, LIG_STORE_READ, NULL);
  g_autoptr (GPtrArray) runs = store ? lig_store_list_runs (store, &filter, NULL) : NULL;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_strv_builder_add (to, "last");
  for (guint i = 0; runs && i < runs->len; i++) {
    const char *name = ((const LigRunRow *) runs->pdata[i])->name;
    if (is_plain (name) && g_hash_table_add (seen, (gpointer) name))
      g_strv_builder_add (to, name);
  }
  for (guint i = 0; runs && i < runs->len; i++)
    g_strv_builder_add (to, ((const LigRunRow *) runs->pdata[i])->uuid);
}

/* Adds the columns of the list of runs, and the training settings. */
static void
list_columns (GStrvBuilder *to)
{
  for (guint i = 0; lig_runs_column_nth (i); i++)
    g_strv_builder_add (to, lig_runs_column_nth (i)->key);
  for (guint i = 0; lig_run_setting_nth (i); i++)
    if (!lig_runs_find_column (lig_run_setting_nth (i)->name))
      g_strv_builder_add (to, lig_run_setting_nth (i)->name);
}

static void
list_sweeps (GStrvBuilder *to)
{
  g_autoptr (LigStore) store = lig_store_open_existing (NULL, LIG_STORE_READ, NULL);
  g_autoptr (GPtrArray) sweeps = store ? lig_store_list_sweeps (store, NULL) : NULL;
  g_strv_builder_add (to, "last");
  for (guint i = 0; sweeps && i < MIN (sweeps->len, MAX_RUNS); i++)
    g_strv_builder_add (to, ((const LigSweepRow *) sweeps->pdata[i])->uuid);
}

/* The kinds of values; P is a sequence, whose expression begins with an op. */
static const struct {
  const char *kind;
  void (*list) (GStrvBuilder *to);
} kinds[] = {
  {"COLUMN", list_columns}, {"COMPUTE", list_dtypes}, {"DEVICE", list_devices},
  {"FORMAT", list_formats}, {"FUSION", list_fusions}, {"KIND", list_data_kinds},
  {"OP", list_ops},         {"P", list_ops},          {"POLICY", list_policies},
  {"RECIPE", list_recipes}, {"RUN", list_runs},       {"STATUS", list_statuses},
  {"SWEEP", list_sweeps},
};

static gboolean
is_kind (const char *word)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kinds[i].kind, word) == 0)
      return TRUE;
  return strcmp (word, LIG_VALUES_FILE) == 0;
}

/* A word in lower case is itself a value. */
static gboolean
is_literal (const char *word)
{
  return g_ascii_islower (*word) &&
         strspn (word, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen (word);
}

char *
lig_cli_values_kinds (const char *placeholder, gboolean filename)
{
  GString *text = g_string_new (NULL);
  g_auto (GStrv) parts = g_strsplit (placeholder ? placeholder : "", "|", -1);
  gboolean file = FALSE;
  for (char **part = parts; *part; part++) {
    const char *start = *part + strspn (*part, "[");
    gsize length = 0;
    while (g_ascii_isalnum (start[length]) || start[length] == '-')
      length++;
    g_autofree char *word = g_strndup (start, length);
    if (!is_kind (word) && !(is_literal (word) && g_strv_length (parts) > 1))
      continue;
    file |= strcmp (word, LIG_VALUES_FILE) == 0;
    g_string_append_printf (text, "%s%s", text->len > 0 ? "|" : "", word);
  }
  if (filename && !file)
    g_string_append_printf (text, "%s" LIG_VALUES_FILE, text->len > 0 ? "|" : "");
  return g_string_free (text, text->len == 0);
}

GStrv
lig_cli_values_list (const char *kind)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
    if (strcmp (kinds[i].kind, kind) != 0)
      continue;
    kinds[i].list (builder);
    return g_strv_builder_end (builder);
  }
  return NULL;
}

char *
lig_cli_values_join (const char *const *words)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; words[i]; i++)
    g_string_append_printf (text, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
  return g_string_free (text, FALSE);
}

int
lig_cli_values_print (int n, char **arguments)
{
  g_auto (GStrv) values = n == 1 ? lig_cli_values_list (arguments[0]) : NULL;
  if (!values)
    return lig_cli_usage ("--values takes one kind of value; see man lig");
  for (char **value = values; *value; value++)
    lig_cli_print ("%s", *value);
  return LIG_EXIT_OK;
}
