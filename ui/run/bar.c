/* SPDX-License-Identifier: MIT */
/* Each choice in the bar edits the document or a setting of its window; the document's signals
 * update the bar. */
#include "ui/run/bar.h"

#include "ui/document/edit.h"
#include "ui/document/ends.h"
#include "ui/document/ranks.h"
#include "ui/run/choice-preview.h"
#include "ui/run/data-chooser.h"
#include "ui/run/length.h"
#include "ui/run/live.h"
#include "ui/run/recipe-choice.h"
#include "ui/run/result.h"
#include "ui/run/settings-list.h"
#include "ui/run/settings.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/fit-box.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"
#include "ui/widgets/type-list.h"
#include <ligature/plan.h>
#include <ligature/sequence.h>

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

/* The bar announces the duration of a run if it takes at least this many seconds. */
#define LONG 3600

struct _LigRunBar {
  GtkWidget parent_instance;
  LigDocument *doc;
  GtkWidget *content, *fixes, *connect;
  GtkDropDown *device, *type, *recipe, *policy;
  GtkSpinButton *batch;
  GtkWidget *data, *train, *pause, *stop, *profile;
  LigFitBox *choices;
  GtkMenuButton *rows;
  AdwButtonContent *pause_content;
  GtkLabel *data_label, *settings_label, *reason;
  GtkMenuButton *settings;
  GtkStack *lower;
  LigRunLive live;
  LigTraining *training; /* shown; null for none */
  gboolean updating;
  int ranks; /* that the device's title contains */
};

G_DEFINE_FINAL_TYPE (LigRunBar, lig_run_bar, GTK_TYPE_WIDGET)

/* --- From the document --------------------------------------------------------------------- */

/* Returns the device's title; `2 × NVIDIA H200` if each of two ranks has such a GPU. */
static char *
describe_device (LigRunBar *self, const LigDeviceEntry *entry)
{
  gboolean chosen = g_str_equal (entry->name, lig_document_get_device (self->doc));
  gboolean own = lig_device_name_has (entry->name, LIG_DEVICE_ACCELERATOR) ||
                 lig_device_name_has (entry->name, LIG_DEVICE_DESCRIBED);
  return chosen && own ? lig_session_title_ranks (lig_document_get_session (self->doc), entry->name,
                                                  self->ranks)
                       : g_strdup (entry->title);
}

static void
update_devices (LigRunBar *self)
{
  guint count, chosen = GTK_INVALID_LIST_POSITION;
  const LigDeviceEntry *entries =
    lig_session_get_devices (lig_document_get_session (self->doc), &count);
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);
  self->ranks = lig_ranks_get (self->doc);
  for (guint i = 0; i < count; i++) {
    g_autofree char *title = describe_device (self, &entries[i]);
    gtk_string_list_append (titles, title);
    if (g_str_equal (entries[i].name, lig_document_get_device (self->doc)))
      chosen = i;
  }
  self->updating = TRUE;
  gtk_drop_down_set_model (self->device, G_LIST_MODEL (titles));
  gtk_drop_down_set_selected (self->device, chosen);
  self->updating = FALSE;
}

static void
update_types (LigRunBar *self)
{
  int compute = lig_sequence_get_compute (lig_document_get_sequence (self->doc));
  lig_type_list_select (self->type, compute);
}

/* Returns a short name of the data, like `xor.csv` or `synthetic`; the tooltip has the full
 * text. */
static void
update_data (LigRunBar *self, const LigRunSettings *settings)
{
  const char *path = strchr (settings->data, ':');
  g_autofree char *kind = g_strndup (settings->data, strcspn (settings->data, ":?"));
  g_autofree char *plain = path ? g_strdup (path + 1) : NULL;
  char *query = plain ? strrchr (plain, '?') : NULL;
  if (query && strchr (query, '='))
    *query = '\0';
  g_autofree char *given = plain ? g_path_get_basename (plain) : g_strdup (kind);
  g_autofree char *name =
    lig_train_has_data (self->doc) ? g_steal_pointer (&given) : g_strdup (_ ("Choose data"));
  g_autofree char *tooltip =
    lig_train_has_data (self->doc)
      ? g_strdup_printf (_ ("Data: %s"), settings->data)
      : g_strdup (_ ("No data is chosen yet: choose a file, or random values"));
  gtk_label_set_text (self->data_label, name);
  lig_tooltip_set (self->data, tooltip);
  g_autofree char *label = g_strdup_printf (_ ("Data: %s"), name);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->data), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
}

