/* SPDX-License-Identifier: MIT */
#include "ui/history/sweep-view.h"

#include "ui/history/sweep-table.h"
#include "ui/run/settings.h"
#include "ui/session/task.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/picture-view.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"
#include <ligature/draw-sweep.h>

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

struct _LigSweepView {
  AdwBin parent_instance;
  LigSession *session;
  LigSweeping *sweeping; /* null if this session does not run the sweep */
  LigSweep *sweep;       /* as it is shown */
  GtkLabel *title, *status;
  GtkProgressBar *bar;
  GtkButton *pause, *stop, *resume, *use;
  GtkDropDown *kind;
  LigPictureView *picture;
  LigSweepTable *table;
  char *wanted; /* the sweep that is read */
};

G_DEFINE_FINAL_TYPE (LigSweepView, lig_sweep_view, ADW_TYPE_BIN)

static void
lig_sweep_view_dispose (GObject *object)
{
  LigSweepView *self = LIG_SWEEP_VIEW (object);
  g_clear_object (&self->sweeping);
  g_clear_object (&self->sweep);
  g_clear_pointer (&self->wanted, g_free);
  G_OBJECT_CLASS (lig_sweep_view_parent_class)->dispose (object);
}

static guint use_signal;

/* The picture's own actions, which its context menu has, for the menu in the head. */
static void
save_picture (GtkWidget *widget, const char *action, GVariant *parameter)
{
  g_autofree char *name = g_strconcat ("picture.", action + strlen ("sweep."), NULL);
  gtk_widget_activate_action (GTK_WIDGET (LIG_SWEEP_VIEW (widget)->picture), name, NULL);
}

static void
lig_sweep_view_class_init (LigSweepViewClass *class)
{
  static const char *const actions[] = {"sweep.copy", "sweep.export-png", "sweep.export-svg",
                                        "sweep.export-pdf"};
  G_OBJECT_CLASS (class)->dispose = lig_sweep_view_dispose;
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    gtk_widget_class_install_action (GTK_WIDGET_CLASS (class), actions[i], NULL, save_picture);
  use_signal = g_signal_new ("use", LIG_TYPE_SWEEP_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                             G_TYPE_NONE, 1, G_TYPE_INT);
}

/* --- The picture --------------------------------------------------------------------------- */

static void
draw (LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data)
{
  lig_draw_sweep (canvas, colours, data, width, height);
}

static void
free_picture (gpointer data)
{
  LigSweepPicture *picture = data;
  g_object_unref (picture->sweep);
  g_free (picture);
}

/* Returns the point whose settings the button applies, -1 for none. */
static int
get_used (LigSweepView *self)
{
  int chosen = lig_sweep_table_get_chosen (self->table);
  return chosen >= 0 || !self->sweep ? chosen : lig_sweep_find_best (self->sweep);
}

static void
update_use (LigSweepView *self)
{
  int used = get_used (self);
  g_autofree char *settings =
    used >= 0 ? lig_sweep_describe_settings (self->sweep, (guint) used) : NULL;
  gboolean some = settings && *settings;
  g_autofree char *tip = some ? g_strdup_printf (_ ("Set %s in the sequence"), settings) : NULL;
  gtk_widget_set_sensitive (GTK_WIDGET (self->use), some);
  gtk_button_set_label (self->use, lig_sweep_table_get_chosen (self->table) >= 0
                                     ? _ ("_Use these settings")
                                     : _ ("_Use the best settings"));
  lig_tooltip_set (GTK_WIDGET (self->use), tip);
}

/* The first choice is parallel coordinates, the others are the axes. */
static void
update_picture (LigSweepView *self)
{
  guint choice = gtk_drop_down_get_selected (self->kind);
  if (!self->sweep)
    return;
  LigSweepPicture *picture = g_new (LigSweepPicture, 1);
  picture->sweep = g_object_ref (self->sweep);
  picture->axis = choice == GTK_INVALID_LIST_POSITION ? -1 : (int) choice - 1;
  picture->chosen = lig_sweep_table_get_chosen (self->table);
  lig_picture_view_set_picture (self->picture, draw, NULL, 260, picture, free_picture);
  update_use (self);
}

