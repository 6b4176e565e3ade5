/* SPDX-License-Identifier: MIT */
/* The Run page: the training runs of this program, and the charts of one of them. */
#include "ui/document/loads.h"
#include "ui/document/ranks.h"
#include "ui/page.h"
#include "ui/run/data-chooser.h"
#include "ui/run/export-weights.h"
#include "ui/run/live.h"
#include "ui/run/result.h"
#include "ui/run/settings.h"
#include "ui/run/training-row.h"
#include "ui/widgets/chart-view.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/histogram-view.h"
#include "ui/widgets/load-view.h"
#include "ui/widgets/run-menu.h"
#include "ui/widgets/sample-list.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"
#include <ligature/store-rows.h>

#include <errno.h>
#include <glib/gi18n.h>
#include <inttypes.h>
#include <string.h>

#define LIG_TYPE_RUN_PAGE (lig_run_page_get_type ())
G_DECLARE_FINAL_TYPE (LigRunPage, lig_run_page, LIG, RUN_PAGE, LigPage)

enum { CHART_LOSS, CHART_SPEED, CHART_RATE, CHART_NORM, N_CHARTS };

struct _LigRunPage {
  LigPage parent_instance;
  GtkStack *stack;
  GtkWidget *side, *side_line, *train, *pause, *save, *stop, *resume, *banner_fix;
  GtkListBox *list;
  GtkRevealer *banner_revealer;
  GtkLabel *banner_error, *banner_hint, *title, *facts, *reason;
  AdwButtonContent *pause_content;
  GtkGrid *charts;
  LigChartView *views[N_CHARTS];
  LigSampleList *samples;
  LigHistogramView *histograms;
  LigLoadView *loads;
  LigRunMenu *run_menu;
  LigRunLive live;
  GActionMap *map; /* of the window; null until it requested the actions */
  LigTraining *shown, *current;
  gint64 records_read; /* when samples, histograms or loads were read */
  guint ticks;
};

