/* SPDX-License-Identifier: MIT */
/* The Profile page: a breakdown of the time and memory of a step, predicted until measured. */
#include "ui/document/times.h"
#include "ui/page.h"
#include "ui/profile/figures.h"
#include "ui/profile/load-menu.h"
#include "ui/profile/rank-section.h"
#include "ui/profile/recipe-menu.h"
#include "ui/profile/recipe-section.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/picture-view.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"

#include <ligature/plan-loads.h>
#include <ligature/profile.h>
#include <ligature/shell.h>

#include <glib/gi18n.h>
#include <math.h>

/* The number of runs of each plan after warming up. */
#define ROUNDS 15

#define LIG_TYPE_PROFILE_PAGE (lig_profile_page_get_type ())
G_DECLARE_FINAL_TYPE (LigProfilePage, lig_profile_page, LIG, PROFILE_PAGE, LigPage)

struct _LigProfilePage {
  LigPage parent_instance;
  GtkStack *stack;
  GtkBox *content, *figures, *notice, *progress_box;
  GtkGrid *compare;
  GtkWidget *compare_box;
  GtkLabel *title, *subtitle, *notice_label, *progress_label;
  GtkButton *notice_button, *predict_button, *cancel_button;
  GtkMenuButton *recipes_button, *load_button;
  GtkImage *notice_icon;
  GtkProgressBar *progress;
  LigPictureView *times, *timeline, *roofline, *memory;
  LigProfiling *profiling;
  LigComparing *comparing;

  LigPrediction *prediction;
  LigPlan *predicted_for; /* the document's plan that the prediction belongs to */
  GCancellable *cancellable;
  LigTimedPlan timed, unfused; /* the data of the pictures; owns references to the plans */
  gboolean outdated;           /* to be filled when shown */
};

