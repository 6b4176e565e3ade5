/* SPDX-License-Identifier: MIT */
/* The rows and the text `KIND:PATH?key=value` are kept in sync. Kinds and rows for their options
 * are generated from the engine's tables. */
#include "ui/run/data-chooser.h"

#include "ui/run/data-options.h"
#include "ui/run/data-preview.h"
#include "ui/run/settings.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <string.h>

struct _LigDataChooser {
  AdwWindow parent_instance;
  LigDocument *doc;
  AdwComboRow *kind;
  AdwActionRow *file;
  GtkWidget *use, *cancel, *choose_file, *choose_folder, *warning;
  GtkLabel *misfit;
  AdwPreferencesGroup *options_group, *preview_group;
  LigDataOptions *options;
  LigDataPreview *preview;
  char *path;
  gboolean filling;
};

G_DEFINE_FINAL_TYPE (LigDataChooser, lig_data_chooser, ADW_TYPE_WINDOW)

static const LigDatasetInfo *
get_kind (LigDataChooser *self)
{
  const LigDatasetInfo *info = lig_dataset_info_nth (adw_combo_row_get_selected (self->kind));
  return info ? info : lig_dataset_info_nth (0);
}

static void
select_kind (LigDataChooser *self, const LigDatasetInfo *wanted)
{
  const LigDatasetInfo *info;
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++)
    if (info == wanted)
      adw_combo_row_set_selected (self->kind, n);
}

/* --- Rows to text -------------------------------------------------------------------------- */

char *
lig_data_chooser_get_spec (LigDataChooser *self)
{
  const LigDatasetInfo *info = get_kind (self);
  gboolean path = info->path != LIG_DATASET_NO_PATH;
  g_autoptr (GString) options = g_string_new (NULL);
  if (path && !self->path)
    return NULL;
  lig_data_options_append (self->options, info, options);
  if (options->len > 0)
    options->str[0] = '?';
  return g_strconcat (info->name, path ? ":" : "", path ? self->path : "", options->str, NULL);
}

/* --- Text to rows -------------------------------------------------------------------------- */

static void
update_rows (LigDataChooser *self)
{
  const LigDatasetInfo *info = get_kind (self);
  g_autofree char *name = self->path ? g_filename_display_name (self->path) : NULL;
  gtk_widget_set_visible (GTK_WIDGET (self->file), info->path != LIG_DATASET_NO_PATH);
  adw_action_row_set_subtitle (self->file, name ? name : _ (info->help));
  lig_tooltip_set (GTK_WIDGET (self->file), name);
  gtk_widget_set_visible (self->choose_folder, info->path == LIG_DATASET_FILE_OR_FOLDER);
  lig_data_options_show (self->options, info);
}

/* Shows at the top why the data do not fit, or hides the message. */
static void
show_misfit (LigDataChooser *self)
{
  const char *text = lig_data_preview_get_misfit (self->preview);
  gtk_label_set_text (self->misfit, text ? text : "");
  gtk_widget_set_visible (self->warning, text != NULL);
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
  show_misfit (self);
}

void
lig_data_chooser_set_spec (LigDataChooser *self, const char *spec)
{
  const LigDatasetInfo *info = lig_dataset_info_of (spec);
  char *path;
  g_auto (GStrv) options = lig_dataset_split (spec, &path);
  self->filling = TRUE;
  select_kind (self, info);
  g_free (self->path);
  self->path = path;
  for (char **option = options; *option; option += 2)
    lig_data_options_set (self->options, get_kind (self), option[0], option[1]);
  self->filling = FALSE;
  refresh (self);
}

/* Returns whether the name fits one of the patterns `*.csv *.tsv`. */
static gboolean
fits (const LigDatasetInfo *info, const char *name)
{
  g_auto (GStrv) patterns = g_strsplit (info->files ? info->files : "", " ", -1);
  for (char **pattern = patterns; *pattern; pattern++)
    if (g_pattern_match_simple (*pattern, name))
      return TRUE;
  return FALSE;
}

/* Chooses the kind that a name suggests; otherwise keeps a chosen kind with a path. */
static const LigDatasetInfo *
guess_kind (LigDataChooser *self, const char *path)
{
  const LigDatasetInfo *info, *chosen = get_kind (self), *first = NULL;
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *lower = g_ascii_strdown (name, -1);
  gboolean folder = g_file_test (path, G_FILE_TEST_IS_DIR);
  if (folder && chosen->path == LIG_DATASET_FILE_OR_FOLDER)
    return chosen;
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++) {
    if (folder ? info->path == LIG_DATASET_FILE_OR_FOLDER : fits (info, lower))
      return info;
    if (!first && info->path != LIG_DATASET_NO_PATH)
      first = info;
  }
  return chosen->path == LIG_DATASET_NO_PATH ? first : chosen;
}