G_DEFINE_FINAL_TYPE (LigRunPage, lig_run_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (run) = {
  .name = "run",
  .title = N_ ("Run"),
  .icon = "media-playback-start-symbolic",
  .get_type = lig_run_page_get_type,
};

static LigDocument *
get_document (LigRunPage *self)
{
  return lig_page_get_document (LIG_PAGE (self));
}

static LigRunStatus
get_status (LigTraining *training)
{
  LigRunProgress progress;
  lig_training_get_progress (training, &progress);
  return progress.status;
}

/* --- Charts -------------------------------------------------------------------------------- */

static void
add_charts (LigRunPage *self)
{
  static const struct {
    const char *title, *empty;
    int column, row, width, height;
  } places[N_CHARTS] = {
    {N_ ("Loss"), N_ ("The loss of the first steps appears here"), 0, 0, 3, 260},
    {N_ ("Samples per second"), N_ ("Nothing yet"), 0, 1, 1, 170},
    {N_ ("Learning rate"), N_ ("Nothing yet"), 1, 1, 1, 170},
    {N_ ("Gradient norm"), N_ ("Nothing yet"), 2, 1, 1, 170},
  };
  for (int i = 0; i < N_CHARTS; i++) {
    GtkWidget *view = lig_chart_view_new ();
    self->views[i] = LIG_CHART_VIEW (view);
    lig_chart_view_set_labels (self->views[i], _ (places[i].title), _ ("step"), NULL);
    lig_chart_view_set_empty (self->views[i], _ (places[i].empty));
    gtk_widget_set_size_request (view, -1, places[i].height);
    gtk_widget_set_vexpand (view, i == CHART_LOSS);
    gtk_grid_attach (self->charts, view, places[i].column, places[i].row, places[i].width, 1);
  }
}

static void
fill_charts (LigRunPage *self)
{
  static const struct {
    const char *metric, *label;
    int chart;
  } curves[] = {
    {LIG_METRIC_LOSS, N_ ("loss"), CHART_LOSS},
    {LIG_METRIC_EVAL_LOSS, N_ ("validation loss"), CHART_LOSS},
    {"samples-per-second", N_ ("samples per second"), CHART_SPEED},
    {"learning-rate", N_ ("learning rate"), CHART_RATE},
    {"gradient-norm", N_ ("gradient norm"), CHART_NORM},
  };
  for (int i = 0; i < N_CHARTS; i++)
    lig_chart_view_clear (self->views[i]);
  for (guint i = 0; self->shown && i < G_N_ELEMENTS (curves); i++)
    lig_chart_view_add_curve (self->views[curves[i].chart], _ (curves[i].label),
                              lig_training_get_curve (self->shown, curves[i].metric));
}

/* Draws one chart per tick, every second time the loss, so that no frame draws two. */
static void
refresh_charts (LigRunPage *self, gboolean all)
{
  static const int turns[] = {CHART_LOSS, CHART_SPEED, CHART_LOSS,
                              CHART_RATE, CHART_LOSS,  CHART_NORM};
  if (!all) {
    lig_chart_view_refresh (self->views[turns[self->ticks++ % G_N_ELEMENTS (turns)]]);
    return;
  }
  for (int i = 0; i < N_CHARTS; i++)
    lig_chart_view_refresh (self->views[i]);
}

/* --- Errors and remedies ------------------------------------------------------------------- */

typedef enum { FIX_NONE, FIX_RATE, FIX_DATA, FIX_BATCH, FIX_STORE, FIX_DISK, FIX_RESUME } Fix;

static Fix
find_fix (const char *error, LigError code, const char *data)
{
  const char *lost =
    _ ("the loss is %s at step %" PRId64 "; a smaller lr, or gradient clipping (clip=1), may help");
  if (strncmp (error, lost, strcspn (lost, "%")) == 0)
    return FIX_RATE;
  if (g_str_has_prefix (error, _ ("checkpoint: ")) || strstr (error, g_strerror (ENOSPC)))
    return FIX_DISK;
  if (code == LIG_ERROR_STORE)
    return FIX_STORE;
  if (code == LIG_ERROR_MEMORY || strstr (error, "out of memory"))
    return FIX_BATCH;
  const char *path = data ? strchr (data, ':') : NULL;
  g_autofree char *name = path ? g_strndup (path + 1, strcspn (path + 1, "?")) : NULL;
  return (name && *name && strstr (error, name)) || strstr (error, _ ("data")) ? FIX_DATA
                                                                               : FIX_NONE;
}

/* The buttons change this window's document, so they are shown only for its own run. */
static void
show_error (LigRunPage *self)
{
  static const struct {
    const char *hint, *button, *action;
  } fixes[] = {
    [FIX_NONE] = {N_ ("Change the setting that the error names and train again."), NULL, NULL},
    [FIX_RATE] = {N_ ("A lower learning rate, warm-up or gradient clipping may help."),
                  N_ ("_Lower the learning rate"), "training.lower-rate"},
    [FIX_DATA] = {N_ ("Choose other data, or restore the file, and train again."),
                  N_ ("Choose _data…"), "training.choose-data"},
    [FIX_BATCH] = {N_ ("A smaller batch needs less memory."), N_ ("_Halve the batch size"),
                   "training.halve-batch"},
    [FIX_STORE] = {N_ ("Train again when the store is free, or choose another one."),
                   N_ ("_Choose another store…"), "win.choose-store"},
    [FIX_DISK] = {N_ ("Free space on the disk; earlier checkpoints are kept."), NULL, NULL},
    [FIX_RESUME] = {N_ ("The run can be continued from its last checkpoint."), N_ ("_Continue"),
                    "training.resume"},
  };
  const char *error = self->shown ? lig_training_get_error (self->shown) : NULL;
  if (!error && self->shown)
    error = lig_training_get_checkpoint_error (self->shown);
  gtk_revealer_set_reveal_child (self->banner_revealer, error != NULL);
  if (!error)
    return;
  LigError code = lig_training_get_error_code (self->shown);
  Fix fix = find_fix (error, code, lig_training_get_settings (self->shown)->data);
  if (fix == FIX_NONE && code == LIG_ERROR_DEVICE && lig_training_get_checkpoint (self->shown))
    fix = FIX_RESUME;
  gtk_label_set_text (self->banner_error, error);
  gtk_label_set_text (self->banner_hint, _ (fixes[fix].hint));
  gtk_widget_set_visible (self->banner_fix, fixes[fix].button && self->shown == self->current);
  if (!fixes[fix].button)
    return;
  gtk_button_set_label (GTK_BUTTON (self->banner_fix), _ (fixes[fix].button));
  gtk_button_set_use_underline (GTK_BUTTON (self->banner_fix), TRUE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->banner_fix), fixes[fix].action);
}

