/* SPDX-License-Identifier: MIT */
/* Compares runs in a table. */
#include "ui/history/run-compare.h"

#include "ui/history/differences.h"
#include "ui/history/varying.h"
#include "ui/session/task.h"
#include "ui/widgets/figures.h"
#include <ligature/csv.h>

#include <glib/gi18n.h>
#include <string.h>

/* A line as an item of a list model; lines belong to the widget. */
#define LIG_TYPE_COMPARE_ITEM (lig_compare_item_get_type ())
G_DECLARE_FINAL_TYPE (LigCompareItem, lig_compare_item, LIG, COMPARE_ITEM, GObject)

struct _LigCompareItem {
  GObject parent_instance;
  GPtrArray *lines; /* owns the line */
  const LigLine *line;
};

G_DEFINE_FINAL_TYPE (LigCompareItem, lig_compare_item, G_TYPE_OBJECT)

static void
lig_compare_item_finalize (GObject *object)
{
  g_ptr_array_unref (LIG_COMPARE_ITEM (object)->lines);
  G_OBJECT_CLASS (lig_compare_item_parent_class)->finalize (object);
}

static void
lig_compare_item_class_init (LigCompareItemClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_compare_item_finalize;
}

static void
lig_compare_item_init (LigCompareItem *self)
{
}

struct _LigRunCompare {
  AdwBin parent_instance;
  GtkLabel *summary;
  GtkCheckButton *all;
  GtkColumnView *view;
  GListStore *shown;
  GPtrArray *lines;
  GPtrArray *runs;
  GStrv labels; /* of the runs */
  guint serial;
};

G_DEFINE_FINAL_TYPE (LigRunCompare, lig_run_compare, ADW_TYPE_BIN)

static guint loaded_signal;

/* --- The table ----------------------------------------------------------------------------- */

static void
fill (LigRunCompare *self)
{
  gboolean all = gtk_check_button_get_active (self->all);
  guint differing = 0;
  g_list_store_remove_all (self->shown);
  for (guint i = 0; self->lines && i < self->lines->len; i++) {
    LigLine *line = self->lines->pdata[i];
    differing += line->differs;
    if (!all && !line->differs)
      continue;
    g_autoptr (LigCompareItem) item = g_object_new (LIG_TYPE_COMPARE_ITEM, NULL);
    item->lines = g_ptr_array_ref (self->lines);
    item->line = line;
    g_list_store_append (self->shown, item);
  }
  if (!self->lines)
    return;
  g_autofree char *text =
    differing ? g_strdup_printf (ngettext ("%u difference between %u runs",
                                           "%u differences between %u runs", differing),
                                 differing, self->runs->len)
              : g_strdup (_ ("No differences were recorded between these runs"));
  gtk_label_set_text (self->summary, text);
}

/* Column 0 holds names, column N run N - 1. */
static char *
get_text (const LigLine *line, guint column)
{
  static const char *const kinds[] = {N_ ("Setting"), N_ ("Sequence"), N_ ("Last value")};
  if (column == 0) {
    gboolean prefixed = g_str_has_prefix (line->name, "settings.");
    return g_strdup_printf ("%s · %s", _ (kinds[line->kind]),
                            line->name + (prefixed ? strlen ("settings.") : 0));
  }
  g_autofree char *delta = lig_line_get_delta (line, column - 1);
  return delta ? g_strdup_printf ("%s  %s", line->cells[column - 1], delta)
               : g_strdup (line->cells[column - 1]);
}

/* Long values wrap, because truncated values cannot be compared. */
static void
set_up_cell (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  GtkWidget *text = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (text), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (text), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_width_chars (GTK_LABEL (text), 4);
  gtk_widget_set_valign (text, GTK_ALIGN_START);
  gtk_list_item_set_child (item, text);
}

static void
bind_cell (GtkSignalListItemFactory *factory, GtkListItem *item)
{
  static const char *const judged[] = {"history-worse", NULL, "history-better"};
  guint column = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (factory), "column"));
  const LigLine *line = LIG_COMPARE_ITEM (gtk_list_item_get_item (item))->line;
  GtkWidget *text = gtk_list_item_get_child (item);
  g_autofree char *content = get_text (line, column);
  const char *classes[] = {column > 0 ? "numeric" : "dim-label",
                           column > 0 ? judged[lig_line_judge (line, column - 1) + 1] : NULL, NULL};
  gtk_widget_set_css_classes (text, classes);
  gtk_label_set_text (GTK_LABEL (text), content);
  gtk_label_set_xalign (GTK_LABEL (text), column > 0 && line->numbers ? 1 : 0);
}

