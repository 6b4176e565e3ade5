/* SPDX-License-Identifier: MIT */
/* The application: options, files from the command line, actions and keys. */
#include "app/application.h"

#include "app/about.h"
#include "app/open-files.h"
#include "app/preferences.h"
#include "app/window.h"

#include "ui/page.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <stdio.h>
#include <stdlib.h>

struct _LigApplication {
  AdwApplication parent_instance;
  LigSession *session;
  LigOpenFiles *open_files;
  gboolean helped; /* the first window has shown the errors of the last session */
};

G_DEFINE_FINAL_TYPE (LigApplication, lig_application, ADW_TYPE_APPLICATION)

static LigWindow *
add_window (LigApplication *self)
{
  LigWindow *window = lig_window_new (GTK_APPLICATION (self), self->session);
  gtk_window_present (GTK_WINDOW (window));
  if (!self->helped)
    lig_window_offer_help (window);
  self->helped = TRUE;
  return window;
}

/* Returns: (nullable): the window that was used last. */
static LigWindow *
find_window (LigApplication *self)
{
  GList *item = gtk_application_get_windows (GTK_APPLICATION (self));
  while (item && !LIG_IS_WINDOW (item->data))
    item = item->next;
  return item ? item->data : NULL;
}

/* Returns: (nullable): the window with the file, whose tab it selects. */
static LigWindow *
select_file (LigApplication *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);
  for (GList *item = gtk_application_get_windows (GTK_APPLICATION (self)); path && item;
       item = item->next)
    if (LIG_IS_WINDOW (item->data) && lig_window_select_file (item->data, path))
      return item->data;
  return NULL;
}

void
lig_application_open_file (LigApplication *self, GFile *file)
{
  LigWindow *window = select_file (self, file);
  if (!window) {
    window = find_window (self);
    if (!window)
      window = add_window (self);
    lig_window_open (window, file);
  }
  gtk_window_present (GTK_WINDOW (window));
}

/* The first window of a start without files has those of the last session. */
static void
lig_application_activate (GApplication *application)
{
  LigApplication *self = LIG_APPLICATION (application);
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (application));
  gboolean first = !self->helped;
  if (window) {
    gtk_window_present (window);
    return;
  }
  add_window (self);
  g_autoptr (GPtrArray) paths = lig_open_files_list (self->open_files);
  for (guint i = 0; first && i < paths->len; i++) {
    g_autoptr (GFile) file = g_file_new_for_path (paths->pdata[i]);
    lig_application_open_file (self, file);
  }
}

static void
lig_application_open (GApplication *application, GFile **files, int count, const char *hint)
{
  for (int i = 0; i < count; i++)
    lig_application_open_file (LIG_APPLICATION (application), files[i]);
}

/* --- Actions ------------------------------------------------------------------------------- */

static void
new_window (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  add_window (LIG_APPLICATION (data));
}

static void
set_quitting (LigApplication *self, gboolean quitting)
{
  lig_open_files_set_quitting (self->open_files, quitting);
  for (GList *item = gtk_application_get_windows (GTK_APPLICATION (self)); item; item = item->next)
    if (LIG_IS_WINDOW (item->data))
      lig_window_set_quitting (item->data, quitting);
}

static void
stay (LigApplication *self)
{
  set_quitting (self, FALSE);
}

/* With several windows, tabs can be dragged between them. */
static void
count_windows (GtkApplication *application)
{
  guint count = 0;
  GList *windows = gtk_application_get_windows (application);
  for (GList *item = windows; item; item = item->next)
    count += LIG_IS_WINDOW (item->data);
  for (GList *item = windows; item; item = item->next)
    if (LIG_IS_WINDOW (item->data))
      lig_window_set_alone (item->data, count == 1);
}

static void
note_files (LigApplication *self)
{
  lig_open_files_note (self->open_files);
}

