/* SPDX-License-Identifier: MIT */
#include "app/view-undo.h"
#include "ui/document/document.h"

GStrv
lig_view_undo_list (const LigViewShared *self, gboolean redo)
{
  LigPage *page = lig_view_shared_get_page (self);
  if (page && lig_page_has_edits (page))
    return lig_page_list_edits (page, redo);
  return lig_document_list_edits (self->document, redo);
}

static void
step (const LigViewShared *self, int steps)
{
  LigPage *page = lig_view_shared_get_page (self);
  if (page && lig_page_has_edits (page))
    lig_page_step (page, steps);
  else
    lig_document_step (self->document, steps);
}

static void
undo (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  step (data, 1);
}

static void
redo (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  step (data, -1);
}

static void
undo_steps (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  step (data, g_variant_get_int32 (parameter));
}

void
lig_view_undo_update (const LigViewShared *self)
{
  g_auto (GStrv) undone = lig_view_undo_list (self, FALSE);
  g_auto (GStrv) redone = lig_view_undo_list (self, TRUE);
  lig_view_shared_set_enabled (self, "undo", *undone != NULL);
  lig_view_shared_set_enabled (self, "redo", *redone != NULL);
  g_signal_emit_by_name (self->view, "edited");
}

void
lig_view_undo_add_actions (const LigViewShared *shared)
{
  static const GActionEntry actions[] = {
    {.name = "undo", .activate = undo},
    {.name = "redo", .activate = redo},
    {.name = "undo-steps", .activate = undo_steps, .parameter_type = "i"},
  };
  g_action_map_add_action_entries (shared->actions, actions, G_N_ELEMENTS (actions),
                                   (gpointer) shared);
}