static void
lower_rate (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigRunPage *self = LIG_RUN_PAGE (widget);
  g_auto (LigRunSettings) settings;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  lig_train_read (get_document (self), &settings, NULL);
  g_ascii_formatd (text, sizeof text, "%.6g", settings.lr / 10);
  lig_train_set (get_document (self), "lr", text, NULL);
  g_autofree char *message = g_strdup_printf (_ ("The learning rate is %s now"), text);
  lig_toast (widget, message, _ ("Train"), "win.run");
}

static void
halve_batch (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigRunPage *self = LIG_RUN_PAGE (widget);
  gint64 batch = lig_train_halve_batch (get_document (self));
  g_autofree char *count = lig_figure_count (batch);
  g_autofree char *message = g_strdup_printf (_ ("The batch is %s now"), count);
  lig_toast (widget, message, _ ("Train"), "win.run");
}

static void
choose_data (GtkWidget *widget, const char *action, GVariant *parameter)
{
  GtkWindow *window = GTK_WINDOW (gtk_widget_get_root (widget));
  gtk_window_present (lig_data_chooser_new (window, get_document (LIG_RUN_PAGE (widget))));
}

/* --- The training that is shown ------------------------------------------------------------ */

static void
show_facts (LigRunPage *self)
{
  const LigRunSettings *settings = lig_training_get_settings (self->shown);
  const char *data = lig_training_get_data (self->shown);
  const char *const *remarks = lig_training_get_remarks (self->shown);
  g_autofree char *said = remarks && *remarks ? g_strjoinv (" · ", (GStrv) remarks) : NULL;
  g_autofree char *known = said ? g_strconcat (data, " · ", said, NULL) : g_strdup (data);
  g_autofree char *facts = g_strdup_printf (_ ("%s · %s"), lig_training_get_device (self->shown),
                                            known            ? known
                                            : settings->data ? settings->data
                                                             : _ ("as in the checkpoint"));
  gtk_label_set_text (self->title, lig_training_get_title (self->shown));
  lig_tooltip_set (GTK_WIDGET (self->title), lig_training_get_title (self->shown));
  gtk_label_set_text (self->facts, facts);
  lig_tooltip_set (GTK_WIDGET (self->facts), facts);
}

static void
show_buttons (LigRunPage *self)
{
  gboolean active = lig_training_is_active (self->shown);
  gboolean paused = get_status (self->shown) == LIG_RUN_PAUSED;
  gboolean resumable =
    !active && get_status (self->shown) != LIG_RUN_DONE && lig_training_get_saved (self->shown);
  gtk_widget_set_visible (self->pause, active);
  gtk_widget_set_visible (self->save, active);
  gtk_widget_set_visible (self->stop, active);
  gtk_widget_set_visible (self->resume, resumable);
  gtk_widget_set_visible (GTK_WIDGET (self->run_menu), !active);
  lig_run_menu_set_run (self->run_menu,
                        lig_session_get_store (lig_document_get_session (get_document (self))),
                        lig_training_get_uuid (self->shown));
  adw_button_content_set_label (self->pause_content, paused ? _ ("Continue") : _ ("Pause"));
  adw_button_content_set_icon_name (self->pause_content, paused ? "media-playback-start-symbolic"
                                                                : "media-playback-pause-symbolic");
}

