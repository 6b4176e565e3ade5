/* SPDX-License-Identifier: MIT */
/* lig: finds the command and runs it. */
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
  fprintf (file,
           "Usage: lig COMMAND …\n\nBuilds, fuses and runs training pipelines.\n\nCommands:\n");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    fprintf (file, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
  fprintf (file, "\nlig COMMAND --help shows its options and an example.\n");
}

/* Threads that wait for work spin for milliseconds by default and starve each other on a machine
 * that does something else too: a training then takes ten times as long. OpenBLAS with threads of
 * its own has them spin for 2^28 cycles already when it is loaded, two seconds of processor time on
 * sixteen cores. Both libraries read the environment before main, so the program starts itself once
 * more with a short spin; if it cannot, it goes on as it is. */
static void
spin_less (char **argv)
{
  if (g_getenv ("GOMP_SPINCOUNT") || g_getenv ("OMP_WAIT_POLICY"))
    return;
  g_setenv ("GOMP_SPINCOUNT", "10000", TRUE);
  g_setenv ("OPENBLAS_THREAD_TIMEOUT", "16", FALSE);
  execv ("/proc/self/exe", argv);
}

/* A locale without a charset to speak of, as `LC_ALL=C` has it, could not even read a file name
 * with an umlaut. */
static void
settle_locale (void)
{
  setlocale (LC_ALL, "");
  if (strcmp (nl_langinfo (CODESET), "ANSI_X3.4-1968") == 0)
    setlocale (LC_CTYPE, "C.UTF-8");
  /* Numbers in files and on the command line have points everywhere. */
  setlocale (LC_NUMERIC, "C");
  /* What the engine says is translated; the commands themselves speak English. */
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
  return lig_cli_usage ("no command is called '%s'; see lig --help", argv[1]);
}

int
main (int argc, char **argv)
{
  lig_cli_settle_streams ();
  spin_less (argv);
  lig_times_mark ("program");
  settle_locale ();
  lig_cli_watch_output ();
  return lig_cli_end (run (argc, argv));
}
