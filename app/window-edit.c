/* SPDX-License-Identifier: MIT */
/* The keys of edits also have a meaning in a text entry, and an entry that has the focus comes
 * first. They are therefore not accelerators of the application, which take precedence over
 * widgets. */
#include "app/window-edit.h"

#include "ui/document/edit.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

struct _LigWindowEdit {
  const LigWindowShared *shared;
  GMenu *history;
  AdwToast *undo_toast; /* weak */
};

static LigDocument *
get_document (gpointer data)
{
  LigWindowEdit *self = data;
  return self->shared->document;
}

/* --- Undo ---------------------------------------------------------------------------------- */

static void
undo (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_document_undo (get_document (data));
}

static void
redo (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_document_redo (get_document (data));
}

static void
append_item (GMenu *menu, const char *label, const char *action, const char *key)
{
  g_autoptr (GMenuItem) item = g_menu_item_new (label, action);
  g_menu_item_set_attribute (item, "accel", "s", key);
  g_menu_append_item (menu, item);
}

/* The menu names the edit that would be undone. */
static void
update_history_menu (LigWindowEdit *self)
{
  const char *undo_label = lig_document_get_undo_label (self->shared->document);
  const char *redo_label = lig_document_get_redo_label (self->shared->document);
  g_autofree char *undo_text =
    undo_label ? g_strdup_printf (_ ("_Undo “%s”"), undo_label) : g_strdup (_ ("_Undo"));
  g_autofree char *redo_text =
    redo_label ? g_strdup_printf (_ ("_Redo “%s”"), redo_label) : g_strdup (_ ("_Redo"));
  g_menu_remove_all (self->history);
  append_item (self->history, undo_text, "win.undo", "<Control>z");
  append_item (self->history, redo_text, "win.redo", "<Control><Shift>z");
  lig_window_shared_set_enabled (self->shared, "undo", undo_label != NULL);
  lig_window_shared_set_enabled (self->shared, "redo", redo_label != NULL);
}

/* The toast offers to undo the last edit, so it goes with the next one. */
static void
dismiss_undo_toast (LigWindowEdit *self)
{
  AdwToast *toast = g_steal_pointer (&self->undo_toast);
  if (!toast)
    return;
  g_object_remove_weak_pointer (G_OBJECT (toast), (gpointer *) &self->undo_toast);
  adw_toast_dismiss (toast);
}

static void
offer_undo (LigWindowEdit *self, const char *text)
{
  AdwToast *toast = adw_toast_new (text);
  adw_toast_set_button_label (toast, _ ("_Undo"));
  adw_toast_set_action_name (toast, "win.undo");
  dismiss_undo_toast (self);
  g_set_weak_pointer (&self->undo_toast, toast);
  adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (self->shared->toasts), toast);
}

/* --- Clipboard ----------------------------------------------------------------------------- */

static gboolean
copy_selection (LigWindowEdit *self)
{
  g_autofree char *text = lig_edit_copy (self->shared->document);
  if (text)
    lig_clipboard_set (gtk_widget_get_clipboard (self->shared->toasts), text);
  return text != NULL;
}

static void
delete_selection (LigWindowEdit *self)
{
  guint count = lig_edit_delete (self->shared->document);
  g_autofree char *text =
    g_strdup_printf (ngettext ("Deleted %u operation", "Deleted %u operations", count), count);
  if (count > 0)
    offer_undo (self, text);
}

static void
cut (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  if (copy_selection (data))
    delete_selection (data);
}

static void
copy (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  copy_selection (data);
}

static void
take_text (GObject *source, GAsyncResult *result, gpointer data)
{
  LigWindowEdit *self = data;
  g_autoptr (GtkWindow) window = self->shared->window;
  GError *error = NULL;
  g_autofree char *text = lig_clipboard_read_finish (GDK_CLIPBOARD (source), result, &error);
  if (!self->shared->document) {
    g_clear_error (&error);
    return;
  }
  if (!text || !lig_edit_paste (self->shared->document, text, &error))
    lig_toast_error (self->shared->toasts, error);
}

static void
paste (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigWindowEdit *self = data;
  g_object_ref (self->shared->window);
  lig_clipboard_read_async (gtk_widget_get_clipboard (self->shared->toasts),
                            self->shared->cancellable, take_text, self);
}