/* Returns whether a record that is made every few steps is newer than the one read last. */
static gboolean
is_due (gint64 every, gint64 newest, gint64 step)
{
  return every > 0 && newest < step - step % every;
}

/* Reads the generated texts, the histograms and the loads, at most once a second while some are
 * due: the store writes with a delay. */
static void
show_records (LigRunPage *self, gboolean now)
{
  LigRunProgress progress;
  const LigRunSettings *settings = lig_training_get_settings (self->shown);
  LigStore *store = lig_session_get_store (lig_document_get_session (get_document (self)));
  const char *run = lig_training_get_uuid (self->shown);
  gint64 time = g_get_monotonic_time ();
  lig_training_get_progress (self->shown, &progress);
  gboolean texts =
    is_due (settings->sample_every, lig_sample_list_get_newest (self->samples), progress.step);
  gboolean maps =
    is_due (settings->histograms, lig_histogram_view_get_newest (self->histograms), progress.step);
  gboolean loads =
    is_due (settings->load_every, lig_load_view_get_newest (self->loads), progress.step);
  if (!now && ((!texts && !maps && !loads) || time - self->records_read <= G_USEC_PER_SEC))
    return;
  self->records_read = time;
  if (now || texts)
    lig_sample_list_show (self->samples, store, settings->sample_every > 0 ? run : NULL);
  if (now || maps)
    lig_histogram_view_show (self->histograms, store, settings->histograms > 0 ? run : NULL);
  if (now || loads)
    lig_load_view_show (self->loads, store, settings->load_every > 0 ? run : NULL);
}

static void
show_whole (LigRunPage *self)
{
  show_facts (self);
  show_buttons (self);
  show_error (self);
  show_records (self, TRUE);
  lig_run_live_update (&self->live, self->shown, TRUE);
  refresh_charts (self, TRUE);
}

static void
shown_progressed (LigRunPage *self)
{
  gint64 before = self->live.updated;
  if (!gtk_widget_get_mapped (GTK_WIDGET (self->charts)))
    return;
  refresh_charts (self, FALSE);
  lig_run_live_update (&self->live, self->shown, FALSE);
  if (self->live.updated == before)
    return;
  show_facts (self);
  show_buttons (self);
  show_error (self);
  show_records (self, FALSE);
}