G_DEFINE_FINAL_TYPE (LigProfilePage, lig_profile_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (profile) = {
  .name = "profile",
  .title = N_ ("Profile"),
  .icon = "power-profile-performance-symbolic",
  .get_type = lig_profile_page_get_type,
};

static void update (LigProfilePage *self);

/* --- Pictures ------------------------------------------------------------------------------- */

static void
draw_times (
  LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data)
{
  lig_draw_times (canvas, colours, &((LigProfilePage *) data)->timed, width);
}

static double
times_height (gpointer data)
{
  return lig_draw_times_height (&((LigProfilePage *) data)->timed);
}

static void
draw_timeline (
  LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data)
{
  lig_draw_timeline (canvas, colours, &((LigProfilePage *) data)->timed, width, height);
}

static void
draw_roofline (
  LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data)
{
  LigProfilePage *self = data;
  lig_draw_roofline (canvas, colours, &self->timed, self->unfused.plan ? &self->unfused : NULL,
                     width, height);
}

static void
draw_memory (
  LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data)
{
  lig_draw_memory (canvas, colours, ((LigProfilePage *) data)->timed.plan, width, height);
}

static LigPictureView *
add_picture (LigProfilePage *self, const char *title, const char *subtitle, const char *name)
{
  GtkWidget *view = lig_picture_view_new (title, name);
  gtk_box_append (self->content, lig_picture_view_wrap (LIG_PICTURE_VIEW (view), title, subtitle));
  return LIG_PICTURE_VIEW (view);
}

static void
add_pictures (LigProfilePage *self)
{
  self->times = add_picture (self, _ ("Time of each group"),
                             _ ("In op order; brackets and bold type mark fusions"), "times");
  self->timeline = add_picture (
    self, _ ("One step"),
    _ ("One box per step; overlapping steps are drawn below the others; solid boxes are fused"),
    "timeline");
  self->roofline = add_picture (self, _ ("Roofline"),
                                _ ("Arrows lead from unfused ops to their fusion"), "roofline");
  self->memory =
    add_picture (self, _ ("Memory over the step"), _ ("Live memory by kind"), "memory");
}

/* Without a plan they show nothing. */
static void
show_pictures (LigProfilePage *self)
{
  gboolean some = self->timed.plan != NULL;
  lig_picture_view_set_picture (self->times, some ? draw_times : NULL, times_height, 60, self,
                                NULL);
  lig_picture_view_set_picture (self->timeline, some ? draw_timeline : NULL, NULL, 240, self, NULL);
  lig_picture_view_set_picture (self->roofline, some ? draw_roofline : NULL, NULL, 420, self, NULL);
  lig_picture_view_set_picture (self->memory, some ? draw_memory : NULL, NULL, 300, self, NULL);
}

static void
set_timed (LigTimedPlan *timed, LigPlan *plan, const LigProfiled *profiled)
{
  LigPlan *old = timed->plan;
  timed->plan = plan ? lig_plan_ref (plan) : NULL;
  timed->steps = profiled ? profiled->steps : NULL;
  timed->passes = profiled ? profiled->passes : NULL;
  g_clear_pointer (&old, lig_plan_unref);
}

/* Policy none still applies forced fusions. */
static gboolean
is_apart (LigPlan *plan)
{
  g_autofree char *choices = lig_plan_get_choices (plan);
  return *choices == '\0';
}

/* Times of the unfused ops: measured if available, else predicted. */
static void
find_unfused (LigProfilePage *self)
{
  const LigProfiled *profiled;
  gboolean measured = self->timed.steps != NULL;
  for (guint i = 0; measured && (profiled = lig_profiling_get (self->profiling, i)); i++)
    if (is_apart (profiled->plan)) {
      set_timed (&self->unfused, profiled->plan, profiled);
      return;
    }
  gboolean current =
    self->prediction && !lig_measurement_is_stale (LIG_MEASUREMENT (self->profiling));
  set_timed (&self->unfused, current ? self->prediction->unfused : NULL,
             current && measured ? self->prediction->recorded_unfused : NULL);
}

/* Returns the shown profile: the last one, else the newest in the store, or null. */
static const LigProfiled *
get_shown (LigProfilePage *self)
{
  LigPlan *plan = lig_document_get_plan (lig_page_get_document (LIG_PAGE (self)));
  const LigProfiled *shown = lig_profiling_get_shown (self->profiling);
  gboolean current = plan && self->prediction && self->predicted_for == plan;
  return shown ? shown : current ? self->prediction->recorded : NULL;
}

static void
find_shown (LigProfilePage *self)
{
  LigPlan *plan = lig_document_get_plan (lig_page_get_document (LIG_PAGE (self)));
  const LigProfiled *shown = get_shown (self);
  if (shown)
    set_timed (&self->timed, shown->plan, shown);
  else if (plan && self->prediction && self->predicted_for == plan)
    set_timed (&self->timed, self->prediction->plan, NULL);
  else
    set_timed (&self->timed, plan, NULL);
  find_unfused (self);
}

/* --- Predictions ------------------------------------------------------------------------------ */

/* Clears times that point into a profile that will be freed. @profiled: (nullable) */
static void
drop_times (LigTimedPlan *timed, const LigProfiled *profiled)
{
  if (profiled && timed->steps == profiled->steps)
    timed->steps = timed->passes = NULL;
}

/* Frees the prediction, whose recorded times the pictures may show. */
static void
forget_prediction (LigProfilePage *self)
{
  if (self->prediction) {
    drop_times (&self->timed, self->prediction->recorded);
    drop_times (&self->unfused, self->prediction->recorded_unfused);
  }
  g_clear_pointer (&self->prediction, lig_prediction_free);
}

static void
take_prediction (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  LigPrediction *prediction = lig_prediction_finish (result, &error);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  LigProfilePage *self = data;
  g_clear_object (&self->cancellable);
  if (!prediction)
    return;
  forget_prediction (self);
  self->prediction = prediction;
  update (self);
}

static void
predict (LigProfilePage *self)
{
  LigDocument *doc = lig_page_get_document (LIG_PAGE (self));
  LigPlan *plan = lig_document_get_plan (doc);
  if (plan == self->predicted_for || lig_document_is_stale (doc))
    return;
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  forget_prediction (self);
  g_clear_pointer (&self->predicted_for, lig_plan_unref);
  self->predicted_for = plan ? lig_plan_ref (plan) : NULL;
  self->cancellable = g_cancellable_new ();
  if (!lig_prediction_make (doc, self->cancellable, take_prediction, self))
    g_clear_object (&self->cancellable);
}

/* --- Head and notices --------------------------------------------------------------------------
 */

static char *
describe_health (const LigDeviceHealth *health)
{
  GString *text = g_string_new (NULL);
  if (health->clock > 0)
    g_string_append_printf (text, _ (" · %.0f MHz"), health->clock);
  if (health->power > 0)
    g_string_append_printf (text, _ (" · %.0f W"), health->power);
  if (health->temperature > 0)
    g_string_append_printf (text, _ (" · %.0f °C"), health->temperature);
  if (*health->throttling)
    g_string_append_printf (text, _ (" · slowed by %s"), health->throttling);
  return g_string_free (text, FALSE);
}

/* @shown: (nullable) */
static char *
describe_origin (const LigProfiled *shown)
{
  g_autofree char *day =
    shown && shown->recorded ? lig_document_format_day (shown->recorded) : NULL;
  if (day)
    return g_strdup_printf (_ ("measured on %s"), day);
  return g_strdup (shown ? _ ("measured") : _ ("predicted, not measured"));
}

static void
show_head (LigProfilePage *self)
{
  LigDocument *doc = lig_page_get_document (LIG_PAGE (self));
  const LigProfiled *shown = get_shown (self);
  LigPlan *plan = self->timed.plan;
  LigDevice *device = lig_plan_get_device (plan);
  g_autofree char *name = lig_document_get_title (doc);
  g_autofree char *health = shown ? describe_health (&shown->health) : g_strdup ("");
  g_autofree char *title =
    lig_session_name_device (lig_device_get_name (device), lig_device_get_facts (device)->name);
  const char *compute = lig_dtype_name (lig_plan_get_compute (plan));
  const char *parameters = lig_plan_get_parameters_name (plan);
  g_autofree char *origin = describe_origin (shown);
  g_autofree char *text = g_strdup_printf (_ ("%s · policy %s · compute %s, parameters %s%s · %s"),
                                           title, lig_policy_name (lig_plan_get_policy (plan)),
                                           compute, parameters, health, origin);
  g_autofree char *load =
    shown && shown->load ? lig_profile_load_describe (shown->load) : g_strdup ("");
  g_autofree char *whole = g_strconcat (text, *load ? " · " : "", load, NULL);
  gtk_label_set_label (self->title, name);
  gtk_label_set_label (self->subtitle, whole);
  lig_tooltip_set (GTK_WIDGET (self->title), name);
}

/* Shows one notice: the error, else the reason why it cannot be measured, else that it is outdated,
 * else what disturbed it. */
static void
set_notice (
  LigProfilePage *self, const char *class, const char *text, const char *button, const char *action)
{
  GtkWidget *notice = GTK_WIDGET (self->notice);
  gtk_widget_set_visible (notice, text != NULL);
  gtk_widget_remove_css_class (notice, "warning");
  gtk_widget_remove_css_class (notice, "error");
  if (class)
    gtk_widget_add_css_class (notice, class);
  gtk_image_set_from_icon_name (self->notice_icon, class && *class == 'e' ? "dialog-error-symbolic"
                                                   : class ? "dialog-warning-symbolic"
                                                           : "dialog-information-symbolic");
  gtk_label_set_label (self->notice_label, text ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->notice_button), button != NULL);
  gtk_button_set_label (self->notice_button, button ? button : "");
  gtk_actionable_set_detailed_action_name (GTK_ACTIONABLE (self->notice_button),
                                           action ? action : "profile.run");
}

