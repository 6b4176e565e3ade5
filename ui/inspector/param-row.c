/* SPDX-License-Identifier: MIT */
/* A parameter's row. Every keystroke is written into the op, merged into one step of the history;
 * the row never writes a value back into the editor that it came from. */
#include "ui/inspector/param-row.h"

#include "ui/document/edit.h"
#include "ui/inspector/choice.h"
#include "ui/inspector/param-text.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

struct _LigParamRow {
  AdwBin parent_instance;
  LigDocument *doc;
  const LigParam *param;
  GPtrArray *ops;
  GValue shown; /* the value of the editor */
  gboolean applying, filling, changed;
  GtkWidget *editor, *reset;
  GtkLabel *label, *error;
};

G_DEFINE_FINAL_TYPE (LigParamRow, lig_param_row, ADW_TYPE_BIN)

const LigParam *
lig_param_row_get_param (LigParamRow *self)
{
  return self->param;
}

GtkWidget *
lig_param_row_get_editor (LigParamRow *self)
{
  return self->editor;
}

const char *
lig_param_row_get_error (LigParamRow *self)
{
  return gtk_widget_get_visible (GTK_WIDGET (self->error)) ? gtk_label_get_text (self->error)
                                                           : NULL;
}

gboolean
lig_param_row_is_changed (LigParamRow *self)
{
  return self->changed;
}

static gboolean
is_switch (LigParamRow *self)
{
  return self->param->kind == LIG_PARAM_BOOL || self->param->kind == LIG_PARAM_CALLER;
}

/* --- Errors -------------------------------------------------------------------------------- */

static void
show_error (LigParamRow *self, const GError *error)
{
  g_autofree char *text = error ? lig_figure_sentence (error->message) : NULL;
  gtk_label_set_text (self->error, text ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->error), text != NULL);
  gtk_accessible_update_state (GTK_ACCESSIBLE (self->editor), GTK_ACCESSIBLE_STATE_INVALID,
                               text ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE,
                               -1);
  lig_css_class_set (self->editor, "error", text != NULL);
}

/* --- From the op --------------------------------------------------------------------------- */

/* Gets the common value of all ops; unset if they differ. Returns whether one differs from the
 * default. */
static gboolean
read_ops (LigParamRow *self, GValue *value)
{
  gboolean changed = FALSE;
  for (guint i = 0; i < self->ops->len; i++) {
    g_auto (GValue) one = G_VALUE_INIT;
    changed |= lig_op_get_value (self->ops->pdata[i], self->param, &one);
    if (i == 0) {
      g_value_init (value, G_VALUE_TYPE (&one));
      g_value_copy (&one, value);
    } else if (G_IS_VALUE (value) && !lig_param_value_equal (value, &one)) {
      g_value_unset (value);
    }
  }
  return changed;
}

static void
fill_editor (LigParamRow *self, const GValue *value)
{
  self->filling = TRUE;
  if (is_switch (self)) {
    gtk_switch_set_active (GTK_SWITCH (self->editor),
                           G_IS_VALUE (value) && g_value_get_boolean (value));
  } else if (self->param->kind == LIG_PARAM_CHOICE) {
    lig_choice_set_name (self->editor, self->param,
                         G_IS_VALUE (value) ? g_value_get_string (value) : NULL);
  } else {
    g_autofree char *text =
      G_IS_VALUE (value) ? lig_param_to_text (self->param, value) : g_strdup ("");
    gtk_editable_set_text (GTK_EDITABLE (self->editor), text);
    gtk_editable_set_position (GTK_EDITABLE (self->editor), -1);
  }
  self->filling = FALSE;
  show_error (self, NULL);
}

static void
update_reset (LigParamRow *self, gboolean changed)
{
  self->changed = changed;
  gboolean possible = changed && !(self->param->flags & LIG_PARAM_REQUIRED);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "param.reset", possible);
  gtk_widget_set_visible (self->reset, possible);
}