static void
add_column (LigRunCompare *self, guint column, const char *title)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_object_set_data (G_OBJECT (factory), "column", GUINT_TO_POINTER (column));
  g_signal_connect (factory, "setup", G_CALLBACK (set_up_cell), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_cell), NULL);
  g_autoptr (GtkColumnViewColumn) made = gtk_column_view_column_new (title, factory);
  gtk_column_view_column_set_resizable (made, TRUE);
  gtk_column_view_column_set_fixed_width (made, column ? 260 : 240);
  gtk_column_view_append_column (self->view, made);
}

static char *
get_title (LigRunCompare *self, guint run)
{
  return run == 0 ? g_strdup_printf (_ ("%s (baseline)"), self->labels[run])
                  : g_strdup (self->labels[run]);
}

/* Wraps the labels in a widget. */
static void
wrap_labels (GtkWidget *widget)
{
  if (GTK_IS_LABEL (widget)) {
    gtk_label_set_wrap (GTK_LABEL (widget), TRUE);
    gtk_label_set_wrap_mode (GTK_LABEL (widget), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_width_chars (GTK_LABEL (widget), 9);
    gtk_label_set_xalign (GTK_LABEL (widget), 0);
  }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    wrap_labels (child);
}

static void
make_columns (LigRunCompare *self)
{
  GListModel *columns = gtk_column_view_get_columns (self->view);
  while (g_list_model_get_n_items (columns)) {
    g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, 0);
    gtk_column_view_remove_column (self->view, column);
  }
  add_column (self, 0, _ ("What"));
  for (guint i = 0; i < self->runs->len; i++) {
    g_autofree char *title = get_title (self, i);
    add_column (self, i + 1, title);
  }
  /* GTK has no function for it: the heads are in the first child. */
  wrap_labels (gtk_widget_get_first_child (GTK_WIDGET (self->view)));
}

/* --- Reading ------------------------------------------------------------------------------- */

typedef struct {
  LigStore *store;
  GPtrArray *runs;
  guint serial;
} Question;

static void
free_question (gpointer data)
{
  Question *question = data;
  g_object_unref (question->store);
  g_ptr_array_unref (question->runs);
  g_free (question);
}

static void
compare (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Question *question = data;
  GError *error = NULL;
  GPtrArray *lines = lig_compare_runs (question->store, question->runs, &error);
  if (lines)
    g_task_return_pointer (task, lines, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (task, error);
}

static void
take_lines (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigRunCompare *self = LIG_RUN_COMPARE (source);
  Question *question = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) lines = g_task_propagate_pointer (G_TASK (result), &error);
  if (question->serial != self->serial || !self->shown)
    return;
  g_clear_pointer (&self->lines, g_ptr_array_unref);
  self->lines = g_steal_pointer (&lines);
  if (error)
    gtk_label_set_text (self->summary, error->message);
  fill (self);
  g_signal_emit (self, loaded_signal, 0);
}

void
lig_run_compare_show (LigRunCompare *self, LigStore *store, GPtrArray *runs)
{
  Question *question = g_new0 (Question, 1);
  question->store = g_object_ref (store);
  question->runs = g_ptr_array_ref (runs);
  question->serial = ++self->serial;
  g_clear_pointer (&self->runs, g_ptr_array_unref);
  g_clear_pointer (&self->lines, g_ptr_array_unref);
  self->runs = g_ptr_array_ref (runs);
  g_strfreev (self->labels);
  self->labels = lig_history_label_runs (runs);
  gtk_label_set_text (self->summary, _ ("Comparing…"));
  g_list_store_remove_all (self->shown);
  make_columns (self);
  g_autoptr (GTask) task = g_task_new (self, NULL, take_lines, NULL);
  g_task_set_task_data (task, question, free_question);
  lig_task_run (task, compare);
}

void
lig_run_compare_set_all (LigRunCompare *self, gboolean all)
{
  gtk_check_button_set_active (self->all, all);
}

/* --- Copying ------------------------------------------------------------------------------- */

