/* SPDX-License-Identifier: MIT */
/* The rows and the text `KIND:PATH?key=value` stand for each other. */
#include "ui/run/data-chooser.h"

#include "ui/run/data-preview.h"
#include "ui/run/settings.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_TEXT, KIND_TOKENS, KIND_CSV, KIND_IDX, KIND_SYNTHETIC, N_KINDS };

static const struct {
  const char *name, *title, *help;
} kinds[N_KINDS] = {
  {"text", N_ ("Text: every byte is a token"), N_ ("A file, or all files of a folder")},
  {"tokens", N_ ("Tokens: a .bin file of numbers"), N_ ("A .bin file with the header of llm.c")},
  {"csv", N_ ("Table: a .csv file of numbers"), N_ ("Separated by commas, semicolons or tabs")},
  {"idx", N_ ("Images: the format of MNIST"), N_ ("An images-idx3 file")},
  {"synthetic", N_ ("Random values, to try things out"), ""},
};

struct _LigDataChooser {
  AdwWindow parent_instance;
  LigDocument *doc;
  AdwComboRow *kind, *task;
  AdwActionRow *file;
  GtkWidget *use, *choose_file, *choose_folder, *standardize_row, *samples_row, *vocabulary_row;
  GtkWidget *target, *labels;
  GtkSwitch *standardize;
  GtkSpinButton *samples, *vocabulary, *held_out;
  AdwPreferencesGroup *preview_group;
  LigDataPreview *preview;
  char *path;
  gboolean filling;
};

G_DEFINE_FINAL_TYPE (LigDataChooser, lig_data_chooser, ADW_TYPE_WINDOW)

static guint
get_kind (LigDataChooser *self)
{
  return MIN (adw_combo_row_get_selected (self->kind), N_KINDS - 1);
}

/* --- Rows to text -------------------------------------------------------------------------- */

static void
add_option (GString *options, const char *key, const char *value)
{
  g_string_append_printf (options, "&%s=", key);
  g_string_append_uri_escaped (options, value, "/:,", TRUE);
}

/* What differs from the defaults: `&key=value` each. */
static void
add_options (LigDataChooser *self, GString *options)
{
  static const char *const tasks[] = {NULL, "class", "value"};
  const char *target = gtk_editable_get_text (GTK_EDITABLE (self->target));
  const char *labels = gtk_editable_get_text (GTK_EDITABLE (self->labels));
  const char *task = tasks[MIN (adw_combo_row_get_selected (self->task), 2)];
  double held_out = gtk_spin_button_get_value (self->held_out);
  guint kind = get_kind (self);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  if (kind == KIND_CSV && *target)
    add_option (options, "target", target);
  if (kind == KIND_CSV && task)
    add_option (options, "task", task);
  if (kind == KIND_CSV && gtk_switch_get_active (self->standardize))
    add_option (options, "standardize", "true");
  if (kind == KIND_IDX && *labels)
    add_option (options, "labels", labels);
  if (kind == KIND_SYNTHETIC && gtk_spin_button_get_value_as_int (self->samples) != 65536)
    add_option (
      options, "samples",
      g_ascii_formatd (number, sizeof number, "%.0f", gtk_spin_button_get_value (self->samples)));
  if (kind == KIND_SYNTHETIC && gtk_spin_button_get_value_as_int (self->vocabulary) != 256)
    add_option (options, "vocabulary",
                g_ascii_formatd (number, sizeof number, "%.0f",
                                 gtk_spin_button_get_value (self->vocabulary)));
  if (held_out != 10)
    add_option (options, "held-out",
                g_ascii_formatd (number, sizeof number, "%.4g", held_out / 100));
}

char *
lig_data_chooser_get_spec (LigDataChooser *self)
{
  guint kind = get_kind (self);
  g_autoptr (GString) options = g_string_new (NULL);
  if (kind != KIND_SYNTHETIC && !self->path)
    return NULL;
  add_options (self, options);
  if (options->len > 0)
    options->str[0] = '?';
  if (kind == KIND_SYNTHETIC)
    return g_strconcat (kinds[kind].name, options->str, NULL);
  return g_strconcat (kinds[kind].name, ":", self->path, options->str, NULL);
}

/* --- Text to rows -------------------------------------------------------------------------- */

static void
show_option (LigDataChooser *self, const char *key, const char *value)
{
  if (g_str_equal (key, "target"))
    gtk_editable_set_text (GTK_EDITABLE (self->target), value);
  else if (g_str_equal (key, "labels"))
    gtk_editable_set_text (GTK_EDITABLE (self->labels), value);
  else if (g_str_equal (key, "task"))
    adw_combo_row_set_selected (self->task, g_str_equal (value, "class") ? 1 : 2);
  else if (g_str_equal (key, "standardize"))
    gtk_switch_set_active (self->standardize, g_str_equal (value, "true"));
  else if (g_str_equal (key, "samples"))
    gtk_spin_button_set_value (self->samples, g_ascii_strtod (value, NULL));
  else if (g_str_equal (key, "vocabulary"))
    gtk_spin_button_set_value (self->vocabulary, g_ascii_strtod (value, NULL));
  else if (g_str_equal (key, "held-out"))
    gtk_spin_button_set_value (self->held_out, g_ascii_strtod (value, NULL) * 100);
}

