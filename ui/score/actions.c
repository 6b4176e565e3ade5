/* SPDX-License-Identifier: MIT */
/* The actions of a row of the score, for keys, the menu and screen readers. */
#include "ui/document/edit.h"
#include "ui/score/channel.h"
#include "ui/score/host.h"
#include "ui/score/row.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

/* An action on an unselected row affects only that row. */
static LigDocument *
aim (GtkWidget *widget)
{
  LigOpRow *row = LIG_OP_ROW (widget);
  LigDocument *document = lig_op_row_get_document (row);
  if (!lig_document_is_selected (document, lig_op_row_get_op (row)))
    lig_document_select (document, lig_op_row_get_op (row), LIG_SELECT_ONLY);
  return document;
}

/* --- Edits --------------------------------------------------------------------------------- */

static void
delete_ops (GtkWidget *widget, const char *action, GVariant *target)
{
  LigDocument *document = aim (widget);
  if (gtk_widget_activate_action (widget, "win.delete", NULL))
    return;
  guint count = lig_edit_delete (document);
  g_autofree char *text =
    g_strdup_printf (ngettext ("Deleted %u operation", "Deleted %u operations", count), count);
  lig_toast (widget, text, _ ("Undo"), "win.undo-document");
}

static void
duplicate (GtkWidget *widget, const char *action, GVariant *target)
{
  lig_edit_duplicate (aim (widget));
}

static void
move (GtkWidget *widget, const char *action, GVariant *target)
{
  lig_edit_move_by (aim (widget), g_str_equal (action, "op.move-up") ? -1 : 1);
}

static void
fence (GtkWidget *widget, const char *action, GVariant *target)
{
  LigDocument *document = aim (widget);
  LigOp *op = lig_op_row_get_op (LIG_OP_ROW (widget));
  lig_edit_set_fence (document, op, !lig_op_get_fence (op));
}

static void
group (GtkWidget *widget, const char *action, GVariant *target)
{
  GError *error = NULL;
  LigDocument *document = aim (widget);
  gboolean done = g_str_equal (action, "op.group") ? lig_edit_group (document, 1, &error)
                                                   : lig_edit_ungroup (document, &error);
  if (!done)
    lig_toast_error (widget, error);
}

static void
connect_channel (GtkWidget *widget, const char *action, GVariant *target)
{
  GError *error = NULL;
  if (!lig_edit_connect_selection (aim (widget), lig_op_row_get_op (LIG_OP_ROW (widget)), &error))
    lig_toast_error (widget, error);
}

static void
disconnect_channel (GtkWidget *widget, const char *action, GVariant *target)
{
  lig_edit_disconnect (aim (widget), lig_op_row_get_op (LIG_OP_ROW (widget)));
}

/* Returns the channel that starts or ends at a row, or null. */
static LigScoreChannel *
find_channel (GtkWidget *row)
{
  LigScoreHost *host = lig_score_host_of (row);
  const LigScoreMap *map = lig_score_host_get_map (host);
  guint number = lig_op_row_get_number (LIG_OP_ROW (row));
  for (guint i = 0; i < map->arcs->len; i++) {
    const LigScoreArc *arc = &g_array_index (map->arcs, LigScoreArc, i);
    if (arc->from == number || arc->to == number)
      return LIG_SCORE_CHANNEL (lig_score_host_get_channel (host, i));
  }
  return NULL;
}

/* Goes to the row's channel, or renames it. */
static void
go_to_channel (GtkWidget *widget, const char *action, GVariant *target)
{
  LigScoreChannel *channel = find_channel (widget);
  if (!channel)
    lig_toast (widget, _ ("No branch starts or ends here"), NULL, NULL);
  else if (g_str_equal (action, "op.rename-channel"))
    lig_score_channel_rename (channel);
  else
    gtk_widget_grab_focus (GTK_WIDGET (channel));
}

static void
fix (GtkWidget *widget, const char *action, GVariant *target)
{
  GError *error = NULL;
  LigDocument *document = aim (widget);
  const LigProblem *problem =
    lig_document_find_problem (document, lig_op_row_get_op (LIG_OP_ROW (widget)));
  guint number = g_variant_get_uint32 (target);
  if (!problem || number >= problem->fixes->len)
    return;
  g_autoptr (LigProblemFix) edit = lig_problem_fix_copy (problem->fixes->pdata[number]);
  if (!lig_edit_fix_problem (document, edit, &error))
    lig_toast_error (widget, error);
}