/* Returns a sentence on the reason to doubt the shown times, or null. */
static char *
describe_doubt (LigProfiling *profiling)
{
  const LigProfiled *shown = lig_profiling_get_shown (profiling);
  g_autofree char *text = shown ? lig_conditions_to_text (&shown->conditions) : NULL;
  return text ? g_strdup_printf (_ ("These times are unreliable: %s."), text) : NULL;
}

static void
show_notice (LigProfilePage *self)
{
  LigDocument *doc = lig_page_get_document (LIG_PAGE (self));
  const char *error = lig_measurement_get_error (LIG_MEASUREMENT (self->profiling));
  const LigProblem *problem = lig_document_get_problem (doc, 0);
  gboolean stale = lig_measurement_is_stale (LIG_MEASUREMENT (self->profiling)), fault = FALSE;
  g_autofree char *doubt = describe_doubt (self->profiling);
  gboolean absent = lig_device_name_has (lig_document_get_device (doc), LIG_DEVICE_DESCRIBED);
  if (error)
    set_notice (self, "error", error, _ ("Try again"), "profile.run");
  else if ((fault = problem && !lig_document_is_stale (doc)))
    set_notice (self, "error", problem->text, NULL, NULL);
  else if (absent)
    set_notice (self, NULL,
                _ ("This device is plan-only, so nothing can be measured on it. Profiling on this "
                   "computer’s CPU also recompiles the plan for it."),
                _ ("Profile on the CPU"), "profile.on-cpu");
  else if (stale)
    set_notice (self, "warning",
                _ ("The sequence or the device changed after this profile was measured."),
                _ ("Profile again"), "profile.run");
  else if (doubt)
    set_notice (self, "warning", doubt, _ ("Profile again"),
                lig_profiling_get (self->profiling, 1) ? "win.compare-policies" : "profile.run");
  else
    set_notice (self, NULL, NULL, NULL, NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->predict_button), stale && !error && !fault);
}