static void
set_shown (LigRunPage *self, LigTraining *training)
{
  if (training == self->shown)
    return;
  if (self->shown)
    g_signal_handlers_disconnect_by_data (self->shown, self);
  g_set_object (&self->shown, training);
  fill_charts (self);
  if (!training)
    return;
  g_signal_connect_object (training, "progressed", G_CALLBACK (shown_progressed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (training, "ended", G_CALLBACK (show_whole), self, G_CONNECT_SWAPPED);
  show_whole (self);
}

/* --- The window's actions ------------------------------------------------------------------ */

static void
enable (LigRunPage *self, const char *name, gboolean enabled)
{
  GAction *action = self->map ? g_action_map_lookup_action (self->map, name) : NULL;
  if (action)
    g_simple_action_set_enabled (G_SIMPLE_ACTION (action), enabled);
}

static void
update_actions (LigRunPage *self)
{
  g_autofree char *sentence = NULL;
  LigTrainObstacle obstacle = lig_train_find_obstacle (get_document (self), &sentence);
  gboolean active = self->current && lig_training_is_active (self->current);
  gboolean resumable = self->current && !active && get_status (self->current) != LIG_RUN_DONE &&
                       lig_training_get_saved (self->current);
  enable (self, "run", obstacle == LIG_TRAIN_POSSIBLE && !active);
  enable (self, "pause", active);
  enable (self, "stop", active);
  enable (self, "resume", resumable);
  gtk_label_set_text (self->reason, sentence ? sentence : "");
  lig_tooltip_set (self->train, sentence);
}

static void
current_ended (LigRunPage *self)
{
  update_actions (self);
  lig_document_read_loads (get_document (self));
  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    lig_result_announce (GTK_WIDGET (self), self->current);
}

/* The document has another run. */
static void
follow_document (LigRunPage *self)
{
  LigTraining *current = lig_train_get_current (get_document (self));
  if (current != self->current) {
    if (self->current)
      g_signal_handlers_disconnect_by_func (self->current, current_ended, self);
    g_set_object (&self->current, current);
    g_signal_connect_object (current, "ended", G_CALLBACK (current_ended), self, G_CONNECT_SWAPPED);
    for (int i = 0; gtk_list_box_get_row_at_index (self->list, i); i++) {
      GtkListBoxRow *row = gtk_list_box_get_row_at_index (self->list, i);
      if (lig_training_row_get (row) == current)
        gtk_list_box_select_row (self->list, row);
    }
  }
  update_actions (self);
}

/* Trains if the user has chosen data, and lets the window close. */
static gboolean
start_with_data (LigRunPage *self)
{
  if (lig_train_has_data (get_document (self)))
    lig_train_start (get_document (self));
  return FALSE;
}

/* Random values are a choice: without data the user is asked first. */
static void
run (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigRunPage *self = data;
  LigDocument *document = get_document (self);
  if (lig_train_has_data (document)) {
    lig_train_start (document);
    return;
  }
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWindow *chooser =
    lig_data_chooser_new (GTK_IS_WINDOW (root) ? GTK_WINDOW (root) : NULL, document);
  g_signal_connect_object (chooser, "close-request", G_CALLBACK (start_with_data), self,
                           G_CONNECT_SWAPPED);
  gtk_window_present (chooser);
}

static void
toggle_pause (LigTraining *training)
{
  if (get_status (training) == LIG_RUN_PAUSED)
    lig_training_unpause (training);
  else
    lig_training_pause (training);
}

static void
pause_current (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  toggle_pause (LIG_RUN_PAGE (data)->current);
}

static void
stop_current (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_training_cancel (LIG_RUN_PAGE (data)->current);
}

/* Continues a run, or says which file is missing. */
static void
resume (LigRunPage *self, const char *checkpoint, LigLayout layout)
{
  GError *error = NULL;
  if (!lig_train_resume (get_document (self), checkpoint, layout, &error))
    lig_toast_error (GTK_WIDGET (self), error);
}

static void
resume_current (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigRunPage *self = data;
  resume (self, lig_training_get_saved (self->current), lig_training_get_layout (self->current));
}

/* Resumes from the checkpoint of a run of the store. */
static void
resume_run (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  const char *checkpoint, *run;
  g_variant_get (parameter, "(&s&s)", &checkpoint, &run);
  resume (data, checkpoint, lig_ranks_find_layout (get_document (data), run));
}

static void
lig_run_page_add_actions (LigPage *page, GActionMap *map)
{
  static const GActionEntry actions[] = {
    {.name = "run", .activate = run},
    {.name = "pause", .activate = pause_current},
    {.name = "stop", .activate = stop_current},
    {.name = "resume", .activate = resume_current},
    {.name = "resume-run", .activate = resume_run, .parameter_type = "(ss)"},
  };
  LigRunPage *self = LIG_RUN_PAGE (page);
  self->map = map;
  g_object_add_weak_pointer (G_OBJECT (map), (gpointer *) &self->map);
  g_action_map_add_action_entries (map, actions, G_N_ELEMENTS (actions), self);
  update_actions (self);
}

/* --- The page's actions, of the training that is shown -------------------------------------- */

static void
pause_shown (GtkWidget *widget, const char *action, GVariant *parameter)
{
  toggle_pause (LIG_RUN_PAGE (widget)->shown);
}

static void
stop_shown (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lig_training_cancel (LIG_RUN_PAGE (widget)->shown);
}

static void
save_shown (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lig_training_save (LIG_RUN_PAGE (widget)->shown);
  lig_toast (widget, _ ("A checkpoint is saved after this step"), NULL, NULL);
}

static void
resume_shown (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigRunPage *self = LIG_RUN_PAGE (widget);
  const char *checkpoint = lig_training_get_saved (self->shown);
  if (checkpoint)
    resume (self, checkpoint, lig_training_get_layout (self->shown));
}

/* Returns the command for a new run; the shown run's own button copies its command. */
static char *
lig_run_page_to_command (LigPage *page)
{
  return lig_train_to_command (lig_page_get_document (page));
}

static char *
lig_run_page_find_run (LigPage *page, char **title)
{
  LigTraining *shown = LIG_RUN_PAGE (page)->shown;
  const char *uuid = shown ? lig_training_get_uuid (shown) : NULL;
  *title = uuid ? g_strdup (lig_training_get_title (shown)) : NULL;
  return g_strdup (uuid);
}

static void
copy_command (GtkWidget *widget, const char *action, GVariant *parameter)
{
  const char *command = lig_training_get_command (LIG_RUN_PAGE (widget)->shown);
  if (!command)
    return;
  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), command);
  lig_toast (widget, _ ("Copied as command"), NULL, NULL);
}

