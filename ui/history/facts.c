/* SPDX-License-Identifier: MIT */
/* Tables of names and values. */
#include "ui/history/facts.h"

#include "ui/history/format.h"
#include "ui/widgets/figures.h"
#include <ligature/json.h>

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

static void
add_line (Table *self, const char *name, const char *value)
{
  if (!value || !*value)
    return;
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

static void
add_fusions (GtkBox *to, GPtrArray *fusions)
{
  Table table = {to, NULL, _ ("Fusions"), 0};
  gboolean fused = FALSE;
  for (guint i = 0; i < fusions->len; i++) {
    const LigFusionRow *fusion = fusions->pdata[i];
    if (!fusion->fusion)
      continue;
    g_autofree char *where = fusion->count > 1
                               ? g_strdup_printf (_ ("ops %d to %d"), fusion->first_op,
                                                  fusion->first_op + fusion->count - 1)
                               : g_strdup_printf (_ ("op %d"), fusion->first_op);
    g_autofree char *name = g_strdup_printf ("%s, %s", fusion->pass, where);
    add_line (&table, name, fusion->fusion);
    fused = TRUE;
  }
  if (fusions->len && !fused)
    add_line (&table, _ ("Forward and backward"), _ ("every op unfused"));
}

void
lig_history_facts_append (
  GtkBox *to, const LigRunRow *row, const char *inputs, GPtrArray *fusions, GPtrArray *artifacts)
{
  add_results (to, row);
  add_run (to, row, inputs);
  add_json (to, _ ("Settings"), row->settings);
  add_json (to, _ ("Versions"), row->versions);
  if (fusions)
    add_fusions (to, fusions);
  Table files = {to, NULL, _ ("Files"), 0};
  for (guint i = 0; artifacts && i < artifacts->len; i++) {
    const LigArtifactRow *artifact = artifacts->pdata[i];
    gboolean there = g_file_test (artifact->path, G_FILE_TEST_EXISTS);
    g_autofree char *gone = there ? NULL : g_strdup_printf (_ ("%s (missing)"), artifact->path);
    add_line (&files, artifact->kind, there ? artifact->path : gone);
  }
}
