/* SPDX-License-Identifier: MIT */
/* A picture of an attention mask, and a sentence that describes it. */
#include "ui/inspector/mask.h"

#include "ui/inspector/parts.h"
#include "ui/widgets/style-colours.h"
#include <ligature/draw-mask.h>

#include <glib/gi18n.h>

enum { SIZE = 150 };

struct _LigMaskView {
  AdwBin parent_instance;
  GtkWidget *area;
  GtkLabel *text;
  LigOp *op;
  gint64 tokens;
};

G_DEFINE_FINAL_TYPE (LigMaskView, lig_mask_view, ADW_TYPE_BIN)

static void
draw (GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer data)
{
  LigMaskView *self = data;
  if (!self->op)
    return;
  g_autoptr (LigCanvas) canvas = lig_canvas_new (cairo);
  lig_draw_mask (canvas, lig_style_colours (), self->op, self->tokens, width, height);
}

void
lig_mask_view_show (LigMaskView *self, LigOp *op, gint64 tokens)
{
  g_autofree char *text = lig_mask_describe (op);
  gtk_widget_set_visible (GTK_WIDGET (self), text != NULL);
  if (!text)
    return;
  g_set_object (&self->op, op);
  self->tokens = tokens;
  gtk_label_set_text (self->text, text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->area), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Mask"), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
  gtk_widget_queue_draw (self->area);
}

static void
lig_mask_view_dispose (GObject *object)
{
  g_clear_object (&LIG_MASK_VIEW (object)->op);
  G_OBJECT_CLASS (lig_mask_view_parent_class)->dispose (object);
}

static void
lig_mask_view_class_init (LigMaskViewClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_mask_view_dispose;
}

static void
redraw (LigMaskView *self)
{
  gtk_widget_queue_draw (self->area);
}

static void
lig_mask_view_init (LigMaskView *self)
{
  AdwStyleManager *style = adw_style_manager_get_default ();
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  self->area = g_object_new (GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG,
                             "content-width", SIZE, "content-height", SIZE, NULL);
  self->text = GTK_LABEL (lig_inspector_label ("", "dim-label"));
  gtk_widget_add_css_class (GTK_WIDGET (self->text), "caption");
  gtk_label_set_wrap (self->text, TRUE);
  gtk_widget_set_valign (GTK_WIDGET (self->text), GTK_ALIGN_START);
  gtk_widget_set_margin_top (GTK_WIDGET (self->text), 18);
  gtk_widget_set_hexpand (GTK_WIDGET (self->text), TRUE);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self->area), draw, self, NULL);
  g_signal_connect_object (style, "notify::dark", G_CALLBACK (redraw), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (style, "notify::high-contrast", G_CALLBACK (redraw), self,
                           G_CONNECT_SWAPPED);
  gtk_box_append (GTK_BOX (line), self->area);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->text));
  adw_bin_set_child (ADW_BIN (self), line);
}

GtkWidget *
lig_mask_view_new (void)
{
  return g_object_new (LIG_TYPE_MASK_VIEW, NULL);
}
