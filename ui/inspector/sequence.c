/* SPDX-License-Identifier: MIT */
/* The face of the inspector when no op is selected: properties of the whole sequence. */
#include "ui/document/edit.h"
#include "ui/inspector/best-savings.h"
#include "ui/inspector/compared.h"
#include "ui/inspector/param-text.h"
#include "ui/inspector/parts.h"
#include "ui/inspector/times.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include "ui/widgets/type-list.h"
#include <ligature/plan.h>

#include <glib/gi18n.h>
#include <string.h>

struct _LigInspectorSequence {
  AdwBin parent_instance;
  LigDocument *doc;
  gboolean filling, applying;
  GtkEditable *name, *shape;
  GtkDropDown *dtype, *compute, *parameters;
  GtkLabel *error;
  GtkWidget *overrides, *totals, *times, *hotspots;
  char *given; /* the shape that the document had when the entry was filled */
};

G_DEFINE_FINAL_TYPE (LigInspectorSequence, lig_inspector_sequence, ADW_TYPE_BIN)

static const LigParam shape_param = {.kind = LIG_PARAM_SHAPE, .minimum = 1};

/* --- Showing ------------------------------------------------------------------------------- */

static void
show_input (LigInspectorSequence *self, LigSequence *sequence)
{
  LigShape shape;
  LigDtype dtype;
  g_auto (GValue) value = G_VALUE_INIT;
  lig_sequence_get_input (sequence, &shape, &dtype);
  g_value_init (&value, LIG_TYPE_SHAPE);
  g_value_set_boxed (&value, &shape);
  g_autofree char *text = lig_param_to_text (&shape_param, &value);
  if (g_strcmp0 (text, self->given) != 0 && !self->applying) {
    gtk_editable_set_text (self->shape, text);
    gtk_widget_set_visible (GTK_WIDGET (self->error), FALSE);
  }
  g_free (self->given);
  self->given = g_steal_pointer (&text);
  lig_type_list_select (self->dtype, (int) dtype);
}

static void
show_totals (LigInspectorSequence *self, LigPlan *plan)
{
  LigFacts *facts = LIG_FACTS (self->totals);
  gint64 parameters = 0, saved = 0, peak = 0;
  guint count, steps;
  lig_facts_begin (facts);
  if (plan) {
    const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
    for (guint i = 0; i < count; i++) {
      parameters += ops[i].parameters;
      saved += ops[i].saved_bytes;
    }
    lig_plan_get_steps (plan, &steps);
    lig_facts_take (facts, _ ("Output"),
                    lig_figure_tensor (&ops[count - 1].y, ops[count - 1].y_dtype));
    lig_facts_take (facts, _ ("Trained parameters"), lig_figure_count (parameters));
    lig_facts_take (facts, _ ("Saved for backward"), lig_figure_bytes ((double) saved));
    lig_facts_take (facts, _ ("Values"),
                    lig_figure_bytes ((double) lig_plan_get_arena_bytes (plan, &peak)));
    lig_facts_take (facts, _ ("Parameters and optimizer"),
                    lig_figure_bytes ((double) lig_plan_get_state_bytes (plan)));
    lig_facts_take (facts, _ ("Steps"), lig_figure_count (steps));
  }
  lig_facts_end (facts);
}

void
lig_inspector_sequence_show (LigInspectorSequence *self)
{
  LigSequence *sequence = lig_document_get_sequence (self->doc);
  LigPlan *plan = lig_document_get_plan (self->doc);
  const char *name = lig_sequence_get_name (sequence);
  g_autofree char *title = lig_document_get_title (self->doc);
  self->filling = TRUE;
  if (!self->applying && g_strcmp0 (gtk_editable_get_text (self->name), name ? name : "") != 0)
    gtk_editable_set_text (self->name, name ? name : "");
  gtk_entry_set_placeholder_text (GTK_ENTRY (self->name), title);
  show_input (self, sequence);
  lig_type_list_select (self->compute, lig_sequence_get_compute (sequence));
  lig_type_list_select (self->parameters, lig_sequence_get_parameters (sequence));
  self->filling = FALSE;
  show_totals (self, plan);
  lig_facts_show_step (LIG_FACTS (self->times), self->doc);
  lig_facts_show_hotspots (LIG_FACTS (self->hotspots), self->doc);
  lig_override_list_show (LIG_OVERRIDE_LIST (self->overrides));
  lig_css_class_set (GTK_WIDGET (self), "stale", lig_document_is_stale (self->doc));
}

/* --- Changing ------------------------------------------------------------------------------ */

