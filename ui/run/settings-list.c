/* SPDX-License-Identifier: MIT */
/* Rows are generated from lig_run_setting_nth(): words become drop-downs, numbers entries with
 * their range. Every change is an edit of the document. */
#include "ui/run/settings-list.h"

#include "ui/run/rank-rows.h"
#include "ui/run/settings.h"
#include "ui/session/setting-name.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
  const LigSetting *setting;
  GtkWidget *entry, *choice, *reset; /* one of the first two */
  GtkLabel *error;
} Row;

typedef struct {
  LigDocument *doc;
  GArray *rows; /* of Row */
  gboolean updating;
} List;

/* The rank rows, above the settings. */
enum { RANKS = 2 };

/* Settings that are omitted: the run bar shows them next to the button, or they belong to the
 * file. */
static const char *const elsewhere[] = {"data", "batch", "dtype", "policy", "name", NULL};

/* The first rows, most used first; the others follow. */
static const char *const first[] = {"steps",        "lr",   "optimizer",  "schedule", "warmup",
                                    "weight-decay", "clip", "eval-every", "seed",     NULL};

/* --- Reading ------------------------------------------------------------------------------- */

static gboolean
is_choice (const LigSetting *setting)
{
  return setting->kind == LIG_SETTING_TEXT && strchr (setting->argument, '|');
}

/* Returns the default value of a setting. */
static char *
get_usual (const LigSetting *setting)
{
  g_auto (LigRunSettings) initial;
  lig_run_settings_init (&initial);
  if (setting->usual)
    return g_strdup (setting->usual);
  return lig_run_settings_get (&initial, setting->name);
}

static void
update_choice (const Row *row, const char *value)
{
  g_auto (GStrv) words = g_strsplit (row->setting->argument, "|", -1);
  guint chosen = 0;
  for (guint i = 0; words[i]; i++)
    if (g_strcmp0 (words[i], value) == 0)
      chosen = i;
  gtk_drop_down_set_selected (GTK_DROP_DOWN (row->choice), chosen);
}

static void
update (List *self)
{
  g_auto (LigRunSettings) settings;
  lig_train_read (self->doc, &settings, NULL);
  self->updating = TRUE;
  for (guint i = 0; i < self->rows->len; i++) {
    const Row *row = &g_array_index (self->rows, Row, i);
    g_autofree char *set = lig_run_settings_get (&settings, row->setting->name);
    g_autofree char *usual = get_usual (row->setting);
    const char *value = set ? set : usual;
    if (row->choice)
      update_choice (row, value);
    else if (!gtk_widget_has_focus (row->entry) &&
             !g_str_equal (gtk_editable_get_text (GTK_EDITABLE (row->entry)), value ? value : ""))
      gtk_editable_set_text (GTK_EDITABLE (row->entry), value ? value : "");
    gtk_widget_set_sensitive (row->reset, g_strcmp0 (value, usual) != 0);
  }
  self->updating = FALSE;
}

/* --- Writing ------------------------------------------------------------------------------- */

static Row *
find_row (List *self, gpointer widget)
{
  for (guint i = 0; i < self->rows->len; i++) {
    Row *row = &g_array_index (self->rows, Row, i);
    if (row->entry == widget || row->choice == widget || row->reset == widget)
      return row;
  }
  return NULL;
}

static void
show_error (const Row *row, const char *text)
{
  gtk_label_set_text (row->error, text ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (row->error), text != NULL);
  if (!row->entry)
    return;
  (text ? gtk_widget_add_css_class : gtk_widget_remove_css_class) (row->entry, "error");
  gtk_accessible_update_state (GTK_ACCESSIBLE (row->entry), GTK_ACCESSIBLE_STATE_INVALID,
                               text ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE,
                               -1);
}