/* Only one measurement of a document runs at a time. */
static void
enable_actions (LigProfilePage *self)
{
  static const char *const names[] = {"profile", "compare-policies", "compare-recipes"};
  static const char *const own[] = {"profile.run", "profile.on-cpu"};
  GActionMap *map = lig_page_get_actions (LIG_PAGE (self));
  gboolean idle = !lig_measurement_is_active (LIG_MEASUREMENT (self->profiling)) &&
                  !lig_measurement_is_active (LIG_MEASUREMENT (self->comparing));
  for (guint i = 0; map && i < G_N_ELEMENTS (names); i++) {
    GAction *action = g_action_map_lookup_action (map, names[i]);
    if (action)
      g_simple_action_set_enabled (G_SIMPLE_ACTION (action), idle);
  }
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    gtk_widget_action_set_enabled (GTK_WIDGET (self), own[i], idle);
  gtk_widget_set_sensitive (GTK_WIDGET (self->recipes_button), idle);
  gtk_widget_set_sensitive (GTK_WIDGET (self->load_button), idle);
}

static void
show_progress (LigProfilePage *self)
{
  gboolean active = lig_measurement_is_active (LIG_MEASUREMENT (self->profiling));
  double left, done = active ? lig_profiling_get_progress (self->profiling, &left) : 0;
  enable_actions (self);
  lig_load_menu_update (self->load_button);
  gtk_widget_set_visible (GTK_WIDGET (self->progress_box), active);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "profile.cancel", active);
  if (!active)
    return;
  if (lig_measurement_is_cancelled (LIG_MEASUREMENT (self->profiling))) {
    gtk_label_set_label (self->progress_label, _ ("Stopping after the current round…"));
    gtk_progress_bar_pulse (self->progress);
  } else if (done < 0) {
    gtk_label_set_label (self->progress_label, _ ("Preparing the plan and warming up…"));
    gtk_progress_bar_pulse (self->progress);
  } else {
    g_autofree char *text =
      isnan (left)
        ? g_strdup_printf (_ ("Measuring, %.0f %%"), 100 * done)
        : g_strdup_printf (_ ("Measuring, %.0f %%, about %.0f s left"), 100 * done, ceil (left));
    gtk_label_set_label (self->progress_label, text);
    gtk_progress_bar_set_fraction (self->progress, done);
  }
}

static void
update (LigProfilePage *self)
{
  LigDocument *doc = lig_page_get_document (LIG_PAGE (self));
  if (!gtk_widget_get_mapped (GTK_WIDGET (self))) {
    self->outdated = TRUE;
    return;
  }
  self->outdated = FALSE;
  predict (self);
  find_shown (self);
  gboolean some = self->timed.plan && lig_sequence_get_length (lig_document_get_sequence (doc)) > 0;
  gtk_stack_set_visible_child_name (self->stack, some ? "content" : "empty");
  show_pictures (self);
  show_progress (self);
  if (!some)
    return;
  show_head (self);
  show_notice (self);
  lig_profile_figures_fill (self->figures, self->timed.plan, get_shown (self));
  gboolean several = lig_profiling_get (self->profiling, 1) != NULL;
  gtk_widget_set_visible (self->compare_box, several);
  if (several)
    lig_profile_figures_compare (self->compare, self->profiling);
  gboolean old = lig_measurement_is_stale (LIG_MEASUREMENT (self->profiling)) ||
                 (!lig_profiling_get_shown (self->profiling) && lig_document_is_stale (doc));
  GtkWidget *const faded[] = {GTK_WIDGET (self->figures),  GTK_WIDGET (self->compare),
                              GTK_WIDGET (self->times),    GTK_WIDGET (self->timeline),
                              GTK_WIDGET (self->roofline), GTK_WIDGET (self->memory)};
  for (guint i = 0; i < G_N_ELEMENTS (faded); i++)
    lig_css_class_set (faded[i], "outdated", old);
}