/* The history has its actions once it is shown. */
static void
compare_with (LigRunPage *self, const char *other)
{
  const char *run = lig_run_menu_get_run (self->run_menu);
  if (!run)
    return;
  gtk_widget_activate_action (GTK_WIDGET (self), "win.page", "s", "history");
  gtk_widget_activate_action (GTK_WIDGET (self), "win.compare-runs", "(ss)", run, other);
}

static void
export_weights (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigRunPage *self = LIG_RUN_PAGE (widget);
  const char *uuid = self->shown ? lig_training_get_uuid (self->shown) : NULL;
  if (uuid)
    lig_export_weights_choose (widget, lig_page_get_session (LIG_PAGE (self)), uuid,
                               lig_training_get_settings (self->shown)->name);
}

/* --- The list ------------------------------------------------------------------------------ */

static GtkWidget *
make_row (gpointer item, gpointer data)
{
  return lig_training_row_new (item);
}

static void
row_selected (LigRunPage *self, GtkListBoxRow *row)
{
  if (row)
    set_shown (self, lig_training_row_get (row));
}

static void
update_list (LigRunPage *self)
{
  GListModel *trainings =
    G_LIST_MODEL (lig_session_get_trainings (lig_page_get_session (LIG_PAGE (self))));
  guint count = g_list_model_get_n_items (trainings);
  gtk_stack_set_visible_child_name (self->stack, count > 0 ? "trainings" : "empty");
  gtk_widget_set_visible (self->side, count > 1);
  gtk_widget_set_visible (self->side_line, count > 1);
  if (count > 0 && !gtk_list_box_get_selected_row (self->list))
    gtk_list_box_select_row (self->list, gtk_list_box_get_row_at_index (self->list, 0));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
connect (LigRunPage *self, gpointer from, const char *signal, void (*func) (LigRunPage *))
{
  g_signal_connect_object (from, signal, G_CALLBACK (func), self, G_CONNECT_SWAPPED);
}

static void
lig_run_page_constructed (GObject *object)
{
  LigRunPage *self = LIG_RUN_PAGE (object);
  LigSession *session = lig_page_get_session (LIG_PAGE (self));
  GListStore *trainings = lig_session_get_trainings (session);
  LigDocument *doc = get_document (self);
  G_OBJECT_CLASS (lig_run_page_parent_class)->constructed (object);
  gtk_list_box_bind_model (self->list, G_LIST_MODEL (trainings), make_row, NULL, NULL);
  g_signal_connect_object (self->list, "row-selected", G_CALLBACK (row_selected), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->run_menu, "chosen", G_CALLBACK (compare_with), self,
                           G_CONNECT_SWAPPED);
  connect (self, trainings, "items-changed", update_list);
  connect (self, doc, "settings", follow_document);
  connect (self, doc, "changed", update_actions);
  connect (self, doc, "titled", update_actions);
  connect (self, doc, "planned", update_actions);
  update_list (self);
  update_actions (self);
}

static void
lig_run_page_dispose (GObject *object)
{
  LigRunPage *self = LIG_RUN_PAGE (object);
  lig_run_live_clear (&self->live);
  if (self->map)
    g_object_remove_weak_pointer (G_OBJECT (self->map), (gpointer *) &self->map);
  self->map = NULL;
  if (self->shown)
    g_signal_handlers_disconnect_by_data (self->shown, self);
  if (self->current)
    g_signal_handlers_disconnect_by_data (self->current, self);
  adw_bin_set_child (ADW_BIN (self), NULL);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_RUN_PAGE);
  g_clear_object (&self->shown);
  g_clear_object (&self->current);
  G_OBJECT_CLASS (lig_run_page_parent_class)->dispose (object);
}