static void
lig_application_window_added (GtkApplication *application, GtkWindow *window)
{
  GTK_APPLICATION_CLASS (lig_application_parent_class)->window_added (application, window);
  if (LIG_IS_WINDOW (window)) {
    g_signal_connect_object (window, "stayed", G_CALLBACK (stay), application, G_CONNECT_SWAPPED);
    g_signal_connect_object (window, "files", G_CALLBACK (note_files), application,
                             G_CONNECT_SWAPPED);
  }
  count_windows (application);
}

static void
lig_application_window_removed (GtkApplication *application, GtkWindow *window)
{
  GTK_APPLICATION_CLASS (lig_application_parent_class)->window_removed (application, window);
  note_files (LIG_APPLICATION (application));
  count_windows (application);
}

/* Each window may ask whether to save first. */
static void
quit (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GList) windows = g_list_copy (gtk_application_get_windows (GTK_APPLICATION (data)));
  set_quitting (LIG_APPLICATION (data), TRUE);
  for (GList *item = windows; item; item = item->next)
    if (LIG_IS_WINDOW (item->data))
      gtk_window_close (item->data);
}

static void
about (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  lig_about_show (gtk_application_get_active_window (GTK_APPLICATION (data)),
                  LIG_APPLICATION (data)->session);
}

static void
preferences (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkWindow *active = gtk_application_get_active_window (GTK_APPLICATION (data));
  GtkWidget *window = lig_preferences_new (LIG_APPLICATION (data)->session);
  if (LIG_IS_WINDOW (active))
    gtk_window_set_transient_for (GTK_WINDOW (window), active);
  gtk_window_present (GTK_WINDOW (window));
}

static void
open_file (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GFile) file = g_file_new_for_path (g_variant_get_string (parameter, NULL));
  lig_application_open_file (LIG_APPLICATION (data), file);
}

static const GActionEntry actions[] = {
  {.name = "open-file", .activate = open_file, .parameter_type = "s"},
  {.name = "new-window", .activate = new_window},
  {.name = "quit", .activate = quit},
  {.name = "about", .activate = about},
  {.name = "preferences", .activate = preferences},
};

/* Keys that also have a meaning in a text entry are in app/window-keys.c. */
static const struct {
  const char *action, *keys[4];
} accelerators[] = {
  {"app.new-window", {"<Control>n"}},
  {"app.quit", {"<Control>q"}},
  {"win.open", {"<Control>o"}},
  {"win.save", {"<Control>s"}},
  {"win.save-as", {"<Control><Shift>s"}},
  {"app.preferences", {"<Control>comma"}},
  {"win.export", {"<Control><Shift>e"}},
  {"win.add-op", {"<Control>k"}},
  {"win.find", {"<Control>f"}},
  {"win.quick-entry", {"<Control>e"}},
  {"win.run", {"F5"}},
  {"win.pause", {"F6"}},
  {"win.stop", {"<Shift>F5"}},
  {"win.profile", {"F8"}},
  {"win.sidebars", {"F9"}},
  {"win.next-problem", {"<Control>period"}},
  {"win.pin", {"<Control>p"}},
  {"win.savings", {"<Control>b"}},
  {"win.copy-command", {"<Control><Shift>c"}},
  {"win.show-help-overlay", {"<Control>question"}},
  {"win.command-palette", {"<Control><Shift>p"}},
  {"win.new-tab", {"<Control>t"}},
  {"win.close-tab", {"<Control>w"}},
};

/* Alt+1 shows the first page. */
static void
set_page_keys (LigApplication *self)
{
  const LigPageInfo *info;
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    g_autofree char *action = g_strdup_printf ("win.page::%s", info->name);
    g_autofree char *key = g_strdup_printf ("<Alt>%u", i + 1);
    const char *const keys[] = {key, NULL};
    gtk_application_set_accels_for_action (GTK_APPLICATION (self), action, keys);
  }
}

