/* SPDX-License-Identifier: MIT */
/* The Sequence page: palette, score and inspector in a row, the run bar below. In a narrow window
 * the side panes overlap the score. */
#include "ui/document/check.h"
#include "ui/document/pin.h"
#include "ui/document/preview.h"
#include "ui/document/times.h"
#include "ui/inspector/inspector.h"
#include "ui/page.h"
#include "ui/profile/profiling.h"
#include "ui/run/bar.h"
#include "ui/savings/panel.h"
#include "ui/score/compare-with.h"
#include "ui/score/score.h"
#include "ui/sequence/find-bar.h"
#include "ui/sequence/palette.h"
#include "ui/sequence/problems.h"
#include "ui/sequence/quick-entry.h"
#include "ui/sequence/templates.h"
#include "ui/widgets/text-scale.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

#define LIG_TYPE_SEQUENCE_PAGE (lig_sequence_page_get_type ())
G_DECLARE_FINAL_TYPE (LigSequencePage, lig_sequence_page, LIG, SEQUENCE_PAGE, LigPage)

struct _LigSequencePage {
  LigPage parent_instance;
  AdwFlap *palette_flap, *inspector_flap;
  GSimpleAction *palette_action, *inspector_action; /* their states mirror the panes */
  AdwBin *palette, *inspector, *quick_entry, *find_bar, *score_place, *toast_place, *problems,
    *run_bar;
  GtkStack *views; /* the score and the savings */
  GtkWidget *centre, *score, *savings;
  char *path;        /* (nullable): of the document's file at the last signal */
  gboolean checking; /* whether a check ran at the last signal */
};

G_DEFINE_FINAL_TYPE (LigSequencePage, lig_sequence_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (sequence) = {
  .name = "sequence",
  .title = N_ ("Sequence"),
  .icon = "view-list-symbolic",
  .get_type = lig_sequence_page_get_type,
};

/* --- Side panes ---------------------------------------------------------------------------- */

static const char *
get_key (LigSequencePage *self, AdwFlap *flap)
{
  return flap == self->palette_flap ? "palette-visible" : "inspector-visible";
}

static GSettings *
get_settings (LigSequencePage *self)
{
  return lig_session_get_settings (lig_page_get_session (LIG_PAGE (self)));
}

/* In a narrow window, a pane overlaps the score, so it is shown only on request. */
static void
show_flap (LigSequencePage *self, AdwFlap *flap)
{
  gboolean wanted = g_settings_get_boolean (get_settings (self), get_key (self, flap));
  adw_flap_set_reveal_flap (flap, wanted && !adw_flap_get_folded (flap));
}

static void
follow_fold (AdwFlap *flap, GParamSpec *spec, LigSequencePage *self)
{
  show_flap (self, flap);
}

static void
follow_setting (GSettings *settings, const char *key, LigSequencePage *self)
{
  show_flap (self,
             g_str_equal (key, "palette-visible") ? self->palette_flap : self->inspector_flap);
}

static void
set_pane (LigSequencePage *self, AdwFlap *flap, gboolean visible)
{
  if (!adw_flap_get_folded (flap))
    g_settings_set_boolean (get_settings (self), get_key (self, flap), visible);
  adw_flap_set_reveal_flap (flap, visible);
}

static void
show_inspector (LigSequencePage *self)
{
  set_pane (self, self->inspector_flap, TRUE);
}

/* Shows or hides both panes. */
static void
toggle_sidebars (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigSequencePage *self = data;
  gboolean visible = !adw_flap_get_reveal_flap (self->palette_flap) &&
                     !adw_flap_get_reveal_flap (self->inspector_flap);
  set_pane (self, self->palette_flap, visible);
  set_pane (self, self->inspector_flap, visible);
}

static void
change_palette (GSimpleAction *action, GVariant *state, gpointer data)
{
  LigSequencePage *self = data;
  set_pane (self, self->palette_flap, g_variant_get_boolean (state));
}

static void
change_inspector (GSimpleAction *action, GVariant *state, gpointer data)
{
  LigSequencePage *self = data;
  set_pane (self, self->inspector_flap, g_variant_get_boolean (state));
}

static void
follow_reveal (AdwFlap *flap, GParamSpec *spec, LigSequencePage *self)
{
  GSimpleAction *action =
    flap == self->palette_flap ? self->palette_action : self->inspector_action;
  if (action)
    g_simple_action_set_state (action, g_variant_new_boolean (adw_flap_get_reveal_flap (flap)));
}

/* The buttons of the panes have no effect while another page is shown. */
static void
enable_panes (LigSequencePage *self, gboolean enabled)
{
  if (self->palette_action)
    g_simple_action_set_enabled (self->palette_action, enabled);
  if (self->inspector_action)
    g_simple_action_set_enabled (self->inspector_action, enabled);
}

/* --- Actions that lead into the page -------------------------------------------------------- */

/* Shows this page first. */
static void
come_forward (LigSequencePage *self)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.page", "s", "sequence");
}

