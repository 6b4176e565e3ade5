/* SPDX-License-Identifier: MIT */
/* The table of groups. */
#include "ui/history/groups.h"

#include "ui/history/format.h"
#include "ui/history/group-names.h"
#include "ui/history/run-question.h"
#include "ui/session/setting-name.h"
#include "ui/session/task.h"
#include "ui/widgets/tooltip.h"
#include <ligature/csv.h>
#include <ligature/run.h>

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

/* --- Facts and settings to group by ------------------------------------------------------------
 */

static const char *const facts[] = {
  LIG_RUN_ALL_BUT_SEED, "sweep", "name", "device", "dtype", "policy", "recipe", "kind", "host"};

const char *
lig_history_grouping_nth (guint n)
{
  if (n < G_N_ELEMENTS (facts))
    return facts[n];
  n -= G_N_ELEMENTS (facts);
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    gboolean fact = strcmp (setting->name, "name") == 0 || strcmp (setting->name, "policy") == 0 ||
                    strcmp (setting->name, "dtype") == 0;
    if (!fact && n-- == 0)
      return setting->name;
  }
  return NULL;
}

char *
lig_history_grouping_title (const char *by)
{
  static const char *const titles[G_N_ELEMENTS (facts)] = {
    N_ ("repetition (same settings except the seed)"),
    N_ ("sweep"),
    N_ ("name"),
    N_ ("device"),
    N_ ("types"),
    N_ ("policy"),
    N_ ("recipe"),
    N_ ("kind"),
    N_ ("host")};
  const LigSetting *setting;
  for (guint i = 0; i < G_N_ELEMENTS (facts); i++)
    if (strcmp (by, facts[i]) == 0)
      return g_strdup (_ (titles[i]));
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (strcmp (by, setting->name) == 0) {
      g_autofree char *title = lig_setting_get_title (setting);
      g_autofree char *start = g_utf8_substring (title, 0, 1);
      g_autofree char *lower = g_utf8_strdown (start, -1);
      return g_strconcat (lower, title + strlen (start), NULL);
    }
  return g_strdup (by);
}

/* --- Items --------------------------------------------------------------------------------- */

#define LIG_TYPE_GROUP_ITEM (lig_group_item_get_type ())
G_DECLARE_FINAL_TYPE (LigGroupItem, lig_group_item, LIG, GROUP_ITEM, GObject)

struct _LigGroupItem {
  GObject parent_instance;
  GPtrArray *groups; /* the owner of the group */
  const LigRunGroup *group;
  char *name;
};

G_DEFINE_FINAL_TYPE (LigGroupItem, lig_group_item, G_TYPE_OBJECT)

static void
lig_group_item_finalize (GObject *object)
{
  LigGroupItem *self = LIG_GROUP_ITEM (object);
  g_ptr_array_unref (self->groups);
  g_free (self->name);
  G_OBJECT_CLASS (lig_group_item_parent_class)->finalize (object);
}

static void
lig_group_item_class_init (LigGroupItemClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_group_item_finalize;
}

static void
lig_group_item_init (LigGroupItem *self)
{
}

/* --- Columns ------------------------------------------------------------------------------- */

struct _LigHistoryGroups {
  AdwBin parent_instance;
  GtkColumnView *view;
  GtkLabel *error;
  GListStore *items;
  guint serial;
};

G_DEFINE_FINAL_TYPE (LigHistoryGroups, lig_history_groups, ADW_TYPE_BIN)

enum { OPENED, LOADED, N_SIGNALS };
static guint signals[N_SIGNALS];

typedef struct {
  const char *title;
  int width;
  gsize mean;    /* the offset in LigRunGroup; 0: the name, or the number of runs */
  gboolean best; /* the minimum instead of the mean */
} Column;

static const Column columns[] = {
  {N_ ("Group"), 320, 0, FALSE},
  {N_ ("Runs"), 80, 0, FALSE},
  {N_ ("Validation loss"), 170, G_STRUCT_OFFSET (LigRunGroup, eval_loss), FALSE},
  {N_ ("Best validation loss"), 130, G_STRUCT_OFFSET (LigRunGroup, eval_loss), TRUE},
  {N_ ("Loss"), 170, G_STRUCT_OFFSET (LigRunGroup, last_loss), FALSE},
  {N_ ("Accuracy"), 170, G_STRUCT_OFFSET (LigRunGroup, eval_accuracy), FALSE},
  {N_ ("Step, ms"), 170, G_STRUCT_OFFSET (LigRunGroup, step_ms), FALSE},
};

static const LigRunMean *
get_mean (const LigRunGroup *group, const Column *column)
{
  return &G_STRUCT_MEMBER (LigRunMean, group, column->mean);
}

static char *
get_text (const LigGroupItem *item, const Column *column)
{
  if (column->mean > 0)
    return column->best ? lig_history_number (get_mean (item->group, column)->min)
                        : lig_history_mean (get_mean (item->group, column));
  return column == &columns[0] ? g_strdup (item->name) : lig_history_count (item->group->runs);
}

