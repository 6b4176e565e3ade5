/* SPDX-License-Identifier: MIT */
#include "app/cli/table-note.h"

#include "app/cli/runs-show.h"
#include "app/cli/runs.h"
#include "app/cli/table.h"

#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/weights.h>

#include <math.h>

/* The features that one line names, and the rows of a list. */
enum { MOST_NAMED = 16, MOST_LISTED = 64 };

static double
get_number (JsonObject *object, const char *name)
{
  return json_object_get_double_member_with_default (object, name, (double) NAN);
}

/* --- Weights ------------------------------------------------------------------------------- */

static void
append_feature (GString *to, JsonObject *feature)
{
  g_string_append_printf (to, "%s%s %.9g %.9g", to->len > 0 ? ", " : "",
                          lig_json_get_string (feature, "name", ""), get_number (feature, "mean"),
                          get_number (feature, "std"));
}

void
lig_cli_note_table (const char *weights)
{
  g_autoptr (LigTensorFile) file = lig_weights_open (weights, NULL);
  const char *text = file ? lig_tensor_file_get_metadata (file, LIG_WEIGHTS_TABLE) : NULL;
  g_autoptr (JsonNode) root = text ? lig_json_from_text (text, NULL) : NULL;
  JsonObject *table = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  JsonArray *features = lig_json_get_array (table, "features");
  if (!features || !json_object_get_boolean_member_with_default (table, "standardized", FALSE))
    return;
  g_autoptr (GString) list = g_string_new (NULL);
  guint count = json_array_get_length (features);
  for (guint i = 0; i < MIN (count, (guint) MOST_NAMED); i++)
    if (lig_json_get_element (features, i))
      append_feature (list, lig_json_get_element (features, i));
  if (count > MOST_NAMED)
    g_string_append_printf (list, " and %u more, see lig runs show", count - MOST_NAMED);
  lig_cli_say ("%s: trained on standardized rows; the rows of the input must be (x - mean) / std, "
               "too, with these means and stds: %s",
               weights, list->str);
}

/* --- Runs ---------------------------------------------------------------------------------- */

static char **
make_feature (JsonObject *feature)
{
  char **cells = g_new0 (char *, 4);
  cells[0] = g_strconcat ("  ", lig_json_get_string (feature, "name", ""), NULL);
  cells[1] = lig_runs_format_number (get_number (feature, "mean"));
  cells[2] = lig_runs_format_number (get_number (feature, "std"));
  return cells;
}

static void
print_features (JsonArray *features)
{
  static const char *const header[] = {"  feature", ">mean", ">std", NULL};
  g_autoptr (GPtrArray) rows = lig_runs_new_table ();
  guint count = json_array_get_length (features);
  for (guint i = 0; i < MIN (count, (guint) MOST_LISTED); i++)
    if (lig_json_get_element (features, i))
      g_ptr_array_add (rows, make_feature (lig_json_get_element (features, i)));
  lig_cli_print_table (header, rows);
  if (count > MOST_LISTED)
    lig_cli_print ("  %u more in --json", count - MOST_LISTED);
}

static void
print_classes (JsonArray *classes)
{
  g_autoptr (GString) list = g_string_new (NULL);
  guint count = json_array_get_length (classes);
  for (guint i = 0; i < MIN (count, (guint) MOST_LISTED); i++) {
    JsonNode *name = json_array_get_element (classes, i);
    if (JSON_NODE_HOLDS_VALUE (name) && json_node_get_string (name))
      g_string_append_printf (list, "%s%u %s", i > 0 ? ", " : "", i, json_node_get_string (name));
  }
  g_string_append (list, count > MOST_LISTED ? ", … in --json" : "");
  lig_cli_print ("  classes: %s", list->str);
}

void
lig_cli_print_table_facts (JsonObject *inputs)
{
  JsonNode *node = inputs ? json_object_get_member (inputs, "table") : NULL;
  JsonObject *table = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  JsonArray *features = lig_json_get_array (table, "features"),
            *classes = lig_json_get_array (table, "classes");
  if (!table)
    return;
  gboolean standardized =
    json_object_get_boolean_member_with_default (table, "standardized", FALSE);
  lig_runs_print_title (standardized ? "Table (features are (x - mean) / std)" : "Table");
  if (features && json_array_get_length (features) > 0 && lig_json_get_element (features, 0) &&
      json_object_has_member (lig_json_get_element (features, 0), "mean"))
    print_features (features);
  if (classes)
    print_classes (classes);
}
