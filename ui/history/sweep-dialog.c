/* SPDX-License-Identifier: MIT */
/* The sweep is rebuilt after each change, so that errors and the number of runs appear
 * immediately. */
#include "ui/history/sweep-dialog.h"

#include "ui/document/ranks.h"
#include "ui/history/sweep-setting-row.h"
#include "ui/run/settings.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include <ligature/plan.h>
#include <ligature/sequence.h>

#include <glib/gi18n.h>
#include <math.h>

/* The maximum number of runs that are each checked while the user types. */
#define CHECKED_RUNS 200

struct _LigSweepDialog {
  AdwWindow parent_instance;
  LigDocument *doc;
  GtkBox *rows;
  GtkCheckButton *zip;
  GtkLabel *summary;
  GtkWidget *start, *add;
};

G_DEFINE_FINAL_TYPE (LigSweepDialog, lig_sweep_dialog, ADW_TYPE_WINDOW)

static guint started;

static void
lig_sweep_dialog_finalize (GObject *object)
{
  g_clear_object (&LIG_SWEEP_DIALOG (object)->doc);
  G_OBJECT_CLASS (lig_sweep_dialog_parent_class)->finalize (object);
}

static void
lig_sweep_dialog_class_init (LigSweepDialogClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_sweep_dialog_finalize;
  started = g_signal_new ("start", LIG_TYPE_SWEEP_DIALOG, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                          G_TYPE_NONE, 1, LIG_TYPE_SWEEP);
  gtk_widget_class_add_binding_action (GTK_WIDGET_CLASS (class), GDK_KEY_Escape, 0, "window.close",
                                       NULL);
}

/* --- The sweep ----------------------------------------------------------------------------- */

/* Returns a sweep of the document, whose points are trained on as many ranks as the document. */
static LigSweep *
new_sweep (LigDocument *doc)
{
  g_auto (LigRunSettings) settings;
  LigLayout layout = lig_ranks_choose_layout (doc);
  g_autofree char *parallel = lig_layout_to_string (&layout);
  lig_train_read (doc, &settings, NULL);
  LigSweep *sweep =
    lig_sweep_new (lig_document_get_sequence (doc), lig_document_get_device (doc), &settings, NULL);
  lig_sweep_set_ranks (sweep, lig_layout_size (&layout, LIG_GROUP_ALL), parallel);
  return sweep;
}

/* Returns the sweep of the valid rows; sets whether all are valid, and the number of runs. */
static LigSweep *
make_sweep (LigSweepDialog *self, gboolean *valid, guint64 *count)
{
  gboolean zip = gtk_check_button_get_active (self->zip);
  guint used = 0, n;
  LigSweep *sweep = new_sweep (self->doc);
  *valid = TRUE;
  *count = 1;
  GtkWidget *row = gtk_widget_get_first_child (GTK_WIDGET (self->rows));
  for (; row; row = gtk_widget_get_next_sibling (row)) {
    g_autoptr (GError) error = NULL;
    g_autofree char *setting = lig_sweep_setting_row_get_setting (LIG_SWEEP_SETTING_ROW (row));
    if (setting && lig_sweep_add (sweep, setting, zip, &error)) {
      const LigSweepAxis *axes = lig_sweep_get_axes (sweep, &n);
      guint length = g_strv_length (axes[n - 1].values);
      *count = axes[n - 1].with == n - 1 ? MIN (*count * length, G_MAXUINT32) : *count;
      used++;
    }
    *valid = *valid && !error;
    g_autofree char *sentence = error ? lig_figure_sentence (error->message) : NULL;
    lig_sweep_setting_row_set_error (LIG_SWEEP_SETTING_ROW (row), sentence);
  }
  *valid = *valid && used > 0;
  return sweep;
}

/* Returns the predicted step time of the document in seconds, or that of its last run; NaN if both
 * are unknown. */