/* A sweep over one setting is a scatter plot, over several a parallel-coordinates plot. */
static void
update_kinds (LigSweepView *self)
{
  guint count;
  const LigSweepAxis *axes = lig_sweep_get_axes (self->sweep, &count);
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);
  gtk_string_list_append (titles, _ ("All settings"));
  for (guint i = 0; i < count; i++) {
    g_autofree char *title = g_strdup_printf (_ ("Loss over %s"), axes[i].key);
    gtk_string_list_append (titles, title);
  }
  gtk_drop_down_set_model (self->kind, G_LIST_MODEL (titles));
  gtk_drop_down_set_selected (self->kind, count == 1 ? 1 : 0);
}

/* --- The state ----------------------------------------------------------------------------- */

static char *
describe_active (LigSweepView *self, guint ended, guint count)
{
  double left = lig_sweeping_get_left (self->sweeping);
  int point = lig_sweeping_get_point (self->sweeping);
  g_autofree char *time = isfinite (left) ? lig_train_format_seconds (left) : NULL;
  g_autofree char *settings = point >= 0 && (guint) point < count
                                ? lig_sweep_describe_point (self->sweep, (guint) point)
                                : NULL;
  if (lig_sweeping_is_paused (self->sweeping))
    return g_strdup_printf (_ ("Paused · runs finished: %u of %u"), ended, count);
  if (!settings)
    return g_strdup_printf (_ ("Runs finished: %u of %u"), ended, count);
  if (!time)
    return g_strdup_printf (_ ("Runs finished: %u of %u · %s"), ended, count, settings);
  return g_strdup_printf (_ ("Runs finished: %u of %u · %s left · %s"), ended, count, time,
                          settings);
}

/* Returns the completed fraction of the current run. */
static double
get_share (LigSweepView *self)
{
  LigRunProgress progress;
  LigTraining *training = self->sweeping ? lig_sweeping_get_training (self->sweeping) : NULL;
  if (!training)
    return 0;
  lig_training_get_progress (training, &progress);
  return progress.steps > 0 ? (double) progress.step / (double) progress.steps : 0;
}

static void
update_state (LigSweepView *self)
{
  guint count;
  gboolean active = self->sweeping && lig_sweeping_is_active (self->sweeping);
  gboolean paused = active && lig_sweeping_is_paused (self->sweeping);
  const char *error = self->sweeping ? lig_sweeping_get_error (self->sweeping) : NULL;
  lig_sweep_get_points (self->sweep, &count);
  guint ended = lig_sweep_count_ended (self->sweep);
  g_autofree char *text = active  ? describe_active (self, ended, count)
                          : error ? lig_figure_sentence (error)
                                  : g_strdup_printf (_ ("Runs finished: %u of %u"), ended, count);
  g_autofree char *title =
    lig_session_append_ranks (lig_sweep_get_name (self->sweep), lig_sweep_get_ranks (self->sweep));
  gtk_label_set_text (self->title, title);
  gtk_label_set_text (self->status, text);
  gtk_progress_bar_set_fraction (self->bar, count > 0 ? (ended + get_share (self)) / count : 0);
  gtk_widget_set_visible (GTK_WIDGET (self->bar), ended < count);
  gtk_widget_set_visible (GTK_WIDGET (self->pause), active);
  gtk_widget_set_visible (GTK_WIDGET (self->stop), active);
  gtk_widget_set_visible (GTK_WIDGET (self->resume),
                          !active && ended < count && lig_sweep_get_uuid (self->sweep));
  gtk_button_set_label (self->pause, paused ? _ ("_Continue") : _ ("_Pause"));
}

static void
set_sweep (LigSweepView *self, LigSweep *sweep)
{
  gboolean other = !self->sweep || !sweep ||
                   g_strcmp0 (lig_sweep_get_uuid (self->sweep), lig_sweep_get_uuid (sweep)) != 0;
  if (!g_set_object (&self->sweep, sweep) || !sweep)
    return;
  if (other)
    update_kinds (self);
  lig_sweep_table_show (self->table, sweep);
  update_picture (self);
}

static void
sweeping_changed (LigSweepView *self)
{
  set_sweep (self, lig_sweeping_get_sweep (self->sweeping));
  update_state (self);
}

