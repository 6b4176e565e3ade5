/* SPDX-License-Identifier: MIT */
/* The pointer on the score: selecting, dragging rows, fences and channels, dropping ops and text
 * files, scrolling while something is dragged near an edge. */
#include "ui/document/edit.h"
#include "ui/document/ends.h"
#include "ui/score/arcs.h"
#include "ui/score/gap.h"
#include "ui/score/group.h"
#include "ui/score/sheet.h"
#include "ui/widgets/connect-offer.h"
#include "ui/widgets/toast.h"

#include <math.h>

enum { EDGE = 48, THRESHOLD = 6, HANDLE = 12 /* half of a port's square */ };

/* State of the pointer on one sheet. */
typedef struct {
  LigScoreSheet *sheet;
  GdkDrag *drag; /* of our own rows */
  gboolean
    narrowing;   /* a press on a selected row: selects only that row unless it becomes a drag */
  int row;       /* from which a channel is drawn, -1 */
  int fence;     /* gap of the fence that is dragged, -1 */
  double edge_y; /* of the pointer, in the scrolled window; NaN: no drag */
  guint tick;
} Pointer;

/* --- Hit testing --------------------------------------------------------------------------- */

static GtkWidget *
pick (Pointer *self, double x, double y, GType type)
{
  GtkWidget *widget = gtk_widget_pick (GTK_WIDGET (self->sheet), x, y, GTK_PICK_DEFAULT);
  while (widget && widget != GTK_WIDGET (self->sheet) && !G_TYPE_CHECK_INSTANCE_TYPE (widget, type))
    widget = gtk_widget_get_parent (widget);
  return widget && G_TYPE_CHECK_INSTANCE_TYPE (widget, type) ? widget : NULL;
}

/* Returns the row with the nearest port whose square contains the point, or -1. */
static int
find_handle (Pointer *self, double x, double y)
{
  int nearest = -1;
  double distance = INFINITY;
  LigScoreColumns columns;
  const LigScoreMap *map = lig_score_sheet_get_map (self->sheet);
  lig_score_sheet_get_columns (self->sheet, &columns);
  for (guint i = 0; i < map->slots->len; i++) {
    double port_x, port_y;
    lig_score_get_port (map, &columns, i, &port_x, &port_y);
    if (fabs (x - port_x) <= HANDLE && fabs (y - port_y) <= MIN (HANDLE, distance) &&
        lig_score_has_port (lig_score_map_get_slot (map, i)->op)) {
      nearest = (int) i;
      distance = fabs (y - port_y);
    }
  }
  return nearest;
}

/* Returns the op at which a channel is released: at its port, which is outside its row, or anywhere
 * on its row. */
static LigOp *
find_end (Pointer *self, double x, double y)
{
  int port = find_handle (self, x, y);
  GtkWidget *row = port < 0 ? pick (self, x, y, LIG_TYPE_OP_ROW) : NULL;
  return port >= 0
           ? lig_score_map_get_slot (lig_score_sheet_get_map (self->sheet), (guint) port)->op
         : row ? lig_op_row_get_op (LIG_OP_ROW (row))
               : NULL;
}

/* --- Clicks -------------------------------------------------------------------------------- */

static void
press_row (Pointer *self, LigOpRow *row, GdkModifierType modifiers, double x, double y)
{
  graphene_point_t point;
  LigDocument *document = lig_score_sheet_get_document (self->sheet);
  LigOp *op = lig_op_row_get_op (row);
  gboolean inside = gtk_widget_compute_point (GTK_WIDGET (self->sheet), GTK_WIDGET (row),
                                              &GRAPHENE_POINT_INIT ((float) x, (float) y), &point);
  gtk_widget_grab_focus (GTK_WIDGET (row));
  if (inside && lig_op_row_is_disclosure (row, point.x, point.y)) {
    lig_document_set_open (document, op, !lig_document_find_row (document, op)->open);
    return;
  }
  self->narrowing = FALSE;
  if (modifiers & GDK_CONTROL_MASK)
    lig_document_select (document, op, LIG_SELECT_TOGGLE);
  else if (modifiers & GDK_SHIFT_MASK)
    lig_document_select (document, op, LIG_SELECT_RANGE);
  else if (lig_document_is_selected (document, op))
    self->narrowing = TRUE;
  else
    lig_document_select (document, op, LIG_SELECT_ONLY);
}

