/* SPDX-License-Identifier: MIT */
#include "ui/try/form.h"

#include "ui/try/model.h"
#include "ui/widgets/tooltip.h"
#include <ligature/json-members.h>
#include <ligature/json.h>

#include <glib/gi18n.h>
#include <math.h>

/* The column of a row. */
typedef struct {
  char *name;
  int digits;
  GtkEditable *entry;
  GtkAdjustment *value; /* (nullable): of its slider */
} Column;

struct _LigTryForm {
  AdwBin parent_instance;
  GtkGrid *grid;
  GArray *columns;      /* Column */
  GtkDropDown *classes; /* (nullable): the target, of which the first one is unknown */
  GtkEditable *number;  /* (nullable): the target of a model of values */
  GStrv class_names;
  gboolean filling;
};

G_DEFINE_FINAL_TYPE (LigTryForm, lig_try_form, ADW_TYPE_BIN)

static guint changed_signal;

static void
clear_column (gpointer data)
{
  g_free (((Column *) data)->name);
}

static Column *
nth (LigTryForm *self, guint n)
{
  return &g_array_index (self->columns, Column, n);
}

static void
tell (LigTryForm *self)
{
  if (!self->filling)
    g_signal_emit (self, changed_signal, 0);
}

/* --- Entries and sliders ------------------------------------------------------------------- */

static gboolean
parse (const char *text, double *value)
{
  char *end;
  *value = g_ascii_strtod (text, &end);
  return *text && !*end && isfinite (*value);
}

/* The slider follows the text. */
static void
text_changed (GtkEditable *entry, LigTryForm *self)
{
  double value;
  gboolean filling = self->filling;
  for (guint i = 0; i < self->columns->len; i++) {
    Column *column = nth (self, i);
    if (column->entry != entry || !column->value || !parse (gtk_editable_get_text (entry), &value))
      continue;
    self->filling = TRUE;
    gtk_adjustment_set_value (column->value, value);
    self->filling = filling;
  }
  tell (self);
}

static void
slider_moved (GtkAdjustment *adjustment, LigTryForm *self)
{
  char format[16], text[G_ASCII_DTOSTR_BUF_SIZE];
  if (self->filling)
    return;
  for (guint i = 0; i < self->columns->len; i++) {
    Column *column = nth (self, i);
    if (column->value != adjustment)
      continue;
    g_snprintf (format, sizeof format, "%%.%df", column->digits);
    g_ascii_formatd (text, sizeof text, format, gtk_adjustment_get_value (adjustment));
    self->filling = TRUE;
    gtk_editable_set_text (column->entry, text);
    self->filling = FALSE;
  }
  tell (self);
}

static GtkWidget *
make_name (const char *name)
{
  GtkWidget *label = gtk_label_new (name);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 20);
  lig_tooltip_when_cut (GTK_LABEL (label));
  return label;
}