/* --- Operations ---------------------------------------------------------------------------- */

static void delete (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  delete_selection (data);
}

static void
duplicate (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_edit_duplicate (get_document (data));
}

static void
select_all (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_document_select_all (get_document (data));
}

static void
move_up (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_edit_move_by (get_document (data), -1);
}

static void
move_down (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_edit_move_by (get_document (data), 1);
}

static void
toggle_fence (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigDocument *document = get_document (data);
  LigOp *op = lig_document_get_cursor (document);
  if (op)
    lig_edit_set_fence (document, op, !lig_op_get_fence (op));
}

static void
group (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GError *error = NULL;
  if (!lig_edit_group (get_document (data), 2, &error))
    lig_toast_error (((LigWindowEdit *) data)->shared->toasts, error);
}

static void
ungroup (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GError *error = NULL;
  if (!lig_edit_ungroup (get_document (data), &error))
    lig_toast_error (((LigWindowEdit *) data)->shared->toasts, error);
}

static void
connect_channel (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GError *error = NULL;
  LigDocument *document = get_document (data);
  if (!lig_edit_connect_selection (document, lig_document_get_cursor (document), &error))
    lig_toast_error (((LigWindowEdit *) data)->shared->toasts, error);
}

static void
disconnect_channel (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigDocument *document = get_document (data);
  LigOp *op = lig_document_get_cursor (document);
  if (op)
    lig_edit_disconnect (document, op);
}

static void
forbid (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GError *error = NULL;
  LigDocument *document = get_document (data);
  LigOp *op = lig_document_get_cursor (document);
  if (op && !lig_edit_toggle_forbidden (document, op, &error))
    lig_toast_error (((LigWindowEdit *) data)->shared->toasts, error);
}

static void
insert_op (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigWindowEdit *self = data;
  GError *error = NULL;
  if (lig_edit_add (self->shared->document, g_variant_get_string (parameter, NULL), &error))
    adw_view_stack_set_visible_child_name (self->shared->stack, "sequence");
  else
    lig_toast_error (self->shared->toasts, error);
}

static const GActionEntry actions[] = {
  {.name = "undo", .activate = undo},
  {.name = "redo", .activate = redo},
  {.name = "cut", .activate = cut},
  {.name = "copy", .activate = copy},
  {.name = "paste", .activate = paste},
  {.name = "delete", .activate = delete},
  {.name = "duplicate", .activate = duplicate},
  {.name = "select-all", .activate = select_all},
  {.name = "move-up", .activate = move_up},
  {.name = "move-down", .activate = move_down},
  {.name = "fence", .activate = toggle_fence},
  {.name = "group", .activate = group},
  {.name = "ungroup", .activate = ungroup},
  {.name = "connect", .activate = connect_channel},
  {.name = "disconnect", .activate = disconnect_channel},
  {.name = "forbid", .activate = forbid},
  {.name = "insert-op", .activate = insert_op, .parameter_type = "s"},
};

/* --- Enabling ---------------------------------------------------------------------- */

static void
update_selection (LigWindowEdit *self)
{
  static const char *const of_selection[] = {"cut",     "copy",      "delete", "duplicate",
                                             "move-up", "move-down", "group"};
  g_autoptr (GPtrArray) chosen = lig_document_get_selection (self->shared->document);
  LigOp *cursor = lig_document_get_cursor (self->shared->document);
  const LigRow *row = cursor ? lig_document_find_row (self->shared->document, cursor) : NULL;
  for (guint i = 0; i < G_N_ELEMENTS (of_selection); i++)
    lig_window_shared_set_enabled (self->shared, of_selection[i], chosen->len > 0);
  /* The first operation has no other one before it that a fence could separate it from. */
  lig_window_shared_set_enabled (self->shared, "fence", row && (row->index > 0 || row->depth > 0));
  lig_window_shared_set_enabled (self->shared, "ungroup", row && lig_op_get_body (row->op));
  const LigOpInfo *info = row ? lig_op_get_info (row->op) : NULL;
  gboolean ends = info && (info->extra_inputs || info->extra_outputs);
  lig_window_shared_set_enabled (self->shared, "connect", ends || chosen->len == 2);
  lig_window_shared_set_enabled (self->shared, "disconnect", ends);
  lig_window_shared_set_enabled (self->shared, "forbid", row != NULL);
}