/* During a measurement, only the progress changes. */
static void
follow_profiling (LigProfilePage *self)
{
  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    self->outdated = TRUE;
  if (self->timed.plan)
    show_notice (self);
  show_progress (self);
}

/* --- Actions -----------------------------------------------------------------------------------
 */

static void
start (LigProfilePage *self, const LigPolicy *policies, guint count)
{
  g_autoptr (GError) error = NULL;
  gtk_widget_activate_action (GTK_WIDGET (self), "win.page", "s", "profile");
  if (!lig_profiling_start (self->profiling, policies, count, ROUNDS, &error))
    lig_toast_error (GTK_WIDGET (self), g_steal_pointer (&error));
}

static void
profile (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigPolicy policy = lig_document_get_policy (lig_page_get_document (LIG_PAGE (data)));
  start (data, &policy, 1);
}

static void
compare_policies (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  static const LigPolicy policies[] = {LIG_POLICY_NONE, LIG_POLICY_ALL, LIG_POLICY_MEASURED};
  start (data, policies, G_N_ELEMENTS (policies));
}

static void
compare_recipes (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_widget_activate_action (data, "win.page", "s", "profile");
  lig_recipe_menu_compare (LIG_PROFILE_PAGE (data)->recipes_button, ROUNDS);
}

static void
run_again (GtkWidget *widget, const char *name, GVariant *parameter)
{
  profile (NULL, NULL, widget);
}

static void
run_on_cpu (GtkWidget *widget, const char *name, GVariant *parameter)
{
  lig_document_set_device (lig_page_get_document (LIG_PAGE (widget)), "cpu");
  profile (NULL, NULL, widget);
}

static void
cancel (GtkWidget *widget, const char *name, GVariant *parameter)
{
  lig_measurement_cancel (LIG_MEASUREMENT (LIG_PROFILE_PAGE (widget)->profiling));
}

static void
forget (GtkWidget *widget, const char *name, GVariant *parameter)
{
  lig_measurement_clear (LIG_MEASUREMENT (LIG_PROFILE_PAGE (widget)->profiling));
}

/* Adds the load of experts. */
static char *
add_load (LigProfilePage *self, char *command)
{
  LigPlan *plan = lig_document_get_plan (lig_page_get_document (LIG_PAGE (self)));
  const char *load = lig_profiling_get_load (self->profiling);
  if (!command || !load || !plan || !lig_plan_has_loads (plan))
    return command;
  g_autoptr (GString) text = g_string_new (command);
  lig_shell_append_option (text, "load", load);
  g_free (command);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Adds the compared policies if the page shows them, else the recipes. */
static char *
lig_profile_page_to_command (LigPage *page)
{
  LigProfilePage *self = LIG_PROFILE_PAGE (page);
  char *text = add_load (self, lig_document_to_command (lig_page_get_document (page), "profile"));
  if (!text)
    return NULL;
  if (!lig_profiling_get (self->profiling, 1) ||
      lig_measurement_is_stale (LIG_MEASUREMENT (self->profiling)))
    return lig_comparing_to_command (self->comparing, text);
  const LigProfiled *profiled;
  g_autoptr (GString) policies = g_string_new (NULL);
  for (guint i = 0; (profiled = lig_profiling_get (self->profiling, i)); i++)
    g_string_append_printf (policies, "%s%s", i > 0 ? "," : "",
                            lig_policy_name (lig_plan_get_policy (profiled->plan)));
  char *whole = g_strconcat (text, " --compare ", policies->str, NULL);
  g_free (text);
  return whole;
}

static void
copy_command (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_widget_activate_action (widget, "win.copy-command", NULL);
}

static void
lig_profile_page_add_actions (LigPage *page, GActionMap *map)
{
  static const GActionEntry actions[] = {
    {.name = "profile", .activate = profile},
    {.name = "compare-policies", .activate = compare_policies},
    {.name = "compare-recipes", .activate = compare_recipes},
  };
  g_action_map_add_action_entries (map, actions, G_N_ELEMENTS (actions), page);
}

/* --- Construction ------------------------------------------------------------------------------
 */

static void
lig_profile_page_map (GtkWidget *widget)
{
  LigProfilePage *self = LIG_PROFILE_PAGE (widget);
  GTK_WIDGET_CLASS (lig_profile_page_parent_class)->map (widget);
  if (self->outdated)
    update (self);
}

static void
lig_profile_page_constructed (GObject *object)
{
  LigProfilePage *self = LIG_PROFILE_PAGE (object);
  LigDocument *doc = lig_page_get_document (LIG_PAGE (self));
  G_OBJECT_CLASS (lig_profile_page_parent_class)->constructed (object);
  self->profiling = g_object_ref (lig_profiling_of (doc));
  self->comparing = g_object_ref (lig_comparing_of (doc));
  lig_recipe_menu_set_up (self->recipes_button, doc);
  lig_load_menu_set_up (self->load_button, doc);
  gtk_box_insert_child_after (self->content, lig_recipe_section_new (doc), self->compare_box);
  gtk_box_insert_child_after (self->content, lig_rank_section_new (doc, GTK_WIDGET (self)),
                              GTK_WIDGET (self->figures));
  g_signal_connect_object (self->comparing, "changed", G_CALLBACK (enable_actions), self,
                           G_CONNECT_SWAPPED);
  self->outdated = TRUE;
  g_signal_connect_object (doc, "planned", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (doc, "titled", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->profiling, "measured", G_CALLBACK (update), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->profiling, "changed", G_CALLBACK (follow_profiling), self,
                           G_CONNECT_SWAPPED);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "profile.cancel", FALSE);
}

static void
lig_profile_page_dispose (GObject *object)
{
  LigProfilePage *self = LIG_PROFILE_PAGE (object);
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  adw_bin_set_child (ADW_BIN (self), NULL);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_PROFILE_PAGE);
  g_clear_pointer (&self->prediction, lig_prediction_free);
  g_clear_pointer (&self->predicted_for, lig_plan_unref);
  set_timed (&self->timed, NULL, NULL);
  set_timed (&self->unfused, NULL, NULL);
  g_clear_object (&self->profiling);
  g_clear_object (&self->comparing);
  G_OBJECT_CLASS (lig_profile_page_parent_class)->dispose (object);
}