static void
apply_theme (LigApplication *self)
{
  static const AdwColorScheme schemes[] = {ADW_COLOR_SCHEME_DEFAULT, ADW_COLOR_SCHEME_FORCE_LIGHT,
                                           ADW_COLOR_SCHEME_FORCE_DARK};
  int theme = g_settings_get_enum (lig_session_get_settings (self->session), "theme");
  adw_style_manager_set_color_scheme (adw_application_get_style_manager (ADW_APPLICATION (self)),
                                      schemes[CLAMP (theme, 0, (int) G_N_ELEMENTS (schemes) - 1)]);
}

static void
lig_application_startup (GApplication *application)
{
  LigApplication *self = LIG_APPLICATION (application);
  g_autoptr (GError) error = NULL;
  G_APPLICATION_CLASS (lig_application_parent_class)->startup (application);
  lig_tooltips_let_through ();
  self->session = lig_session_new (NULL, &error);
  if (!self->session) {
    g_printerr ("ligature: %s\n", error->message);
    exit (1);
  }
  self->open_files =
    lig_open_files_new (GTK_APPLICATION (self), lig_session_get_settings (self->session));
  g_action_map_add_action_entries (G_ACTION_MAP (self), actions, G_N_ELEMENTS (actions), self);
  g_signal_connect_object (lig_session_get_settings (self->session), "changed::theme",
                           G_CALLBACK (apply_theme), self, G_CONNECT_SWAPPED);
  apply_theme (self);
  gtk_window_set_default_icon_name (LIG_APPLICATION_ID);
  for (guint i = 0; i < G_N_ELEMENTS (accelerators); i++)
    gtk_application_set_accels_for_action (GTK_APPLICATION (self), accelerators[i].action,
                                           accelerators[i].keys);
  set_page_keys (self);
}

/* --- Options ------------------------------------------------------------------------------- */

static int
lig_application_handle_local_options (GApplication *application, GVariantDict *options)
{
  g_autoptr (GError) error = NULL;
  if (g_variant_dict_contains (options, "version")) {
    printf ("ligature %s\n", LIG_VERSION);
    return 0;
  }
  if (!g_variant_dict_contains (options, "new-window"))
    return -1;
  if (!g_application_register (application, NULL, &error)) {
    g_printerr ("ligature: %s\n", error->message);
    return 1;
  }
  /* The first process opens a window anyway. */
  if (!g_application_get_is_remote (application))
    return -1;
  g_action_group_activate_action (G_ACTION_GROUP (application), "new-window", NULL);
  return 0;
}

static void
lig_application_finalize (GObject *object)
{
  g_clear_pointer (&LIG_APPLICATION (object)->open_files, lig_open_files_free);
  g_clear_object (&LIG_APPLICATION (object)->session);
  G_OBJECT_CLASS (lig_application_parent_class)->finalize (object);
}

static void
lig_application_class_init (LigApplicationClass *class)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (class);
  G_OBJECT_CLASS (class)->finalize = lig_application_finalize;
  GTK_APPLICATION_CLASS (class)->window_added = lig_application_window_added;
  GTK_APPLICATION_CLASS (class)->window_removed = lig_application_window_removed;
  application_class->activate = lig_application_activate;
  application_class->open = lig_application_open;
  application_class->startup = lig_application_startup;
  application_class->handle_local_options = lig_application_handle_local_options;
}

static void
lig_application_init (LigApplication *self)
{
  static const GOptionEntry options[] = {
    {"version", 'v', 0, G_OPTION_ARG_NONE, NULL, N_ ("Print the version and exit"), NULL},
    {"new-window", 'n', 0, G_OPTION_ARG_NONE, NULL, N_ ("Open another window"), NULL},
    {NULL},
  };
  g_application_add_main_option_entries (G_APPLICATION (self), options);
  g_application_set_option_context_parameter_string (G_APPLICATION (self), _ ("[FILE…]"));
}

LigApplication *
lig_application_new (void)
{
  return g_object_new (LIG_TYPE_APPLICATION, "application-id", LIG_APPLICATION_ID,
                       "resource-base-path", "/org/ligature/Ligature", "flags",
                       G_APPLICATION_HANDLES_OPEN, NULL);
}