static void
pressed (GtkGestureClick *gesture, int presses, double x, double y, Pointer *self)
{
  GdkModifierType modifiers =
    gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  GtkWidget *row = pick (self, x, y, LIG_TYPE_OP_ROW);
  if (row && presses == 2)
    gtk_widget_activate_action (row, "op.open", NULL);
  else if (row)
    press_row (self, LIG_OP_ROW (row), modifiers, x, y);
  else if (!pick (self, x, y, LIG_TYPE_SHEET_GAP) && !pick (self, x, y, LIG_TYPE_SCORE_GROUP) &&
           find_handle (self, x, y) < 0)
    lig_document_select (lig_score_sheet_get_document (self->sheet), NULL, LIG_SELECT_ONLY);
}

static void
released (GtkGestureClick *gesture, int presses, double x, double y, Pointer *self)
{
  GtkWidget *row = pick (self, x, y, LIG_TYPE_OP_ROW);
  GtkWidget *gap = pick (self, x, y, LIG_TYPE_SHEET_GAP);
  GtkWidget *group = pick (self, x, y, LIG_TYPE_SCORE_GROUP);
  if (row && self->narrowing)
    lig_document_select (lig_score_sheet_get_document (self->sheet),
                         lig_op_row_get_op (LIG_OP_ROW (row)), LIG_SELECT_ONLY);
  else if (gap)
    gtk_widget_activate_action (gap, "gap.explain", NULL);
  else if (group)
    gtk_widget_activate_action (group, "group.explain", NULL);
  self->narrowing = FALSE;
}

static void
pressed_menu (GtkGestureClick *gesture, int presses, double x, double y, Pointer *self)
{
  graphene_point_t point;
  GtkWidget *row = pick (self, x, y, LIG_TYPE_OP_ROW);
  LigDocument *document = lig_score_sheet_get_document (self->sheet);
  if (!row)
    return;
  LigOp *op = lig_op_row_get_op (LIG_OP_ROW (row));
  if (!lig_document_is_selected (document, op))
    lig_document_select (document, op, LIG_SELECT_ONLY);
  gtk_widget_grab_focus (row);
  if (gtk_widget_compute_point (GTK_WIDGET (self->sheet), row,
                                &GRAPHENE_POINT_INIT ((float) x, (float) y), &point))
    lig_op_row_show_menu (LIG_OP_ROW (row), point.x, point.y);
}

/* --- Fences and channels ------------------------------------------------------------------- */

static void
drag_begin (GtkGestureDrag *gesture, double x, double y, Pointer *self)
{
  GtkWidget *gap = pick (self, x, y, LIG_TYPE_SHEET_GAP);
  self->row = find_handle (self, x, y);
  self->fence = -1;
  if (gap && lig_sheet_gap_get_fence (LIG_SHEET_GAP (gap)))
    self->fence = (int) lig_sheet_gap_get_number (LIG_SHEET_GAP (gap));
  if (self->row < 0 && self->fence < 0)
    gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
}

static void
drag_update (GtkGestureDrag *gesture, double dx, double dy, Pointer *self)
{
  double x, y;
  if ((self->row < 0 && self->fence < 0) || hypot (dx, dy) < THRESHOLD)
    return;
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  gtk_gesture_drag_get_start_point (gesture, &x, &y);
  if (self->row >= 0) {
    lig_score_sheet_show_thread (self->sheet, self->row, x + dx, y + dy);
    return;
  }
  const LigScoreMap *map = lig_score_sheet_get_map (self->sheet);
  guint gap = lig_score_map_find_gap (map, y + dy);
  lig_score_sheet_show_fence (self->sheet, (int) CLAMP (gap, 1, map->slots->len - 1));
}

/* The user draws a channel from an output to an input, or from an input of an op without an
 * output. */
static void
connect_rows (Pointer *self, LigOp *from, LigOp *to)
{
  GError *error = NULL;
  if (!lig_ends_can_start (from)) {
    LigOp *input = from;
    from = to;
    to = input;
  }
  if (from != to &&
      !lig_edit_connect (lig_score_sheet_get_document (self->sheet), from, to, &error))
    lig_toast_error (GTK_WIDGET (self->sheet), error);
}

static void
drag_end (GtkGestureDrag *gesture, double dx, double dy, Pointer *self)
{
  double x, y;
  const LigScoreMap *map = lig_score_sheet_get_map (self->sheet);
  LigDocument *document = lig_score_sheet_get_document (self->sheet);
  gboolean moved = hypot (dx, dy) >= THRESHOLD;
  guint row = (guint) self->row, fence = (guint) self->fence;
  gtk_gesture_drag_get_start_point (gesture, &x, &y);
  lig_score_sheet_show_thread (self->sheet, -1, 0, 0);
  lig_score_sheet_show_fence (self->sheet, -1);
  LigOp *end = find_end (self, x + dx, y + dy);
  if (moved && self->row >= 0 && end && row < map->slots->len)
    connect_rows (self, lig_score_map_get_slot (map, row)->op, end);
  else if (moved && self->fence >= 0 && fence < map->slots->len) {
    guint gap = CLAMP (lig_score_map_find_gap (map, y + dy), 1, map->slots->len - 1);
    if (gap != fence)
      lig_edit_move_fence (document, lig_score_map_get_slot (map, fence)->op,
                           lig_score_map_get_slot (map, gap)->op);
  }
  self->row = self->fence = -1;
}