static void
bind_children (GtkWidgetClass *class)
{
  gtk_widget_class_bind_template_child (class, LigProfilePage, stack);
  gtk_widget_class_bind_template_child (class, LigProfilePage, content);
  gtk_widget_class_bind_template_child (class, LigProfilePage, figures);
  gtk_widget_class_bind_template_child (class, LigProfilePage, compare);
  gtk_widget_class_bind_template_child (class, LigProfilePage, compare_box);
  gtk_widget_class_bind_template_child (class, LigProfilePage, title);
  gtk_widget_class_bind_template_child (class, LigProfilePage, subtitle);
  gtk_widget_class_bind_template_child (class, LigProfilePage, notice);
  gtk_widget_class_bind_template_child (class, LigProfilePage, notice_icon);
  gtk_widget_class_bind_template_child (class, LigProfilePage, notice_label);
  gtk_widget_class_bind_template_child (class, LigProfilePage, notice_button);
  gtk_widget_class_bind_template_child (class, LigProfilePage, predict_button);
  gtk_widget_class_bind_template_child (class, LigProfilePage, progress_box);
  gtk_widget_class_bind_template_child (class, LigProfilePage, progress_label);
  gtk_widget_class_bind_template_child (class, LigProfilePage, progress);
  gtk_widget_class_bind_template_child (class, LigProfilePage, cancel_button);
  gtk_widget_class_bind_template_child (class, LigProfilePage, recipes_button);
  gtk_widget_class_bind_template_child (class, LigProfilePage, load_button);
}

static void
lig_profile_page_class_init (LigProfilePageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->constructed = lig_profile_page_constructed;
  G_OBJECT_CLASS (class)->dispose = lig_profile_page_dispose;
  widget_class->map = lig_profile_page_map;
  LIG_PAGE_CLASS (class)->add_actions = lig_profile_page_add_actions;
  LIG_PAGE_CLASS (class)->to_command = lig_profile_page_to_command;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/profile/profile-page.ui");
  bind_children (widget_class);
  gtk_widget_class_install_action (widget_class, "profile.run", NULL, run_again);
  gtk_widget_class_install_action (widget_class, "profile.on-cpu", NULL, run_on_cpu);
  gtk_widget_class_install_action (widget_class, "profile.cancel", NULL, cancel);
  gtk_widget_class_install_action (widget_class, "profile.forget", NULL, forget);
  gtk_widget_class_install_action (widget_class, "profile.copy-command", NULL, copy_command);
}

static void
lig_profile_page_init (LigProfilePage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  add_pictures (self);
}