/* The automatic policy names the policy that it selects on the device. */
static void
update_policy (LigRunBar *self)
{
  static const char *const names[] = {N_ ("Automatic: no fusions"), N_ ("Automatic: all fusions"),
                                      N_ ("Automatic: measured"), N_ ("Automatic")};
  static const char *const predicted = N_ ("Automatic: predicted");
  LigPlan *plan = lig_document_get_plan (self->doc);
  LigPolicy policy =
    plan ? lig_policy_for (LIG_POLICY_DEFAULT, lig_plan_get_device (plan)) : LIG_POLICY_DEFAULT;
  GtkStringList *list = GTK_STRING_LIST (gtk_drop_down_get_model (self->policy));
  gboolean absent = plan && lig_device_has (lig_plan_get_device (plan), LIG_DEVICE_DESCRIBED);
  const char *const name[] = {
    policy == LIG_POLICY_MEASURED && absent ? _ (predicted) : _ (names[policy]), NULL};
  gboolean updating = self->updating;
  self->updating = TRUE;
  if (!g_str_equal (gtk_string_list_get_string (list, LIG_POLICY_DEFAULT), name[0]))
    gtk_string_list_splice (list, LIG_POLICY_DEFAULT, 1, name);
  gtk_drop_down_set_selected (self->policy, (guint) lig_document_get_policy (self->doc));
  self->updating = updating;
}

/* Returns `2 ranks`, or the parallelism if it is not pure data parallelism; null for one rank. */
static char *
describe_ranks (LigRunBar *self)
{
  LigLayout layout = lig_ranks_choose_layout (self->doc);
  int ranks = lig_layout_size (&layout, LIG_GROUP_ALL);
  if (!lig_layout_is_default (&layout))
    return lig_layout_to_string (&layout);
  return ranks > 1 ? g_strdup_printf (ngettext ("%d rank", "%d ranks", (gulong) ranks), ranks)
                   : NULL;
}

static const char *
get_usual_optimizer (void)
{
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (g_str_equal (setting->name, "optimizer"))
      return setting->usual;
  return "";
}

static void
update_settings (LigRunBar *self)
{
  g_auto (LigRunSettings) settings;
  lig_train_read (self->doc, &settings, NULL);
  g_autofree char *steps = lig_figure_count (settings.steps);
  g_autofree char *ranks = describe_ranks (self);
  gint64 batch = lig_train_get_batch (self->doc);
  g_autofree char *count = lig_figure_count (batch);
  g_autofree char *rows = g_strdup_printf (ngettext ("%s row", "%s rows", (gulong) batch), count);
  g_autofree char *label =
    g_strdup_printf (ngettext ("%s step · %s", "%s steps · %s", (gulong) settings.steps), steps,
                     settings.optimizer ? settings.optimizer : get_usual_optimizer ());
  self->updating = TRUE;
  gtk_spin_button_set_value (self->batch, (double) batch);
  gtk_menu_button_set_label (self->rows, rows);
  update_policy (self);
  update_types (self);
  g_autofree char *shared = ranks ? g_strdup_printf ("%s · %s", ranks, label) : NULL;
  gtk_label_set_text (self->settings_label, shared ? shared : label);
  update_data (self, &settings);
  self->updating = FALSE;
}

/* --- Choices -------------------------------------------------------------------------------- */

static void
device_chosen (LigRunBar *self)
{
  guint count, chosen = gtk_drop_down_get_selected (self->device);
  const LigDeviceEntry *entries =
    lig_session_get_devices (lig_document_get_session (self->doc), &count);
  if (!self->updating && chosen < count)
    lig_document_set_device (self->doc, entries[chosen].name);
}

static void
type_chosen (LigRunBar *self)
{
  int parameters = lig_sequence_get_parameters (lig_document_get_sequence (self->doc));
  if (!self->updating)
    lig_edit_set_types (self->doc, lig_type_list_get (self->type), parameters);
}