static double
get_step_seconds (LigDocument *doc)
{
  LigRunProgress progress;
  guint count;
  double seconds = 0;
  LigTraining *training = lig_train_get_current (doc);
  if (training) {
    lig_training_get_progress (training, &progress);
    if (isfinite (progress.step_seconds))
      return progress.step_seconds;
  }
  LigPlan *plan = lig_document_get_plan (doc);
  const LigPlanStep *steps = plan ? lig_plan_get_steps (plan, &count) : NULL;
  for (guint i = 0; steps && i < count; i++)
    seconds += steps[i].predicted;
  return seconds > 0 ? seconds : NAN;
}

/* Returns `12 runs · 2 ranks · ≈ 40 s`. */
static char *
describe (LigSweepDialog *self, guint64 count)
{
  g_auto (LigRunSettings) settings;
  lig_train_read (self->doc, &settings, NULL);
  double seconds = get_step_seconds (self->doc) * (double) settings.steps * (double) count;
  g_autofree char *trainings =
    g_strdup_printf (ngettext ("%u run", "%u runs", (gulong) count), (guint) count);
  g_autofree char *runs = lig_session_append_ranks (trainings, lig_ranks_get (self->doc));
  if (!isfinite (seconds))
    return g_steal_pointer (&runs);
  g_autofree char *time = lig_train_format_seconds (seconds);
  return g_strdup_printf (_ ("%s · ≈ %s"), runs, time);
}

static void
update (LigSweepDialog *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *obstacle = NULL;
  gboolean valid;
  guint64 count;
  g_autoptr (LigSweep) sweep = make_sweep (self, &valid, &count);
  gboolean possible = lig_train_find_obstacle (self->doc, &obstacle) == LIG_TRAIN_POSSIBLE;
  if (valid && count > LIG_SWEEP_MAX)
    g_set_error (&error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("A sweep has at most %d; give fewer values"), LIG_SWEEP_MAX);
  else if (valid && count <= CHECKED_RUNS)
    lig_sweep_check (sweep, &error);
  g_autofree char *problem = error ? lig_figure_sentence (error->message) : NULL;
  g_autofree char *text = describe (self, count);
  gboolean fine = possible && valid && !error;
  gtk_label_set_text (self->summary, !possible && obstacle ? obstacle : problem ? problem : text);
  (fine ? gtk_widget_remove_css_class : gtk_widget_add_css_class) (GTK_WIDGET (self->summary),
                                                                   "warning");
  gtk_widget_set_sensitive (self->start, fine);
}

static void
start (LigSweepDialog *self)
{
  gboolean valid;
  guint64 count;
  g_autoptr (LigSweep) sweep = make_sweep (self, &valid, &count);
  if (!valid || count > LIG_SWEEP_MAX)
    return;
  g_signal_emit (self, started, 0, sweep);
  gtk_window_close (GTK_WINDOW (self));
}

/* --- Lines --------------------------------------------------------------------------------- */

static void
remove_row (LigSweepDialog *self, GtkWidget *row)
{
  gtk_box_remove (self->rows, row);
  update (self);
  gtk_widget_grab_focus (self->add);
}