static void
find (LigPage *page)
{
  LigSequencePage *self = LIG_SEQUENCE_PAGE (page);
  lig_find_bar_begin (LIG_FIND_BAR (adw_bin_get_child (self->find_bar)));
}

static void
add_op (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigSequencePage *self = data;
  come_forward (self);
  set_pane (self, self->palette_flap, TRUE);
  lig_palette_focus_search (LIG_PALETTE (adw_bin_get_child (self->palette)));
}

static void
enter_quickly (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigSequencePage *self = data;
  come_forward (self);
  lig_quick_entry_focus (LIG_QUICK_ENTRY (adw_bin_get_child (self->quick_entry)));
}

static void
go_to_next_problem (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigSequencePage *self = data;
  come_forward (self);
  lig_problems_next (LIG_PROBLEMS (adw_bin_get_child (self->problems)));
}

static void
choose_template (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigSequencePage *self = data;
  come_forward (self);
  lig_templates_present (GTK_WIDGET (self), lig_page_get_document (LIG_PAGE (self)));
}

/* Shows the savings in place of the score; pressed again, the score. */
static void
show_savings (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigSequencePage *self = data;
  gboolean shown = gtk_widget_get_mapped (self->savings) &&
                   gtk_stack_get_visible_child (self->views) == self->savings;
  come_forward (self);
  gtk_stack_set_visible_child (self->views, shown ? self->score : self->savings);
}

static void
show_score (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigSequencePage *self = data;
  come_forward (self);
  gtk_stack_set_visible_child (self->views, self->score);
  lig_score_view_focus (LIG_SCORE_VIEW (self->score));
}

/* Escape leads back to the score, or ends a preview there. */
static gboolean
escape (GtkEventControllerKey *controller,
        guint key,
        guint code,
        GdkModifierType modifiers,
        LigSequencePage *self)
{
  LigDocument *document = lig_page_get_document (LIG_PAGE (self));
  if (key != GDK_KEY_Escape)
    return FALSE;
  if (gtk_stack_get_visible_child (self->views) == self->savings)
    show_score (NULL, NULL, self);
  else if (lig_document_get_preview_label (document))
    lig_document_end_preview (document);
  else
    return FALSE;
  return TRUE;
}

/* Pins the preview if one is shown, else the current plan; pressed again, unpins it. */
static void
pin (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigDocument *document = lig_page_get_document (LIG_PAGE (data));
  gboolean previewing = lig_document_get_preview (document) != NULL;
  if (!previewing)
    come_forward (data);
  if (lig_document_is_pinned (document) && !previewing)
    lig_document_unpin (document);
  else
    lig_document_pin (document);
}

static void
compare_with (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigSequencePage *self = data;
  come_forward (self);
  gtk_stack_set_visible_child (self->views, self->score);
  lig_compare_with_choose (GTK_WIDGET (self), lig_page_get_document (LIG_PAGE (self)));
}

/* Shows the result of a finished check; its marks are on the brackets. */
static void
tell_check (LigSequencePage *self)
{
  LigDocument *document = lig_page_get_document (LIG_PAGE (self));
  gboolean checking = lig_document_is_checking (document), ended = self->checking && !checking;
  self->checking = checking;
  g_autofree char *text = ended ? lig_document_describe_check (document) : NULL;
  g_autofree char *shown = text ? g_strdup_printf (_ ("Plan checked: %s"), text) : NULL;
  if (shown)
    lig_toast (GTK_WIDGET (self), shown, NULL, NULL);
}

/* Checks the plan; pressed again, stops the check. */
static void
check_plan (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigDocument *document = lig_page_get_document (LIG_PAGE (data));
  GError *error = NULL;
  come_forward (data);
  if (lig_document_is_checking (document))
    lig_document_cancel_check (document);
  else if (!lig_document_check_plan (document, &error))
    lig_toast_error (GTK_WIDGET (data), error);
  else
    lig_toast (GTK_WIDGET (data), _ ("Checking the plan against the unfused ops"), NULL, NULL);
}

/* The view's actions are those of the score, which is shown first. */
static void
change_view (GSimpleAction *action, GVariant *parameter, gpointer page)
{
  g_autofree char *name = g_strconcat ("view.", g_action_get_name (G_ACTION (action)), NULL);
  come_forward (page);
  gtk_widget_activate_action_variant (LIG_SEQUENCE_PAGE (page)->score, name, parameter);
}

