/* SPDX-License-Identifier: MIT */
/* The parts of `lig runs show`: sequence, settings, verdicts and table. */
#include "app/cli/document.h"
#include "app/cli/runs-show.h"
#include "app/cli/runs-table.h"
#include "app/cli/table.h"

#include <ligature/columns.h>
#include <ligature/compile.h>
#include <ligature/json.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>
#include <ligature/printable.h>
#include <ligature/run.h>

#include <math.h>
#include <string.h>

/* The maximum widths of the columns of settings. */
enum { WIDEST_NAME = 24, WIDEST_VALUE = 16 };

/* The minimum width of a setting's meaning. */
#define MIN_MEANING 14

/* The column of the fusion in a verdict's line. */
#define VERDICT_INDENT 13

static guint
get_line_width (void)
{
  guint width = lig_runs_get_width ();
  return width > 0 ? width : G_MAXUINT;
}

/* --- The sequence -------------------------------------------------------------------------- */

/* Breaks an expression before `!` where a line would be too long. */
static void
print_expression (const char *text)
{
  g_auto (GStrv) ops = g_strsplit (text, " ! ", -1);
  g_autoptr (GString) line = g_string_new (NULL);
  guint width = get_line_width ();
  for (char **op = ops; *op; op++) {
    guint length = (guint) (lig_columns_width (line->str) + lig_columns_width (*op));
    if (line->len > 0 && length + 5 > width) {
      lig_cli_print ("  %s", line->str);
      g_string_truncate (line, 0);
    }
    g_string_append_printf (line, "%s%s", op == ops ? "" : line->len > 0 ? " ! " : "! ", *op);
  }
  lig_cli_print ("  %s", line->str);
}

void
lig_runs_print_sequence (const LigRunRow *row)
{
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (row->sequence, -1, NULL, NULL);
  if (!sequence)
    return;
  LigShape shape;
  LigDtype dtype;
  g_autofree char *expression = lig_sequence_to_expression (sequence), *input = NULL;
  if (lig_sequence_has_input (sequence)) {
    lig_sequence_get_input (sequence, &shape, &dtype);
    input = lig_cli_format_tensor (&shape, dtype);
  }
  g_autofree char *title = g_strdup_printf ("Sequence (input %s)", input ? input : "not given");
  lig_runs_print_title (title);
  print_expression (expression);
}

/* --- Settings ------------------------------------------------------------------------------ */

static char *
format_value (JsonNode *node)
{
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    return g_strdup (json_node_get_string (node));
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_DOUBLE)
    return lig_runs_format_number (json_node_get_double (node));
  GString *text = g_string_new (NULL);
  lig_json_append (text, node);
  return g_string_free (text, FALSE);
}

static const LigSetting *
find_setting (const char *name)
{
  for (guint i = 0; lig_run_setting_nth (i); i++)
    if (strcmp (lig_run_setting_nth (i)->name, name) == 0)
      return lig_run_setting_nth (i);
  return NULL;
}

/* Returns the value of an unset setting as text, NULL if it has none. */
static char *
find_default (const LigRunSettings *defaults, const LigSetting *setting)
{
  g_autofree char *text = lig_run_settings_get (defaults, setting->name);
  if (!text || !*text)
    return g_strdup (setting->usual);
  return setting->kind == LIG_SETTING_NUMBER ? lig_runs_format_number (g_ascii_strtod (text, NULL))
                                             : g_steal_pointer (&text);
}

/* Returns the setting's help; for a default with the words for its effect: `Maximum global gradient
 * norm; 0: never clipped`. */
static char *
make_meaning (const LigSetting *setting, gboolean differs)
{
  const char *help = setting && setting->help ? setting->help : "";
  const char *unset =
    differs || !setting || setting->kind == LIG_SETTING_TEXT ? NULL : setting->unset;
  if (!unset)
    return g_strdup (help);
  return g_str_has_prefix (unset, "0, ") ? g_strdup_printf ("%s; 0: %s", help, unset + 3)
                                         : g_strdup_printf ("%s; default: %s", help, unset);
}