static GtkWidget *
add_row (LigSweepDialog *self, const char *key, const char *values)
{
  GtkWidget *row = lig_sweep_setting_row_new (self->doc, key, values);
  g_signal_connect_object (row, "changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (row, "removed", G_CALLBACK (remove_row), self, G_CONNECT_SWAPPED);
  gtk_box_append (self->rows, row);
  return row;
}

static void
add_clicked (LigSweepDialog *self)
{
  GtkWidget *row = add_row (self, "batch", "");
  gtk_widget_child_focus (row, GTK_DIR_TAB_FORWARD);
  update (self);
}

/* Proposes learning rates around the document's, and several seeds for the spread. */
static void
add_proposals (LigSweepDialog *self)
{
  g_auto (LigRunSettings) settings;
  lig_train_read (self->doc, &settings, NULL);
  double lr = settings.lr > 0 ? settings.lr : 1e-3;
  g_autofree char *rates = g_strdup_printf ("%g, %g, %g", lr * 10, lr, lr / 10);
  add_row (self, "lr", rates);
  add_row (self, "seed", "1..3");
}

/* --- Construction -------------------------------------------------------------------------- */

static GtkWidget *
make_header (LigSweepDialog *self)
{
  GtkWidget *header = adw_header_bar_new ();
  GtkWidget *cancel = gtk_button_new_with_mnemonic (_ ("_Cancel"));
  self->start = gtk_button_new_with_mnemonic (_ ("_Start"));
  gtk_widget_add_css_class (self->start, "suggested-action");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (cancel), "window.close");
  g_signal_connect_object (self->start, "clicked", G_CALLBACK (start), self, G_CONNECT_SWAPPED);
  adw_header_bar_set_show_end_title_buttons (ADW_HEADER_BAR (header), FALSE);
  adw_header_bar_set_show_start_title_buttons (ADW_HEADER_BAR (header), FALSE);
  adw_header_bar_pack_start (ADW_HEADER_BAR (header), cancel);
  adw_header_bar_pack_end (ADW_HEADER_BAR (header), self->start);
  return header;
}

static GtkWidget *
make_content (LigSweepDialog *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkWidget *help =
    gtk_label_new (_ ("Trains once per combination of these values, sequentially. Runs that differ "
                      "only in the seed are summarized by mean and spread."));
  gtk_label_set_wrap (GTK_LABEL (help), TRUE);
  gtk_label_set_xalign (GTK_LABEL (help), 0);
  gtk_widget_add_css_class (help, "dim-label");
  self->rows = GTK_BOX (gtk_box_new (GTK_ORIENTATION_VERTICAL, 6));
  self->add = gtk_button_new_with_mnemonic (_ ("_Add a setting"));
  self->zip =
    GTK_CHECK_BUTTON (gtk_check_button_new_with_mnemonic (_ ("_Zip the lists: first with first")));
  self->summary = GTK_LABEL (gtk_label_new (NULL));
  gtk_widget_set_halign (self->add, GTK_ALIGN_START);
  lig_tooltip_set (GTK_WIDGET (self->zip),
                   _ ("The first run uses the first value of each list, the second the second, "
                      "instead of every combination"));
  gtk_label_set_wrap (self->summary, TRUE);
  gtk_label_set_xalign (self->summary, 0);
  gtk_widget_add_css_class (GTK_WIDGET (self->summary), "heading");
  g_signal_connect_object (self->add, "clicked", G_CALLBACK (add_clicked), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->zip, "toggled", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  GtkWidget *const parts[] = {help, GTK_WIDGET (self->rows), self->add, GTK_WIDGET (self->zip),
                              GTK_WIDGET (self->summary)};
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    gtk_box_append (GTK_BOX (box), parts[i]);
  g_object_set (box, "margin-top", 18, "margin-bottom", 18, "margin-start", 18, "margin-end", 18,
                NULL);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), box);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_widget_set_vexpand (scrolled, TRUE);
  return scrolled;
}

static void
lig_sweep_dialog_init (LigSweepDialog *self)
{
  GtkWidget *all = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_window_set_title (GTK_WINDOW (self), _ ("New sweep"));
  gtk_window_set_modal (GTK_WINDOW (self), TRUE);
  gtk_window_set_default_size (GTK_WINDOW (self), 560, 400);
  gtk_box_append (GTK_BOX (all), make_header (self));
  gtk_box_append (GTK_BOX (all), make_content (self));
  adw_window_set_content (ADW_WINDOW (self), all);
  gtk_window_set_default_widget (GTK_WINDOW (self), self->start);
}

GtkWidget *
lig_sweep_dialog_new (LigDocument *doc, GtkWindow *parent)
{
  LigSweepDialog *self = g_object_new (LIG_TYPE_SWEEP_DIALOG, NULL);
  self->doc = g_object_ref (doc);
  gtk_window_set_transient_for (GTK_WINDOW (self), parent);
  add_proposals (self);
  update (self);
  return GTK_WIDGET (self);
}