static GtkWidget *
make_entry (LigTryForm *self, const char *name)
{
  GtkWidget *entry = gtk_entry_new ();
  gtk_editable_set_width_chars (GTK_EDITABLE (entry), 7);
  gtk_editable_set_max_width_chars (GTK_EDITABLE (entry), 8);
  gtk_entry_set_alignment (GTK_ENTRY (entry), 1);
  gtk_entry_set_input_purpose (GTK_ENTRY (entry), GTK_INPUT_PURPOSE_NUMBER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  return entry;
}

static GtkWidget *
make_slider (LigTryForm *self, Column *column, const LigTryFeature *feature)
{
  double range = feature->max - feature->min;
  column->value =
    gtk_adjustment_new (feature->min, feature->min, feature->max, range / 100, range / 10, 0);
  GtkWidget *slider = gtk_scale_new (GTK_ORIENTATION_HORIZONTAL, column->value);
  g_autofree char *tip =
    g_strdup_printf (_ ("Validation rows have %.4g to %.4g"), feature->min, feature->max);
  gtk_widget_set_hexpand (slider, TRUE);
  gtk_widget_set_size_request (slider, 60, -1);
  gtk_widget_set_tooltip_text (slider, tip);
  gtk_accessible_update_property (GTK_ACCESSIBLE (slider), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  feature->name, -1);
  g_signal_connect (column->value, "value-changed", G_CALLBACK (slider_moved), self);
  return slider;
}

static void
add_column (LigTryForm *self, guint n, const LigTryFeature *feature)
{
  Column column = {.name = g_strdup (feature->name)};
  double range = feature->max - feature->min;
  GtkWidget *entry = make_entry (self, feature->name);
  column.entry = GTK_EDITABLE (entry);
  column.digits = range > 0 ? (int) CLAMP (2 - floor (log10 (range)), 0, 6) : 3;
  gtk_grid_attach (self->grid, make_name (feature->name), 0, (int) n, 1, 1);
  gtk_grid_attach (self->grid, entry, 1, (int) n, 1, 1);
  if (isfinite (range) && range > 0)
    gtk_grid_attach (self->grid, make_slider (self, &column, feature), 2, (int) n, 1, 1);
  if (isfinite (feature->mean)) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    gtk_editable_set_text (column.entry,
                           g_ascii_formatd (text, sizeof text, "%.4g", feature->mean));
  } else {
    gtk_editable_set_text (column.entry, "0");
  }
  g_array_append_val (self->columns, column);
  g_signal_connect (entry, "changed", G_CALLBACK (text_changed), self);
}

/* --- The target ---------------------------------------------------------------------------- */

static void
add_classes (LigTryForm *self, JsonObject *model, const char *name, int row)
{
  g_autoptr (GtkStringList) list = gtk_string_list_new (NULL);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  gtk_string_list_append (list, C_ ("target", "unknown"));
  for (guint i = 0; i < lig_try_model_count (model, "classes"); i++) {
    gtk_string_list_append (list, lig_try_model_get_class (model, i));
    g_strv_builder_add (names, lig_try_model_get_class (model, i));
  }
  self->class_names = g_strv_builder_end (names);
  self->classes = GTK_DROP_DOWN (gtk_drop_down_new (G_LIST_MODEL (g_steal_pointer (&list)), NULL));
  gtk_widget_set_halign (GTK_WIDGET (self->classes), GTK_ALIGN_START);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->classes), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  name, -1);
  gtk_grid_attach (self->grid, GTK_WIDGET (self->classes), 1, row, 2, 1);
  g_signal_connect_swapped (self->classes, "notify::selected", G_CALLBACK (tell), self);
}

/* Only a model with one target column gives a loss. */
static void
add_target (LigTryForm *self, JsonObject *model)
{
  int row = (int) self->columns->len + 1;
  const char *name = lig_try_model_get_target (model, 0);
  if (!name || lig_try_model_get_target (model, 1))
    return;
  GtkWidget *label = make_name (name);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_grid_attach (self->grid, gtk_separator_new (GTK_ORIENTATION_HORIZONTAL), 0, row - 1, 3, 1);
  gtk_grid_attach (self->grid, label, 0, row, 1, 1);
  if (lig_try_model_count (model, "classes") > 0) {
    add_classes (self, model, name, row);
    return;
  }
  GtkWidget *entry = make_entry (self, name);
  self->number = GTK_EDITABLE (entry);
  gtk_entry_set_placeholder_text (GTK_ENTRY (entry), C_ ("target", "unknown"));
  gtk_grid_attach (self->grid, entry, 1, row, 1, 1);
  g_signal_connect_swapped (entry, "changed", G_CALLBACK (tell), self);
}

static void
set_target (LigTryForm *self, JsonObject *answer)
{
  JsonArray *numbers = lig_json_get_array (answer, "target");
  double value = numbers ? lig_try_number_at (numbers, 0) : lig_try_number (answer, "target");
  g_autofree char *text = lig_try_format (value);
  if (self->classes)
    gtk_drop_down_set_selected (self->classes, isnan (value) ? 0 : (guint) value + 1);
  if (self->number)
    gtk_editable_set_text (self->number, isnan (value) ? "" : text);
}

/* --- The row ------------------------------------------------------------------------------- */