void
lig_sweep_view_follow (LigSweepView *self, LigSweeping *sweeping)
{
  if (self->sweeping)
    g_signal_handlers_disconnect_by_func (self->sweeping, sweeping_changed, self);
  g_set_object (&self->sweeping, sweeping);
  g_clear_pointer (&self->wanted, g_free);
  if (!sweeping)
    return;
  g_signal_connect_object (sweeping, "changed", G_CALLBACK (sweeping_changed), self,
                           G_CONNECT_SWAPPED);
  sweeping_changed (self);
}

/* --- Reading ------------------------------------------------------------------------------- */

static void
read_sweep (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  LigStore *store = g_object_get_data (G_OBJECT (task), "store");
  LigSweep *sweep = lig_sweep_open (store, data, &error);
  if (sweep)
    g_task_return_pointer (task, sweep, g_object_unref);
  else
    g_task_return_error (task, error);
}

static void
take_sweep (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigSweepView *self = LIG_SWEEP_VIEW (source);
  GError *error = NULL;
  g_autoptr (LigSweep) sweep = g_task_propagate_pointer (G_TASK (result), &error);
  if (g_strcmp0 (self->wanted, g_task_get_task_data (G_TASK (result))) != 0) {
    g_clear_error (&error);
    return;
  }
  if (!sweep) {
    lig_toast_error (GTK_WIDGET (self), error);
    return;
  }
  set_sweep (self, sweep);
  update_state (self);
}

void
lig_sweep_view_open (LigSweepView *self, const char *sweep)
{
  LigSweeping *found = lig_sweeping_find (self->session, sweep);
  LigStore *store = lig_session_get_store (self->session);
  lig_sweep_view_follow (self, found);
  if (found || !store)
    return;
  self->wanted = g_strdup (sweep);
  g_autoptr (GTask) task = g_task_new (self, NULL, take_sweep, NULL);
  g_object_set_data_full (G_OBJECT (task), "store", g_object_ref (store), g_object_unref);
  g_task_set_task_data (task, g_strdup (sweep), g_free);
  lig_task_run (task, read_sweep);
}

LigSweep *
lig_sweep_view_get_sweep (LigSweepView *self)
{
  return self->sweep;
}

/* --- Buttons ------------------------------------------------------------------------------- */

static void
pause_clicked (LigSweepView *self)
{
  lig_sweeping_set_paused (self->sweeping, !lig_sweeping_is_paused (self->sweeping));
}

static void
stop_clicked (LigSweepView *self)
{
  lig_sweeping_stop (self->sweeping);
}

static void
resume_clicked (LigSweepView *self)
{
  if (self->sweep && lig_session_get_store (self->session))
    lig_sweep_view_follow (self, lig_sweeping_start (self->session, g_object_ref (self->sweep)));
}

static void
use_clicked (LigSweepView *self)
{
  g_signal_emit (self, use_signal, 0, get_used (self));
}

/* --- Construction -------------------------------------------------------------------------- */

static GtkButton *
add_button (LigSweepView *self, GtkWidget *to, const char *label, GCallback clicked)
{
  GtkWidget *button = gtk_button_new_with_mnemonic (label);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  g_signal_connect_object (button, "clicked", clicked, self, G_CONNECT_SWAPPED);
  gtk_box_append (GTK_BOX (to), button);
  return GTK_BUTTON (button);
}

static GtkWidget *
make_texts (LigSweepView *self)
{
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->title = GTK_LABEL (gtk_label_new (NULL));
  self->status =
    GTK_LABEL (g_object_new (GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS, NULL));
  gtk_widget_add_css_class (GTK_WIDGET (self->title), "heading");
  gtk_widget_add_css_class (GTK_WIDGET (self->status), "dim-label");
  gtk_widget_add_css_class (GTK_WIDGET (self->status), "numeric");
  GtkLabel *const labels[] = {self->title, self->status};
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++) {
    gtk_label_set_xalign (labels[i], 0);
    gtk_label_set_ellipsize (labels[i], PANGO_ELLIPSIZE_END);
    gtk_box_append (GTK_BOX (texts), GTK_WIDGET (labels[i]));
  }
  gtk_widget_set_hexpand (texts, TRUE);
  return texts;
}