/* --- Dragging rows ------------------------------------------------------------------------- */

static GdkContentProvider *
prepare (GtkDragSource *source, double x, double y, Pointer *self)
{
  LigDocument *document = lig_score_sheet_get_document (self->sheet);
  GtkWidget *row = pick (self, x, y, LIG_TYPE_OP_ROW);
  if (!row || find_handle (self, x, y) >= 0)
    return NULL;
  LigOp *op = lig_op_row_get_op (LIG_OP_ROW (row));
  if (!lig_document_is_selected (document, op))
    lig_document_select (document, op, LIG_SELECT_ONLY);
  g_autofree char *text = lig_edit_copy (document);
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (row);
  g_autoptr (GdkPaintable) icon = gdk_paintable_get_current_image (paintable);
  gtk_drag_source_set_icon (source, icon, 24, 24);
  return text ? gdk_content_provider_new_typed (G_TYPE_STRING, text) : NULL;
}

static void
begin_rows (GtkDragSource *source, GdkDrag *drag, Pointer *self)
{
  self->drag = drag;
  self->narrowing = FALSE;
  gtk_widget_add_css_class (GTK_WIDGET (self->sheet), "dragging");
}

static void
end_rows (GtkDragSource *source, GdkDrag *drag, gboolean delete_data, Pointer *self)
{
  self->drag = NULL;
  gtk_widget_remove_css_class (GTK_WIDGET (self->sheet), "dragging");
}

/* --- Scrolling near an edge ---------------------------------------------------------------- */

static gboolean
scroll (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  Pointer *self = data;
  GtkWidget *window = gtk_widget_get_ancestor (widget, GTK_TYPE_SCROLLED_WINDOW);
  if (!window || isnan (self->edge_y))
    return G_SOURCE_CONTINUE;
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (window));
  double height = gtk_widget_get_height (window), y = self->edge_y;
  double speed = y < EDGE ? y - EDGE : y > height - EDGE ? y - (height - EDGE) : 0;
  if (speed != 0)
    gtk_adjustment_set_value (adjustment, gtk_adjustment_get_value (adjustment) +
                                            CLAMP (speed, -EDGE, EDGE) / 4);
  return G_SOURCE_CONTINUE;
}

static void
set_edge (Pointer *self, double y)
{
  graphene_point_t point;
  GtkWidget *sheet = GTK_WIDGET (self->sheet);
  GtkWidget *window = gtk_widget_get_ancestor (sheet, GTK_TYPE_SCROLLED_WINDOW);
  self->edge_y = NAN;
  if (!isnan (y) && window &&
      gtk_widget_compute_point (sheet, window, &GRAPHENE_POINT_INIT (0, (float) y), &point))
    self->edge_y = point.y;
  if (!isnan (y) && !self->tick)
    self->tick = gtk_widget_add_tick_callback (sheet, scroll, self, NULL);
  else if (isnan (y) && self->tick) {
    gtk_widget_remove_tick_callback (sheet, self->tick);
    self->tick = 0;
  }
}

/* --- Dropping ------------------------------------------------------------------------------ */

gboolean
lig_score_sheet_drop (LigScoreSheet *self,
                      const char *text,
                      const LigScoreDrop *drop,
                      GError **error)
{
  LigDocument *document = lig_score_sheet_get_document (self);
  g_autofree char *stripped = g_strstrip (g_strdup (text));
  if (lig_op_info_find (stripped))
    return lig_edit_insert_op (document, drop->parent, drop->index, stripped, error);
  g_autoptr (LigSequence) part = *stripped == '{'
                                   ? lig_sequence_from_json (stripped, -1, NULL, error)
                                   : lig_sequence_from_expression (stripped, error);
  return part && lig_edit_insert (document, drop->parent, drop->index, part, error);
}

static gboolean
is_own (Pointer *self, GtkDropTarget *target)
{
  GdkDrop *drop = gtk_drop_target_get_current_drop (target);
  return self->drag && drop && gdk_drop_get_drag (drop) == self->drag;
}

static GdkDragAction
motion (GtkDropTarget *target, double x, double y, Pointer *self)
{
  LigScoreDrop drop;
  GdkDrop *current = gtk_drop_target_get_current_drop (target);
  GdkDragAction actions = current ? gdk_drop_get_actions (current) : GDK_ACTION_COPY;
  lig_score_sheet_find_drop (self->sheet, y, &drop);
  lig_score_sheet_show_drop (self->sheet, &drop);
  set_edge (self, y);
  return is_own (self, target) && (actions & GDK_ACTION_MOVE) ? GDK_ACTION_MOVE : GDK_ACTION_COPY;
}

