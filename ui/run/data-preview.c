/* SPDX-License-Identifier: MIT */
/* Opens the data like a training run, on a thread; answers to outdated requests are dropped. */
#include "ui/run/data-preview.h"

#include "ui/session/task.h"

#include <ligature/dataset.h>
#include <ligature/run.h>

#include <glib/gi18n.h>

/* A delay, so that not every keystroke reads a file. */
#define DELAY_MS 250
#define ROWS 6

struct _LigDataPreview {
  GtkWidget parent_instance;
  GtkWidget *box, *spinner, *grid, *scrolled;
  GtkLabel *text;
  char *spec, *misfit;
  LigSequence *sequence;
  guint serial, timer;
  gboolean fine;
};

G_DEFINE_FINAL_TYPE (LigDataPreview, lig_data_preview, GTK_TYPE_WIDGET)

enum { ANSWERED, N_SIGNALS };
static guint signals[N_SIGNALS];

/* --- Reading ------------------------------------------------------------------------------- */

typedef struct {
  char *spec;
  LigSequence *sequence;
  guint serial;
} Request;

typedef struct {
  char *text, *misfit;
  GStrv cells;
  guint columns;
} Table;

static void
free_request (gpointer data)
{
  Request *request = data;
  g_free (request->spec);
  g_object_unref (request->sequence);
  g_free (request);
}

static void
free_table (gpointer data)
{
  Table *table = data;
  g_free (table->text);
  g_free (table->misfit);
  g_strfreev (table->cells);
  g_free (table);
}

/* Returns the reason why a run with these data would be rejected, or null. */
static char *
find_misfit (const Request *request, LigDataset *dataset)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  g_auto (GStrv) options = lig_dataset_split (request->spec, &path);
  const LigDatasetInfo *info = lig_dataset_info_of (request->spec);
  g_autofree char *name =
    path && *path ? g_filename_display_basename (path) : g_strdup (info ? info->name : "");
  return lig_run_check_data (request->sequence, dataset, name, &error) ? NULL
                                                                       : g_strdup (error->message);
}

static void
read_data (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *request = data;
  LigShape input = {0};
  LigDtype dtype = LIG_FP32;
  GError *error = NULL;
  lig_sequence_get_input (request->sequence, &input, &dtype);
  LigDataset *dataset =
    lig_dataset_open (request->spec, input.n_axes > 0 ? &input : NULL, dtype, 0, 0, &error);
  if (!dataset) {
    g_task_return_error (task, error);
    return;
  }
  Table *table = g_new0 (Table, 1);
  table->text = g_strdup (lig_dataset_describe (dataset));
  table->cells = lig_dataset_preview (dataset, ROWS, &table->columns);
  table->misfit = find_misfit (request, dataset);
  if (lig_dataset_get_warning (dataset)) {
    g_autofree char *facts = table->text;
    table->text = g_strdup_printf ("%s\n%s", facts, lig_dataset_get_warning (dataset));
  }
  lig_dataset_free (dataset);
  g_task_return_pointer (task, table, free_table);
}

/* --- Showing ------------------------------------------------------------------------------- */

static void
clear_grid (LigDataPreview *self)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (self->grid)))
    gtk_grid_remove (GTK_GRID (self->grid), child);
}

static void
fill_grid (LigDataPreview *self, const Table *table)
{
  guint count = g_strv_length (table->cells);
  for (guint i = 0; i < count && table->columns > 0; i++) {
    GtkWidget *label = gtk_label_new (table->cells[i]);
    guint column = i % table->columns;
    gboolean last = table->columns == 2 && column == 1;
    gtk_label_set_xalign (GTK_LABEL (label), last ? 0 : 1);
    gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars (GTK_LABEL (label), last ? 72 : 16);
    gtk_widget_add_css_class (label, i < table->columns ? "heading" : "numeric");
    gtk_widget_add_css_class (label, "caption");
    gtk_grid_attach (GTK_GRID (self->grid), label, (int) column, (int) (i / table->columns), 1, 1);
  }
}

static void
say (LigDataPreview *self, const char *text, gboolean error)
{
  gtk_label_set_text (self->text, text);
  (error ? gtk_widget_add_css_class : gtk_widget_remove_css_class) (GTK_WIDGET (self->text),
                                                                    "error");
}