static void
entry_changed (GtkEditable *entry, List *self)
{
  g_autoptr (GError) error = NULL;
  const Row *row = find_row (self, entry);
  if (self->updating)
    return;
  g_autofree char *text = g_strstrip (g_strdup (gtk_editable_get_text (entry)));
  lig_train_set (self->doc, row->setting->name, *text ? text : NULL, &error);
  show_error (row, error ? error->message : NULL);
}

static void
choice_changed (GtkDropDown *choice, GParamSpec *spec, List *self)
{
  const Row *row = find_row (self, choice);
  g_auto (GStrv) words = g_strsplit (row->setting->argument, "|", -1);
  if (!self->updating && gtk_drop_down_get_selected (choice) < g_strv_length (words))
    lig_train_set (self->doc, row->setting->name, words[gtk_drop_down_get_selected (choice)], NULL);
}

static void
reset_clicked (GtkButton *button, List *self)
{
  const Row *row = find_row (self, button);
  gtk_widget_grab_focus (row->entry ? row->entry : row->choice);
  lig_train_set (self->doc, row->setting->name, NULL, NULL);
  show_error (row, NULL);
  if (row->entry) {
    /* It had the focus, so it was not updated. */
    g_autofree char *usual = get_usual (row->setting);
    self->updating = TRUE;
    gtk_editable_set_text (GTK_EDITABLE (row->entry), usual ? usual : "");
    self->updating = FALSE;
  }
}

/* --- Rows ---------------------------------------------------------------------------------- */

/* Includes the optimizers that read the setting, and its default. */
static char *
make_help (const LigSetting *setting)
{
  g_autofree char *initial = lig_setting_default (setting);
  GString *text = g_string_new (_ (setting->help));
  if (setting->of)
    g_string_append_printf (text, " (%s)", setting->of);
  if (initial)
    g_string_append_printf (text, " (%s)", initial);
  return g_string_free (text, FALSE);
}

static GtkWidget *
make_input (List *self, Row *row)
{
  g_auto (GStrv) words = g_strsplit (row->setting->argument, "|", -1);
  if (is_choice (row->setting)) {
    row->choice = gtk_drop_down_new_from_strings ((const char *const *) words);
    g_signal_connect (row->choice, "notify::selected", G_CALLBACK (choice_changed), self);
    return row->choice;
  }
  row->entry = gtk_entry_new ();
  gtk_editable_set_width_chars (GTK_EDITABLE (row->entry), 12);
  gtk_editable_set_alignment (GTK_EDITABLE (row->entry),
                              row->setting->kind == LIG_SETTING_TEXT ? 0 : 1);
  if (row->setting->kind != LIG_SETTING_TEXT)
    gtk_entry_set_input_purpose (GTK_ENTRY (row->entry), GTK_INPUT_PURPOSE_NUMBER);
  g_signal_connect (row->entry, "changed", G_CALLBACK (entry_changed), self);
  return row->entry;
}

static GtkWidget *
make_texts (Row *row, const char *label)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  g_autofree char *text = make_help (row->setting);
  GtkWidget *title = gtk_label_new (label), *help = gtk_label_new (text);
  row->error = GTK_LABEL (gtk_label_new (NULL));
  gtk_widget_add_css_class (help, "dim-label");
  gtk_widget_add_css_class (help, "caption");
  gtk_widget_add_css_class (GTK_WIDGET (row->error), "error");
  gtk_widget_add_css_class (GTK_WIDGET (row->error), "caption");
  gtk_widget_set_visible (GTK_WIDGET (row->error), FALSE);
  GtkWidget *const labels[] = {title, help, GTK_WIDGET (row->error)};
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++) {
    gtk_label_set_xalign (GTK_LABEL (labels[i]), 0);
    gtk_label_set_wrap (GTK_LABEL (labels[i]), TRUE);
    gtk_label_set_width_chars (GTK_LABEL (labels[i]), 30);
    gtk_label_set_max_width_chars (GTK_LABEL (labels[i]), 36);
    gtk_box_append (GTK_BOX (box), labels[i]);
  }
  gtk_widget_set_hexpand (box, TRUE);
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  return box;
}

