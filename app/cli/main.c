/* SPDX-License-Identifier: MIT */
/* The program lig: finds the command and runs it. */
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/values.h"

#include "kernels/times.h"
#include <ligature/error.h>
#include <ligature/folders.h>
#include <ligature/store.h>
#include <ligature/tuning.h>

#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIG_CLI(name) extern LIG_COMMAND (name);
#include "command-list.h"
#undef LIG_CLI

static const LigCommand *const commands[] = {
#define LIG_CLI(name) &lig_command_##name,
#include "command-list.h"
#undef LIG_CLI
};

const LigCommand *
lig_cli_command_nth (guint n)
{
  return n < G_N_ELEMENTS (commands) ? commands[n] : NULL;
}

static void
print_help (FILE *file)
{
  fprintf (
    file,
    "Usage: lig COMMAND …\n\nFuses and trains sequences of operations.\n\nP is a sequence: a .lig "
    "file, an expression such as 'layer-norm ! gelu', or - for standard input.\n\nCommands:\n");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    fprintf (file, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
  fprintf (file, "\nlig COMMAND --help shows its options and an example.\n");
}

/* Threads that wait for work spin for milliseconds by default and starve each other on a busy
 * machine: a training then takes ten times as long. OpenBLAS with its own threads lets them spin
 * for 2^28 cycles already when it is loaded, two seconds of processor time on sixteen cores. Both
 * libraries read the environment before main, so the program executes itself again with a short
 * spin; if that fails, it continues unchanged. */
static void
spin_less (char **argv)
{
  if (g_getenv ("GOMP_SPINCOUNT") || g_getenv ("OMP_WAIT_POLICY"))
    return;
  g_setenv ("GOMP_SPINCOUNT", "10000", TRUE);
  g_setenv ("OPENBLAS_THREAD_TIMEOUT", "16", FALSE);
  execv ("/proc/self/exe", argv);
}

/* Sets the locale, with UTF-8 even under `LC_ALL=C`, whose charset cannot represent a file name
 * with an umlaut. */
static void
set_locale (void)
{
  setlocale (LC_ALL, "");
  if (strcmp (nl_langinfo (CODESET), "ANSI_X3.4-1968") == 0)
    setlocale (LC_CTYPE, "C.UTF-8");
  /* Numbers in files and on the command line have a decimal point in every locale. */
  setlocale (LC_NUMERIC, "C");
  /* The engine's messages are translated; those of the commands are in English. */
  bindtextdomain (GETTEXT_PACKAGE, lig_locale_folder ());
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  g_set_prgname ("lig");
}

static int
run (int argc, char **argv)
{
  if (argc < 2) {
    print_help (stderr);
    return LIG_EXIT_USAGE;
  }
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0 ||
      strcmp (argv[1], "help") == 0) {
    print_help (stdout);
    return LIG_EXIT_OK;
  }
  if (strcmp (argv[1], "--version") == 0) {
    printf ("lig %s\n", LIG_VERSION);
    return LIG_EXIT_OK;
  }
  if (strcmp (argv[1], "--generate") == 0)
    return lig_cli_generate (argc - 2, argv + 2);
  if (strcmp (argv[1], "--values") == 0)
    return lig_cli_values_print (argc - 2, argv + 2);
  lig_store_catch_truncation ();
  lig_tuning_set_monitor (lig_cli_measuring);
  lig_tuning_set_listener (lig_cli_listen);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (commands[i]->name, argv[1]) == 0)
      return commands[i]->run (argc - 1, argv + 1);
  return lig_cli_usage ("command '%s' is unknown; see lig --help", argv[1]);
}

int
main (int argc, char **argv)
{
  lig_cli_open_missing_streams ();
  spin_less (argv);
  lig_times_mark ("program");
  set_locale ();
  lig_cli_watch_output ();
  return lig_cli_end (run (argc, argv));
}