static void
take_table (GObject *source, GAsyncResult *result, gpointer data)
{
  LigDataPreview *self = LIG_DATA_PREVIEW (source);
  const Request *request = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  Table *table = g_task_propagate_pointer (G_TASK (result), &error);
  if (request->serial == self->serial) {
    gtk_spinner_stop (GTK_SPINNER (self->spinner));
    clear_grid (self);
    if (table)
      fill_grid (self, table);
    self->fine = table != NULL;
    gtk_widget_set_visible (self->scrolled, self->fine);
    say (self, table ? table->text : error->message, !table);
    self->misfit = table ? g_steal_pointer (&table->misfit) : NULL;
    g_signal_emit (self, signals[ANSWERED], 0);
  }
  if (table)
    free_table (table);
}

static gboolean
begin_reading (gpointer data)
{
  LigDataPreview *self = data;
  Request *request = g_new0 (Request, 1);
  self->timer = 0;
  request->spec = g_strdup (self->spec);
  request->sequence = lig_sequence_copy (self->sequence);
  request->serial = self->serial;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_table, NULL);
  g_task_set_task_data (task, request, free_request);
  lig_task_run (task, read_data);
  return G_SOURCE_REMOVE;
}

void
lig_data_preview_show (LigDataPreview *self, const char *spec, LigSequence *sequence)
{
  self->serial++;
  self->fine = FALSE;
  g_clear_handle_id (&self->timer, g_source_remove);
  g_free (self->spec);
  self->spec = g_strdup (spec);
  g_set_object (&self->sequence, sequence);
  g_clear_pointer (&self->misfit, g_free);
  if (!spec) {
    gtk_spinner_stop (GTK_SPINNER (self->spinner));
    gtk_widget_set_visible (self->scrolled, FALSE);
    say (self, _ ("Choose a file to preview its data"), FALSE);
    g_signal_emit (self, signals[ANSWERED], 0);
    return;
  }
  say (self, _ ("Reading…"), FALSE);
  gtk_spinner_start (GTK_SPINNER (self->spinner));
  self->timer = g_timeout_add (DELAY_MS, begin_reading, self);
}

gboolean
lig_data_preview_is_fine (LigDataPreview *self)
{
  return self->fine;
}

const char *
lig_data_preview_get_misfit (LigDataPreview *self)
{
  return self->misfit;
}

const char *
lig_data_preview_get_text (LigDataPreview *self)
{
  return gtk_label_get_text (self->text);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_data_preview_dispose (GObject *object)
{
  LigDataPreview *self = LIG_DATA_PREVIEW (object);
  g_clear_handle_id (&self->timer, g_source_remove);
  self->serial++;
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_pointer (&self->spec, g_free);
  g_clear_pointer (&self->misfit, g_free);
  g_clear_object (&self->sequence);
  G_OBJECT_CLASS (lig_data_preview_parent_class)->dispose (object);
}

static void
lig_data_preview_class_init (LigDataPreviewClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_data_preview_dispose;
  signals[ANSWERED] = g_signal_new ("answered", LIG_TYPE_DATA_PREVIEW, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "datapreview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_data_preview_init (LigDataPreview *self)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  self->spinner = gtk_spinner_new ();
  self->text = g_object_new (GTK_TYPE_LABEL, "xalign", 0.0, "wrap", TRUE, "wrap-mode",
                             PANGO_WRAP_WORD_CHAR, "selectable", TRUE, "hexpand", TRUE,
                             "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS, NULL);
  self->grid = gtk_grid_new ();
  self->scrolled = gtk_scrolled_window_new ();
  gtk_grid_set_column_spacing (GTK_GRID (self->grid), 18);
  gtk_grid_set_row_spacing (GTK_GRID (self->grid), 6);
  g_object_set (self->grid, "margin-top", 12, "margin-bottom", 12, "margin-start", 12, "margin-end",
                12, NULL);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scrolled), self->grid);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->scrolled), GTK_POLICY_AUTOMATIC,
                                  GTK_POLICY_NEVER);
  gtk_widget_add_css_class (self->scrolled, "card");
  gtk_widget_set_visible (self->scrolled, FALSE);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->text));
  gtk_box_append (GTK_BOX (line), self->spinner);
  gtk_box_append (GTK_BOX (self->box), line);
  gtk_box_append (GTK_BOX (self->box), self->scrolled);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Preview of the data"), -1);
}

GtkWidget *
lig_data_preview_new (void)
{
  return g_object_new (LIG_TYPE_DATA_PREVIEW, NULL);
}