static void
add_setting (GPtrArray *table,
             const LigRunSettings *defaults,
             gboolean training,
             const char *name,
             JsonNode *node)
{
  const LigSetting *setting = training ? find_setting (name) : NULL;
  g_autofree char *usual = setting ? find_default (defaults, setting) : NULL;
  char **cells = g_new0 (char *, 5);
  g_autofree char *value = format_value (node);
  const char *unit = setting && g_strcmp0 (setting->argument, "MiB") == 0 ? " MiB" : "";
  gboolean differs = usual && strcmp (usual, value) != 0;
  cells[1] = g_strconcat (value, unit, NULL);
  cells[0] = g_strdup_printf ("%s%s", differs ? "* " : "  ", name);
  cells[2] = differs ? g_strdup_printf ("default %s%s", usual, unit) : g_strdup ("");
  cells[3] = make_meaning (setting, differs || !usual);
  g_ptr_array_add (table, cells);
}

/* Adds a setting that the run did not store, with its default, if a word describes it. */
static void
add_unset (GPtrArray *table,
           const LigRunSettings *defaults,
           const LigSetting *setting,
           JsonObject *stored)
{
  g_autofree char *usual = find_default (defaults, setting);
  if (!usual || json_object_has_member (stored, setting->name))
    return;
  g_autoptr (JsonNode) node = json_node_init_string (json_node_alloc (), usual);
  add_setting (table, defaults, TRUE, setting->name, node);
}

/* Returns the width of a column; longer cells push the rest of their line. */
static int
measure (GPtrArray *table, guint column, int max)
{
  int widest = 0;
  for (guint i = 0; i < table->len; i++)
    widest = MAX (widest, lig_columns_width (((char **) table->pdata[i])[column]));
  return MIN (widest, max);
}

/* Appends a cell of at least this width. */
static void
append_cell (GString *to, const char *text, int width)
{
  lig_columns_append (to, text, MAX (width, lig_columns_width (text)), LIG_SIDE_LEFT);
  g_string_append (to, "  ");
}

/* Appends the first words of a text, which contain its unit. */
static void
append_start (GString *to, const char *text, int width)
{
  g_autoptr (GString) wrapped = g_string_new (NULL);
  lig_columns_wrap (wrapped, text, 0, 0, width - 1);
  g_string_append_len (to, wrapped->str, (gssize) strcspn (wrapped->str, "\n"));
  g_string_append (to, "…");
}

/* Shortens the meaning of a setting where it does not fit. */
static void
print_settings_table (GPtrArray *table)
{
  guint width = get_line_width ();
  int names = measure (table, 0, WIDEST_NAME), values = measure (table, 1, WIDEST_VALUE);
  for (guint i = 0; i < table->len; i++) {
    char **cells = table->pdata[i];
    g_autoptr (GString) line = g_string_new (NULL);
    append_cell (line, cells[0], names);
    append_cell (line, cells[1], values);
    g_string_append_printf (line, "%s%s", cells[2], *cells[2] && *cells[3] ? "; " : "");
    int taken = lig_columns_width (line->str);
    if (width == G_MAXUINT || taken + lig_columns_width (cells[3]) <= (int) width)
      g_string_append (line, cells[3]);
    else if (taken + MIN_MEANING <= (int) width)
      append_start (line, cells[3], (int) width - taken);
    else if (*cells[2] && *cells[3])
      g_string_truncate (line, line->len - strlen ("; "));
    lig_cli_print ("%s", g_strchomp (line->str));
  }
}

void
lig_runs_print_settings (const LigRunRow *row)
{
  g_autoptr (JsonNode) root = lig_json_from_text (row->settings, NULL);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return;
  g_auto (LigRunSettings) defaults;
  lig_run_settings_init (&defaults);
  JsonObject *object = json_node_get_object (root);
  gboolean training = strcmp (row->kind, "train") == 0;
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  g_autoptr (GList) names = json_object_get_members (object);
  for (GList *name = names; name; name = name->next)
    /* Object members of a profile are its measurement conditions. */
    if (training || !JSON_NODE_HOLDS_OBJECT (json_object_get_member (object, name->data)))
      add_setting (table, &defaults, training, name->data,
                   json_object_get_member (object, name->data));
  for (guint i = 0; training && lig_run_setting_nth (i); i++)
    add_unset (table, &defaults, lig_run_setting_nth (i), object);
  lig_runs_print_title ("Settings (* differs from the default)");
  print_settings_table (table);
}

/* --- Verdicts ------------------------------------------------------------------------------ */

