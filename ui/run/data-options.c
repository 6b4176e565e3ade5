/* SPDX-License-Identifier: MIT */
/* A row for each type of option: an entry, a drop-down, a switch or a number; fractions are shown
 * in percent, unless the option also accepts a path. */
#include "ui/run/data-options.h"

#include <glib/gi18n.h>

typedef struct {
  const LigDatasetInfo *info; /* null: an option of every kind */
  const LigDatasetOption *option;
  GtkWidget *row, *input; /* the same for entries and drop-downs */
} Row;

struct _LigDataOptions {
  AdwPreferencesGroup *group;
  GArray *rows; /* of Row */
  LigDataOptionsFunc changed;
  gpointer data;
};

/* --- Rows ---------------------------------------------------------------------------------- */

static GtkWidget *
new_entry (Row *row)
{
  row->row = row->input = adw_entry_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row->row), _ (row->option->help));
  return row->row;
}

/* A fraction or a path; the title has the default, which applies if the entry is empty. */
static GtkWidget *
new_part (Row *row)
{
  GtkWidget *entry = new_entry (row);
  g_autofree char *title = g_strdup_printf ("%s (%g)", _ (row->option->help), row->option->initial);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (entry), title);
  return entry;
}

static void
set_texts (const Row *row, const char *title)
{
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row->row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row->row), _ (row->option->help));
}

/* Returns the list of a combo row that shows its choice, the first that is not in a popover. */
static GtkWidget *
find_choice (GtkWidget *widget)
{
  GtkWidget *found = GTK_IS_LIST_VIEW (widget) ? widget : NULL;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child && !found;
       child = gtk_widget_get_next_sibling (child))
    found = GTK_IS_POPOVER (child) ? NULL : find_choice (child);
  return found;
}

/* Makes room for the longest choice, which a long subtitle would cut. */
static void
keep_choice (GtkWidget *row, GtkStringList *words)
{
  enum { PADDING = 12 };
  GtkWidget *list = find_choice (row);
  int wanted = 0, width;
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (words)); i++) {
    const char *word = gtk_string_list_get_string (words, i);
    g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (row, word);
    pango_layout_get_pixel_size (layout, &width, NULL);
    wanted = MAX (wanted, width);
  }
  if (list)
    gtk_widget_set_size_request (list, wanted + PADDING, -1);
}

static GtkWidget *
new_choice (Row *row)
{
  g_autoptr (GtkStringList) words = gtk_string_list_new (NULL);
  gtk_string_list_append (words, _ (row->option->unset));
  for (const LigDatasetChoice *choice = row->option->choices; choice->name; choice++)
    gtk_string_list_append (words, _ (choice->label));
  row->row = row->input = adw_combo_row_new ();
  adw_combo_row_set_model (ADW_COMBO_ROW (row->row), G_LIST_MODEL (words));
  keep_choice (row->row, words);
  set_texts (row, _ (row->option->label));
  return row->row;
}

static GtkWidget *
new_action (Row *row, const char *title, GtkWidget *input)
{
  row->row = adw_action_row_new ();
  row->input = input;
  gtk_widget_set_valign (input, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row->row), input);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row->row), input);
  set_texts (row, title);
  return row->row;
}

static GtkWidget *
new_switch (Row *row)
{
  GtkWidget *input = gtk_switch_new ();
  gtk_switch_set_active (GTK_SWITCH (input), row->option->initial != 0);
  return new_action (row, _ (row->option->label), input);
}

static GtkWidget *
new_count (Row *row)
{
  const LigDatasetOption *option = row->option;
  GtkWidget *input = gtk_spin_button_new_with_range (option->minimum, option->maximum, 1);
  gtk_spin_button_set_numeric (GTK_SPIN_BUTTON (input), TRUE);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (input), option->initial);
  return new_action (row, _ (option->label), input);
}

static GtkWidget *
new_fraction (Row *row)
{
  const LigDatasetOption *option = row->option;
  g_autofree char *title = g_strdup_printf ("%s (%%)", _ (option->label));
  /* The maximum itself is excluded. */
  GtkWidget *input =
    gtk_spin_button_new_with_range (option->minimum * 100, option->maximum * 100 - 1, 1);
  gtk_spin_button_set_digits (GTK_SPIN_BUTTON (input), 1);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (input), option->initial * 100);
  return new_action (row, title, input);
}

static const struct {
  GtkWidget *(*make) (Row *row);
  const char *signal;
} types[] = {
  [LIG_DATASET_TEXT] = {new_entry, "changed"},
  [LIG_DATASET_PATH] = {new_entry, "changed"},
  [LIG_DATASET_CHOICE] = {new_choice, "notify::selected"},
  [LIG_DATASET_BOOLEAN] = {new_switch, "notify::active"},
  [LIG_DATASET_COUNT] = {new_count, "value-changed"},
  [LIG_DATASET_FRACTION] = {new_fraction, "value-changed"},
  [LIG_DATASET_FRACTION_OR_FILE] = {new_part, "changed"},
};

