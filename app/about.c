/* SPDX-License-Identifier: MIT */
/* The About window. */
#include "app/about.h"
#include <ligature/store.h>

#include <glib/gi18n.h>

/* Debugging information is copied verbatim, so it is in English. */
static char *
describe (LigSession *session)
{
  LigStore *store = lig_session_get_store (session);
  const char *error = lig_session_get_store_error (session);
  GString *text = g_string_new (NULL);
  guint count;
  g_string_append_printf (text, "Ligature %s\nGTK %u.%u.%u\nlibadwaita %u.%u.%u\nGLib %u.%u.%u\n",
                          LIG_VERSION, gtk_get_major_version (), gtk_get_minor_version (),
                          gtk_get_micro_version (), adw_get_major_version (),
                          adw_get_minor_version (), adw_get_micro_version (), glib_major_version,
                          glib_minor_version, glib_micro_version);
  g_string_append_printf (text, "Store: %s\nDevices:\n",
                          store   ? lig_store_get_path (store)
                          : error ? error
                                  : "none");
  const LigDeviceEntry *devices = lig_session_get_devices (session, &count);
  for (guint i = 0; i < count; i++)
    g_string_append_printf (text, "- %s: %s\n", devices[i].name, devices[i].title);
  return g_string_free (text, FALSE);
}

void
lig_about_show (GtkWindow *parent, LigSession *session)
{
  static const char *const developers[] = {"The Ligature authors", NULL};
  g_autofree char *facts = describe (session);
  adw_show_about_window (
    parent, "application-name", "Ligature", "application-icon", gtk_window_get_default_icon_name (),
    "version", LIG_VERSION, "developer-name", developers[0], "developers", developers, "copyright",
    "© 2026 The Ligature authors", "license-type", GTK_LICENSE_MIT_X11, "comments",
    _ ("In type, a ligature is a run of letters cast as one glyph. Here it is a run of operations "
       "executed as one kernel."),
    "debug-info", facts, "debug-info-filename", "ligature.txt", "translator-credits",
    /* Translators: your names, one per line. */
    _ ("translator-credits"), NULL);
}