static void
bind_children (GtkWidgetClass *class)
{
#define BIND(name) gtk_widget_class_bind_template_child (class, LigRunPage, name)
  BIND (stack);
  BIND (side);
  BIND (side_line);
  BIND (train);
  BIND (reason);
  BIND (pause);
  BIND (pause_content);
  BIND (save);
  BIND (stop);
  BIND (resume);
  BIND (list);
  BIND (banner_revealer);
  BIND (banner_error);
  BIND (banner_hint);
  BIND (banner_fix);
  BIND (title);
  BIND (facts);
  BIND (charts);
  BIND (samples);
  BIND (histograms);
  BIND (loads);
  BIND (run_menu);
#undef BIND
#define BIND(name) \
  gtk_widget_class_bind_template_child_full ( \
    class, #name, FALSE, G_STRUCT_OFFSET (LigRunPage, live) + G_STRUCT_OFFSET (LigRunLive, name))
  BIND (loss);
  BIND (validation);
  BIND (speed);
  BIND (status);
  BIND (progress);
#undef BIND
}

static void
lig_run_page_class_init (LigRunPageClass *class)
{
  static const struct {
    const char *name;
    GtkWidgetActionActivateFunc func;
  } actions[] = {
    {"training.pause", pause_shown},
    {"training.stop", stop_shown},
    {"training.save", save_shown},
    {"training.resume", resume_shown},
    {"training.copy-command", copy_command},
    {"training.lower-rate", lower_rate},
    {"training.choose-data", choose_data},
    {"training.halve-batch", halve_batch},
    {"training.export-weights", export_weights},
  };
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  g_type_ensure (LIG_TYPE_SAMPLE_LIST);
  g_type_ensure (LIG_TYPE_HISTOGRAM_VIEW);
  g_type_ensure (LIG_TYPE_LOAD_VIEW);
  g_type_ensure (LIG_TYPE_RUN_MENU);
  G_OBJECT_CLASS (class)->constructed = lig_run_page_constructed;
  G_OBJECT_CLASS (class)->dispose = lig_run_page_dispose;
  LIG_PAGE_CLASS (class)->add_actions = lig_run_page_add_actions;
  LIG_PAGE_CLASS (class)->to_command = lig_run_page_to_command;
  LIG_PAGE_CLASS (class)->find_run = lig_run_page_find_run;
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    gtk_widget_class_install_action (widget_class, actions[i].name, NULL, actions[i].func);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/run/run-page.ui");
  gtk_widget_class_set_css_name (widget_class, "runpage");
  bind_children (widget_class);
}

static void
lig_run_page_init (LigRunPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  add_charts (self);
}