static void
update_rows (LigDataChooser *self)
{
  guint kind = get_kind (self);
  gboolean synthetic = kind == KIND_SYNTHETIC;
  g_autofree char *name = self->path ? g_filename_display_name (self->path) : NULL;
  gtk_widget_set_visible (GTK_WIDGET (self->file), !synthetic);
  adw_action_row_set_subtitle (self->file, name ? name : _ (kinds[kind].help));
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->file), name);
  gtk_widget_set_visible (self->choose_folder, kind == KIND_TEXT);
  gtk_widget_set_visible (self->target, kind == KIND_CSV);
  gtk_widget_set_visible (GTK_WIDGET (self->task), kind == KIND_CSV);
  gtk_widget_set_visible (self->standardize_row, kind == KIND_CSV);
  gtk_widget_set_visible (self->labels, kind == KIND_IDX);
  gtk_widget_set_visible (self->samples_row, synthetic);
  gtk_widget_set_visible (self->vocabulary_row, synthetic);
}

static void
refresh (LigDataChooser *self)
{
  if (self->filling)
    return;
  update_rows (self);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "data.use", FALSE);
  g_autofree char *spec = lig_data_chooser_get_spec (self);
  lig_data_preview_show (self->preview, spec, lig_document_get_sequence (self->doc));
}

void
lig_data_chooser_set_spec (LigDataChooser *self, const char *spec)
{
  const char *query = strrchr (spec, '?');
  if (!query || !strchr (query, '='))
    query = spec + strlen (spec);
  g_autofree char *whole = g_strndup (spec, (gsize) (query - spec));
  g_auto (GStrv) parts = g_strsplit (whole, ":", 2);
  g_auto (GStrv) options = g_strsplit (*query ? query + 1 : "", "&", -1);
  self->filling = TRUE;
  for (guint i = 0; i < N_KINDS; i++)
    if (parts[0] && g_str_equal (parts[0], kinds[i].name))
      adw_combo_row_set_selected (self->kind, i);
  g_free (self->path);
  self->path = parts[0] && parts[1] && *parts[1] ? g_strdup (parts[1]) : NULL;
  for (char **option = options; *option; option++) {
    g_auto (GStrv) pair = g_strsplit (*option, "=", 2);
    g_autofree char *value = pair[0] && pair[1] ? g_uri_unescape_string (pair[1], NULL) : NULL;
    if (value)
      show_option (self, pair[0], value);
  }
  self->filling = FALSE;
  refresh (self);
}

/* The kind that a name suggests; else what is chosen stays. */
static guint
guess_kind (LigDataChooser *self, const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *lower = g_ascii_strdown (name, -1);
  if (g_str_has_suffix (lower, ".csv") || g_str_has_suffix (lower, ".tsv"))
    return KIND_CSV;
  if (g_str_has_suffix (lower, ".bin"))
    return KIND_TOKENS;
  if (strstr (lower, "idx3"))
    return KIND_IDX;
  if (g_str_has_suffix (lower, ".txt") || g_file_test (path, G_FILE_TEST_IS_DIR))
    return KIND_TEXT;
  return get_kind (self) == KIND_SYNTHETIC ? KIND_TEXT : get_kind (self);
}

void
lig_data_chooser_set_path (LigDataChooser *self, const char *path)
{
  self->filling = TRUE;
  g_free (self->path);
  self->path = g_strdup (path);
  adw_combo_row_set_selected (self->kind, guess_kind (self, path));
  self->filling = FALSE;
  refresh (self);
}

const char *
lig_data_chooser_get_preview (LigDataChooser *self, gboolean *fine)
{
  *fine = lig_data_preview_is_fine (self->preview);
  return lig_data_preview_get_text (self->preview);
}

/* --- Actions ------------------------------------------------------------------------------- */

static void
path_chosen (GtkNativeDialog *dialog, int response, LigDataChooser *self)
{
  g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  g_autofree char *path = file ? g_file_get_path (file) : NULL;
  if (response == GTK_RESPONSE_ACCEPT && path)
    lig_data_chooser_set_path (self, path);
  g_object_unref (dialog);
}

/* Data mostly lies beside the sequence that learns it. */
static void
show_place (LigDataChooser *self, GtkFileChooser *chooser)
{
  const char *document = self->doc ? lig_document_get_path (self->doc) : NULL;
  g_autofree char *folder = document ? g_path_get_dirname (document) : NULL;
  g_autoptr (GFile) file = self->path ? g_file_new_for_path (self->path)
                           : folder   ? g_file_new_for_path (folder)
                                      : NULL;
  if (self->path)
    gtk_file_chooser_set_file (chooser, file, NULL);
  else if (folder)
    gtk_file_chooser_set_current_folder (chooser, file, NULL);
}

