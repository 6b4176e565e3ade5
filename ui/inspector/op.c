/* SPDX-License-Identifier: MIT */
/* The inspector's face for one op. */
#include "ui/document/edit.h"
#include "ui/inspector/mask.h"
#include "ui/inspector/parts.h"
#include "ui/inspector/times.h"
#include "ui/inspector/trained.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include <ligature/plan.h>

#include <glib/gi18n.h>

struct _LigInspectorOp {
  AdwBin parent_instance;
  LigDocument *doc;
  LigOp *op; /* (transfer none): shown last */
  GtkLabel *title, *path, *summary, *formula, *problem;
  GtkBox *overrides;
  GtkWidget *fusions;
  GtkSwitch *fence;
  gboolean filling;
  char *overridden; /* the overrides that the lines were made from */
  GtkWidget *params, *trained, *mask, *sizes, *kernels;
};

G_DEFINE_FINAL_TYPE (LigInspectorOp, lig_inspector_op, ADW_TYPE_BIN)

/* --- Head ---------------------------------------------------------------------------------- */

static void
show_head (LigInspectorOp *self, LigOp *op, const char *path)
{
  const LigOpInfo *info = lig_op_get_info (op);
  const LigProblem *found = lig_document_find_problem (self->doc, op);
  const char *problem = found ? found->text : NULL;
  g_autofree char *place = g_strdup_printf (_ ("at %s"), path);
  g_autofree char *sentence = problem ? lig_figure_sentence (problem) : NULL;
  gtk_label_set_text (self->title, _ (info->title));
  gtk_label_set_text (self->path, place);
  gtk_label_set_text (self->summary, _ (info->summary));
  gtk_label_set_text (self->formula, info->formula ? info->formula : "");
  gtk_widget_set_visible (GTK_WIDGET (self->formula), info->formula != NULL);
  gtk_label_set_text (self->problem, sentence ? sentence : "");
  gtk_widget_set_visible (GTK_WIDGET (self->problem), sentence != NULL);
}

/* --- Facts --------------------------------------------------------------------------------- */

static LigDtype
find_input_dtype (LigPlan *plan, const LigPlanOp *op)
{
  guint count;
  LigShape shape;
  LigDtype dtype;
  if (op->index > 0)
    return lig_plan_get_ops (plan, &count)[op->index - 1].y_dtype;
  lig_plan_get_input (plan, &shape, &dtype);
  return dtype;
}

static void
show_sizes (LigInspectorOp *self, LigPlan *plan, const LigPlanOp *parts, guint count)
{
  LigFacts *facts = LIG_FACTS (self->sizes);
  gint64 parameters = 0, saved = 0;
  for (guint i = 0; i < count; i++) {
    parameters += parts[i].parameters;
    saved += parts[i].saved_bytes;
  }
  lig_facts_begin (facts);
  if (count > 0) {
    const LigPlanOp *last = &parts[count - 1];
    lig_facts_take (facts, _ ("Input"),
                    lig_figure_tensor (&parts->x, find_input_dtype (plan, parts)));
    lig_facts_take (facts, _ ("Output"), lig_figure_tensor (&last->y, last->y_dtype));
    lig_facts_take (facts, _ ("Trained parameters"),
                    parameters > 0 ? lig_figure_count (parameters) : g_strdup (_ ("none")));
    lig_facts_take (facts, _ ("Saved for backward"),
                    saved > 0 ? lig_figure_bytes ((double) saved) : g_strdup (_ ("nothing")));
  }
  lig_facts_end (facts);
}

static void
show_mask (LigInspectorOp *self, const LigShape *input)
{
  gint64 tokens = input && input->n_axes > 2 ? input->axes[input->n_axes - 2] : 0;
  lig_mask_view_show (LIG_MASK_VIEW (self->mask), self->op, tokens);
}

static void
show_facts (LigInspectorOp *self, const char *path)
{
  guint count = 0;
  LigPlan *plan = lig_document_get_plan (self->doc);
  const LigPlanOp *parts = plan ? lig_document_find_parts (self->doc, path, &count) : NULL;
  show_sizes (self, plan, parts, count);
  show_mask (self, count > 0 ? &parts->x : NULL);
  lig_facts_begin (LIG_FACTS (self->kernels));
  if (count > 0)
    lig_facts_show_groups (LIG_FACTS (self->kernels), self->doc, parts->index,
                           parts->index + (int) count);
  lig_facts_end (LIG_FACTS (self->kernels));
}

/* --- Overrides --------------------------------------------------------------------------- */

static void
show_overrides (LigInspectorOp *self, LigOp *op)
{
  const char *const *forced = lig_op_get_forced (op), *const *forbidden = lig_op_get_forbidden (op);
  g_autofree char *first = g_strjoinv (" ", (GStrv) forced);
  g_autofree char *second = g_strjoinv (" ", (GStrv) forbidden);
  g_autofree char *overridden = g_strconcat (first, "|", second, NULL);
  GtkWidget *line;
  self->filling = TRUE;
  gtk_switch_set_active (self->fence, lig_op_get_fence (op));
  self->filling = FALSE;
  if (g_strcmp0 (overridden, self->overridden) == 0)
    return;
  g_free (self->overridden);
  self->overridden = g_steal_pointer (&overridden);
  while ((line = gtk_widget_get_first_child (GTK_WIDGET (self->overrides))))
    gtk_box_remove (self->overrides, line);
  for (; *forced; forced++)
    gtk_box_append (self->overrides,
                    lig_inspector_override (_ ("Forced to start here"), *forced, _ ("Do not force"),
                                            "override.release"));
  for (; *forbidden; forbidden++)
    gtk_box_append (self->overrides,
                    lig_inspector_override (_ ("Forbidden to start here"), *forbidden, _ ("Allow"),
                                            "override.allow"));
}