static void
change_name (LigInspectorSequence *self)
{
  if (self->filling)
    return;
  const char *name = gtk_editable_get_text (self->name);
  self->applying = TRUE;
  lig_edit_set_name (self->doc, *name ? name : NULL);
  self->applying = FALSE;
}

/* Returns an error if the text of the entry is not an input shape, else null. */
static GError *
parse_input (LigInspectorSequence *self, LigShape *shape, LigDtype dtype)
{
  GError *error = NULL;
  g_auto (GValue) value = G_VALUE_INIT;
  lig_param_from_text (&shape_param, gtk_editable_get_text (self->shape), &value);
  if (!G_VALUE_HOLDS (&value, LIG_TYPE_SHAPE))
    return g_error_new (LIG_ERROR, LIG_ERROR_SHAPE, "%s",
                        _ ("not an input shape; use up to eight lengths like 2048 × 768"));
  *shape = *(const LigShape *) g_value_get_boxed (&value);
  if (lig_sequence_check_input (shape, dtype, &error) && lig_shape_size (shape) == 0)
    g_set_error (&error, LIG_ERROR, LIG_ERROR_SHAPE, "%s",
                 _ ("an axis of length 0 is empty; use at least 1"));
  return error;
}

static void
change_input (LigInspectorSequence *self)
{
  if (self->filling)
    return;
  LigShape shape;
  int chosen = lig_type_list_get (self->dtype);
  LigDtype dtype = chosen >= 0 ? (LigDtype) chosen : LIG_FP32;
  g_autoptr (GError) error = parse_input (self, &shape, dtype);
  g_autofree char *text = error ? lig_figure_sentence (error->message) : NULL;
  gtk_label_set_text (self->error, text ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->error), text != NULL);
  gtk_accessible_update_state (GTK_ACCESSIBLE (self->shape), GTK_ACCESSIBLE_STATE_INVALID,
                               text ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE,
                               -1);
  if (text)
    return;
  self->applying = TRUE;
  lig_edit_set_input (self->doc, &shape, dtype);
  self->applying = FALSE;
}

static void
change_types (LigInspectorSequence *self)
{
  if (!self->filling)
    lig_edit_set_types (self->doc, lig_type_list_get (self->compute),
                        lig_type_list_get (self->parameters));
}

static void
allow (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigInspectorSequence *self = LIG_INSPECTOR_SEQUENCE (widget);
  lig_edit_forbid (self->doc, NULL, g_variant_get_string (parameter, NULL), FALSE);
}

static void
select_place (GtkWidget *widget, const char *action, GVariant *path)
{
  LigDocument *doc = LIG_INSPECTOR_SEQUENCE (widget)->doc;
  const LigRow *row = lig_document_find_path (doc, g_variant_get_string (path, NULL));
  if (row)
    lig_document_select (doc, row->op, LIG_SELECT_ONLY);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_inspector_sequence_finalize (GObject *object)
{
  LigInspectorSequence *self = LIG_INSPECTOR_SEQUENCE (object);
  g_clear_object (&self->doc);
  g_free (self->given);
  G_OBJECT_CLASS (lig_inspector_sequence_parent_class)->finalize (object);
}

static void
lig_inspector_sequence_class_init (LigInspectorSequenceClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_inspector_sequence_finalize;
  gtk_widget_class_install_action (GTK_WIDGET_CLASS (class), "override.allow", "s", allow);
  gtk_widget_class_install_action (GTK_WIDGET_CLASS (class), "place.select", "s", select_place);
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "inspector-sequence");
}

static void
lig_inspector_sequence_init (LigInspectorSequence *self)
{
}

/* Returns a line with a label on the left and an editor on the right. */
static GtkWidget *
make_line (const char *label, const char *help, GtkWidget *editor)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *title = lig_inspector_label (label, NULL);
  gtk_widget_set_hexpand (title, TRUE);
  gtk_label_set_mnemonic_widget (GTK_LABEL (title), editor);
  gtk_widget_set_valign (editor, GTK_ALIGN_CENTER);
  lig_tooltip_set (line, help);
  gtk_accessible_update_property (GTK_ACCESSIBLE (editor), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, help, -1);
  gtk_widget_add_css_class (line, "line");
  gtk_box_append (GTK_BOX (line), title);
  gtk_box_append (GTK_BOX (line), editor);
  return line;
}

