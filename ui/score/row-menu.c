/* SPDX-License-Identifier: MIT */
/* The menu of a row of the score. */
#include "ui/document/edit.h"
#include "ui/score/row-private.h"

#include "ui/widgets/figures.h"
#include <ligature/problem-fix.h>

#include <glib/gi18n.h>

static void
append_section (GMenu *menu, const char *const items[][3])
{
  g_autoptr (GMenu) section = g_menu_new ();
  for (guint i = 0; items[i][1]; i++) {
    g_autoptr (GMenuItem) item = g_menu_item_new (items[i][0], items[i][1]);
    if (items[i][2])
      g_menu_item_set_attribute (item, "accel", "s", items[i][2]);
    if (items[i][0])
      g_menu_append_item (section, item);
  }
  g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
}

/* The edits that remove the row's problem come first. */
static void
append_fixes (LigOpRow *self, GMenu *menu)
{
  const LigProblem *problem = lig_document_find_problem (self->document, self->op);
  g_autoptr (GMenu) section = g_menu_new ();
  for (guint i = 0; problem && i < problem->fixes->len; i++) {
    g_autofree char *phrase = lig_problem_fix_describe (problem->fixes->pdata[i]);
    g_autofree char *sentence = lig_figure_sentence (phrase);
    g_autoptr (GMenuItem) item = g_menu_item_new (sentence, NULL);
    g_menu_item_set_action_and_target (item, "op.fix", "u", i);
    g_menu_append_item (section, item);
  }
  if (g_menu_model_get_n_items (G_MENU_MODEL (section)) > 0)
    g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
}

/* The menu contains the possible actions, with labels for the row's state. */
static GMenuModel *
make_menu (LigOpRow *self)
{
  GMenu *menu = g_menu_new ();
  const LigOpInfo *info = lig_op_get_info (self->op);
  const LigRow *row = lig_document_find_row (self->document, self->op);
  const char *const *forbidden = lig_op_get_forbidden (self->op);
  g_autoptr (GPtrArray) chosen = lig_document_get_selection (self->document);
  gboolean ends = info->extra_inputs || info->extra_outputs;
  const char *fence =
    lig_op_get_fence (self->op) ? _ ("Remove the fence above") : _ ("Fence above");
  gboolean above = row && (row->index > 0 || row->depth > 0 || lig_op_get_fence (self->op));
  append_fixes (self, menu);
  append_section (
    menu, (const char *const[][3]){{_ ("Why not one kernel…"), "op.explain"},
                                   {above ? fence : NULL, "op.fence"},
                                   {self->block               ? NULL
                                    : forbidden && *forbidden ? _ ("Allow the fusion here")
                                                              : _ ("Forbid the fusion here"),
                                    "op.forbid"},
                                   {!self->folds ? NULL
                                    : self->open ? _ ("Fold")
                                                 : _ ("Unfold"),
                                    "op.fold"},
                                   {ends || chosen->len == 2 ? _ ("Connect") : NULL, "op.connect"},
                                   {ends ? _ ("Rename the branch…") : NULL, "op.rename-channel"},
                                   {ends ? _ ("Disconnect") : NULL, "op.disconnect"},
                                   {NULL, NULL}});
  append_section (menu, (const char *const[][3]){{_ ("Cut"), "win.cut", "<Control>x"},
                                                 {_ ("Copy"), "win.copy", "<Control>c"},
                                                 {_ ("Paste"), "win.paste", "<Control>v"},
                                                 {_ ("Duplicate"), "op.duplicate"},
                                                 {_ ("Delete"), "op.delete"},
                                                 {NULL, NULL}});
  append_section (menu, (const char *const[][3]){
                          {_ ("Move up"), "op.move-up"},
                          {_ ("Move down"), "op.move-down"},
                          {_ ("Group into a block"), "op.group"},
                          {lig_edit_can_ungroup (self->op) ? _ ("Expand") : NULL, "op.ungroup"},
                          {NULL, NULL}});
  return G_MENU_MODEL (menu);
}

static void
drop_menu (gpointer data)
{
  LigOpRow *self = data;
  g_clear_pointer (&self->menu, gtk_widget_unparent);
  g_object_unref (self);
}

static void
menu_closed (LigOpRow *self)
{
  /* The chosen action is activated after this signal. */
  g_idle_add_once (drop_menu, g_object_ref (self));
}

void
lig_op_row_show_menu (LigOpRow *self, double x, double y)
{
  g_clear_pointer (&self->menu, gtk_widget_unparent);
  g_autoptr (GMenuModel) model = make_menu (self);
  self->menu = gtk_popover_menu_new_from_model (model);
  gtk_widget_set_parent (self->menu, GTK_WIDGET (self));
  gtk_popover_set_has_arrow (GTK_POPOVER (self->menu), FALSE);
  gtk_widget_set_halign (self->menu, GTK_ALIGN_START);
  if (x < 0) {
    x = self->metrics.pad;
    y = self->metrics.base / 2;
  }
  gtk_popover_set_pointing_to (GTK_POPOVER (self->menu), &(GdkRectangle){(int) x, (int) y, 1, 1});
  g_signal_connect_swapped (self->menu, "closed", G_CALLBACK (menu_closed), self);
  gtk_popover_popup (GTK_POPOVER (self->menu));
}