static void
forbid (GtkWidget *widget, const char *action, GVariant *target)
{
  GError *error = NULL;
  LigDocument *document = aim (widget);
  if (!lig_edit_toggle_forbidden (document, lig_op_row_get_op (LIG_OP_ROW (widget)), &error))
    lig_toast_error (widget, error);
}

/* --- Looking ------------------------------------------------------------------------------- */

static void
fold (GtkWidget *widget, const char *action, GVariant *target)
{
  LigDocument *document = lig_op_row_get_document (LIG_OP_ROW (widget));
  const LigRow *row = lig_document_find_row (document, lig_op_row_get_op (LIG_OP_ROW (widget)));
  if (row)
    lig_document_set_open (document, row->op, !row->open);
}

static void
explain (GtkWidget *widget, const char *action, GVariant *target)
{
  lig_score_host_explain_gap (lig_score_host_of (widget),
                              lig_op_row_get_number (LIG_OP_ROW (widget)) + 1);
}

static void
show_menu (GtkWidget *widget, const char *action, GVariant *target)
{
  aim (widget);
  lig_op_row_show_menu (LIG_OP_ROW (widget), -1, -1);
}

/* A double click unfolds a row; for a row that does not fold, it opens the explanation. */
static void
open_op (GtkWidget *widget, const char *action, GVariant *target)
{
  if (lig_row_folds (lig_op_row_get_op (LIG_OP_ROW (widget))))
    fold (widget, action, target);
  else
    explain (widget, action, target);
}

static void
select_op (GtkWidget *widget, const char *action, GVariant *target)
{
  LigOpRow *row = LIG_OP_ROW (widget);
  lig_document_select (lig_op_row_get_document (row), lig_op_row_get_op (row),
                       g_str_equal (action, "op.toggle") ? LIG_SELECT_TOGGLE : LIG_SELECT_ONLY);
}

/* --- Keys ---------------------------------------------------------------------------------- */

static int
find_page (LigScoreHost *host)
{
  GtkWidget *window = gtk_widget_get_ancestor (GTK_WIDGET (host), GTK_TYPE_SCROLLED_WINDOW);
  int height = window ? gtk_widget_get_height (window) : 600;
  const LigScoreMetrics *metrics = &lig_score_host_get_map (host)->metrics;
  return MAX (height / (metrics->base + metrics->space) - 1, 1);
}

/* The arguments are the number of rows to move (thousands: to the end) and whether to extend the
 * selection. */
static gboolean
go (GtkWidget *widget, GVariant *arguments, gpointer data)
{
  int rows;
  gboolean extend;
  LigScoreHost *host = lig_score_host_of (widget);
  const LigScoreMap *map = lig_score_host_get_map (host);
  g_variant_get (arguments, "(ib)", &rows, &extend);
  if (ABS (rows) == 100)
    rows = rows / 100 * find_page (host);
  int from = (int) lig_op_row_get_number (LIG_OP_ROW (widget));
  int to = CLAMP (from + rows, 0, (int) map->slots->len - 1);
  lig_score_host_focus_row (host, (guint) to);
  lig_document_select (lig_op_row_get_document (LIG_OP_ROW (widget)),
                       lig_score_map_get_slot (map, (guint) to)->op,
                       extend ? LIG_SELECT_RANGE : LIG_SELECT_ONLY);
  return TRUE;
}

/* Left and right fold and unfold a row; on a row that does not fold, they move to its brackets. */
static gboolean
go_aside (GtkWidget *widget, GVariant *arguments, gpointer data)
{
  gboolean right = g_variant_get_boolean (arguments);
  LigScoreHost *host = lig_score_host_of (widget);
  const LigScoreMap *map = lig_score_host_get_map (host);
  guint number = lig_op_row_get_number (LIG_OP_ROW (widget));
  const LigScoreSlot *slot = lig_score_map_get_slot (map, number);
  if (slot->folds && slot->open != right) {
    lig_document_set_open (lig_op_row_get_document (LIG_OP_ROW (widget)), slot->op, right);
    return TRUE;
  }
  GArray *brackets = map->brackets[right ? 1 : 0];
  for (guint i = 0; i < brackets->len; i++) {
    const LigScoreBracket *bracket = &g_array_index (brackets, LigScoreBracket, i);
    if (bracket->from <= number && number <= bracket->to)
      return gtk_widget_grab_focus (
        lig_score_host_get_group (host, right ? LIG_PASS_BACKWARD : LIG_PASS_FORWARD, i));
  }
  return FALSE;
}

