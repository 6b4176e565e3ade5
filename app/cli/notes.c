/* SPDX-License-Identifier: MIT */
#include "app/cli/notes.h"

#include "app/cli/say.h"

#include <ligature/json.h>
#include <ligature/report.h>
#include <ligature/weights.h>

#include <json-glib/json-glib.h>
#include <math.h>

/* The maximum number of features that a line names. */
enum { MAX_NAMED = 16 };

static double
get_number (JsonObject *object, const char *name)
{
  return json_object_get_double_member_with_default (object, name, (double) NAN);
}

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
  for (guint i = 0; i < MIN (count, (guint) MAX_NAMED); i++)
    if (lig_json_get_element (features, i))
      append_feature (list, lig_json_get_element (features, i));
  if (count > MAX_NAMED)
    g_string_append_printf (list, " and %u more, see lig runs show", count - MAX_NAMED);
  lig_cli_say ("%s: trained on standardized rows; the rows of the input must be (x - mean) / std, "
               "too, with these means and stds: %s",
               weights, list->str);
}

void
lig_cli_note_recipe (LigPlan *plan)
{
  g_autofree char *text = lig_plan_remark_recipe (plan);
  if (text)
    lig_cli_say ("%s", text);
}