static void
choose_path (GtkWidget *widget, const char *action, GVariant *parameter)
{
  gboolean folder = g_str_equal (action, "data.choose-folder");
  LigDataChooser *self = LIG_DATA_CHOOSER (widget);
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
    _ ("Training data"), GTK_WINDOW (self),
    folder ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER : GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Choose"),
    NULL);
  show_place (self, GTK_FILE_CHOOSER (dialog));
  g_signal_connect_object (dialog, "response", G_CALLBACK (path_chosen), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
use (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigDataChooser *self = LIG_DATA_CHOOSER (widget);
  g_autofree char *spec = lig_data_chooser_get_spec (self);
  if (spec)
    lig_train_set (self->doc, "data", spec, NULL);
  gtk_window_close (GTK_WINDOW (self));
}

static void
preview_settled (LigDataChooser *self)
{
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "data.use",
                                 lig_data_preview_is_fine (self->preview));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_data_chooser_dispose (GObject *object)
{
  LigDataChooser *self = LIG_DATA_CHOOSER (object);
  self->filling = TRUE;
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_DATA_CHOOSER);
  g_clear_object (&self->doc);
  g_clear_pointer (&self->path, g_free);
  G_OBJECT_CLASS (lig_data_chooser_parent_class)->dispose (object);
}

static void
lig_data_chooser_class_init (LigDataChooserClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_data_chooser_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/run/data-chooser.ui");
  gtk_widget_class_install_action (widget_class, "data.choose-file", NULL, choose_path);
  gtk_widget_class_install_action (widget_class, "data.choose-folder", NULL, choose_path);
  gtk_widget_class_install_action (widget_class, "data.use", NULL, use);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, LigDataChooser, name)
  BIND (kind);
  BIND (task);
  BIND (file);
  BIND (use);
  BIND (choose_file);
  BIND (choose_folder);
  BIND (target);
  BIND (labels);
  BIND (standardize);
  BIND (standardize_row);
  BIND (samples);
  BIND (samples_row);
  BIND (vocabulary);
  BIND (vocabulary_row);
  BIND (held_out);
  BIND (preview_group);
#undef BIND
}

static void
connect (LigDataChooser *self, gpointer from, const char *signal)
{
  g_signal_connect_object (from, signal, G_CALLBACK (refresh), self, G_CONNECT_SWAPPED);
}

static void
lig_data_chooser_init (LigDataChooser *self)
{
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);
  gtk_widget_init_template (GTK_WIDGET (self));
  for (guint i = 0; i < N_KINDS; i++)
    gtk_string_list_append (titles, _ (kinds[i].title));
  adw_combo_row_set_model (self->kind, G_LIST_MODEL (titles));
  self->preview = LIG_DATA_PREVIEW (lig_data_preview_new ());
  adw_preferences_group_add (self->preview_group, GTK_WIDGET (self->preview));
  g_signal_connect_object (self->preview, "settled", G_CALLBACK (preview_settled), self,
                           G_CONNECT_SWAPPED);
  connect (self, self->kind, "notify::selected");
  connect (self, self->task, "notify::selected");
  connect (self, self->standardize, "notify::active");
  connect (self, self->target, "changed");
  connect (self, self->labels, "changed");
  connect (self, self->samples, "value-changed");
  connect (self, self->vocabulary, "value-changed");
  connect (self, self->held_out, "value-changed");
}

/* (nullable): `xor.csv` beside `xor.lig`. */
static char *
find_beside (LigDocument *doc)
{
  static const char *const endings[] = {".csv", ".tsv", ".txt", ".bin"};
  const char *path = lig_document_get_path (doc);
  if (!path || !g_str_has_suffix (path, ".lig"))
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autoptr (GString) name = g_string_new_len (path, (gssize) strlen (path) - 4);
    g_string_append (name, endings[i]);
    if (g_file_test (name->str, G_FILE_TEST_IS_REGULAR))
      return g_string_free (g_steal_pointer (&name), FALSE);
  }
  return NULL;
}

GtkWindow *
lig_data_chooser_new (GtkWindow *parent, LigDocument *doc)
{
  LigDataChooser *self = g_object_new (LIG_TYPE_DATA_CHOOSER, "transient-for", parent, NULL);
  g_auto (LigRunSettings) settings;
  self->doc = g_object_ref (doc);
  lig_train_read (doc, &settings, NULL);
  lig_data_chooser_set_spec (self, settings.data);
  g_autofree char *beside = lig_train_has_data (doc) ? NULL : find_beside (doc);
  if (beside)
    lig_data_chooser_set_path (self, beside);
  return GTK_WINDOW (self);
}
