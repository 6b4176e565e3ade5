/* SPDX-License-Identifier: MIT */
/* The view controls of the score: actions, keys and gestures. */
#include "ui/score/view-controls.h"

#include "ui/score/heat.h"

#include <math.h>

/* One step of the wheel or of a key. */
#define STEP 1.1

/* State of the gestures on one sheet. */
typedef struct {
  LigScoreSheet *sheet;
  GtkWidget *view;
  double y;     /* of the pointer in the scrolled window */
  double began; /* the zoom at which a pinch began */
} ViewControls;

/* --- Actions ------------------------------------------------------------------------------- */

static void
zoom (GSimpleAction *action, GVariant *target, gpointer data)
{
  ViewControls *self = data;
  double now = lig_score_sheet_get_zoom (self->sheet);
  const char *name = g_action_get_name (G_ACTION (action));
  double next = g_str_equal (name, "zoom-in") ? now * STEP : now / STEP;
  lig_score_sheet_set_zoom (self->sheet, g_str_equal (name, "zoom-reset") ? 1 : next, NAN);
}

static void
fit (GSimpleAction *action, GVariant *target, gpointer data)
{
  lig_score_sheet_fit (((ViewControls *) data)->sheet);
}

static void
fold (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigDocument *document = lig_score_sheet_get_document (((ViewControls *) data)->sheet);
  lig_document_set_all_open (document,
                             g_str_equal (g_action_get_name (G_ACTION (action)), "unfold-all"));
}

static void
go_hot (GSimpleAction *action, GVariant *target, gpointer data)
{
  gboolean back = g_str_equal (g_action_get_name (G_ACTION (action)), "previous-hotspot");
  lig_score_sheet_go_hot (((ViewControls *) data)->sheet, back ? -1 : 1);
}

/* Toggles between compact and full rows. */
static void
toggle_compact (GSimpleAction *action, GVariant *target, gpointer data)
{
  LigScoreSheet *sheet = ((ViewControls *) data)->sheet;
  LigSession *session = lig_document_get_session (lig_score_sheet_get_document (sheet));
  gboolean compact = lig_score_sheet_get_map (sheet)->metrics.compact;
  g_settings_set_enum (lig_session_get_settings (session), "score-rows",
                       compact ? LIG_SCORE_ROWS_FULL : LIG_SCORE_ROWS_COMPACT);
}

static GActionGroup *
make_actions (ViewControls *self, GSettings *settings)
{
  static const GActionEntry entries[] = {
    {.name = "zoom-in", .activate = zoom},
    {.name = "zoom-out", .activate = zoom},
    {.name = "zoom-reset", .activate = zoom},
    {.name = "zoom-fit", .activate = fit},
    {.name = "compact", .activate = toggle_compact},
    {.name = "fold-all", .activate = fold},
    {.name = "unfold-all", .activate = fold},
    {.name = "hotspot", .activate = go_hot},
    {.name = "previous-hotspot", .activate = go_hot},
  };
  GSimpleActionGroup *group = g_simple_action_group_new ();
  g_action_map_add_action_entries (G_ACTION_MAP (group), entries, G_N_ELEMENTS (entries), self);
  static const char *const keys[] = {"score-rows", "score-colour"};
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    g_autoptr (GAction) action = g_settings_create_action (settings, keys[i]);
    g_action_map_add_action (G_ACTION_MAP (group), action);
  }
  return G_ACTION_GROUP (group);
}

/* --- Keys ---------------------------------------------------------------------------------- */

static gboolean
press (GtkWidget *widget, GVariant *action, gpointer data)
{
  return gtk_widget_get_mapped (widget) &&
         gtk_widget_activate_action_variant (widget, g_variant_get_string (action, NULL), NULL);
}

