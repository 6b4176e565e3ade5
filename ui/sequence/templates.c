/* SPDX-License-Identifier: MIT */
/* The window of templates: the shipped examples. */
#include "ui/sequence/templates.h"

#include "ui/sequence/template-card.h"
#include <ligature/device.h>
#include <ligature/sequence.h>

#include <glib/gi18n.h>

/* The device of the pictures if the document's would have to be opened first. */
#define PICTURED_DEVICE "null:h200"

struct _LigTemplates {
  AdwWindow parent_instance;
  LigDocument *doc;
  GtkFlowBox *cards;
};

G_DEFINE_FINAL_TYPE (LigTemplates, lig_templates, ADW_TYPE_WINDOW)

static const struct {
  const char *file, *title, *description;
} templates[] = {
  {"layer-norm-mlp.lig", N_ ("Layer norm MLP"),
   N_ ("The feed-forward half of a GPT block; bias and GELU are fused into a matmul.")},
  {"rms-norm-swiglu-mlp.lig", N_ ("RMS norm SwiGLU MLP"),
   N_ ("The gated feed-forward half of a Llama block, without biases.")},
  {"residual-mlp.lig", N_ ("Residual MLP"),
   N_ ("A residual connection around an MLP, added in its last matmul.")},
  {"transformer-layer.lig", N_ ("Transformer layer"),
   N_ ("A layer of GPT-2: attention and an MLP, each with a residual connection; expand it to edit "
       "it.")},
  {"llama-layer.lig", N_ ("Llama layer"),
   N_ ("RMS norm, RoPE, grouped-query attention and SwiGLU, as in Llama 3 8B.")},
  {"mixture-tiny.lig", N_ ("Mixture of experts"),
   N_ ("A small model whose layers choose two of eight experts for each token; trains on any text "
       "file.")},
  {"gpt2-124m.lig", N_ ("GPT-2"),
   N_ ("Twelve layers, 124 million parameters; the LM head shares the embedding's weight.")},
  {"byte-model.lig", N_ ("Byte model"),
   N_ ("Predicts the next byte of any text file from the sixteen before it.")},
  {"classifier.lig", N_ ("Classifier"),
   N_ ("Classifies handwritten digits of 28 × 28 pixels; two matmuls and a loss.")},
  {"xor.lig", N_ ("Exclusive or"),
   N_ ("The smallest example: learns XOR within a second on any CPU.")},
};

/* --- Choosing ------------------------------------------------------------------------------ */

static void
choose (LigTemplates *self, GtkFlowBoxChild *child)
{
  LigTemplateCard *card = LIG_TEMPLATE_CARD (child);
  LigSequence *sequence = lig_template_card_get_sequence (card);
  if (!sequence)
    return;
  g_autofree char *label =
    g_strdup_printf (_ ("Begin with %s"), lig_template_card_get_title (card));
  lig_document_replace (self->doc, sequence, label);
  gtk_window_close (GTK_WINDOW (self));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_templates_dispose (GObject *object)
{
  LigTemplates *self = LIG_TEMPLATES (object);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_TEMPLATES);
  g_clear_object (&self->doc);
  G_OBJECT_CLASS (lig_templates_parent_class)->dispose (object);
}

static void
lig_templates_class_init (LigTemplatesClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_templates_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/sequence/templates.ui");
  gtk_widget_class_bind_template_child (widget_class, LigTemplates, cards);
  gtk_widget_class_bind_template_callback (widget_class, choose);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
}

static void
lig_templates_init (LigTemplates *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

GtkWidget *
lig_templates_new (LigDocument *doc)
{
  LigTemplates *self = g_object_new (LIG_TYPE_TEMPLATES, NULL);
  const char *device = lig_document_get_device (doc);
  if (!lig_device_name_has (device, LIG_DEVICE_DESCRIBED))
    device = PICTURED_DEVICE;
  self->doc = g_object_ref (doc);
  for (guint i = 0; i < G_N_ELEMENTS (templates); i++)
    gtk_flow_box_append (self->cards,
                         lig_template_card_new (templates[i].file, _ (templates[i].title),
                                                _ (templates[i].description), device));
  return GTK_WIDGET (self);
}

void
lig_templates_present (GtkWidget *widget, LigDocument *doc)
{
  GtkRoot *root = gtk_widget_get_root (widget);
  GtkWidget *window = lig_templates_new (doc);
  if (GTK_IS_WINDOW (root))
    gtk_window_set_transient_for (GTK_WINDOW (window), GTK_WINDOW (root));
  gtk_window_present (GTK_WINDOW (window));
}