void
lig_param_row_show (LigParamRow *self, GPtrArray *ops, const char *inferred, gboolean discard)
{
  g_auto (GValue) value = G_VALUE_INIT;
  if (ops != self->ops) {
    g_ptr_array_unref (self->ops);
    self->ops = g_ptr_array_ref (ops);
  }
  update_reset (self, read_ops (self, &value));
  if (GTK_IS_ENTRY (self->editor)) {
    const char *hint = G_IS_VALUE (&value) ? inferred : _ ("several values");
    gtk_entry_set_placeholder_text (GTK_ENTRY (self->editor), hint);
  }
  gboolean same = lig_param_value_equal (&value, &self->shown) ||
                  (!G_IS_VALUE (&value) && !G_IS_VALUE (&self->shown));
  if (discard || (!same && !self->applying))
    fill_editor (self, &value);
  if (G_IS_VALUE (&self->shown))
    g_value_unset (&self->shown);
  if (G_IS_VALUE (&value)) {
    g_value_init (&self->shown, G_VALUE_TYPE (&value));
    g_value_copy (&value, &self->shown);
  }
}

/* --- Into the op --------------------------------------------------------------------------- */

static void
reset_op (LigParamRow *self, LigOp *op)
{
  g_auto (GValue) value = G_VALUE_INIT;
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (op), self->param->name);
  g_value_init (&value, spec->value_type);
  g_param_value_set_default (spec, &value);
  g_object_set_property (G_OBJECT (op), self->param->name, &value);
}

/* Ops of one kind reject the same values, so the first op's answer applies to all. */
static gboolean
set_all (LigParamRow *self, const GValue *value, GError **error)
{
  for (guint i = 0; i < self->ops->len; i++)
    if (!value)
      reset_op (self, self->ops->pdata[i]);
    else if (!lig_op_set_value (self->ops->pdata[i], self->param->name, value, error))
      return FALSE;
  g_autofree char *label = g_strdup_printf (
    ngettext ("Change %s of %u operation", "Change %s of %u operations", self->ops->len),
    _ (self->param->label), self->ops->len);
  g_autofree char *merge = g_strconcat ("several.", self->param->name, NULL);
  lig_document_commit (self->doc, label, merge);
  return TRUE;
}

static void
apply (LigParamRow *self, const GValue *value)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) ops = g_ptr_array_ref (self->ops);
  g_autoptr (LigParamRow) kept = g_object_ref (self);
  self->applying = TRUE;
  if (ops->len == 1)
    lig_edit_set_value (self->doc, ops->pdata[0], self->param->name, value, &error);
  else if (ops->len > 1)
    set_all (self, value, &error);
  self->applying = FALSE;
  show_error (kept, error);
}

static void
apply_text (LigParamRow *self)
{
  g_auto (GValue) value = G_VALUE_INIT;
  if (self->filling)
    return;
  lig_param_from_text (self->param, gtk_editable_get_text (GTK_EDITABLE (self->editor)), &value);
  apply (self, G_IS_VALUE (&value) ? &value : NULL);
}

static void
apply_switch (LigParamRow *self)
{
  g_auto (GValue) value = G_VALUE_INIT;
  if (self->filling)
    return;
  g_value_init (&value, G_TYPE_BOOLEAN);
  g_value_set_boolean (&value, gtk_switch_get_active (GTK_SWITCH (self->editor)));
  apply (self, &value);
}

static void
apply_choice (LigParamRow *self)
{
  g_auto (GValue) value = G_VALUE_INIT;
  const char *name = lig_choice_get_name (self->editor, self->param);
  if (self->filling || !name)
    return;
  g_value_init (&value, G_TYPE_STRING);
  g_value_set_static_string (&value, name);
  apply (self, &value);
}

static void
reset (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigParamRow *self = LIG_PARAM_ROW (widget);
  g_autoptr (GPtrArray) ops = g_ptr_array_ref (self->ops);
  apply (self, NULL);
  lig_param_row_show (self, ops, NULL, TRUE);
}

/* Shows the ops' value instead of typed text. */
static void
restore (LigParamRow *self)
{
  fill_editor (self, &self->shown);
}

/* --- Keys ---------------------------------------------------------------------------------- */