static GtkWidget *
make_menu (void)
{
  static const char *const items[][2] = {{N_ ("_Copy picture"), "sweep.copy"},
                                         {N_ ("Save as _PNG…"), "sweep.export-png"},
                                         {N_ ("Save as _SVG…"), "sweep.export-svg"},
                                         {N_ ("Save as P_DF…"), "sweep.export-pdf"}};
  g_autoptr (GMenu) menu = g_menu_new (), pictures = g_menu_new (), report = g_menu_new ();
  for (guint i = 0; i < G_N_ELEMENTS (items); i++)
    g_menu_append (pictures, _ (items[i][0]), items[i][1]);
  g_menu_append (report, _ ("_Export a report…"), "win.export");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (pictures));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (report));
  GtkWidget *button = gtk_menu_button_new ();
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (button), "document-save-symbolic");
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), G_MENU_MODEL (menu));
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  lig_tooltip_set (button, _ ("Save the picture or a report"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Save the picture or a report"), -1);
  return button;
}

static GtkWidget *
make_head (LigSweepView *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *back = gtk_button_new_from_icon_name ("go-previous-symbolic");
  gtk_widget_set_valign (back, GTK_ALIGN_CENTER);
  lig_tooltip_set (back, _ ("Back to all runs (Escape)"));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (back), "history.back");
  gtk_accessible_update_property (GTK_ACCESSIBLE (back), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Back to all runs"), -1);
  gtk_widget_add_css_class (head, "history-bar");
  gtk_box_append (GTK_BOX (head), back);
  gtk_box_append (GTK_BOX (head), make_texts (self));
  self->kind = GTK_DROP_DOWN (gtk_drop_down_new (NULL, NULL));
  gtk_widget_set_valign (GTK_WIDGET (self->kind), GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->kind), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Chart type"), -1);
  g_signal_connect_object (self->kind, "notify::selected", G_CALLBACK (update_picture), self,
                           G_CONNECT_SWAPPED);
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (self->kind));
  gtk_box_append (GTK_BOX (head), make_menu ());
  self->use = add_button (self, head, _ ("_Use the best settings"), G_CALLBACK (use_clicked));
  self->pause = add_button (self, head, _ ("_Pause"), G_CALLBACK (pause_clicked));
  self->stop = add_button (self, head, _ ("_Stop"), G_CALLBACK (stop_clicked));
  self->resume = add_button (self, head, _ ("_Continue"), G_CALLBACK (resume_clicked));
  gtk_widget_add_css_class (GTK_WIDGET (self->resume), "suggested-action");
  return head;
}

static void
lig_sweep_view_init (LigSweepView *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *paned = gtk_paned_new (GTK_ORIENTATION_VERTICAL);
  GtkWidget *head = make_head (self);
  self->bar = GTK_PROGRESS_BAR (gtk_progress_bar_new ());
  self->picture =
    LIG_PICTURE_VIEW (lig_picture_view_new (_ ("Settings and losses of the runs"), "sweep"));
  self->table = LIG_SWEEP_TABLE (lig_sweep_table_new ());
  gtk_widget_add_css_class (GTK_WIDGET (self->bar), "osd");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->bar), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Progress of the sweep"), -1);
  g_signal_connect_object (self->table, "chosen", G_CALLBACK (update_picture), self,
                           G_CONNECT_SWAPPED);
  gtk_widget_set_size_request (GTK_WIDGET (self->picture), -1, 180);
  gtk_widget_set_size_request (GTK_WIDGET (self->table), -1, 110);
  gtk_paned_set_start_child (GTK_PANED (paned), GTK_WIDGET (self->picture));
  gtk_paned_set_end_child (GTK_PANED (paned), GTK_WIDGET (self->table));
  gtk_paned_set_shrink_start_child (GTK_PANED (paned), FALSE);
  gtk_paned_set_shrink_end_child (GTK_PANED (paned), FALSE);
  gtk_widget_set_vexpand (paned, TRUE);
  gtk_box_append (GTK_BOX (box), head);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->bar));
  gtk_box_append (GTK_BOX (box), paned);
  adw_bin_set_child (ADW_BIN (self), box);
}

GtkWidget *
lig_sweep_view_new (LigSession *session)
{
  LigSweepView *self = g_object_new (LIG_TYPE_SWEEP_VIEW, NULL);
  self->session = session;
  return GTK_WIDGET (self);
}