void
lig_data_chooser_set_path (LigDataChooser *self, const char *path)
{
  self->filling = TRUE;
  g_free (self->path);
  self->path = g_strdup (path);
  select_kind (self, guess_kind (self, path));
  self->filling = FALSE;
  refresh (self);
}

const char *
lig_data_chooser_get_preview (LigDataChooser *self, gboolean *fine)
{
  *fine = lig_data_preview_is_fine (self->preview);
  return lig_data_preview_get_text (self->preview);
}

const char *
lig_data_chooser_get_misfit (LigDataChooser *self)
{
  return lig_data_preview_get_misfit (self->preview);
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

/* Data are usually in the folder of the sequence. */
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

/* Enter uses data that are fine, unless the user has moved the focus. */
static void
preview_answered (LigDataChooser *self)
{
  GtkWindow *window = GTK_WINDOW (self);
  gboolean fine = lig_data_preview_is_fine (self->preview);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "data.use", fine);
  if (fine && gtk_window_get_focus (window) == self->cancel)
    gtk_window_set_focus (window, gtk_window_get_default_widget (window));
  show_misfit (self);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_data_chooser_dispose (GObject *object)
{
  LigDataChooser *self = LIG_DATA_CHOOSER (object);
  self->filling = TRUE;
  g_clear_pointer (&self->options, lig_data_options_free);
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
  BIND (file);
  BIND (use);
  BIND (cancel);
  BIND (warning);
  BIND (misfit);
  BIND (choose_file);
  BIND (choose_folder);
  BIND (options_group);
  BIND (preview_group);
#undef BIND
}

static void
options_changed (gpointer data)
{
  refresh (data);
}

/* --- Long names of kinds ------------------------------------------------------------------- */

static void
set_up_kind (GtkSignalListItemFactory *factory, GtkListItem *item, LigDataChooser *self)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_justify (GTK_LABEL (label), GTK_JUSTIFY_RIGHT);
  gtk_list_item_set_child (item, label);
}

static void
bind_kind (GtkSignalListItemFactory *factory, GtkListItem *item, LigDataChooser *self)
{
  const char *title = gtk_string_object_get_string (gtk_list_item_get_item (item));
  gtk_label_set_text (GTK_LABEL (gtk_list_item_get_child (item)), title);
}

/* The row wraps the chosen kind instead of truncating it; the list keeps its own items. */
static void
widen_kinds (LigDataChooser *self)
{
  g_autoptr (GtkListItemFactory) usual = g_object_ref (adw_combo_row_get_factory (self->kind));
  g_autoptr (GtkListItemFactory) whole = gtk_signal_list_item_factory_new ();
  g_signal_connect_object (whole, "setup", G_CALLBACK (set_up_kind), self, 0);
  g_signal_connect_object (whole, "bind", G_CALLBACK (bind_kind), self, 0);
  adw_combo_row_set_list_factory (self->kind, usual);
  adw_combo_row_set_factory (self->kind, whole);
}

static void
lig_data_chooser_init (LigDataChooser *self)
{
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);
  const LigDatasetInfo *info;
  gtk_widget_init_template (GTK_WIDGET (self));
  for (guint n = 0; (info = lig_dataset_info_nth (n)); n++)
    gtk_string_list_append (titles, _ (info->title));
  self->filling = TRUE;
  widen_kinds (self);
  adw_combo_row_set_model (self->kind, G_LIST_MODEL (titles));
  self->options = lig_data_options_new (self->options_group, options_changed, self);
  self->preview = LIG_DATA_PREVIEW (lig_data_preview_new ());
  adw_preferences_group_add (self->preview_group, GTK_WIDGET (self->preview));
  g_signal_connect_object (self->preview, "answered", G_CALLBACK (preview_answered), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->kind, "notify::selected", G_CALLBACK (refresh), self,
                           G_CONNECT_SWAPPED);
  self->filling = FALSE;
}

/* Returns: (nullable): a file next to the document with an extension of a kind: `xor.csv` for
 * `xor.lig`. */
static char *
find_file (const char *path, const LigDatasetInfo *info)
{
  g_auto (GStrv) patterns = g_strsplit (info->files ? info->files : "", " ", -1);
  for (char **pattern = patterns; *pattern; pattern++) {
    g_autoptr (GString) name = g_string_new_len (path, (gssize) strlen (path) - 4);
    if (!g_str_has_prefix (*pattern, "*."))
      continue;
    g_string_append (name, *pattern + 1);
    if (g_file_test (name->str, G_FILE_TEST_IS_REGULAR))
      return g_string_free (g_steal_pointer (&name), FALSE);
  }
  return NULL;
}

static char *
find_beside (LigDocument *doc)
{
  const LigDatasetInfo *info;
  const char *path = lig_document_get_path (doc);
  char *found = NULL;
  if (!path || !g_str_has_suffix (path, ".lig"))
    return NULL;
  for (guint n = 0; !found && (info = lig_dataset_info_nth (n)); n++)
    found = find_file (path, info);
  return found;
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