static void
step (LigParamRow *self, int direction)
{
  g_auto (GValue) value = G_VALUE_INIT;
  double number = 0;
  lig_param_from_text (self->param, gtk_editable_get_text (GTK_EDITABLE (self->editor)), &value);
  if (G_VALUE_HOLDS_INT64 (&value))
    number = (double) g_value_get_int64 (&value);
  else if (G_VALUE_HOLDS_DOUBLE (&value))
    number = g_value_get_double (&value);
  else if (G_IS_VALUE (&value))
    return;
  else
    number = g_ascii_strtod (gtk_entry_get_placeholder_text (GTK_ENTRY (self->editor)) ?: "", NULL);
  g_auto (GValue) next = G_VALUE_INIT;
  gboolean whole = self->param->kind == LIG_PARAM_INT;
  number = lig_param_step (self->param, number, direction);
  g_value_init (&next, whole ? G_TYPE_INT64 : G_TYPE_DOUBLE);
  if (whole)
    g_value_set_int64 (&next, (gint64) number);
  else
    g_value_set_double (&next, number);
  g_autofree char *text = lig_param_to_text (self->param, &next);
  gtk_editable_set_text (GTK_EDITABLE (self->editor), text);
  gtk_editable_set_position (GTK_EDITABLE (self->editor), -1);
}

static void
step_up (LigParamRow *self)
{
  step (self, 1);
}

static void
step_down (LigParamRow *self)
{
  step (self, -1);
}

static gboolean
press_key (LigParamRow *self, guint key)
{
  gboolean number = self->param->kind == LIG_PARAM_INT || self->param->kind == LIG_PARAM_FLOAT;
  if (key == GDK_KEY_Escape && lig_param_row_get_error (self)) {
    restore (self);
    return TRUE;
  }
  if (!number)
    return FALSE;
  if (key == GDK_KEY_Up || key == GDK_KEY_KP_Up)
    step (self, 1);
  else if (key == GDK_KEY_Down || key == GDK_KEY_KP_Down)
    step (self, -1);
  else
    return FALSE;
  return TRUE;
}

/* Formats the value once the user has finished typing. */
static void
leave (LigParamRow *self)
{
  if (!lig_param_row_get_error (self) && G_IS_VALUE (&self->shown))
    restore (self);
}

/* --- Channels ------------------------------------------------------------------------------ */

static void
choose_channel (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigParamRow *self = LIG_PARAM_ROW (widget);
  gtk_editable_set_text (GTK_EDITABLE (self->editor), g_variant_get_string (parameter, NULL));
}