static void
add_view_actions (LigPage *page, GActionMap *map)
{
  static const GActionEntry entries[] = {
    {.name = "zoom-in", .activate = change_view},
    {.name = "zoom-out", .activate = change_view},
    {.name = "zoom-reset", .activate = change_view},
    {.name = "zoom-fit", .activate = change_view},
    {.name = "compact", .activate = change_view},
    {.name = "fold-all", .activate = change_view},
    {.name = "unfold-all", .activate = change_view},
    {.name = "hotspot", .activate = change_view},
    {.name = "previous-hotspot", .activate = change_view},
    {.name = "score-colour", .activate = change_view, .parameter_type = "s"},
  };
  g_action_map_add_action_entries (map, entries, G_N_ELEMENTS (entries), page);
}

static void
add_actions (LigPage *page, GActionMap *map)
{
  static const GActionEntry entries[] = {
    {.name = "add-op", .activate = add_op},
    {.name = "quick-entry", .activate = enter_quickly},
    {.name = "next-problem", .activate = go_to_next_problem},
    {.name = "templates", .activate = choose_template},
    {.name = "pin", .activate = pin},
    {.name = "check-plan", .activate = check_plan},
    {.name = "savings", .activate = show_savings},
    {.name = "compare-with", .activate = compare_with},
    {.name = "score", .activate = show_score},
    {.name = "sidebars", .activate = toggle_sidebars},
    {.name = "palette", .state = "false", .change_state = change_palette},
    {.name = "inspector", .state = "false", .change_state = change_inspector},
  };
  LigSequencePage *self = LIG_SEQUENCE_PAGE (page);
  g_action_map_add_action_entries (map, entries, G_N_ELEMENTS (entries), page);
  g_set_object (&self->palette_action,
                G_SIMPLE_ACTION (g_action_map_lookup_action (map, "palette")));
  g_set_object (&self->inspector_action,
                G_SIMPLE_ACTION (g_action_map_lookup_action (map, "inspector")));
  add_view_actions (page, map);
  follow_reveal (self->palette_flap, NULL, self);
  follow_reveal (self->inspector_flap, NULL, self);
}

/* --- Construction -------------------------------------------------------------------------- */

/* All measured plans are passed, because one of them may be the unfused plan. */
static void
show_times (LigSequencePage *self)
{
  LigDocument *document = lig_page_get_document (LIG_PAGE (self));
  LigProfiling *profiling = lig_profiling_of (document);
  const LigProfiled *profiled;
  g_autoptr (GArray) profiles = g_array_new (FALSE, FALSE, sizeof (LigTimedPlan));
  for (guint i = 0; (profiled = lig_profiling_get (profiling, i)); i++) {
    LigTimedPlan timed = {profiled->plan, profiled->steps, profiled->passes, NULL};
    g_array_append_val (profiles, timed);
  }
  lig_document_set_profiles (document, (const LigTimedPlan *) (gpointer) profiles->data,
                             profiles->len);
}

/* A file that was opened gets the focus on its score. */
static void
follow_file (LigSequencePage *self)
{
  const char *path = lig_document_get_path (lig_page_get_document (LIG_PAGE (self)));
  gboolean opened = path && g_strcmp0 (path, self->path) != 0;
  g_free (self->path);
  self->path = g_strdup (path);
  if (opened && gtk_widget_get_mapped (GTK_WIDGET (self)))
    lig_score_view_focus (LIG_SCORE_VIEW (self->score));
}

static void
leave_entry (LigSequencePage *self)
{
  lig_score_view_focus (LIG_SCORE_VIEW (self->score));
}

