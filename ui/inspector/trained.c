/* SPDX-License-Identifier: MIT */
/* The switch that freezes the parameters of an op, or of all ops of a block or macro. */
#include "ui/inspector/trained.h"

#include "ui/document/edit.h"
#include "ui/inspector/parts.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

struct _LigTrainedSwitch {
  AdwBin parent_instance;
  LigDocument *doc;
  LigOp *op; /* (transfer none): shown last */
  GtkSwitch *button;
  gboolean filling;
};

G_DEFINE_FINAL_TYPE (LigTrainedSwitch, lig_trained_switch, ADW_TYPE_BIN)

GtkSwitch *
lig_trained_switch_get_switch (LigTrainedSwitch *self)
{
  return self->button;
}

static gboolean
may_have_parameters (LigOp *op)
{
  const LigOpInfo *info = lig_op_get_info (op);
  return lig_op_get_body (op) || info->expand || (info->parameters && info->parameters->name);
}

void
lig_trained_switch_show (LigTrainedSwitch *self, LigOp *op)
{
  self->op = op;
  self->filling = TRUE;
  gtk_switch_set_active (self->button, lig_op_get_trained (op));
  self->filling = FALSE;
  gtk_widget_set_visible (GTK_WIDGET (self), may_have_parameters (op));
}

static void
change (LigTrainedSwitch *self)
{
  if (self->op && !self->filling)
    lig_edit_set_trained (self->doc, self->op, gtk_switch_get_active (self->button));
}

static void
lig_trained_switch_finalize (GObject *object)
{
  g_clear_object (&LIG_TRAINED_SWITCH (object)->doc);
  G_OBJECT_CLASS (lig_trained_switch_parent_class)->finalize (object);
}

static void
lig_trained_switch_class_init (LigTrainedSwitchClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_trained_switch_finalize;
}

static void
lig_trained_switch_init (LigTrainedSwitch *self)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *label = lig_inspector_label (_ ("Trained"), NULL);
  const char *help = _ ("Off: the parameters are frozen, and their gradients are not computed");
  self->button = GTK_SWITCH (gtk_switch_new ());
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_set_valign (GTK_WIDGET (self->button), GTK_ALIGN_CENTER);
  lig_tooltip_set (line, help);
  gtk_label_set_mnemonic_widget (GTK_LABEL (label), GTK_WIDGET (self->button));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Trained"), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, help, -1);
  g_signal_connect_swapped (self->button, "notify::active", G_CALLBACK (change), self);
  gtk_widget_add_css_class (line, "line");
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "lines");
  gtk_box_append (GTK_BOX (line), label);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->button));
  gtk_box_append (GTK_BOX (card), line);
  adw_bin_set_child (ADW_BIN (self), card);
}

GtkWidget *
lig_trained_switch_new (LigDocument *doc)
{
  LigTrainedSwitch *self = g_object_new (LIG_TYPE_TRAINED_SWITCH, NULL);
  self->doc = g_object_ref (doc);
  return GTK_WIDGET (self);
}