static void
policy_chosen (LigRunBar *self)
{
  guint chosen = gtk_drop_down_get_selected (self->policy);
  if (!self->updating && chosen <= LIG_POLICY_DEFAULT)
    lig_document_set_policy (self->doc, (LigPolicy) chosen);
}

static void
batch_chosen (LigRunBar *self)
{
  if (!self->updating)
    lig_train_set_batch (self->doc, (gint64) gtk_spin_button_get_value (self->batch));
}

static void
choose_data (LigRunBar *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  gtk_window_present (lig_data_chooser_new (GTK_WINDOW (root), self->doc));
}

static void
add_loss (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigRunBar *self = LIG_RUN_BAR (widget);
  GError *error = NULL;
  LigSequence *sequence = lig_document_get_sequence (self->doc);
  if (!lig_edit_insert_op (self->doc, sequence, (int) lig_sequence_get_length (sequence),
                           g_variant_get_string (parameter, NULL), &error))
    lig_toast_error (widget, error);
}

/* Selects the op that waits for a branch, so that the user sees which one is connected. */
static void
connect_branch (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigRunBar *self = LIG_RUN_BAR (widget);
  LigOp *op = lig_ends_find_open (self->doc);
  GError *error = NULL;
  if (!op)
    return;
  lig_document_select (self->doc, op, LIG_SELECT_ONLY);
  if (!lig_edit_connect_selection (self->doc, op, &error))
    lig_toast_error (widget, error);
}

/* --- The training -------------------------------------------------------------------------- */

static void
set_tooltip (LigRunBar *self, const char *obstacle, const char *length)
{
  const char *plain = _ ("Train the sequence with these settings");
  g_autofree char *both = length ? g_strconcat (plain, "\n", length, NULL) : NULL;
  lig_tooltip_set (self->train, obstacle ? obstacle : both ? both : plain);
}

/* Shows why training is impossible, or the result of the last run, or that the next takes long. */
static void
show_reason (LigRunBar *self)
{
  g_autofree char *sentence = NULL, *status = NULL;
  LigTrainObstacle obstacle = lig_train_find_obstacle (self->doc, &sentence);
  gboolean own = self->training && lig_train_is_current (self->doc, self->training);
  const char *error = own ? lig_training_get_error (self->training) : NULL;
  gboolean failed = obstacle == LIG_TRAIN_POSSIBLE && error;
  if (!sentence && self->training && (own || !lig_training_get_error (self->training)))
    status = lig_train_format_status (self->training);
  double seconds = 0;
  g_autofree char *length = sentence ? NULL : lig_train_describe_length (self->doc, &seconds);
  gboolean is_long = length && seconds >= LONG;
  const char *text = sentence  ? sentence
                     : error   ? error
                     : status  ? status
                     : is_long ? length
                               : _ ("Ready to train");
  gtk_label_set_text (self->reason, text);
  gboolean done = !sentence && status && !error && lig_result_show (self->reason, self->training);
  gtk_widget_set_visible (GTK_WIDGET (self->lower), sentence || error || status || is_long);
  set_tooltip (self, sentence, length);
  (failed ? gtk_widget_add_css_class : gtk_widget_remove_css_class) (GTK_WIDGET (self->reason),
                                                                     "run-failed");
  (failed || done ? gtk_widget_remove_css_class
                  : gtk_widget_add_css_class) (GTK_WIDGET (self->reason), "dim-label");
  gtk_widget_set_visible (self->fixes, obstacle == LIG_TRAIN_NO_LOSS);
  gtk_widget_set_visible (self->connect, obstacle == LIG_TRAIN_BRANCH);
}

static void
show_buttons (LigRunBar *self, gboolean active)
{
  LigRunProgress progress = {.status = LIG_RUN_READY};
  if (self->training)
    lig_training_get_progress (self->training, &progress);
  gboolean paused = progress.status == LIG_RUN_PAUSED;
  gtk_widget_set_visible (self->train, !active);
  gtk_widget_set_visible (self->pause, active);
  gtk_widget_set_visible (self->stop, active);
  adw_button_content_set_label (self->pause_content, paused ? _ ("Continue") : _ ("Pause"));
  adw_button_content_set_icon_name (self->pause_content, paused ? "media-playback-start-symbolic"
                                                                : "media-playback-pause-symbolic");
}