static void
notify (LigDataOptions *self)
{
  self->changed (self->data);
}

static void
add_rows (LigDataOptions *self, const LigDatasetInfo *info, const LigDatasetOption *options)
{
  for (; options && options->name; options++) {
    Row row = {.info = info, .option = options};
    adw_preferences_group_add (self->group, types[options->type].make (&row));
    g_signal_connect_swapped (row.input, types[options->type].signal, G_CALLBACK (notify), self);
    g_array_append_val (self->rows, row);
  }
}

LigDataOptions *
lig_data_options_new (AdwPreferencesGroup *group, LigDataOptionsFunc changed, gpointer data)
{
  LigDataOptions *self = g_new0 (LigDataOptions, 1);
  const LigDatasetInfo *info;
  self->group = group;
  self->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  self->changed = changed;
  self->data = data;
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++)
    add_rows (self, info, info->options);
  add_rows (self, NULL, lig_dataset_shared_options ());
  return self;
}

void
lig_data_options_free (LigDataOptions *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    g_signal_handlers_disconnect_by_data (g_array_index (self->rows, Row, i).input, self);
  g_array_unref (self->rows);
  g_free (self);
}

/* --- Values -------------------------------------------------------------------------------- */

static gboolean
is_of (const Row *row, const LigDatasetInfo *info)
{
  return !row->info || row->info == info;
}

void
lig_data_options_show (LigDataOptions *self, const LigDatasetInfo *info)
{
  for (guint i = 0; i < self->rows->len; i++) {
    const Row *row = &g_array_index (self->rows, Row, i);
    gtk_widget_set_visible (row->row, is_of (row, info));
  }
}

static char *
get_number (const Row *row)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  double value = gtk_spin_button_get_value (GTK_SPIN_BUTTON (row->input));
  gboolean fraction = row->option->type == LIG_DATASET_FRACTION;
  if (value == row->option->initial * (fraction ? 100 : 1))
    return NULL;
  if (fraction)
    return g_strdup (g_ascii_formatd (text, sizeof text, "%.4g", value / 100));
  return g_strdup (g_ascii_formatd (text, sizeof text, "%.0f", value));
}

/* (transfer full) (nullable): as written, null for the default. */
static char *
get_value (const Row *row)
{
  guint chosen;
  gboolean active;
  const char *text;
  switch (row->option->type) {
  case LIG_DATASET_CHOICE:
    chosen = adw_combo_row_get_selected (ADW_COMBO_ROW (row->input));
    return chosen > 0 && chosen != GTK_INVALID_LIST_POSITION
             ? g_strdup (row->option->choices[chosen - 1].name)
             : NULL;
  case LIG_DATASET_BOOLEAN:
    active = gtk_switch_get_active (GTK_SWITCH (row->input));
    return active == (row->option->initial != 0) ? NULL : g_strdup (active ? "true" : "false");
  case LIG_DATASET_COUNT:
  case LIG_DATASET_FRACTION:
    return get_number (row);
  default:
    text = gtk_editable_get_text (GTK_EDITABLE (row->input));
    return *text ? g_strdup (text) : NULL;
  }
}

void
lig_data_options_append (LigDataOptions *self, const LigDatasetInfo *info, GString *to)
{
  for (guint i = 0; i < self->rows->len; i++) {
    const Row *row = &g_array_index (self->rows, Row, i);
    g_autofree char *value = is_of (row, info) ? get_value (row) : NULL;
    if (!value)
      continue;
    g_string_append_printf (to, "&%s=", row->option->name);
    g_string_append_uri_escaped (to, value, "/:,", TRUE);
  }
}

static void
set_value (const Row *row, const char *value)
{
  double number = g_ascii_strtod (value, NULL);
  const LigDatasetChoice *choices = row->option->choices;
  switch (row->option->type) {
  case LIG_DATASET_CHOICE:
    for (guint i = 0; choices[i].name; i++)
      if (g_str_equal (choices[i].name, value))
        adw_combo_row_set_selected (ADW_COMBO_ROW (row->input), i + 1);
    break;
  case LIG_DATASET_BOOLEAN:
    gtk_switch_set_active (GTK_SWITCH (row->input), g_str_equal (value, "true"));
    break;
  case LIG_DATASET_COUNT:
    gtk_spin_button_set_value (GTK_SPIN_BUTTON (row->input), number);
    break;
  case LIG_DATASET_FRACTION:
    gtk_spin_button_set_value (GTK_SPIN_BUTTON (row->input), number * 100);
    break;
  default:
    gtk_editable_set_text (GTK_EDITABLE (row->input), value);
  }
}

void
lig_data_options_set (LigDataOptions *self,
                      const LigDatasetInfo *info,
                      const char *key,
                      const char *value)
{
  for (guint i = 0; i < self->rows->len; i++) {
    const Row *row = &g_array_index (self->rows, Row, i);
    if (is_of (row, info) && g_str_equal (row->option->name, key))
      set_value (row, value);
  }
}
