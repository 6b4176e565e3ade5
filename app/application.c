/* SPDX-License-Identifier: MIT */
/* The application's life: options, files from the shell, actions and keys. */
#include "app/application.h"

#include "app/window.h"

#include <glib/gi18n.h>
#include <stdio.h>
#include <stdlib.h>

struct _LigApplication {
  AdwApplication parent_instance;
  LigSession *session;
};

G_DEFINE_FINAL_TYPE (LigApplication, lig_application, ADW_TYPE_APPLICATION)

LigSession *
lig_application_get_session (LigApplication *self)
{
  return self->session;
}

static LigWindow *
add_window (LigApplication *self)
{
  LigWindow *window = lig_window_new (self);
  gtk_window_present (GTK_WINDOW (window));
  return window;
}

static void
lig_application_activate (GApplication *application)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (application));
  if (window)
    gtk_window_present (window);
  else
    add_window (LIG_APPLICATION (application));
}

void
lig_application_open_file (LigApplication *self, GFile *file)
{
  GtkWindow *active = gtk_application_get_active_window (GTK_APPLICATION (self));
  LigWindow *window = LIG_IS_WINDOW (active) && lig_window_is_pristine (LIG_WINDOW (active))
                        ? LIG_WINDOW (active)
                        : add_window (self);
  lig_window_open (window, file);
  gtk_window_present (GTK_WINDOW (window));
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

/* Each window may ask whether to save first. */
static void
quit (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GList) windows = g_list_copy (gtk_application_get_windows (GTK_APPLICATION (data)));
  for (GList *item = windows; item; item = item->next)
    gtk_window_close (item->data);
}

static const GActionEntry actions[] = {
  {.name = "new-window", .activate = new_window},
  {.name = "quit", .activate = quit},
};

static const struct {
  const char *action, *keys[4];
} accelerators[] = {
  {"app.new-window", {"<Control>n"}},
  {"app.quit", {"<Control>q"}},
  {"win.open", {"<Control>o"}},
  {"win.save", {"<Control>s"}},
  {"win.save-as", {"<Control><Shift>s"}},
  {"win.undo", {"<Control>z"}},
  {"win.redo", {"<Control><Shift>z", "<Control>y"}},
  {"win.add-op", {"<Control>k"}},
  {"win.find", {"<Control>f"}},
  {"win.quick-entry", {"<Control>e"}},
  {"win.run", {"F5"}},
  {"win.pause", {"F6"}},
  {"win.stop", {"<Shift>F5"}},
  {"win.profile", {"F8"}},
  {"win.sidebars", {"F9"}},
  {"win.next-problem", {"<Control>period"}},
  {"win.copy-command", {"<Control><Shift>c"}},
  {"win.page::sequence", {"<Alt>1"}},
  {"win.page::plan", {"<Alt>2"}},
  {"win.page::run", {"<Alt>3"}},
  {"win.page::profile", {"<Alt>4"}},
  {"win.page::history", {"<Alt>5"}},
  {"win.page::devices", {"<Alt>6"}},
  {"win.show-help-overlay", {"<Control>question"}},
  {"window.close", {"<Control>w"}},
};

static void
lig_application_startup (GApplication *application)
{
  LigApplication *self = LIG_APPLICATION (application);
  g_autoptr (GError) error = NULL;
  G_APPLICATION_CLASS (lig_application_parent_class)->startup (application);
  self->session = lig_session_new (NULL, &error);
  if (!self->session) {
    g_printerr ("ligature: %s\n", error->message);
    exit (1);
  }
  g_action_map_add_action_entries (G_ACTION_MAP (self), actions, G_N_ELEMENTS (actions), self);
  for (guint i = 0; i < G_N_ELEMENTS (accelerators); i++)
    gtk_application_set_accels_for_action (GTK_APPLICATION (self), accelerators[i].action,
                                           accelerators[i].keys);
}

/* --- Options ------------------------------------------------------------------------------- */

static int
lig_application_handle_local_options (GApplication *application, GVariantDict *options)
{
  if (!g_variant_dict_contains (options, "version"))
    return -1;
  printf ("ligature %s\n", LIG_VERSION);
  return 0;
}

static void
lig_application_finalize (GObject *object)
{
  g_clear_object (&LIG_APPLICATION (object)->session);
  G_OBJECT_CLASS (lig_application_parent_class)->finalize (object);
}

static void
lig_application_class_init (LigApplicationClass *class)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (class);
  G_OBJECT_CLASS (class)->finalize = lig_application_finalize;
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