static void
update_training (LigRunBar *self)
{
  gboolean active = self->training && lig_training_is_active (self->training);
  show_buttons (self, active);
  gtk_widget_set_visible (GTK_WIDGET (self->lower), TRUE);
  if (active)
    lig_run_live_update (&self->live, self->training, FALSE);
  else
    show_reason (self);
  gtk_stack_set_visible_child_name (self->lower, active ? "live" : "idle");
}

static void
training_progressed (LigRunBar *self)
{
  gboolean active = lig_training_is_active (self->training);
  if (!active || !gtk_widget_get_visible (self->pause) || gtk_widget_get_mapped (self->content))
    update_training (self);
}

static void
follow_training (LigRunBar *self)
{
  LigTraining *current = lig_train_get_current (self->doc);
  if (current == self->training)
    return;
  if (self->training)
    g_signal_handlers_disconnect_by_func (self->training, training_progressed, self);
  g_set_object (&self->training, current);
  if (current)
    g_signal_connect_object (current, "progressed", G_CALLBACK (training_progressed), self,
                             G_CONNECT_SWAPPED);
  update_training (self);
}

/* --- Long names of devices ------------------------------------------------------------------ */

static void
set_up_device (GtkSignalListItemFactory *factory, GtkListItem *item, LigRunBar *self)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_width_chars (GTK_LABEL (label), 10);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 24);
  lig_tooltip_when_cut (GTK_LABEL (label));
  gtk_list_item_set_child (item, label);
}

static void
bind_device (GtkSignalListItemFactory *factory, GtkListItem *item, LigRunBar *self)
{
  const char *title = gtk_string_object_get_string (gtk_list_item_get_item (item));
  gtk_label_set_text (GTK_LABEL (gtk_list_item_get_child (item)), title);
}

/* The button truncates texts that its list shows in full. */
static void
shorten_devices (LigRunBar *self)
{
  g_autoptr (GtkListItemFactory) whole = g_object_ref (gtk_drop_down_get_factory (self->device));
  g_autoptr (GtkListItemFactory) cut = gtk_signal_list_item_factory_new ();
  g_signal_connect_object (cut, "setup", G_CALLBACK (set_up_device), self, 0);
  g_signal_connect_object (cut, "bind", G_CALLBACK (bind_device), self, 0);
  gtk_drop_down_set_list_factory (self->device, whole);
  gtk_drop_down_set_factory (self->device, cut);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
follow_settings (LigRunBar *self)
{
  guint count, chosen = gtk_drop_down_get_selected (self->device);
  const LigDeviceEntry *entries =
    lig_session_get_devices (lig_document_get_session (self->doc), &count);
  if (chosen >= count || self->ranks != lig_ranks_get (self->doc) ||
      !g_str_equal (entries[chosen].name, lig_document_get_device (self->doc)))
    update_devices (self);
  update_settings (self);
  follow_training (self);
  update_training (self);
}

static void
follow_plan (LigRunBar *self)
{
  update_policy (self);
  update_training (self);
}

static void
follow_changes (LigRunBar *self)
{
  update_settings (self);
  update_training (self);
}

static void
lig_run_bar_dispose (GObject *object)
{
  LigRunBar *self = LIG_RUN_BAR (object);
  if (self->training)
    g_signal_handlers_disconnect_by_func (self->training, training_progressed, self);
  lig_run_live_clear (&self->live);
  g_clear_object (&self->training);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_RUN_BAR);
  g_clear_object (&self->doc);
  G_OBJECT_CLASS (lig_run_bar_parent_class)->dispose (object);
}