static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const Column *column = data;
  const LigGroupItem *one = a, *other = b;
  if (column == &columns[0])
    return 0; /* the order of the values, in which the groups were read */
  double x = one->group->runs, y = other->group->runs;
  if (column->mean > 0) {
    x = column->best ? get_mean (one->group, column)->min : get_mean (one->group, column)->mean;
    y = column->best ? get_mean (other->group, column)->min : get_mean (other->group, column)->mean;
  }
  if (isnan (x) || isnan (y))
    return isnan (x) - isnan (y);
  return x < y ? -1 : x > y;
}

static void
set_up_cell (GtkSignalListItemFactory *factory, GtkListItem *item, const Column *column)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), column == &columns[0] ? 0 : 1);
  gtk_label_set_ellipsize (GTK_LABEL (label),
                           column == &columns[0] ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_NONE);
  if (column != &columns[0])
    gtk_widget_add_css_class (label, "numeric");
  gtk_list_item_set_child (item, label);
}

static void
bind_cell (GtkSignalListItemFactory *factory, GtkListItem *item, const Column *column)
{
  const LigGroupItem *group = gtk_list_item_get_item (item);
  GtkWidget *label = gtk_list_item_get_child (item);
  g_autofree char *text = get_text (group, column);
  g_autofree char *tip = NULL;
  if (column->mean > 0 && get_mean (group->group, column)->count > 1) {
    const LigRunMean *mean = get_mean (group->group, column);
    g_autofree char *min = lig_history_number (mean->min);
    g_autofree char *max = lig_history_number (mean->max);
    tip = g_strdup_printf (_ ("From %s to %s; ± standard deviation"), min, max);
  }
  gtk_label_set_text (GTK_LABEL (label), text);
  lig_tooltip_set (label, column == &columns[0] ? text : tip);
}

static void
add_column (LigHistoryGroups *self, const Column *column)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_signal_connect (factory, "setup", G_CALLBACK (set_up_cell), (gpointer) column);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_cell), (gpointer) column);
  g_autoptr (GtkColumnViewColumn) made = gtk_column_view_column_new (_ (column->title), factory);
  g_autoptr (GtkSorter) sorter =
    GTK_SORTER (gtk_custom_sorter_new (compare, (gpointer) column, NULL));
  gtk_column_view_column_set_sorter (made, sorter);
  gtk_column_view_column_set_resizable (made, TRUE);
  gtk_column_view_column_set_expand (made, column == &columns[0]);
  gtk_column_view_append_column (self->view, made);
}

/* Right-aligns the titles of numeric columns, like those of the list of runs. */
static void
align_titles (LigHistoryGroups *self)
{
  GtkWidget *header = gtk_widget_get_first_child (GTK_WIDGET (self->view));
  GtkWidget *title = header ? gtk_widget_get_first_child (header) : NULL;
  for (guint i = 0; title && i < G_N_ELEMENTS (columns); i++) {
    GtkWidget *box = gtk_widget_get_first_child (title);
    if (box && i > 0)
      gtk_widget_set_halign (box, GTK_ALIGN_END);
    title = gtk_widget_get_next_sibling (title);
  }
}

/* --- Reading ------------------------------------------------------------------------------- */

typedef struct {
  LigStore *store;
  LigRunFilter filter;
  char *by;
  guint serial;
  GPtrArray *groups;
  GStrv names;
} Question;

static void
free_question (gpointer data)
{
  Question *question = data;
  g_object_unref (question->store);
  lig_run_filter_clear (&question->filter);
  g_clear_pointer (&question->groups, g_ptr_array_unref);
  g_strfreev (question->names);
  g_free (question->by);
  g_free (question);
}

static void
read_groups (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Question *question = data;
  GError *error = NULL;
  question->groups =
    lig_store_group_runs (question->store, &question->filter, question->by, &error);
  if (question->groups)
    question->names =
      lig_history_name_groups (question->store, question->groups, question->by, &error);
  if (error)
    g_task_return_error (task, error);
  else
    g_task_return_boolean (task, TRUE);
}

static void
take_groups (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigHistoryGroups *self = LIG_HISTORY_GROUPS (source);
  Question *question = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  if (!g_task_propagate_boolean (G_TASK (result), &error) || question->serial != self->serial ||
      !self->items) {
    if (error && self->error)
      gtk_label_set_text (self->error, error->message);
    return;
  }
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < question->groups->len; i++) {
    LigGroupItem *item = g_object_new (LIG_TYPE_GROUP_ITEM, NULL);
    item->groups = g_ptr_array_ref (question->groups);
    item->group = question->groups->pdata[i];
    item->name = g_strdup (question->names[i]);
    g_ptr_array_add (items, item);
  }
  gtk_label_set_text (self->error, "");
  g_list_store_splice (self->items, 0, g_list_model_get_n_items (G_LIST_MODEL (self->items)),
                       items->pdata, items->len);
  g_signal_emit (self, signals[LOADED], 0);
}

void
lig_history_groups_show (LigHistoryGroups *self,
                         LigStore *store,
                         const LigRunFilter *filter,
                         const char *by)
{
  Question *question = g_new0 (Question, 1);
  question->store = g_object_ref (store);
  lig_run_filter_copy (filter, &question->filter);
  question->by = g_strdup (by);
  question->serial = ++self->serial;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_groups, NULL);
  g_task_set_task_data (task, question, free_question);
  lig_task_run (task, read_groups);
}