/* Returns a plan of the run's ops, which has their paths; NULL if it cannot be compiled. */
static LigPlan *
compile (const LigRunRow *row)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (row->sequence, -1, NULL, NULL);
  g_autoptr (LigDevice) device = lig_device_open ("null", NULL);
  return sequence && device ? lig_plan_compile (sequence, device, &options, NULL) : NULL;
}

static char *
name_place (LigPlan *plan, int first, int count)
{
  guint n = 0;
  const LigPlanOp *ops = plan ? lig_plan_get_ops (plan, &n) : NULL;
  int last = first + MAX (count, 1) - 1;
  if (first < 0 || last < first || (guint) last >= n)
    return count > 1 ? g_strdup_printf ("ops %d to %d", first, last)
                     : g_strdup_printf ("op %d", first);
  return g_strcmp0 (ops[first].path, ops[last].path) == 0
           ? g_strdup (ops[first].path)
           : g_strdup_printf ("%s to %s", ops[first].path, ops[last].path);
}

static void
print_wrapped (const char *text)
{
  guint width = lig_runs_get_width ();
  if (width == 0) {
    lig_cli_print ("%s", text);
    return;
  }
  g_autofree char *plain = lig_printable (text);
  g_autoptr (GString) wrapped = g_string_new (NULL);
  lig_columns_wrap (wrapped, plain, 0, VERDICT_INDENT, (int) width);
  g_auto (GStrv) lines = g_strsplit (g_strchomp (wrapped->str), "\n", -1);
  for (char **line = lines; *line; line++)
    lig_cli_print ("%s", *line);
}

void
lig_runs_print_verdicts (const LigRunRow *row, GPtrArray *verdicts)
{
  g_autoptr (LigPlan) plan = compile (row);
  lig_runs_print_title ("Verdicts");
  for (guint i = 0; i < verdicts->len; i++) {
    const LigVerdictRow *verdict = verdicts->pdata[i];
    g_autofree char *place = name_place (plan, verdict->first_op, verdict->count);
    const char *text = verdict->text ? verdict->text : "";
    g_autofree char *start = g_strconcat (verdict->fusion, ": ", NULL);
    const char *reason = g_str_has_prefix (text, start) ? text + strlen (start) : text;
    g_autofree char *line =
      verdict->taken
        ? g_strdup_printf ("  fused      %s at %s", verdict->fusion, place)
        : g_strdup_printf ("  not fused  %s at %s: %s", verdict->fusion, place, reason);
    print_wrapped (line);
  }
}

/* --- The table of the data ----------------------------------------------------------------- */

/* The rows of a list. */
enum { MAX_LISTED = 64 };

static char **
make_feature (JsonObject *feature)
{
  char **cells = g_new0 (char *, 4);
  cells[0] = g_strconcat ("  ", lig_json_get_string (feature, "name", ""), NULL);
  cells[1] = lig_runs_format_number (
    json_object_get_double_member_with_default (feature, "mean", (double) NAN));
  cells[2] = lig_runs_format_number (
    json_object_get_double_member_with_default (feature, "std", (double) NAN));
  return cells;
}

static void
print_features (JsonArray *features)
{
  static const char *const header[] = {"  feature", ">mean", ">std", NULL};
  g_autoptr (GPtrArray) rows = lig_runs_new_table ();
  guint count = json_array_get_length (features);
  for (guint i = 0; i < MIN (count, (guint) MAX_LISTED); i++)
    if (lig_json_get_element (features, i))
      g_ptr_array_add (rows, make_feature (lig_json_get_element (features, i)));
  lig_cli_print_table (header, rows);
  if (count > MAX_LISTED)
    lig_cli_print ("  %u more in --json", count - MAX_LISTED);
}

static void
print_classes (JsonArray *classes)
{
  g_autoptr (GString) list = g_string_new (NULL);
  guint count = json_array_get_length (classes);
  for (guint i = 0; i < MIN (count, (guint) MAX_LISTED); i++) {
    JsonNode *name = json_array_get_element (classes, i);
    if (JSON_NODE_HOLDS_VALUE (name) && json_node_get_string (name))
      g_string_append_printf (list, "%s%u %s", i > 0 ? ", " : "", i, json_node_get_string (name));
  }
  g_string_append (list, count > MAX_LISTED ? ", … in --json" : "");
  lig_cli_print ("  classes: %s", list->str);
}

void
lig_runs_print_table (JsonObject *inputs)
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
