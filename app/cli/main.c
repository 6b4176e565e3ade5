/* SPDX-License-Identifier: MIT */
/* The program lig: finds the command and runs it. */
#include "app/cli/arrange.h"
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/overview.h"
#include "app/cli/say.h"
#include "app/cli/task.h"
#include "app/cli/texts.h"
#include "app/cli/values.h"

#include "kernels/times.h"
#include <ligature/error.h>
#include <ligature/folders.h>
#include <ligature/former-names.h>
#include <ligature/store.h>
#include <ligature/tuning.h>

#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Idle OpenMP threads spin for milliseconds by default and starve each other on a busy machine:
 * training then takes ten times as long. OpenBLAS with its own threads spins for 2^28 cycles as
 * soon as it is loaded, two seconds of CPU time on sixteen cores. Both libraries read the
 * environment before main, so the program re-executes itself with a short spin; if that fails, it
 * continues unchanged. */
static void
spin_less (char **argv)
{
  if (g_getenv ("GOMP_SPINCOUNT") || g_getenv ("OMP_WAIT_POLICY"))
    return;
  g_setenv ("GOMP_SPINCOUNT", "10000", TRUE);
  g_setenv ("OPENBLAS_THREAD_TIMEOUT", "16", FALSE);
  execv ("/proc/self/exe", argv);
}

/* Sets the locale, with UTF-8 even for `LC_ALL=C`, whose charset cannot represent a file name with
 * an umlaut. */
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

static gboolean
is_one_of (const char *word, const char *one, const char *other)
{
  return strcmp (word, one) == 0 || g_strcmp0 (word, other) == 0;
}

/* Looks for --json first, because any word may cause an error. */
static void
look_for_json (char **words)
{
  for (; *words && strcmp (*words, "--") != 0; words++)
    if (strcmp (*words, "--json") == 0)
      lig_cli_request_json ();
  if (lig_cli_json ())
    lig_cli_watch_interrupt ();
}

/* Replaces old names of options by the current ones. */
static void
replace_former_options (char **words)
{
  for (; *words && strcmp (*words, "--") != 0; words++) {
    if (!g_str_has_prefix (*words, "--"))
      continue;
    g_autofree char *name = g_strndup (*words + 2, strcspn (*words + 2, "="));
    const char *current = lig_former_name_replace (LIG_FORMER_OPTION, name);
    g_autofree char *word = g_strconcat ("--", current, *words + 2 + strlen (name), NULL);
    if (current != name)
      *words = (char *) g_intern_string (word);
  }
}

/* Prints the current name of each option that was given by an old name. */
static void
remark_former_names (void)
{
  g_auto (GStrv) remarks = lig_former_names_take_remarks ();
  for (char **remark = remarks; *remark; remark++)
    lig_cli_say ("%s", *remark);
}

static int
print_version (void)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  if (!lig_cli_json ()) {
    printf ("lig %s\n", LIG_VERSION);
    return LIG_EXIT_OK;
  }
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "version", LIG_VERSION);
  json_builder_end_object (builder);
  lig_cli_print_document ("version", json_builder_get_root (builder));
  return LIG_EXIT_OK;
}

/* Runs the options without a command: `lig --help` is `lig help`. */
static int
run_options (int argc, char **argv)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();
  if (argc < 2) {
    lig_cli_help_all (stderr);
    return LIG_EXIT_USAGE;
  }
  g_ptr_array_add (words, "help");
  for (int i = 1; i < argc; i++)
    if (!is_one_of (argv[i], "--help", "-h"))
      g_ptr_array_add (words, argv[i]);
  int count = (int) words->len;
  g_ptr_array_add (words, NULL);
  return count < argc ? lig_cli_help (count, (char **) words->pdata)
                      : lig_cli_reject_options (argv + 1);
}

static int
run (int argc, char **argv)
{
  look_for_json (argv + 1);
  replace_former_options (argv + 1);
  for (int i = 1; i < argc && argv[i][0] == '-'; i++)
    if (is_one_of (argv[i], "--version", "-V"))
      return print_version ();
    else if (strcmp (argv[i], "--generate") == 0)
      return lig_cli_print_text (argc - i - 1, argv + i + 1);
    else if (strcmp (argv[i], "--values") == 0)
      return lig_cli_values_print (argc - i - 1, argv + i + 1);
  if (!lig_cli_arrange (argc, argv))
    return run_options (argc, argv);
  lig_store_catch_truncation ();
  lig_tuning_set_monitor (lig_cli_measuring);
  lig_tuning_set_listener (lig_cli_listen);
  const LigCommand *command = lig_cli_find_command (argv[1]);
  if (command)
    return command->run (argc - 1, argv + 1);
  return strcmp (argv[1], "help") == 0 ? lig_cli_help (argc - 1, argv + 1)
                                       : lig_cli_reject_command (argv[1]);
}

int
main (int argc, char **argv)
{
  lig_cli_open_missing_streams ();
  spin_less (argv);
  lig_times_mark ("program");
  set_locale ();
  lig_cli_watch_output ();
  int status = run (argc, argv);
  remark_former_names ();
  return lig_cli_end (status);
}