static void
fill (LigSequencePage *self)
{
  LigDocument *document = lig_page_get_document (LIG_PAGE (self));
  GtkWidget *entry = lig_quick_entry_new (document);
  GtkWidget *find_bar = lig_find_bar_new (document);
  adw_bin_set_child (self->palette, lig_palette_new (document));
  adw_bin_set_child (self->inspector, lig_inspector_new (document));
  g_signal_connect_object (document, "wanted", G_CALLBACK (show_inspector), self,
                           G_CONNECT_SWAPPED);
  adw_bin_set_child (self->quick_entry, entry);
  adw_bin_set_child (self->find_bar, find_bar);
  self->score = lig_score_view_new (document);
  self->savings = lig_savings_panel_new (document);
  self->views = GTK_STACK (gtk_stack_new ());
  gtk_stack_set_vhomogeneous (self->views, FALSE);
  gtk_stack_set_hhomogeneous (self->views, FALSE);
  gtk_stack_add_child (self->views, self->score);
  gtk_stack_add_child (self->views, self->savings);
  adw_bin_set_child (self->score_place, GTK_WIDGET (self->views));
  adw_bin_set_child (self->problems, lig_problems_new (document));
  adw_bin_set_child (self->run_bar, lig_run_bar_new (document));
  g_signal_connect_object (document, "titled", G_CALLBACK (follow_file), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "timed", G_CALLBACK (tell_check), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (lig_profiling_of (document), "changed", G_CALLBACK (show_times), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (find_bar, "finished", G_CALLBACK (leave_entry), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (entry, "finished", G_CALLBACK (leave_entry), self, G_CONNECT_SWAPPED);
}

static void
constructed (GObject *object)
{
  LigSequencePage *self = LIG_SEQUENCE_PAGE (object);
  G_OBJECT_CLASS (lig_sequence_page_parent_class)->constructed (object);
  GtkEventController *keys = gtk_event_controller_key_new ();
  fill (self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (escape), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  lig_text_widen (GTK_WIDGET (self->palette), 216, 0, 1.3);
  /* Side panes overlap the score if there is no room for both. */
  lig_text_widen (self->centre, 470, 0, 1.3);
  lig_text_widen (GTK_WIDGET (self->inspector), 324, 348, 1.3);
  AdwFlap *const flaps[] = {self->palette_flap, self->inspector_flap};
  for (guint i = 0; i < G_N_ELEMENTS (flaps); i++) {
    adw_flap_set_locked (flaps[i], TRUE);
    g_signal_connect (flaps[i], "notify::folded", G_CALLBACK (follow_fold), self);
    g_signal_connect (flaps[i], "notify::reveal-flap", G_CALLBACK (follow_reveal), self);
    show_flap (self, flaps[i]);
  }
  g_signal_connect_object (get_settings (self), "changed::palette-visible",
                           G_CALLBACK (follow_setting), self, 0);
  g_signal_connect_object (get_settings (self), "changed::inspector-visible",
                           G_CALLBACK (follow_setting), self, 0);
}

static void
dispose (GObject *object)
{
  LigSequencePage *self = LIG_SEQUENCE_PAGE (object);
  g_clear_object (&self->palette_action);
  g_clear_object (&self->inspector_action);
  g_clear_pointer (&self->path, g_free);
  G_OBJECT_CLASS (lig_sequence_page_parent_class)->dispose (object);
}

static void
lig_sequence_page_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lig_sequence_page_parent_class)->map (widget);
  enable_panes (LIG_SEQUENCE_PAGE (widget), TRUE);
}

static void
lig_sequence_page_unmap (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (lig_sequence_page_parent_class)->unmap (widget);
  enable_panes (LIG_SEQUENCE_PAGE (widget), FALSE);
}

static AdwBin *
get_toast_place (LigPage *self)
{
  return LIG_SEQUENCE_PAGE (self)->toast_place;
}

static void
lig_sequence_page_class_init (LigSequencePageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->constructed = constructed;
  G_OBJECT_CLASS (class)->dispose = dispose;
  widget_class->map = lig_sequence_page_map;
  widget_class->unmap = lig_sequence_page_unmap;
  LIG_PAGE_CLASS (class)->add_actions = add_actions;
  LIG_PAGE_CLASS (class)->find = find;
  LIG_PAGE_CLASS (class)->get_toast_place = get_toast_place;
  gtk_widget_class_set_template_from_resource (
    widget_class, "/org/ligature/Ligature/ui/sequence/sequence-page.ui");
  gtk_widget_class_bind_template_child (widget_class, LigSequencePage, palette_flap);
  gtk_widget_class_bind_template_child (widget_class, LigSequencePage, inspector_flap);
  gtk_widget_class_bind_template_child (widget_class, LigSequencePage, palette);
  gtk_widget_class_bind_template_child (widget_class, LigSequencePage, inspector);
  gtk_widget_class_bind_template_child (widget_class, LigSequencePage, quick_entry);
  gtk_widget_class_bind_template_child (widget_class, LigSequencePage, find_bar);
  gtk_widget_class_bind_template_child (widget_class, LigSequencePage, score_place);
  gtk_widget_class_bind_template_child (widget_class, LigSequencePage, problems);
  gtk_widget_class_bind_template_child (widget_class, LigSequencePage, toast_place);
  gtk_widget_class_bind_template_child (widget_class, LigSequencePage, run_bar);
  gtk_widget_class_bind_template_child (widget_class, LigSequencePage, centre);
}

static void
lig_sequence_page_init (LigSequencePage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