static void
add_row (List *self, GtkGrid *grid, const LigSetting *setting)
{
  Row row = {.setting = setting};
  int line = RANKS + (int) self->rows->len;
  g_autofree char *label = lig_setting_get_title (setting);
  g_autofree char *reset = g_strdup_printf (_ ("Back to the default: %s"), label);
  g_autofree char *help = make_help (setting);
  GtkWidget *input = make_input (self, &row);
  row.reset = gtk_button_new_from_icon_name ("edit-undo-symbolic");
  gtk_widget_add_css_class (row.reset, "flat");
  lig_tooltip_set (row.reset, reset);
  gtk_widget_set_valign (row.reset, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (input, GTK_ALIGN_CENTER);
  gtk_grid_attach (grid, make_texts (&row, label), 0, line, 1, 1);
  gtk_grid_attach (grid, input, 1, line, 1, 1);
  gtk_grid_attach (grid, row.reset, 2, line, 1, 1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (input), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, help, -1);
  g_signal_connect (row.reset, "clicked", G_CALLBACK (reset_clicked), self);
  g_array_append_val (self->rows, row);
}

static void
add_rows (List *self, GtkGrid *grid)
{
  const LigSetting *setting;
  lig_rank_count_attach (self->doc, grid, 0);
  lig_rank_layout_attach (self->doc, grid, 1);
  for (guint n = 0; first[n]; n++)
    for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
      if (g_str_equal (setting->name, first[n]))
        add_row (self, grid, setting);
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (!g_strv_contains (elsewhere, setting->name) && !g_strv_contains (first, setting->name))
      add_row (self, grid, setting);
}

static void
document_changed (LigDocument *doc, List *self)
{
  update (self);
}

static void
free_list (gpointer data)
{
  List *self = data;
  g_signal_handlers_disconnect_by_data (self->doc, self);
  g_object_unref (self->doc);
  g_array_unref (self->rows);
  g_free (self);
}

/* Returns a box with the settings and, below them, a button for trying several values. */
static GtkWidget *
add_frame (GtkWidget *popover, GtkWidget *settings)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *button = gtk_button_new_with_mnemonic (_ ("New s_weep…"));
  lig_tooltip_set (button, _ ("Train with lists of settings, one run per combination"));
  g_object_set (button, "halign", GTK_ALIGN_END, "margin-end", 12, "margin-bottom", 6, NULL);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.new-sweep");
  g_signal_connect_object (button, "clicked", G_CALLBACK (gtk_popover_popdown), popover,
                           G_CONNECT_SWAPPED);
  gtk_box_append (GTK_BOX (box), settings);
  gtk_box_append (GTK_BOX (box), button);
  return box;
}

GtkWidget *
lig_run_settings_list_new (LigDocument *doc)
{
  List *self = g_new0 (List, 1);
  GtkWidget *popover = gtk_popover_new (), *scrolled = gtk_scrolled_window_new ();
  GtkWidget *grid = gtk_grid_new ();
  self->doc = g_object_ref (doc);
  self->rows = g_array_new (FALSE, TRUE, sizeof (Row));
  gtk_grid_set_row_spacing (GTK_GRID (grid), 6);
  gtk_grid_set_column_spacing (GTK_GRID (grid), 12);
  g_object_set (grid, "margin-top", 12, "margin-bottom", 12, "margin-start", 12, "margin-end", 12,
                NULL);
  add_rows (self, GTK_GRID (grid));
  update (self);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), grid);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), 530);
  gtk_popover_set_child (GTK_POPOVER (popover), add_frame (popover, scrolled));
  gtk_accessible_update_property (GTK_ACCESSIBLE (popover), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Training settings"), -1);
  g_signal_connect (doc, "changed", G_CALLBACK (document_changed), self);
  g_object_set_data_full (G_OBJECT (popover), "list", self, free_list);
  return popover;
}
