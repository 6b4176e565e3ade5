/* SPDX-License-Identifier: MIT */
/* The score: heads of the columns, the sheet in a scrolled window, and a page for an empty
 * document. */
#include "ui/score/score.h"

#include "ui/document/edit.h"
#include "ui/score/head.h"
#include "ui/score/legend.h"
#include "ui/score/pin-strip.h"
#include "ui/score/sheet.h"
#include "ui/score/strip.h"
#include "ui/score/view-controls.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

struct _LigScoreView {
  AdwBin parent_instance;
  LigDocument *document;
  GtkWidget *sheet;
  GtkStack *stack;
  GtkWidget *empty, *whole;
  GtkGrid *grid;
  LigScoreHead *head;
  LigScoreStrip *strip;
  GtkScrolledWindow *window;
  GtkRevealer *measuring;
  GtkSpinner *spinner;
  GtkLabel *measured;
};

G_DEFINE_FINAL_TYPE (LigScoreView, lig_score_view, ADW_TYPE_BIN)

static void
show_measuring (LigScoreView *self)
{
  const char *what = lig_document_get_measuring (self->document);
  gboolean busy = what && lig_document_is_stale (self->document);
  gtk_revealer_set_reveal_child (self->measuring, busy);
  gtk_spinner_set_spinning (self->spinner, busy);
  if (!busy)
    return;
  g_autofree char *text = g_strdup_printf (_ ("Measuring %s…"), what);
  gtk_label_set_text (self->measured, text);
}

static void
show_rows (LigScoreView *self)
{
  guint count;
  lig_document_get_rows (self->document, &count);
  gtk_stack_set_visible_child (self->stack, count > 0 ? self->whole : self->empty);
}

static void
update_head (LigScoreView *self)
{
  lig_score_head_update (self->head, LIG_SCORE_SHEET (self->sheet));
}

static void
follow_contrast (LigScoreView *self)
{
  lig_css_class_set (GTK_WIDGET (self), "high-contrast",
                     adw_style_manager_get_high_contrast (adw_style_manager_get_default ()));
}

/* --- Dropping where there is no row yet ---------------------------------------------------- */

static gboolean
dropped (GtkDropTarget *target, const GValue *value, double x, double y, LigScoreView *self)
{
  GError *error = NULL;
  gboolean done = lig_score_view_drop (self, g_value_get_string (value), 0, &error);
  if (!done)
    lig_toast_error (GTK_WIDGET (self), error);
  return done;
}

static GdkDragAction
hover (GtkDropTarget *target, double x, double y, LigScoreView *self)
{
  gtk_widget_add_css_class (self->empty, "drop-here");
  return GDK_ACTION_COPY;
}

static void
leave (GtkDropTarget *target, LigScoreView *self)
{
  gtk_widget_remove_css_class (self->empty, "drop-here");
}

static void
accept_drops (LigScoreView *self)
{
  GtkDropTarget *target = gtk_drop_target_new (G_TYPE_STRING, GDK_ACTION_COPY);
  g_signal_connect (target, "enter", G_CALLBACK (hover), self);
  g_signal_connect (target, "leave", G_CALLBACK (leave), self);
  g_signal_connect (target, "drop", G_CALLBACK (dropped), self);
  gtk_widget_add_controller (self->empty, GTK_EVENT_CONTROLLER (target));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  LigScoreView *self = LIG_SCORE_VIEW (object);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (lig_score_view_parent_class)->dispose (object);
}

static void
unmap (GtkWidget *widget)
{
  lig_tooltip_forget (widget);
  GTK_WIDGET_CLASS (lig_score_view_parent_class)->unmap (widget);
}

static void
lig_score_view_class_init (LigScoreViewClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  widget_class->unmap = unmap;
  g_type_ensure (LIG_TYPE_SCORE_HEAD);
  g_type_ensure (LIG_TYPE_SCORE_STRIP);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/score/score.ui");
  gtk_widget_class_bind_template_child (widget_class, LigScoreView, stack);
  gtk_widget_class_bind_template_child (widget_class, LigScoreView, empty);
  gtk_widget_class_bind_template_child (widget_class, LigScoreView, whole);
  gtk_widget_class_bind_template_child (widget_class, LigScoreView, grid);
  gtk_widget_class_bind_template_child (widget_class, LigScoreView, head);
  gtk_widget_class_bind_template_child (widget_class, LigScoreView, strip);
  gtk_widget_class_bind_template_child (widget_class, LigScoreView, window);
  gtk_widget_class_bind_template_child (widget_class, LigScoreView, measuring);
  gtk_widget_class_bind_template_child (widget_class, LigScoreView, spinner);
  gtk_widget_class_bind_template_child (widget_class, LigScoreView, measured);
}

static void
lig_score_view_init (LigScoreView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

static void
add_view_controls (LigScoreView *self)
{
  LigScoreSheet *sheet = LIG_SCORE_SHEET (self->sheet);
  lig_score_strip_set_sheet (self->strip, sheet,
                             gtk_scrolled_window_get_vadjustment (self->window));
  lig_score_add_view_actions (GTK_WIDGET (self), sheet, self->window);
  gtk_grid_attach (self->grid, lig_score_view_button_new (), 1, 0, 1, 1);
  gtk_grid_attach (self->grid, lig_score_legend_new (sheet), 0, 2, 2, 1);
}

GtkWidget *
lig_score_view_new (LigDocument *document)
{
  LigScoreView *self = g_object_new (LIG_TYPE_SCORE_VIEW, NULL);
  self->document = g_object_ref (document);
  self->sheet = lig_score_sheet_new (document);
  lig_score_sheet_add_gestures (LIG_SCORE_SHEET (self->sheet));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->sheet), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Operations"), -1);
  gtk_scrolled_window_set_child (self->window, self->sheet);
  lig_score_sheet_set_adjustment (LIG_SCORE_SHEET (self->sheet),
                                  gtk_scrolled_window_get_vadjustment (self->window));
  g_signal_connect_object (self->sheet, "mapped", G_CALLBACK (update_head), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed", G_CALLBACK (show_rows), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "planned", G_CALLBACK (show_measuring), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::high-contrast",
                           G_CALLBACK (follow_contrast), self, G_CONNECT_SWAPPED);
  add_view_controls (self);
  lig_pin_strip_attach (GTK_BOX (self->whole), document);
  accept_drops (self);
  follow_contrast (self);
  show_rows (self);
  update_head (self);
  return GTK_WIDGET (self);
}

gboolean
lig_score_view_drop (LigScoreView *self, const char *text, guint gap, GError **error)
{
  LigScoreDrop drop;
  lig_score_sheet_get_drop (LIG_SCORE_SHEET (self->sheet), gap, &drop);
  return lig_score_sheet_drop (LIG_SCORE_SHEET (self->sheet), text, &drop, error);
}

void
lig_score_view_focus (LigScoreView *self)
{
  gtk_widget_child_focus (self->sheet, GTK_DIR_TAB_FORWARD);
}