static GtkEditable *
make_entry (LigInspectorSequence *self, GCallback changed)
{
  GtkWidget *entry = gtk_entry_new ();
  gtk_editable_set_enable_undo (GTK_EDITABLE (entry), FALSE);
  gtk_editable_set_width_chars (GTK_EDITABLE (entry), 14);
  gtk_editable_set_max_width_chars (GTK_EDITABLE (entry), 18);
  g_signal_connect_swapped (entry, "changed", changed, self);
  return GTK_EDITABLE (entry);
}

static GtkDropDown *
make_down (LigInspectorSequence *self, const char *none, unsigned roles, GCallback changed)
{
  GtkStringList *list = lig_type_list_new (none, roles);
  GtkWidget *down = gtk_drop_down_new (G_LIST_MODEL (list), NULL);
  g_signal_connect_swapped (down, "notify::selected", changed, self);
  return GTK_DROP_DOWN (down);
}

static void
fill_card (LigInspectorSequence *self, GtkBox *card)
{
  self->name = make_entry (self, G_CALLBACK (change_name));
  gtk_entry_set_max_length (GTK_ENTRY (self->name), LIG_SEQUENCE_LONGEST_NAME);
  self->shape = make_entry (self, G_CALLBACK (change_input));
  /* Shapes are written from left to right in every language. */
  gtk_widget_set_direction (GTK_WIDGET (gtk_editable_get_delegate (self->shape)), GTK_TEXT_DIR_LTR);
  self->dtype =
    make_down (self, NULL, LIG_DTYPE_COMPUTES | LIG_DTYPE_INDEXES, G_CALLBACK (change_input));
  self->compute =
    make_down (self, _ ("Same as input"), LIG_DTYPE_COMPUTES, G_CALLBACK (change_types));
  self->parameters =
    make_down (self, _ ("Same as input"), LIG_DTYPE_COMPUTES, G_CALLBACK (change_types));
  /* Not the name of a type: weights of quantized matmuls are kept only in fp8 and fp32. */
  gtk_string_list_append (GTK_STRING_LIST (gtk_drop_down_get_model (self->parameters)),
                          LIG_FP8_PARAMETERS);
  self->error = GTK_LABEL (lig_inspector_label ("", "error"));
  gtk_widget_add_css_class (GTK_WIDGET (self->error), "caption");
  gtk_widget_set_visible (GTK_WIDGET (self->error), FALSE);
  GtkWidget *input = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_add_css_class (input, "with-error");
  gtk_box_append (GTK_BOX (input), make_line (_ ("Input shape"),
                                              _ ("Shape of the input; the first axis is the batch"),
                                              GTK_WIDGET (self->shape)));
  gtk_box_append (GTK_BOX (input), GTK_WIDGET (self->error));
  gtk_box_append (card, make_line (_ ("Name"), _ ("Name of the sequence in runs and reports"),
                                   GTK_WIDGET (self->name)));
  gtk_box_append (card, input);
  gtk_box_append (card, make_line (_ ("Input type"), _ ("Type of the input’s elements"),
                                   GTK_WIDGET (self->dtype)));
  gtk_box_append (card, make_line (_ ("Compute type"), _ ("Type of the values between operations"),
                                   GTK_WIDGET (self->compute)));
  gtk_box_append (card, make_line (_ ("Parameter type"), _ ("Type in which parameters are stored"),
                                   GTK_WIDGET (self->parameters)));
}

GtkWidget *
lig_inspector_sequence_new (LigDocument *doc)
{
  LigInspectorSequence *self = g_object_new (LIG_TYPE_INSPECTOR_SEQUENCE, NULL);
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 18);
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->doc = g_object_ref (doc);
  self->overrides = lig_override_list_new (doc);
  self->totals = lig_facts_new (_ ("Totals"));
  self->times = lig_facts_new (_ ("Time of a step"));
  self->hotspots = lig_facts_new (_ ("Hotspots"));
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "lines");
  fill_card (self, GTK_BOX (card));
  gtk_box_append (GTK_BOX (whole), lig_inspector_label (_ ("Sequence"), "title-3"));
  gtk_box_append (GTK_BOX (whole), lig_best_savings_new (doc));
  gtk_box_append (GTK_BOX (whole), card);
  gtk_box_append (GTK_BOX (whole), self->overrides);
  gtk_box_append (GTK_BOX (whole), self->times);
  gtk_box_append (GTK_BOX (whole), self->hotspots);
  gtk_box_append (GTK_BOX (whole), lig_compared_new (doc));
  gtk_box_append (GTK_BOX (whole), self->totals);
  adw_bin_set_child (ADW_BIN (self), whole);
  return GTK_WIDGET (self);
}