static void
add_keys (GtkWidget *view)
{
  static const char *const keys[][2] = {
    {"<Control>plus|<Control>equal|<Control>KP_Add", "view.zoom-in"},
    {"<Control>minus|<Control>KP_Subtract", "view.zoom-out"},
    {"<Control>0|<Control>KP_0", "view.zoom-reset"},
    {"<Control>9|<Control>KP_9", "view.zoom-fit"},
    {"<Control>r", "view.compact"},
    {"<Control>bracketleft", "view.fold-all"},
    {"<Control>bracketright", "view.unfold-all"},
    {"<Control>h", "view.hotspot"},
    {"<Control><Shift>h", "view.previous-hotspot"},
  };
  GtkEventController *controller = gtk_shortcut_controller_new ();
  gtk_shortcut_controller_set_scope (GTK_SHORTCUT_CONTROLLER (controller),
                                     GTK_SHORTCUT_SCOPE_GLOBAL);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    GtkShortcut *shortcut = gtk_shortcut_new (gtk_shortcut_trigger_parse_string (keys[i][0]),
                                              gtk_callback_action_new (press, NULL, NULL));
    gtk_shortcut_set_arguments (shortcut, g_variant_new_string (keys[i][1]));
    gtk_shortcut_controller_add_shortcut (GTK_SHORTCUT_CONTROLLER (controller), shortcut);
  }
  gtk_widget_add_controller (view, controller);
}

/* --- Wheel and pinch ----------------------------------------------------------------------- */

static void
moved (GtkEventControllerMotion *motion, double x, double y, ViewControls *self)
{
  self->y = y;
}

static gboolean
scrolled (GtkEventControllerScroll *scroll, double dx, double dy, ViewControls *self)
{
  GdkModifierType state =
    gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (scroll));
  if (!(state & GDK_CONTROL_MASK))
    return FALSE;
  /* A touchpad scrolls in pixels. */
  if (gtk_event_controller_scroll_get_unit (scroll) == GDK_SCROLL_UNIT_SURFACE)
    dy /= 24;
  lig_score_sheet_set_zoom (self->sheet, lig_score_sheet_get_zoom (self->sheet) * pow (STEP, -dy),
                            self->y);
  return TRUE;
}

static void
pinch_begin (GtkGesture *gesture, GdkEventSequence *sequence, ViewControls *self)
{
  self->began = lig_score_sheet_get_zoom (self->sheet);
}

static void
pinched (GtkGestureZoom *gesture, double scale, ViewControls *self)
{
  lig_score_sheet_set_zoom (self->sheet, self->began * scale, self->y);
}

static void
add_gestures (ViewControls *self, GtkWidget *place)
{
  GtkEventController *scroll =
    gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkGesture *pinch = gtk_gesture_zoom_new ();
  /* The scrolled window scrolls, no matter which key is held. */
  gtk_event_controller_set_propagation_phase (scroll, GTK_PHASE_CAPTURE);
  gtk_event_controller_set_propagation_phase (motion, GTK_PHASE_CAPTURE);
  g_signal_connect (scroll, "scroll", G_CALLBACK (scrolled), self);
  g_signal_connect (motion, "motion", G_CALLBACK (moved), self);
  g_signal_connect (pinch, "begin", G_CALLBACK (pinch_begin), self);
  g_signal_connect (pinch, "scale-changed", G_CALLBACK (pinched), self);
  gtk_widget_add_controller (place, scroll);
  gtk_widget_add_controller (place, motion);
  gtk_widget_add_controller (place, GTK_EVENT_CONTROLLER (pinch));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
follow_settings (GSettings *settings, const char *key, LigScoreSheet *sheet)
{
  lig_score_sheet_set_rows (sheet, (LigScoreRows) g_settings_get_enum (settings, "score-rows"));
  lig_score_sheet_set_colour (sheet,
                              (LigScoreColour) g_settings_get_enum (settings, "score-colour"));
}

void
lig_score_add_view_actions (GtkWidget *view, LigScoreSheet *sheet, GtkScrolledWindow *scrolled)
{
  ViewControls *self = g_new0 (ViewControls, 1);
  GSettings *settings =
    lig_session_get_settings (lig_document_get_session (lig_score_sheet_get_document (sheet)));
  self->sheet = sheet;
  self->view = view;
  g_object_set_data_full (G_OBJECT (view), "lig-score-view-controls", self, g_free);
  GActionGroup *actions = make_actions (self, settings);
  gtk_widget_insert_action_group (view, "view", actions);
  g_object_unref (actions);
  add_keys (view);
  add_gestures (self, GTK_WIDGET (scrolled));
  g_signal_connect_object (settings, "changed::score-rows", G_CALLBACK (follow_settings), sheet, 0);
  g_signal_connect_object (settings, "changed::score-colour", G_CALLBACK (follow_settings), sheet,
                           0);
  follow_settings (settings, NULL, sheet);
}
