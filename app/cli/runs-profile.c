/* SPDX-License-Identifier: MIT */
/* The parts of `lig runs show` that only profiles have: times and measurement conditions. */
#include "app/cli/duration.h"
#include "app/cli/runs-show.h"
#include "app/cli/runs-table.h"
#include "app/cli/table.h"

#include <ligature/draw-recipes.h>
#include <ligature/former-names.h>
#include <ligature/json.h>
#include <ligature/profile.h>
#include <ligature/store-spreads.h>
#include <ligature/units.h>

#include <string.h>

/* --- Times --------------------------------------------------------------------------------- */

static char **
make_time (const LigSpreadRow *spread)
{
  char **cells = g_new0 (char *, 5);
  cells[0] = g_strconcat ("  ", spread->figure, NULL);
  cells[1] = lig_cli_format_time (spread->microseconds / 1e6);
  cells[2] = lig_cli_format_range (spread->lower / 1e6, spread->upper / 1e6);
  cells[3] = g_strdup_printf ("%d", spread->count);
  return cells;
}

gboolean
lig_runs_print_times (LigStore *store, const LigRunRow *row, GError **error)
{
  static const char *const header[] = {"  time", ">median", ">quartiles", ">runs", NULL};
  g_autoptr (GPtrArray) spreads = lig_store_get_spreads (store, row->uuid, error);
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  for (guint i = 0; spreads && i < spreads->len; i++)
    g_ptr_array_add (table, make_time (spreads->pdata[i]));
  if (table->len > 0) {
    lig_runs_print_title ("Times");
    lig_cli_print_table (header, table);
  }
  return spreads != NULL;
}

/* --- Errors of recipes --------------------------------------------------------------------- */

static char **
make_errors (const LigRecipeErrors *errors)
{
  char **cells = g_new0 (char *, 5);
  cells[0] = g_strconcat ("  ", errors->recipe, NULL);
  cells[1] = lig_units_bytes ((double) errors->bytes);
  cells[2] = lig_draw_error (errors->output);
  cells[3] = lig_draw_error (errors->gradient);
  return cells;
}

gboolean
lig_runs_print_errors (LigStore *store, const LigRunRow *row, GError **error)
{
  static const char *const header[] = {"  recipe", ">memory", ">error of y", ">of gradients", NULL};
  g_autoptr (GPtrArray) errors = lig_profile_get_errors (store, row->uuid, error);
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  for (guint i = 0; errors && i < errors->len; i++)
    g_ptr_array_add (table, make_errors (errors->pdata[i]));
  if (table->len > 0) {
    lig_runs_print_title ("Errors against the compute type; a report has those of each op");
    lig_cli_print_table (header, table);
  }
  return errors != NULL;
}

/* --- Conditions ---------------------------------------------------------------------------- */

/* Returns the value as text, NULL for one that is unknown. */
static char *
format_condition (JsonNode *node)
{
  if (JSON_NODE_HOLDS_ARRAY (node)) {
    JsonArray *array = json_node_get_array (node);
    g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
    for (guint i = 0; i < json_array_get_length (array); i++) {
      g_autofree char *word = format_condition (json_array_get_element (array, i));
      if (word)
        g_strv_builder_add (words, word);
    }
    g_auto (GStrv) all = g_strv_builder_end (words);
    return *all ? g_strjoinv (", ", all) : NULL;
  }
  if (!JSON_NODE_HOLDS_VALUE (node))
    return NULL;
  GType type = json_node_get_value_type (node);
  if (type == G_TYPE_STRING)
    return *json_node_get_string (node) ? g_strdup (json_node_get_string (node)) : NULL;
  return type == G_TYPE_DOUBLE    ? g_strdup_printf ("%.3g", json_node_get_double (node))
         : type == G_TYPE_BOOLEAN ? g_strdup (json_node_get_boolean (node) ? "yes" : "no")
                                  : g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (node));
}

static void
add_conditions (GPtrArray *lines, JsonObject *settings, const char *name)
{
  JsonNode *node = json_object_get_member (settings, name);
  JsonObject *object = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  g_autoptr (GList) keys = object ? json_object_get_members (object) : NULL;
  for (GList *key = keys; key; key = key->next) {
    g_autofree char *value = format_condition (json_object_get_member (object, key->data));
    const char *current = lig_former_name_replace (LIG_FORMER_MEMBER, key->data);
    if (value)
      g_ptr_array_add (lines, g_strdup_printf ("  %-18s  %s", current, value));
  }
}

void
lig_runs_print_conditions (const LigRunRow *row)
{
  g_autoptr (JsonNode) root = lig_json_from_text (row->settings, NULL);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return;
  add_conditions (lines, json_node_get_object (root), "conditions");
  add_conditions (lines, json_node_get_object (root), "health");
  if (lines->len > 0)
    lig_runs_print_title ("Conditions of the measurement");
  for (guint i = 0; i < lines->len; i++)
    lig_cli_print ("%s", (char *) lines->pdata[i]);
}