static void
update_paste (LigWindowEdit *self)
{
  GdkClipboard *clipboard = gtk_widget_get_clipboard (self->shared->toasts);
  lig_window_shared_set_enabled (self->shared, "paste", lig_clipboard_has_text (clipboard));
}

static void
update (LigWindowEdit *self)
{
  guint count;
  lig_document_get_rows (self->shared->document, &count);
  lig_window_shared_set_enabled (self->shared, "select-all", count > 0);
  update_history_menu (self);
  update_selection (self);
  update_paste (self);
}

static void
take_change (LigWindowEdit *self)
{
  dismiss_undo_toast (self);
  update (self);
}

/* --- Keys ---------------------------------------------------------------------------------- */

/* @everywhere: on every page, and where a text that does not use the key has the focus */
typedef struct {
  const char *key, *action;
  gboolean everywhere;
} EditKey;

static const EditKey edit_keys[] = {
  {"<Control>z", "win.undo", TRUE},
  {"<Control><Shift>z", "win.redo", TRUE},
  {"<Control>y", "win.redo", TRUE},
  {"<Control>x", "win.cut", FALSE},
  {"<Control>c", "win.copy", FALSE},
  {"<Control>v", "win.paste", FALSE},
  {"<Shift>Delete", "win.cut", FALSE},
  {"<Control>Insert", "win.copy", FALSE},
  {"<Shift>Insert", "win.paste", FALSE},
  {"Delete", "win.delete", FALSE},
  {"KP_Delete", "win.delete", FALSE},
  {"<Control>d", "win.duplicate", FALSE},
  {"<Control>a", "win.select-all", FALSE},
  {"<Alt>Up", "win.move-up", FALSE},
  {"<Alt>Down", "win.move-down", FALSE},
  {"m", "win.fence", FALSE},
  {"<Control>g", "win.group", FALSE},
  {"<Control><Shift>g", "win.ungroup", FALSE},
  {"<Control>l", "win.connect", FALSE},
  {"<Control><Shift>l", "win.disconnect", FALSE},
  {"f", "win.forbid", FALSE},
};

typedef struct {
  const EditKey *key;
  const LigWindowShared *shared;
} KeyUse;

static gboolean
press_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  const KeyUse *use = data;
  const EditKey *key = use->key;
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (widget));
  gboolean typing = GTK_IS_TEXT (focus) || GTK_IS_TEXT_VIEW (focus);
  const char *page = adw_view_stack_get_visible_child_name (use->shared->stack);
  if (!key->everywhere && (typing || g_strcmp0 (page, "sequence") != 0))
    return FALSE;
  return gtk_widget_activate_action (widget, key->action, NULL);
}

static void
add_keys (LigWindowEdit *self)
{
  GtkEventController *keys = gtk_shortcut_controller_new ();
  for (guint i = 0; i < G_N_ELEMENTS (edit_keys); i++) {
    KeyUse *use = g_new (KeyUse, 1);
    *use = (KeyUse){&edit_keys[i], self->shared};
    gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (keys),
      gtk_shortcut_new (gtk_shortcut_trigger_parse_string (edit_keys[i].key),
                        gtk_callback_action_new (press_key, use, g_free)));
  }
  gtk_widget_add_controller (GTK_WIDGET (self->shared->window), keys);
}

LigWindowEdit *
lig_window_edit_new (const LigWindowShared *shared, GMenu *history)
{
  LigWindowEdit *self = g_new0 (LigWindowEdit, 1);
  self->shared = shared;
  self->history = history;
  g_action_map_add_action_entries (G_ACTION_MAP (shared->window), actions, G_N_ELEMENTS (actions),
                                   self);
  add_keys (self);
  lig_window_shared_connect (shared, gtk_widget_get_clipboard (shared->toasts), "changed",
                             G_CALLBACK (update_paste), self);
  lig_window_shared_connect (shared, shared->document, "changed", G_CALLBACK (take_change), self);
  lig_window_shared_connect (shared, shared->document, "selected", G_CALLBACK (update_selection),
                             self);
  update (self);
  return self;
}

void
lig_window_edit_free (LigWindowEdit *self)
{
  g_clear_weak_pointer (&self->undo_toast);
  g_free (self);
}