static void
change_override (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigInspectorOp *self = LIG_INSPECTOR_OP (widget);
  const char *fusion = g_variant_get_string (parameter, NULL);
  if (!self->op)
    return;
  if (g_str_equal (action, "override.allow"))
    lig_edit_forbid (self->doc, self->op, fusion, FALSE);
  else
    lig_edit_force (self->doc, self->op, fusion, FALSE);
}

static void
change_fence (LigInspectorOp *self)
{
  if (self->op && !self->filling)
    lig_edit_set_fence (self->doc, self->op, gtk_switch_get_active (self->fence));
}

void
lig_inspector_op_show (LigInspectorOp *self, LigOp *op)
{
  const LigRow *row = lig_document_find_row (self->doc, op);
  g_autoptr (GPtrArray) ops = g_ptr_array_new_with_free_func (g_object_unref);
  self->op = row ? op : NULL;
  if (!row)
    return;
  g_ptr_array_add (ops, g_object_ref (op));
  show_head (self, op, row->path);
  lig_param_list_show (LIG_PARAM_LIST (self->params), ops, row->path);
  lig_trained_switch_show (LIG_TRAINED_SWITCH (self->trained), op);
  show_overrides (self, op);
  show_facts (self, row->path);
  lig_css_class_set (GTK_WIDGET (self), "stale", lig_document_is_stale (self->doc));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_inspector_op_finalize (GObject *object)
{
  LigInspectorOp *self = LIG_INSPECTOR_OP (object);
  g_clear_object (&self->doc);
  g_free (self->overridden);
  G_OBJECT_CLASS (lig_inspector_op_parent_class)->finalize (object);
}

static void
lig_inspector_op_class_init (LigInspectorOpClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->finalize = lig_inspector_op_finalize;
  gtk_widget_class_install_action (widget_class, "override.allow", "s", change_override);
  gtk_widget_class_install_action (widget_class, "override.release", "s", change_override);
  gtk_widget_class_set_css_name (widget_class, "inspector-op");
}

static void
lig_inspector_op_init (LigInspectorOp *self)
{
}

static GtkWidget *
make_head (LigInspectorOp *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->title = GTK_LABEL (lig_inspector_label ("", "title-3"));
  self->path = GTK_LABEL (lig_inspector_label ("", "dim-label"));
  self->summary = GTK_LABEL (lig_inspector_label ("", NULL));
  self->formula = GTK_LABEL (lig_inspector_label ("", "monospace"));
  self->problem = GTK_LABEL (lig_inspector_label ("", "error"));
  gtk_widget_add_css_class (GTK_WIDGET (self->formula), "formula");
  gtk_widget_set_hexpand (GTK_WIDGET (self->title), TRUE);
  gtk_widget_set_valign (GTK_WIDGET (self->path), GTK_ALIGN_BASELINE);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->path));
  gtk_box_append (GTK_BOX (head), line);
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (self->summary));
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (self->formula));
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (self->problem));
  return head;
}

static GtkWidget *
make_fusions (LigInspectorOp *self)
{
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *label = lig_inspector_label (_ ("Fence above"), NULL);
  const char *help = _ ("No kernel may span the gap before this operation");
  self->fence = GTK_SWITCH (gtk_switch_new ());
  self->overrides = GTK_BOX (gtk_box_new (GTK_ORIENTATION_VERTICAL, 0));
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_set_valign (GTK_WIDGET (self->fence), GTK_ALIGN_CENTER);
  lig_tooltip_set (line, help);
  gtk_label_set_mnemonic_widget (GTK_LABEL (label), GTK_WIDGET (self->fence));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->fence), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Fence above"), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, help, -1);
  g_signal_connect_swapped (self->fence, "notify::active", G_CALLBACK (change_fence), self);
  gtk_widget_add_css_class (line, "line");
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "lines");
  gtk_widget_add_css_class (GTK_WIDGET (self->overrides), "lines");
  gtk_box_append (GTK_BOX (line), label);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->fence));
  gtk_box_append (GTK_BOX (card), line);
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self->overrides));
  gtk_box_append (GTK_BOX (whole), lig_inspector_label (_ ("Fusions"), "heading"));
  gtk_box_append (GTK_BOX (whole), card);
  return whole;
}

GtkWidget *
lig_inspector_op_new (LigDocument *doc)
{
  LigInspectorOp *self = g_object_new (LIG_TYPE_INSPECTOR_OP, NULL);
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 18);
  self->doc = g_object_ref (doc);
  self->params = lig_param_list_new (doc);
  self->trained = lig_trained_switch_new (doc);
  self->mask = lig_mask_view_new ();
  lig_param_list_set_picture (LIG_PARAM_LIST (self->params), self->mask);
  self->sizes = lig_facts_new (_ ("Shapes and memory"));
  self->kernels = lig_facts_new (_ ("Kernels"));
  gtk_box_append (GTK_BOX (whole), make_head (self));
  gtk_box_append (GTK_BOX (whole), self->params);
  gtk_box_append (GTK_BOX (whole), self->trained);
  gtk_box_append (GTK_BOX (whole), self->sizes);
  gtk_box_append (GTK_BOX (whole), self->kernels);
  gtk_box_append (GTK_BOX (whole), make_fusions (self));
  adw_bin_set_child (ADW_BIN (self), whole);
  return GTK_WIDGET (self);
}