static void
empty (LigTryForm *self)
{
  GtkWidget *child;
  for (guint i = 0; i < self->columns->len; i++) {
    g_signal_handlers_disconnect_by_data (nth (self, i)->entry, self);
    if (nth (self, i)->value)
      g_signal_handlers_disconnect_by_data (nth (self, i)->value, self);
  }
  if (self->classes)
    g_signal_handlers_disconnect_by_data (self->classes, self);
  if (self->number)
    g_signal_handlers_disconnect_by_data (self->number, self);
  g_array_set_size (self->columns, 0);
  g_clear_pointer (&self->class_names, g_strfreev);
  self->classes = NULL;
  self->number = NULL;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->grid))))
    gtk_grid_remove (self->grid, child);
}

void
lig_try_form_set_model (LigTryForm *self, JsonObject *model)
{
  guint count = lig_try_model_count (model, "features");
  self->filling = TRUE;
  empty (self);
  for (guint i = 0; i < count; i++) {
    LigTryFeature feature = lig_try_model_get_feature (model, i);
    add_column (self, i, &feature);
  }
  add_target (self, model);
  self->filling = FALSE;
}

void
lig_try_form_set_row (LigTryForm *self, JsonObject *answer)
{
  JsonNode *node = json_object_get_member (answer, "row");
  JsonObject *row = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  self->filling = TRUE;
  for (guint i = 0; row && i < self->columns->len; i++)
    gtk_editable_set_text (nth (self, i)->entry,
                           lig_json_get_string (row, nth (self, i)->name, ""));
  set_target (self, answer);
  self->filling = FALSE;
}

void
lig_try_form_add_request (LigTryForm *self, JsonBuilder *to)
{
  lig_json_begin_object (to, "row");
  for (guint i = 0; i < self->columns->len; i++) {
    g_autofree char *text = g_strstrip (g_strdup (gtk_editable_get_text (nth (self, i)->entry)));
    lig_json_add_text (to, nth (self, i)->name, text);
  }
  json_builder_end_object (to);
  guint selected = self->classes ? gtk_drop_down_get_selected (self->classes) : 0;
  if (selected > 0 && selected <= g_strv_length (self->class_names))
    lig_json_add_text (to, "target", self->class_names[selected - 1]);
  if (self->number)
    lig_json_add_text (to, "target", gtk_editable_get_text (self->number));
}

void
lig_try_form_add_target (LigTryForm *self, JsonObject *answer)
{
  guint selected = self->classes ? gtk_drop_down_get_selected (self->classes) : 0;
  if (selected > 0)
    json_object_set_int_member (answer, "target", selected - 1);
}

void
lig_try_form_type (LigTryForm *self, guint column, const char *text)
{
  gtk_editable_set_text (nth (self, column)->entry, text);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_try_form_dispose (GObject *object)
{
  LigTryForm *self = LIG_TRY_FORM (object);
  if (self->grid)
    empty (self);
  self->grid = NULL;
  adw_bin_set_child (ADW_BIN (self), NULL);
  G_OBJECT_CLASS (lig_try_form_parent_class)->dispose (object);
}

static void
lig_try_form_finalize (GObject *object)
{
  LigTryForm *self = LIG_TRY_FORM (object);
  g_array_unref (self->columns);
  G_OBJECT_CLASS (lig_try_form_parent_class)->finalize (object);
}

static void
lig_try_form_class_init (LigTryFormClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_try_form_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_try_form_finalize;
  changed_signal = g_signal_new ("changed", LIG_TYPE_TRY_FORM, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
}

static void
lig_try_form_init (LigTryForm *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  self->grid = GTK_GRID (gtk_grid_new ());
  self->columns = g_array_new (FALSE, TRUE, sizeof (Column));
  g_array_set_clear_func (self->columns, clear_column);
  gtk_grid_set_row_spacing (self->grid, 6);
  gtk_grid_set_column_spacing (self->grid, 12);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), GTK_WIDGET (self->grid));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), 420);
  adw_bin_set_child (ADW_BIN (self), scrolled);
}

GtkWidget *
lig_try_form_new (void)
{
  return g_object_new (LIG_TYPE_TRY_FORM, NULL);
}
