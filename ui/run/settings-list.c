/* SPDX-License-Identifier: MIT */
/* Rows are generated from lig_run_setting_nth(): words become drop-downs, 0 and 1 a switch, numbers
 * entries. Every change is an edit of the document. */
#include "ui/run/settings-list.h"

#include "ui/document/ranks.h"
#include "ui/run/rank-rows.h"
#include "ui/run/settings.h"
#include "ui/session/setting-name.h"
#include "ui/widgets/fold.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
  const LigSetting *setting;
  GtkWidget *entry, *choice, *toggle, *reset; /* one of the first three */
  GtkLabel *error;
  guint group;
} Row;

/* Settings under a heading. */
typedef struct {
  const char *title;
  gboolean open; /* at first */
  const char *names[8];
} Group;

enum { ADVANCED = 5, RANKS };

/* Settings that no other group names are advanced. */
static const Group groups[] = {
  {N_ ("Schedule"), TRUE, {"steps", "lr", "schedule", "warmup", "min-lr"}},
  {N_ ("Optimizer"), TRUE, {"optimizer", "weight-decay", "clip", "accumulate"}},
  {N_ ("Precision"), FALSE, {"tf32", "loss-scale", "calibrate", "nondeterministic"}},
  {N_ ("Validation and checkpoints"),
   FALSE,
   {"eval-every", "eval-batches", "histograms", "checkpoint-every", "checkpoint"}},
  {N_ ("Samples"),
   FALSE,
   {"sample-every", "sample-prompts", "sample-tokens", "sample-temperature", "sample-top-k",
    "sample-seed", "vocabulary"}},
  [ADVANCED] = {N_ ("Advanced"), FALSE, {NULL}},
  [RANKS] = {N_ ("Ranks"), FALSE, {"shard-optimizer", "bucket-size"}},
};

typedef struct {
  LigDocument *doc;
  GArray *rows; /* of Row */
  LigFold *folds[G_N_ELEMENTS (groups)];
  GtkGrid *grids[G_N_ELEMENTS (groups)];
  guint lines[G_N_ELEMENTS (groups)];
  GtkSizeGroup *inputs; /* all groups have columns of the same width */
  gboolean updating;
} List;

/* Settings that are omitted: the run bar shows them next to the button, or they belong to the
 * file. */
static const char *const elsewhere[] = {"data", "batch", "dtype", "policy", "name", NULL};

/* --- Reading ------------------------------------------------------------------------------- */

static gboolean
is_choice (const LigSetting *setting)
{
  return setting->kind == LIG_SETTING_TEXT && strchr (setting->argument, '|');
}

/* Returns whether a setting is 0 or 1. */
static gboolean
is_toggle (const LigSetting *setting)
{
  return setting->kind == LIG_SETTING_COUNT && setting->maximum == 1;
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
show_changed (List *self, guint group, guint count)
{
  g_autofree char *text =
    count > 0 ? g_strdup_printf (ngettext ("%u changed", "%u changed", count), count) : NULL;
  lig_fold_set_note (self->folds[group], text);
}

static void
update (List *self)
{
  guint changed[G_N_ELEMENTS (groups)] = {0};
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
    else if (row->toggle)
      gtk_switch_set_active (GTK_SWITCH (row->toggle), g_strcmp0 (value, "1") == 0);
    else if (!gtk_widget_has_focus (row->entry) &&
             !g_str_equal (gtk_editable_get_text (GTK_EDITABLE (row->entry)), value ? value : ""))
      gtk_editable_set_text (GTK_EDITABLE (row->entry), value ? value : "");
    gtk_widget_set_sensitive (row->reset, g_strcmp0 (value, usual) != 0);
    changed[row->group] += g_strcmp0 (value, usual) != 0;
  }
  changed[RANKS] += lig_ranks_get (self->doc) > 1;
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    show_changed (self, i, changed[i]);
  self->updating = FALSE;
}

/* --- Writing ------------------------------------------------------------------------------- */

