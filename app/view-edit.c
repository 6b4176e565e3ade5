/* SPDX-License-Identifier: MIT */
#include "app/view-edit.h"

#include "ui/document/edit.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/connect-offer.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

struct _LigViewEdit {
  const LigViewShared *shared;
  AdwToast *undo_toast; /* weak */
};

static LigDocument *
get_document (gpointer data)
{
  LigViewEdit *self = data;
  return self->shared->document;
}

/* --- Undo ---------------------------------------------------------------------------------- */

/* The toast offers to undo the last edit, so the next edit removes it. */
static void
dismiss_undo_toast (LigViewEdit *self)
{
  AdwToast *toast = g_steal_pointer (&self->undo_toast);
  if (!toast)
    return;
  g_object_remove_weak_pointer (G_OBJECT (toast), (gpointer *) &self->undo_toast);
  adw_toast_dismiss (toast);
}

/* Undoes the last edit of the sequence, on any page. */
static void
undo_document (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_document_undo (get_document (data));
}

static void
offer_undo (LigViewEdit *self, const char *text)
{
  AdwToast *toast = adw_toast_new (text);
  adw_toast_set_button_label (toast, _ ("_Undo"));
  adw_toast_set_action_name (toast, "win.undo-document");
  dismiss_undo_toast (self);
  g_set_weak_pointer (&self->undo_toast, toast);
  adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (self->shared->toasts), toast);
}

/* --- Clipboard ----------------------------------------------------------------------------- */

static gboolean
copy_selection (LigViewEdit *self)
{
  g_autofree char *text = lig_edit_copy (self->shared->document);
  if (text)
    lig_clipboard_set (gtk_widget_get_clipboard (self->shared->toasts), text);
  return text != NULL;
}

static void
delete_selection (LigViewEdit *self)
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
  LigViewEdit *self = data;
  g_autoptr (GtkWidget) view = self->shared->view;
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
  LigViewEdit *self = data;
  g_object_ref (self->shared->view);
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
  if (!lig_edit_group (get_document (data), 1, &error))
    lig_toast_error (((LigViewEdit *) data)->shared->toasts, error);
}

static void
ungroup (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GError *error = NULL;
  if (!lig_edit_ungroup (get_document (data), &error))
    lig_toast_error (((LigViewEdit *) data)->shared->toasts, error);
}

static void
connect_channel (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GError *error = NULL;
  LigDocument *document = get_document (data);
  if (!lig_edit_connect_selection (document, lig_document_get_cursor (document), &error))
    lig_toast_error (((LigViewEdit *) data)->shared->toasts, error);
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
    lig_toast_error (((LigViewEdit *) data)->shared->toasts, error);
}

static void
insert_op (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  LigViewEdit *self = data;
  GError *error = NULL;
  if (!lig_edit_add (self->shared->document, g_variant_get_string (parameter, NULL), &error)) {
    lig_toast_error (self->shared->toasts, error);
    return;
  }
  adw_view_stack_set_visible_child_name (self->shared->stack, "sequence");
  lig_connect_offer (self->shared->toasts, self->shared->document);
}

static const GActionEntry actions[] = {
  {.name = "undo-document", .activate = undo_document},
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
update_selection (LigViewEdit *self)
{
  static const char *const of_selection[] = {"cut",     "copy",      "delete", "duplicate",
                                             "move-up", "move-down", "group"};
  g_autoptr (GPtrArray) chosen = lig_document_get_selection (self->shared->document);
  LigOp *cursor = lig_document_get_cursor (self->shared->document);
  const LigRow *row = cursor ? lig_document_find_row (self->shared->document, cursor) : NULL;
  for (guint i = 0; i < G_N_ELEMENTS (of_selection); i++)
    lig_view_shared_set_enabled (self->shared, of_selection[i], chosen->len > 0);
  /* The first operation has no other one before it from which a fence could separate it. */
  lig_view_shared_set_enabled (self->shared, "fence", row && (row->index > 0 || row->depth > 0));
  lig_view_shared_set_enabled (self->shared, "ungroup", row && lig_edit_can_ungroup (row->op));
  const LigOpInfo *info = row ? lig_op_get_info (row->op) : NULL;
  gboolean ends = info && (info->extra_inputs || info->extra_outputs);
  lig_view_shared_set_enabled (self->shared, "connect", ends || chosen->len == 2);
  lig_view_shared_set_enabled (self->shared, "disconnect", ends);
  lig_view_shared_set_enabled (self->shared, "forbid", row != NULL);
}

static void
update_paste (LigViewEdit *self)
{
  GdkClipboard *clipboard = gtk_widget_get_clipboard (self->shared->toasts);
  lig_view_shared_set_enabled (self->shared, "paste", lig_clipboard_has_text (clipboard));
}

static void
update (LigViewEdit *self)
{
  guint count;
  lig_document_get_rows (self->shared->document, &count);
  lig_view_shared_set_enabled (self->shared, "select-all", count > 0);
  update_selection (self);
  update_paste (self);
}

static void
take_change (LigViewEdit *self)
{
  dismiss_undo_toast (self);
  update (self);
}

LigViewEdit *
lig_view_edit_new (const LigViewShared *shared)
{
  LigViewEdit *self = g_new0 (LigViewEdit, 1);
  self->shared = shared;
  g_action_map_add_action_entries (shared->actions, actions, G_N_ELEMENTS (actions), self);
  lig_view_shared_connect (shared, gtk_widget_get_clipboard (shared->toasts), "changed",
                           G_CALLBACK (update_paste), self);
  lig_view_shared_connect (shared, shared->document, "changed", G_CALLBACK (take_change), self);
  lig_view_shared_connect (shared, shared->document, "selected", G_CALLBACK (update_selection),
                           self);
  update (self);
  return self;
}

void
lig_view_edit_free (LigViewEdit *self)
{
  g_clear_weak_pointer (&self->undo_toast);
  g_free (self);
}