static gboolean
set_open (GtkWidget *widget, GVariant *arguments, gpointer data)
{
  LigOpRow *row = LIG_OP_ROW (widget);
  lig_document_set_open (lig_op_row_get_document (row), lig_op_row_get_op (row),
                         g_variant_get_boolean (arguments));
  return TRUE;
}

static void
add_moves (GtkWidgetClass *class)
{
  static const struct {
    guint key, keypad;
    int rows;
  } moves[] = {
    {GDK_KEY_Up, GDK_KEY_KP_Up, -1},
    {GDK_KEY_Down, GDK_KEY_KP_Down, 1},
    {GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up, -100},
    {GDK_KEY_Page_Down, GDK_KEY_KP_Page_Down, 100},
    {GDK_KEY_Home, GDK_KEY_KP_Home, -1000000},
    {GDK_KEY_End, GDK_KEY_KP_End, 1000000},
  };
  for (guint i = 0; i < G_N_ELEMENTS (moves); i++) {
    const guint keys[] = {moves[i].key, moves[i].keypad};
    for (guint k = 0; k < 2; k++) {
      gtk_widget_class_add_binding (class, keys[k], 0, go, "(ib)", moves[i].rows, FALSE);
      gtk_widget_class_add_binding (class, keys[k], GDK_SHIFT_MASK, go, "(ib)", moves[i].rows,
                                    TRUE);
    }
  }
  gtk_widget_class_add_binding (class, GDK_KEY_Left, 0, go_aside, "b", FALSE);
  gtk_widget_class_add_binding (class, GDK_KEY_Right, 0, go_aside, "b", TRUE);
  gtk_widget_class_add_binding (class, GDK_KEY_minus, 0, set_open, "b", FALSE);
  gtk_widget_class_add_binding (class, GDK_KEY_plus, 0, set_open, "b", TRUE);
  gtk_widget_class_add_binding (class, GDK_KEY_KP_Subtract, 0, set_open, "b", FALSE);
  gtk_widget_class_add_binding (class, GDK_KEY_KP_Add, 0, set_open, "b", TRUE);
}

void
lig_op_row_install_actions (void)
{
  static const struct {
    const char *name;
    GtkWidgetActionActivateFunc activate;
    guint key;
    GdkModifierType modifiers;
  } actions[] = {
    {"op.select", select_op, 0, 0},
    {"op.toggle", select_op, GDK_KEY_space, 0},
    {"op.delete", delete_ops, GDK_KEY_Delete, 0},
    {"op.duplicate", duplicate, GDK_KEY_d, GDK_CONTROL_MASK},
    {"op.move-up", move, GDK_KEY_Up, GDK_ALT_MASK},
    {"op.move-down", move, GDK_KEY_Down, GDK_ALT_MASK},
    {"op.fence", fence, GDK_KEY_m, 0},
    {"op.fold", fold, 0, 0},
    {"op.explain", explain, GDK_KEY_Return, 0},
    {"op.open", open_op, 0, 0},
    {"op.forbid", forbid, GDK_KEY_f, 0},
    {"op.group", group, GDK_KEY_g, GDK_CONTROL_MASK},
    {"op.ungroup", group, GDK_KEY_g, GDK_CONTROL_MASK | GDK_SHIFT_MASK},
    {"op.connect", connect_channel, GDK_KEY_l, GDK_CONTROL_MASK},
    {"op.disconnect", disconnect_channel, GDK_KEY_l, GDK_CONTROL_MASK | GDK_SHIFT_MASK},
    {"op.channel", go_to_channel, GDK_KEY_c, 0},
    {"op.rename-channel", go_to_channel, GDK_KEY_F2, 0},
    {"op.menu", show_menu, GDK_KEY_Menu, 0},
  };
  GtkWidgetClass *class = g_type_class_ref (LIG_TYPE_OP_ROW);
  /* A menu shows the key that was bound last. */
  gtk_widget_class_add_binding_action (class, GDK_KEY_F10, GDK_SHIFT_MASK, "op.menu", NULL);
  gtk_widget_class_add_binding_action (class, GDK_KEY_KP_Enter, 0, "op.explain", NULL);
  gtk_widget_class_add_binding_action (class, GDK_KEY_KP_Delete, 0, "op.delete", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++) {
    gtk_widget_class_install_action (class, actions[i].name, NULL, actions[i].activate);
    if (actions[i].key)
      gtk_widget_class_add_binding_action (class, actions[i].key, actions[i].modifiers,
                                           actions[i].name, NULL);
  }
  gtk_widget_class_install_action (class, "op.fix", "u", fix);
  add_moves (class);
}