static void
bind_children (GtkWidgetClass *class)
{
#define BIND(name) gtk_widget_class_bind_template_child (class, LigRunBar, name)
  BIND (content);
  BIND (choices);
  BIND (rows);
  BIND (fixes);
  BIND (connect);
  BIND (device);
  BIND (type);
  BIND (recipe);
  BIND (policy);
  BIND (batch);
  BIND (data);
  BIND (data_label);
  BIND (settings);
  BIND (settings_label);
  BIND (train);
  BIND (pause);
  BIND (pause_content);
  BIND (stop);
  BIND (profile);
  BIND (reason);
  BIND (lower);
#undef BIND
#define BIND(name) \
  gtk_widget_class_bind_template_child_full ( \
    class, #name, FALSE, G_STRUCT_OFFSET (LigRunBar, live) + G_STRUCT_OFFSET (LigRunLive, name))
  BIND (spark);
  BIND (loss);
  BIND (validation);
  BIND (speed);
  BIND (progress);
  BIND (status);
#undef BIND
}

static void
lig_run_bar_class_init (LigRunBarClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_run_bar_dispose;
  gtk_widget_class_install_action (widget_class, "bar.add-loss", "s", add_loss);
  gtk_widget_class_install_action (widget_class, "bar.connect", NULL, connect_branch);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/run/bar.ui");
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "runbar");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
  bind_children (widget_class);
}

static void
lig_run_bar_init (LigRunBar *self)
{
  const char *const policy_names[] = {_ ("No fusions"), _ ("All fusions"), _ ("Measured"),
                                      _ ("Automatic"), NULL};
  g_type_ensure (LIG_TYPE_FIT_BOX);
  gtk_widget_init_template (GTK_WIDGET (self));
  lig_fit_box_add (self->choices, GTK_WIDGET (self->device), _ ("Device"), 0);
  lig_fit_box_add (self->choices, GTK_WIDGET (self->type), _ ("Compute type"), 5);
  lig_fit_box_add (self->choices, GTK_WIDGET (self->recipe), _ ("Recipe"), 6);
  lig_fit_box_add (self->choices, GTK_WIDGET (self->policy), _ ("Fusion policy"), 3);
  lig_fit_box_add (self->choices, GTK_WIDGET (self->rows), _ ("Batch"), 4);
  lig_fit_box_add (self->choices, self->data, _ ("Data"), 0);
  lig_fit_box_add (self->choices, GTK_WIDGET (self->settings), _ ("Training settings"), 2);
  lig_tooltip_set (lig_fit_box_get_button (self->choices), _ ("More settings"));
  lig_tooltip_when_cut (self->reason);
  g_autoptr (GtkStringList) type_list = lig_type_list_new (_ ("Same as input"), LIG_DTYPE_COMPUTES);
  g_autoptr (GtkStringList) policy_list = gtk_string_list_new (policy_names);
  shorten_devices (self);
  gtk_drop_down_set_model (self->type, G_LIST_MODEL (type_list));
  gtk_drop_down_set_model (self->policy, G_LIST_MODEL (policy_list));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Run bar"), -1);
}

static void
connect (LigRunBar *self, gpointer from, const char *signal, void (*func) (LigRunBar *))
{
  g_signal_connect_object (from, signal, G_CALLBACK (func), self, G_CONNECT_SWAPPED);
}

GtkWidget *
lig_run_bar_new (LigDocument *doc)
{
  LigRunBar *self = g_object_new (LIG_TYPE_RUN_BAR, NULL);
  self->doc = g_object_ref (doc);
  gtk_menu_button_set_popover (self->settings, lig_run_settings_list_new (doc));
  lig_recipe_choice_set_up (self->recipe, doc);
  lig_preview_devices (self->device, doc);
  lig_preview_policies (self->policy, doc);
  update_devices (self);
  follow_settings (self);
  connect (self, self->device, "notify::selected", device_chosen);
  connect (self, self->type, "notify::selected", type_chosen);
  connect (self, self->policy, "notify::selected", policy_chosen);
  connect (self, self->batch, "value-changed", batch_chosen);
  connect (self, self->data, "clicked", choose_data);
  connect (self, lig_document_get_session (doc), "devices-changed", update_devices);
  connect (self, doc, "changed", follow_changes);
  connect (self, doc, "planned", follow_plan);
  connect (self, doc, "timed", update_training);
  connect (self, doc, "titled", update_training);
  connect (self, doc, "settings", follow_settings);
  return GTK_WIDGET (self);
}
