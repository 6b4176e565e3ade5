/* SPDX-License-Identifier: MIT */
/* Tables of names and values. */
#include "ui/history/facts.h"

#include "ui/history/format.h"
#include "ui/widgets/figures.h"
#include <ligature/compile.h>
#include <ligature/device.h>
#include <ligature/json.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>
#include <ligature/sequence.h>

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

typedef struct {
  GtkBox *to;
  GtkGrid *grid; /* made with the first line */
  const char *title;
  int lines;
} Table;

/* Returns the label of the name; null without a value. */
static GtkWidget *
add_line (Table *self, const char *name, const char *value)
{
  if (!value || !*value)
    return NULL;
  if (!self->grid) {
    GtkWidget *heading = gtk_label_new (self->title);
    gtk_widget_add_css_class (heading, "heading");
    gtk_label_set_xalign (GTK_LABEL (heading), 0);
    gtk_box_append (self->to, heading);
    self->grid = GTK_GRID (gtk_grid_new ());
    gtk_grid_set_column_spacing (self->grid, 12);
    gtk_grid_set_row_spacing (self->grid, 6);
    gtk_box_append (self->to, GTK_WIDGET (self->grid));
  }
  g_autofree char *short_name = lig_figure_excerpt (name), *excerpt = lig_figure_excerpt (value);
  GtkWidget *label = gtk_label_new (short_name), *text = gtk_label_new (excerpt);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_yalign (GTK_LABEL (label), 0);
  gtk_label_set_xalign (GTK_LABEL (text), 1);
  gtk_label_set_wrap (GTK_LABEL (text), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (text), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable (GTK_LABEL (text), TRUE);
  gtk_widget_set_focusable (text, FALSE);
  gtk_widget_set_hexpand (text, TRUE);
  gtk_widget_add_css_class (text, "numeric");
  gtk_accessible_update_relation (GTK_ACCESSIBLE (text), GTK_ACCESSIBLE_RELATION_LABELLED_BY, label,
                                  NULL, -1);
  gtk_grid_attach (self->grid, label, 0, self->lines, 1, 1);
  gtk_grid_attach (self->grid, text, 1, self->lines++, 1, 1);
  return label;
}

static void
add_number (Table *self, const char *name, double value)
{
  g_autofree char *text = isnan (value) ? NULL : lig_history_number (value);
  add_line (self, name, text);
}

static void
add_json (GtkBox *to, const char *title, const char *json)
{
  Table table = {to, NULL, title, 0};
  g_autoptr (JsonNode) root = *json ? lig_json_from_text (json, NULL) : NULL;
  if (!root || !JSON_NODE_HOLDS_OBJECT (root)) {
    add_line (&table, title, json);
    return;
  }
  JsonObject *object = json_node_get_object (root);
  g_autoptr (GList) members = json_object_get_members (object);
  for (GList *m = members; m; m = m->next) {
    JsonNode *value = json_object_get_member (object, m->data);
    g_autoptr (GString) text = g_string_new (NULL);
    if (JSON_NODE_HOLDS_VALUE (value) && json_node_get_value_type (value) == G_TYPE_STRING)
      g_string_append (text, json_node_get_string (value));
    else
      lig_json_append (text, value);
    add_line (&table, m->data, text->str);
  }
}

static void
add_results (GtkBox *to, const LigRunRow *row)
{
  Table table = {to, NULL, _ ("Results"), 0};
  g_autofree char *steps = row->last_step < 0 ? NULL : lig_history_count (row->last_step);
  add_number (&table, _ ("First loss"), row->first_loss);
  add_number (&table, _ ("Last loss"), row->last_loss);
  add_number (&table, _ ("Validation loss"), row->eval_loss);
  add_number (&table, _ ("Validation accuracy"), row->eval_accuracy);
  add_line (&table, _ ("Last step"), steps);
  g_autofree char *step = lig_figure_time (row->step_ms / 1e3);
  add_line (&table, _ ("Median step"), step);
}

/* Returns the number of processes that trained, null for one. */
static char *
read_ranks (const char *inputs)
{
  g_autoptr (JsonNode) root = inputs ? lig_json_from_text (inputs, NULL) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  gint64 ranks = object ? lig_json_get_int (object, "ranks", 1) : 1;
  const char *parallel = object ? lig_json_get_string (object, "parallel", NULL) : NULL;
  g_autofree char *count = lig_history_count (ranks);
  return ranks < 2  ? NULL
         : parallel ? g_strdup_printf ("%s, %s", count, parallel)
                    : g_steal_pointer (&count);
}

static void
add_run (GtkBox *to, const LigRunRow *row, const char *inputs)
{
  Table table = {to, NULL, _ ("Run"), 0};
  g_autofree char *started = lig_history_moment (row->started);
  g_autofree char *ended = row->ended ? lig_history_moment (row->ended) : NULL;
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, row->seed);
  add_line (&table, _ ("Kind"), lig_history_kind_word (row->kind));
  g_autofree char *device = lig_history_device (row);
  add_line (&table, _ ("Device"), device);
  g_autofree char *ranks = read_ranks (inputs);
  add_line (&table, _ ("Ranks"), ranks);
  add_line (&table, _ ("Types"), row->dtype);
  add_line (&table, _ ("Recipe"), row->recipe);
  add_line (&table, _ ("Policy"), row->policy);
  add_line (&table, _ ("Seed"), seed);
  add_line (&table, _ ("Started"), started);
  add_line (&table, _ ("Ended"), ended);
  add_line (&table, _ ("Host"), row->host);
  add_line (&table, _ ("Revision"), row->revision);
  add_line (&table, _ ("Run"), row->uuid);
}