static void
leave (GtkDropTarget *target, Pointer *self)
{
  lig_score_sheet_show_drop (self->sheet, NULL);
  set_edge (self, NAN);
}

/* Dropped data, and its place. */
typedef struct {
  LigScoreSheet *sheet;
  LigSequence *parent;
  int index;
  char *text; /* null: the selection moves */
} Landing;

static void
free_landing (gpointer data)
{
  Landing *landing = data;
  g_object_unref (landing->sheet);
  g_object_unref (landing->parent);
  g_free (landing->text);
  g_free (landing);
}

static gboolean
land (gpointer data)
{
  const Landing *landing = data;
  GError *error = NULL;
  LigDocument *document = lig_score_sheet_get_document (landing->sheet);
  const LigScoreDrop drop = {.parent = landing->parent, .index = landing->index};
  gboolean done = landing->text
                    ? lig_score_sheet_drop (landing->sheet, landing->text, &drop, &error)
                    : lig_edit_move (document, drop.parent, drop.index, &error);
  if (!done)
    lig_toast_error (GTK_WIDGET (landing->sheet), error);
  else if (landing->text)
    lig_connect_offer (GTK_WIDGET (landing->sheet), document);
  return G_SOURCE_REMOVE;
}

/* The edit waits until GTK has handled the event, because it moves widgets that GTK still uses. */
static gboolean
dropped (GtkDropTarget *target, const GValue *value, double x, double y, Pointer *self)
{
  LigScoreDrop drop;
  GdkDrop *current = gtk_drop_target_get_current_drop (target);
  gboolean move = is_own (self, target) && (gdk_drop_get_actions (current) & GDK_ACTION_MOVE);
  lig_score_sheet_find_drop (self->sheet, y, &drop);
  leave (target, self);
  Landing *landing = g_new0 (Landing, 1);
  landing->sheet = g_object_ref (self->sheet);
  landing->parent = g_object_ref (drop.parent);
  landing->index = drop.index;
  landing->text = move ? NULL : g_value_dup_string (value);
  g_idle_add_full (G_PRIORITY_DEFAULT, land, landing, free_landing);
  return TRUE;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
add_clicks (LigScoreSheet *sheet, Pointer *self)
{
  GtkGesture *click = gtk_gesture_click_new ();
  g_signal_connect (click, "pressed", G_CALLBACK (pressed), self);
  g_signal_connect (click, "released", G_CALLBACK (released), self);
  gtk_widget_add_controller (GTK_WIDGET (sheet), GTK_EVENT_CONTROLLER (click));
  GtkGesture *menu = gtk_gesture_click_new ();
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (menu), GDK_BUTTON_SECONDARY);
  g_signal_connect (menu, "pressed", G_CALLBACK (pressed_menu), self);
  gtk_widget_add_controller (GTK_WIDGET (sheet), GTK_EVENT_CONTROLLER (menu));
}

void
lig_score_sheet_add_gestures (LigScoreSheet *sheet)
{
  Pointer *self = g_new0 (Pointer, 1);
  *self = (Pointer){.sheet = sheet, .row = -1, .fence = -1, .edge_y = NAN};
  g_object_set_data_full (G_OBJECT (sheet), "pointer", self, g_free);
  add_clicks (sheet, self);
  GtkGesture *drag = gtk_gesture_drag_new ();
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end), self);
  gtk_widget_add_controller (GTK_WIDGET (sheet), GTK_EVENT_CONTROLLER (drag));
  GtkDragSource *source = gtk_drag_source_new ();
  gtk_drag_source_set_actions (source, GDK_ACTION_COPY | GDK_ACTION_MOVE);
  g_signal_connect (source, "prepare", G_CALLBACK (prepare), self);
  g_signal_connect (source, "drag-begin", G_CALLBACK (begin_rows), self);
  g_signal_connect (source, "drag-end", G_CALLBACK (end_rows), self);
  gtk_widget_add_controller (GTK_WIDGET (sheet), GTK_EVENT_CONTROLLER (source));
  GtkDropTarget *target = gtk_drop_target_new (G_TYPE_STRING, GDK_ACTION_COPY | GDK_ACTION_MOVE);
  g_signal_connect (target, "motion", G_CALLBACK (motion), self);
  g_signal_connect (target, "leave", G_CALLBACK (leave), self);
  g_signal_connect (target, "drop", G_CALLBACK (dropped), self);
  gtk_widget_add_controller (GTK_WIDGET (sheet), GTK_EVENT_CONTROLLER (target));
}