static void
append_markdown (GString *to, const char *text)
{
  for (const char *c = text; *c; c++) {
    if (*c == '|' || *c == '\\')
      g_string_append_c (to, '\\');
    g_string_append_c (to, *c == '\n' ? ' ' : *c);
  }
}

char *
lig_run_compare_to_csv (LigRunCompare *self)
{
  GString *text = g_string_new (NULL);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->shown));
  lig_csv_append_text (text, _ ("What"));
  for (guint run = 0; self->runs && run < self->runs->len; run++) {
    g_autofree char *title = get_title (self, run);
    g_string_append_c (text, ',');
    lig_csv_append_text (text, title);
  }
  g_string_append_c (text, '\n');
  for (guint i = 0; i < n; i++) {
    g_autoptr (LigCompareItem) item = g_list_model_get_item (G_LIST_MODEL (self->shown), i);
    lig_csv_append_text (text, item->line->name);
    for (char **cell = item->line->cells; *cell; cell++) {
      g_string_append_c (text, ',');
      lig_csv_append_text (text, strcmp (*cell, "–") == 0 ? "" : *cell);
    }
    g_string_append_c (text, '\n');
  }
  return g_string_free (text, FALSE);
}

char *
lig_run_compare_to_markdown (LigRunCompare *self)
{
  GString *text = g_string_new ("|");
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->shown));
  guint columns = self->runs ? self->runs->len + 1 : 1;
  g_string_append_printf (text, " %s |", _ ("What"));
  for (guint run = 0; run + 1 < columns; run++) {
    g_autofree char *title = get_title (self, run);
    g_string_append_c (text, ' ');
    append_markdown (text, title);
    g_string_append (text, " |");
  }
  g_string_append (text, "\n|");
  for (guint i = 0; i < columns; i++)
    g_string_append (text, "---|");
  for (guint i = 0; i < n; i++) {
    g_autoptr (LigCompareItem) item = g_list_model_get_item (G_LIST_MODEL (self->shown), i);
    g_string_append (text, "\n|");
    for (guint column = 0; column < columns; column++) {
      g_autofree char *cell = get_text (item->line, column);
      g_string_append_c (text, ' ');
      append_markdown (text, cell);
      g_string_append (text, " |");
    }
  }
  return g_string_free (g_string_append_c (text, '\n'), FALSE);
}

static void
copy (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigRunCompare *self = LIG_RUN_COMPARE (widget);
  g_autofree char *text = g_str_has_suffix (action, "csv") ? lig_run_compare_to_csv (self)
                                                           : lig_run_compare_to_markdown (self);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), text);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_run_compare_dispose (GObject *object)
{
  LigRunCompare *self = LIG_RUN_COMPARE (object);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_RUN_COMPARE);
  g_clear_object (&self->shown);
  g_clear_pointer (&self->runs, g_ptr_array_unref);
  g_clear_pointer (&self->lines, g_ptr_array_unref);
  g_clear_pointer (&self->labels, g_strfreev);
  G_OBJECT_CLASS (lig_run_compare_parent_class)->dispose (object);
}

static void
lig_run_compare_class_init (LigRunCompareClass *class)
{
  GtkWidgetClass *widget = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_run_compare_dispose;
  gtk_widget_class_set_template_from_resource (widget,
                                               "/org/ligature/Ligature/ui/history/run-compare.ui");
  gtk_widget_class_bind_template_child (widget, LigRunCompare, summary);
  gtk_widget_class_bind_template_child (widget, LigRunCompare, all);
  gtk_widget_class_bind_template_child (widget, LigRunCompare, view);
  gtk_widget_class_install_action (widget, "compare.copy-csv", NULL, copy);
  gtk_widget_class_install_action (widget, "compare.copy-markdown", NULL, copy);
  loaded_signal = g_signal_new ("loaded", LIG_TYPE_RUN_COMPARE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
}

static void
lig_run_compare_init (LigRunCompare *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->shown = g_list_store_new (LIG_TYPE_COMPARE_ITEM);
  GtkSelectionModel *selection =
    GTK_SELECTION_MODEL (gtk_no_selection_new (g_object_ref (G_LIST_MODEL (self->shown))));
  gtk_column_view_set_model (self->view, selection);
  g_object_unref (selection);
  g_signal_connect_object (self->all, "toggled", G_CALLBACK (fill), self, G_CONNECT_SWAPPED);
}