/* Returns the channel names that other ops use. */
static GPtrArray *
find_channels (LigParamRow *self)
{
  guint count;
  GPtrArray *names = g_ptr_array_new ();
  const LigRow *rows = lig_document_get_rows (self->doc, &count);
  const LigRow *own =
    self->ops->len > 0 ? lig_document_find_row (self->doc, self->ops->pdata[0]) : NULL;
  for (guint i = 0; i < count; i++)
    for (int k = 0; own && rows[i].parent == own->parent && k < 2 * LIG_MAX_EXTRA; k++) {
      const char *name = k % 2 ? lig_op_get_extra_input_channel (rows[i].op, k / 2)
                               : lig_op_get_extra_output_channel (rows[i].op, k / 2);
      if (name && !g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
        g_ptr_array_add (names, (gpointer) name);
    }
  return names;
}

/* Returns whether the channel belongs to a port that may be absent. */
static gboolean
is_optional (LigParamRow *self)
{
  int index = (int) self->param->offset;
  const LigOpInfo *info = self->ops->len > 0 ? lig_op_get_info (self->ops->pdata[0]) : NULL;
  return info &&
         (self->param->kind == LIG_PARAM_INPUT ? lig_op_info_is_optional (info, index)
                                               : lig_op_info_is_optional_output (info, index));
}

/* Offers the earlier ops that have their own weight; the repetitions of a block have several. */
static void
fill_paths (GtkMenuButton *button, gpointer data)
{
  guint count;
  LigParamRow *self = data;
  g_autoptr (GMenu) menu = g_menu_new ();
  const LigRow *rows = lig_document_get_rows (self->doc, &count);
  g_menu_append (menu, _ ("Its own"), "param.channel::");
  for (guint i = 0; i < count; i++) {
    const LigParam *param = lig_op_get_info (rows[i].op)->params;
    while (param && param->name && param->kind != LIG_PARAM_PATH)
      param++;
    if (rows[i].depth > 0 || !param || !param->name ||
        g_ptr_array_find (self->ops, rows[i].op, NULL))
      continue;
    g_autofree char *label =
      g_strdup_printf ("%s · %s", rows[i].path, _ (lig_op_get_info (rows[i].op)->title));
    g_autoptr (GMenuItem) item = g_menu_item_new (label, NULL);
    g_menu_item_set_action_and_target (item, "param.channel", "s", rows[i].path);
    g_menu_append_item (menu, item);
  }
  gtk_menu_button_set_menu_model (button, G_MENU_MODEL (menu));
}

static void
fill_menu (GtkMenuButton *button, gpointer data)
{
  g_autoptr (GMenu) menu = g_menu_new ();
  g_autoptr (GMenu) present = g_menu_new ();
  g_autoptr (GPtrArray) names = find_channels (data);
  g_menu_append (menu, _ ("None"), "param.channel::");
  if (is_optional (data))
    g_menu_append (menu, _ ("The caller"), "param.channel::caller");
  for (guint i = 0; i < names->len; i++) {
    g_autoptr (GMenuItem) item = g_menu_item_new (names->pdata[i], NULL);
    g_menu_item_set_action_and_target (item, "param.channel", "s", names->pdata[i]);
    g_menu_append_item (present, item);
  }
  g_menu_append_section (menu, names->len > 0 ? _ ("Branches") : NULL, G_MENU_MODEL (present));
  gtk_menu_button_set_menu_model (button, G_MENU_MODEL (menu));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_param_row_dispose (GObject *object)
{
  LigParamRow *self = LIG_PARAM_ROW (object);
  g_clear_pointer (&self->ops, g_ptr_array_unref);
  g_clear_object (&self->doc);
  G_OBJECT_CLASS (lig_param_row_parent_class)->dispose (object);
}

static void
lig_param_row_finalize (GObject *object)
{
  LigParamRow *self = LIG_PARAM_ROW (object);
  if (G_IS_VALUE (&self->shown))
    g_value_unset (&self->shown);
  G_OBJECT_CLASS (lig_param_row_parent_class)->finalize (object);
}

static void
lig_param_row_class_init (LigParamRowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_param_row_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_param_row_finalize;
  gtk_widget_class_install_action (widget_class, "param.reset", NULL, reset);
  gtk_widget_class_install_action (widget_class, "param.channel", "s", choose_channel);
  gtk_widget_class_set_css_name (widget_class, "param");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_param_row_init (LigParamRow *self)
{
  self->ops = g_ptr_array_new ();
}

static GtkWidget *
make_button (const char *icon, const char *tip, GCallback clicked, LigParamRow *self)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);
  lig_tooltip_set (button, tip);
  gtk_widget_set_focusable (button, FALSE);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  return button;
}

static GtkWidget *
make_entry (LigParamRow *self)
{
  gboolean wide = self->param->kind != LIG_PARAM_INT && self->param->kind != LIG_PARAM_FLOAT;
  GtkWidget *entry = gtk_entry_new ();
  gtk_editable_set_enable_undo (GTK_EDITABLE (entry), FALSE);
  gtk_editable_set_width_chars (GTK_EDITABLE (entry), wide ? 12 : 7);
  gtk_editable_set_max_width_chars (GTK_EDITABLE (entry), wide ? 18 : 10);
  g_signal_connect_swapped (entry, "changed", G_CALLBACK (apply_text), self);
  g_signal_connect_swapped (entry, "activate", G_CALLBACK (leave), self);
  GtkEventController *keys = gtk_event_controller_key_new ();
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (press_key), self);
  gtk_widget_add_controller (entry, keys);
  GtkEventController *focus = gtk_event_controller_focus_new ();
  g_signal_connect_swapped (focus, "leave", G_CALLBACK (leave), self);
  gtk_widget_add_controller (entry, focus);
  return entry;
}