/* --- Fusions ------------------------------------------------------------------------------- */

static const char *
name_op (const LigPlanOp *op)
{
  const char *part = lig_plan_op_get_part (op);
  return part ? part : _ (op->info->title);
}

/* Returns the rows of a fusion by their names, `fc1 to GELU at 2.0.0`; without a plan, by their
 * numbers. */
static char *
name_rows (LigPlan *plan, const LigFusionRow *fusion)
{
  guint n = 0;
  const LigPlanOp *ops = plan ? lig_plan_get_ops (plan, &n) : NULL;
  int first = fusion->first_op, last = first + MAX (fusion->count, 1) - 1;
  if (first < 0 || last < first || (guint) last >= n)
    return fusion->count > 1 ? g_strdup_printf (_ ("ops %d to %d"), first, last)
                             : g_strdup_printf (_ ("op %d"), first);
  const char *one = name_op (&ops[first]), *other = name_op (&ops[last]);
  const char *at = ops[first].path, *end = ops[last].path;
  if (!g_str_equal (at, end))
    return g_strdup_printf (_ ("%s at %s to %s at %s"), one, at, other, end);
  /* Translators: an op and its place: Linear at 3. */
  return g_str_equal (one, other) ? g_strdup_printf (_ ("%s at %s"), one, at)
                                  : g_strdup_printf (_ ("%s to %s at %s"), one, other, at);
}

static void
add_fusions (GtkBox *to, GPtrArray *fusions, LigPlan *plan)
{
  Table table = {to, NULL, _ ("Fusions"), 0};
  gboolean fused = FALSE;
  for (guint i = 0; i < fusions->len; i++) {
    const LigFusionRow *fusion = fusions->pdata[i];
    if (!fusion->fusion)
      continue;
    g_autofree char *rows = name_rows (plan, fusion);
    GtkWidget *label = add_line (&table, rows, fusion->fusion);
    gtk_label_set_wrap (GTK_LABEL (label), TRUE);
    gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_width_chars (GTK_LABEL (label), 14);
    fused = TRUE;
  }
  if (fusions->len && !fused)
    add_line (&table, _ ("Forward and backward"), _ ("every op unfused"));
}

LigPlan *
lig_history_facts_compile (const LigRunRow *row)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (row->sequence, -1, NULL, NULL);
  g_autoptr (LigDevice) device = lig_device_open ("null", NULL);
  return sequence && device ? lig_plan_compile (sequence, device, &options, NULL) : NULL;
}

void
lig_history_facts_append (GtkBox *to,
                          const LigRunRow *row,
                          const char *inputs,
                          GPtrArray *fusions,
                          LigPlan *plan,
                          GPtrArray *artifacts)
{
  add_results (to, row);
  add_run (to, row, inputs);
  add_json (to, _ ("Settings"), row->settings);
  add_json (to, _ ("Versions"), row->versions);
  if (fusions)
    add_fusions (to, fusions, plan);
  Table files = {to, NULL, _ ("Files"), 0};
  for (guint i = 0; artifacts && i < artifacts->len; i++) {
    const LigArtifactRow *artifact = artifacts->pdata[i];
    gboolean there = g_file_test (artifact->path, G_FILE_TEST_EXISTS);
    g_autofree char *gone = there ? NULL : g_strdup_printf (_ ("%s (missing)"), artifact->path);
    add_line (&files, artifact->kind, there ? artifact->path : gone);
  }
}