/* --- Copying ------------------------------------------------------------------------------- */

char *
lig_history_groups_to_csv (LigHistoryGroups *self)
{
  GString *text = g_string_new (NULL);
  for (guint c = 0; c < G_N_ELEMENTS (columns); c++) {
    g_string_append (text, c > 0 ? "," : "");
    lig_csv_append_text (text, _ (columns[c].title));
    if (columns[c].mean > 0 && !columns[c].best)
      g_string_append (text, ",±,n");
  }
  g_string_append_c (text, '\n');
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->items)); i++) {
    g_autoptr (LigGroupItem) item = g_list_model_get_item (G_LIST_MODEL (self->items), i);
    lig_csv_append_text (text, item->name);
    g_string_append_printf (text, ",%u", item->group->runs);
    for (guint c = 2; c < G_N_ELEMENTS (columns); c++) {
      const LigRunMean *mean = get_mean (item->group, &columns[c]);
      g_string_append_c (text, ',');
      lig_csv_append_number (text, columns[c].best ? mean->min : mean->mean);
      if (columns[c].best)
        continue;
      g_string_append_c (text, ',');
      lig_csv_append_number (text, mean->std);
      g_string_append_printf (text, ",%u", mean->count);
    }
    g_string_append_c (text, '\n');
  }
  return g_string_free (text, FALSE);
}

static void
copy (GtkWidget *widget, const char *action, GVariant *parameter)
{
  g_autofree char *text = lig_history_groups_to_csv (LIG_HISTORY_GROUPS (widget));
  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), text);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
open_group (LigHistoryGroups *self, guint position)
{
  GListModel *model = G_LIST_MODEL (gtk_column_view_get_model (self->view));
  g_autoptr (LigGroupItem) item = g_list_model_get_item (model, position);
  if (item)
    g_signal_emit (self, signals[OPENED], 0, item->group->value);
}

static void
lig_history_groups_dispose (GObject *object)
{
  LigHistoryGroups *self = LIG_HISTORY_GROUPS (object);
  g_clear_object (&self->items);
  self->error = NULL;
  G_OBJECT_CLASS (lig_history_groups_parent_class)->dispose (object);
}

static void
lig_history_groups_class_init (LigHistoryGroupsClass *class)
{
  GtkWidgetClass *widget = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_history_groups_dispose;
  signals[OPENED] = g_signal_new ("opened", LIG_TYPE_HISTORY_GROUPS, G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  signals[LOADED] = g_signal_new ("loaded", LIG_TYPE_HISTORY_GROUPS, G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_install_action (widget, "groups.copy-csv", NULL, copy);
  gtk_widget_class_add_binding_action (widget, GDK_KEY_c, GDK_CONTROL_MASK, "groups.copy-csv",
                                       NULL);
}

static void
lig_history_groups_init (LigHistoryGroups *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6),
            *scrolled = gtk_scrolled_window_new ();
  GtkWidget *foot = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *hint = gtk_label_new (_ ("Open a group to list its runs"));
  GtkWidget *button = gtk_button_new_with_mnemonic (_ ("_Copy as CSV"));
  self->items = g_list_store_new (LIG_TYPE_GROUP_ITEM);
  self->view = GTK_COLUMN_VIEW (gtk_column_view_new (NULL));
  self->error = GTK_LABEL (gtk_label_new (NULL));
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    add_column (self, &columns[i]);
  align_titles (self);
  GtkSorter *sorter = gtk_column_view_get_sorter (self->view);
  GListModel *sorted = G_LIST_MODEL (
    gtk_sort_list_model_new (g_object_ref (G_LIST_MODEL (self->items)), g_object_ref (sorter)));
  g_autoptr (GtkSingleSelection) selection = gtk_single_selection_new (sorted);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (selection));
  gtk_column_view_set_show_row_separators (self->view, TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->view), "data-table");
  gtk_widget_add_css_class (GTK_WIDGET (self->view), "history-groups");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Groups of runs"), -1);
  g_signal_connect_object (self->view, "activate", G_CALLBACK (open_group), self,
                           G_CONNECT_SWAPPED);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), GTK_WIDGET (self->view));
  gtk_widget_set_vexpand (scrolled, TRUE);
  gtk_widget_add_css_class (hint, "dim-label");
  gtk_widget_add_css_class (foot, "history-bar");
  gtk_widget_set_hexpand (GTK_WIDGET (self->error), TRUE);
  gtk_label_set_ellipsize (self->error, PANGO_ELLIPSIZE_END);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "groups.copy-csv");
  gtk_box_append (GTK_BOX (foot), hint);
  gtk_box_append (GTK_BOX (foot), GTK_WIDGET (self->error));
  gtk_box_append (GTK_BOX (foot), button);
  gtk_box_append (GTK_BOX (box), scrolled);
  gtk_box_append (GTK_BOX (box), foot);
  adw_bin_set_child (ADW_BIN (self), box);
}