/* Creates the widget on the right; its editor is kept. */
static GtkWidget *
make_editor (LigParamRow *self)
{
  if (is_switch (self)) {
    self->editor = gtk_switch_new ();
    gtk_widget_set_valign (self->editor, GTK_ALIGN_CENTER);
    g_signal_connect_swapped (self->editor, "notify::active", G_CALLBACK (apply_switch), self);
    return self->editor;
  }
  if (self->param->kind == LIG_PARAM_CHOICE) {
    self->editor = lig_choice_new (self->param);
    g_signal_connect_swapped (self->editor, "notify::selected", G_CALLBACK (apply_choice), self);
    return self->editor;
  }
  self->editor = make_entry (self);
  if (self->param->kind == LIG_PARAM_SHAPE)
    return self->editor;
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  gtk_widget_add_css_class (box, "linked");
  gtk_box_append (GTK_BOX (box), self->editor);
  const gboolean path = self->param->kind == LIG_PARAM_PATH;
  if (path || self->param->kind == LIG_PARAM_INPUT || self->param->kind == LIG_PARAM_OUTPUT) {
    GtkWidget *menu = gtk_menu_button_new ();
    lig_tooltip_set (menu, path ? _ ("Weights to use") : _ ("Branches in use"));
    gtk_menu_button_set_create_popup_func (GTK_MENU_BUTTON (menu), path ? fill_paths : fill_menu,
                                           self, NULL);
    gtk_box_append (GTK_BOX (box), menu);
    return box;
  }
  gtk_box_append (GTK_BOX (box), make_button ("value-decrease-symbolic", _ ("Decrease (Down)"),
                                              G_CALLBACK (step_down), self));
  gtk_box_append (GTK_BOX (box), make_button ("value-increase-symbolic", _ ("Increase (Up)"),
                                              G_CALLBACK (step_up), self));
  return box;
}

static GtkLabel *
make_label (const char *text, const char *class)
{
  GtkLabel *label = GTK_LABEL (gtk_label_new (text));
  gtk_label_set_xalign (label, 0);
  gtk_label_set_wrap (label, TRUE);
  gtk_label_set_wrap_mode (label, PANGO_WRAP_WORD);
  gtk_label_set_max_width_chars (label, 24);
  gtk_widget_add_css_class (GTK_WIDGET (label), class);
  return label;
}

static char *
describe_default (const LigParam *param)
{
  g_auto (GValue) value = G_VALUE_INIT;
  if (param->kind == LIG_PARAM_FLOAT) {
    g_value_init (&value, G_TYPE_DOUBLE);
    g_value_set_double (&value, param->initial);
  } else if (param->kind == LIG_PARAM_INT && !(param->flags & LIG_PARAM_INFERRED)) {
    g_value_init (&value, G_TYPE_INT64);
    g_value_set_int64 (&value, (gint64) param->initial);
  } else {
    return g_strdup (_ ("Back to the default"));
  }
  g_autofree char *text = lig_param_to_text (param, &value);
  return g_strdup_printf (_ ("Back to the default, %s"), text);
}

static void
fill (LigParamRow *self)
{
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *editor = make_editor (self);
  g_autofree char *tip = describe_default (self->param);
  self->label = make_label (_ (self->param->label), "title");
  self->error = make_label ("", "error");
  gtk_widget_add_css_class (GTK_WIDGET (self->error), "caption");
  gtk_widget_set_visible (GTK_WIDGET (self->error), FALSE);
  self->reset = gtk_button_new_from_icon_name ("edit-undo-symbolic");
  gtk_widget_add_css_class (self->reset, "flat");
  lig_tooltip_set (self->reset, tip);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->reset), "param.reset");
  gtk_label_set_mnemonic_widget (self->label, self->editor);
  gtk_widget_set_hexpand (GTK_WIDGET (self->label), TRUE);
  gtk_widget_set_valign (editor, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->reset, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->label));
  gtk_box_append (GTK_BOX (line), self->reset);
  gtk_box_append (GTK_BOX (line), editor);
  gtk_box_append (GTK_BOX (whole), line);
  gtk_box_append (GTK_BOX (whole), GTK_WIDGET (self->error));
  adw_bin_set_child (ADW_BIN (self), whole);
}

GtkWidget *
lig_param_row_new (LigDocument *doc, const LigParam *param)
{
  LigParamRow *self = g_object_new (LIG_TYPE_PARAM_ROW, NULL);
  self->doc = g_object_ref (doc);
  self->param = param;
  fill (self);
  lig_tooltip_set (GTK_WIDGET (self), _ (param->help));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ (param->label), -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->editor), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ (param->label), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  _ (param->help), -1);
  return GTK_WIDGET (self);
}
