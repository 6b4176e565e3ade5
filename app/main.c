/* SPDX-License-Identifier: MIT */
/* The program with the window. */
#include "app/application.h"

#include <ligature/folders.h>
#include <ligature/store.h>

#include <glib/gi18n.h>
#include <locale.h>
#include <unistd.h>

/* Idle OpenMP threads spin by default, which starves the window; libgomp reads the environment
 * before main, so the program re-executes itself. If that fails, it continues unchanged. */
static void
spin_less (char **argv)
{
  if (g_getenv ("GOMP_SPINCOUNT") || g_getenv ("OMP_WAIT_POLICY"))
    return;
  g_setenv ("GOMP_SPINCOUNT", "10000", TRUE);
  execv ("/proc/self/exe", argv);
}

int
main (int argc, char **argv)
{
  spin_less (argv);
  /* Figures have the decimal mark of the user's locale; files, expressions and entries have decimal
   * points in every locale. */
  setlocale (LC_ALL, "");
  gtk_disable_setlocale ();
  bindtextdomain (GETTEXT_PACKAGE, lig_locale_folder ());
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
  lig_store_catch_truncation ();
  g_autoptr (LigApplication) application = lig_application_new ();
  return g_application_run (G_APPLICATION (application), argc, argv);
}