static Row *
find_row (List *self, gpointer widget)
{
  for (guint i = 0; i < self->rows->len; i++) {
    Row *row = &g_array_index (self->rows, Row, i);
    if (row->entry == widget || row->choice == widget || row->toggle == widget ||
        row->reset == widget)
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
toggled (GtkSwitch *toggle, GParamSpec *spec, List *self)
{
  const Row *row = find_row (self, toggle);
  if (!self->updating)
    lig_train_set (self->doc, row->setting->name, gtk_switch_get_active (toggle) ? "1" : "0", NULL);
}

static void
reset_clicked (GtkButton *button, List *self)
{
  const Row *row = find_row (self, button);
  gtk_widget_grab_focus (row->entry ? row->entry : row->choice ? row->choice : row->toggle);
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
  g_autofree char *title = lig_setting_get_title (setting);
  /* A title that explains itself is not repeated. */
  if (initial && g_str_equal (title, _ (setting->help)))
    return g_strdup_printf (_ ("Default: %s"), initial);
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
  if (is_toggle (row->setting)) {
    row->toggle = gtk_switch_new ();
    gtk_widget_set_halign (row->toggle, GTK_ALIGN_END);
    g_signal_connect (row->toggle, "notify::active", G_CALLBACK (toggled), self);
    return row->toggle;
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
add_row (List *self, guint group, const LigSetting *setting)
{
  Row row = {.setting = setting, .group = group};
  GtkGrid *grid = self->grids[group];
  int line = (int) self->lines[group]++;
  g_autofree char *label = lig_setting_get_title (setting);
  g_autofree char *reset = g_strdup_printf (_ ("Back to the default: %s"), label);
  g_autofree char *help = make_help (setting);
  GtkWidget *input = make_input (self, &row);
  row.reset = gtk_button_new_from_icon_name ("edit-undo-symbolic");
  gtk_widget_add_css_class (row.reset, "flat");
  lig_tooltip_set (row.reset, reset);
  gtk_widget_set_valign (row.reset, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (input, GTK_ALIGN_CENTER);
  if (!row.toggle)
    gtk_size_group_add_widget (self->inputs, input);
  gtk_grid_attach (grid, make_texts (&row, label), 0, line, 1, 1);
  gtk_grid_attach (grid, input, 1, line, 1, 1);
  gtk_grid_attach (grid, row.reset, 2, line, 1, 1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (input), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, help, -1);
  g_signal_connect (row.reset, "clicked", G_CALLBACK (reset_clicked), self);
  g_array_append_val (self->rows, row);
}

static GtkWidget *
make_group (List *self, guint n)
{
  GtkWidget *grid = gtk_grid_new (), *fold = lig_fold_new (_ (groups[n].title), grid);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 6);
  gtk_grid_set_column_spacing (GTK_GRID (grid), 12);
  g_object_set (grid, "margin-start", 6, "margin-top", 6, "margin-bottom", 6, NULL);
  lig_fold_set_open (LIG_FOLD (fold), groups[n].open);
  self->grids[n] = GTK_GRID (grid);
  self->folds[n] = LIG_FOLD (fold);
  return fold;
}

static guint
find_group (const LigSetting *setting)
{
  for (guint n = 0; n < G_N_ELEMENTS (groups); n++)
    for (guint i = 0; i < G_N_ELEMENTS (groups[n].names) && groups[n].names[i]; i++)
      if (g_str_equal (setting->name, groups[n].names[i]))
        return n;
  return ADVANCED;
}

/* Adds the settings in the order of their group. */
static void
add_named (List *self, guint group)
{
  const LigSetting *setting;
  for (guint n = 0; n < G_N_ELEMENTS (groups[group].names) && groups[group].names[n]; n++)
    for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
      if (g_str_equal (setting->name, groups[group].names[n]))
        add_row (self, group, setting);
}

static void
add_groups (List *self, GtkBox *box)
{
  const LigSetting *setting;
  for (guint n = 0; n < G_N_ELEMENTS (groups); n++)
    gtk_box_append (box, make_group (self, n));
  lig_rank_count_attach (self->doc, self->grids[RANKS], (int) self->lines[RANKS]++);
  lig_rank_layout_attach (self->doc, self->grids[RANKS], (int) self->lines[RANKS]++);
  for (guint n = 0; n < G_N_ELEMENTS (groups); n++)
    add_named (self, n);
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (!g_strv_contains (elsewhere, setting->name) && find_group (setting) == ADVANCED)
      add_row (self, ADVANCED, setting);
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
  g_object_unref (self->inputs);
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

/* The first entry has the focus, not the heading above it. */
static void
focus_first (List *self)
{
  gtk_widget_grab_focus (g_array_index (self->rows, Row, 0).entry);
}

GtkWidget *
lig_run_settings_list_new (LigDocument *doc)
{
  List *self = g_new0 (List, 1);
  GtkWidget *popover = gtk_popover_new (), *scrolled = gtk_scrolled_window_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  self->doc = g_object_ref (doc);
  self->rows = g_array_new (FALSE, TRUE, sizeof (Row));
  self->inputs = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);
  g_object_set (box, "margin-top", 12, "margin-bottom", 12, "margin-start", 12, "margin-end", 12,
                NULL);
  add_groups (self, GTK_BOX (box));
  update (self);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), box);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), 530);
  gtk_popover_set_child (GTK_POPOVER (popover), add_frame (popover, scrolled));
  gtk_accessible_update_property (GTK_ACCESSIBLE (popover), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Training settings"), -1);
  g_signal_connect (doc, "changed", G_CALLBACK (document_changed), self);
  g_signal_connect_swapped (popover, "show", G_CALLBACK (focus_first), self);
  g_object_set_data_full (G_OBJECT (popover), "list", self, free_list);
  return popover;
}
