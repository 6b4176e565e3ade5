/* SPDX-License-Identifier: MIT */
/* A command of `lig`: one file, one word in app/cli/meson.build. */
#pragma once

#include <ligature/json-members.h>

#include <json-glib/json-glib.h>
#include <ligature/units.h>

G_BEGIN_DECLS

/* Exit codes of every command. */
enum { LIG_EXIT_OK = 0, LIG_EXIT_FAILED = 1, LIG_EXIT_USAGE = 2, LIG_EXIT_INTERRUPTED = 130 };

typedef struct {
  const char *name;
  const char *usage;                  /* what follows the name: "P [--input I]" */
  const char *summary;                /* one line for `lig --help` */
  const char *example;                /* a whole command line that works when pasted */
  int (*run) (int argc, char **argv); /* argv[0] is the command's name */
  /* (nullable): appends lines to the help text, before the example */
  void (*notes) (GString *to);
  /* Lists what follows the name, `show RUN`, one a line, (transfer full); null where the usage is
   * all there is. */
  char *(*verbs) (void);
} LigCommand;

/* Each command's file defines `const LigCommand lig_command_NAME`. */
#define LIG_COMMAND(name) const LigCommand lig_command_##name

/* Parses the command line with `entries` (null-terminated) plus the options that every command has
 * (--json, --help), removing them from argv; the help text shows usage, summary and example.
 * Returns FALSE after it printed what is wrong (to stderr, or as JSON); the command then returns
 * LIG_EXIT_USAGE. At most `most` and at least `least` positional arguments may remain. */
gboolean lig_cli_parse (const LigCommand *command,
                        const GOptionEntry *entries,
                        int *argc,
                        char ***argv,
                        int least,
                        int most);

/* Returns the commands in the order of the help text, null after the last. */
const LigCommand *lig_cli_command_nth (guint n);

/* Gets a command's options, --json among them, null-terminated. */
typedef void (*LigCliCollector) (const LigCommand *command,
                                 const GOptionEntry *entries,
                                 gpointer data);

/* Calls the collector with the options of the command, which does nothing else. */
void lig_cli_collect (const LigCommand *command, LigCliCollector collector, gpointer data);

/* `lig --generate man|bash|zsh|fish`, the arguments that follow: prints the manual page or the
 * completions of a shell, made from the tables of the commands. Returns an exit code. */
int lig_cli_generate (int n, char **arguments);

/* Whether --json was given. */
gboolean lig_cli_json (void);

/* Whether stdout is a terminal that takes colour (NO_COLOR and TERM=dumb are honoured). */
gboolean lig_cli_colour (void);

/* Prints the error, `lig: MESSAGE` to stderr, with --json also {"error":{"code","message","path"}}
 * to stdout, frees it, and returns LIG_EXIT_FAILED (or LIG_EXIT_INTERRUPTED when cancelled). */
int lig_cli_fail (GError *error);

/* The same for a wrong command line: returns LIG_EXIT_USAGE. */
int lig_cli_usage (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* A LigTuningMonitor: a line to stderr while something is measured for the first time. */
void lig_cli_measuring (const char *what, double seconds);

/* A LigTuningListener: the sentence as a line to stderr. */
void lig_cli_listen (const char *text);

/* A line to stderr for people: `lig: …`. Characters that a terminal would obey are escaped, here
 * and in all that follows but JSON. */
void lig_cli_say (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* A line to stdout. */
void lig_cli_print (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Prints one JSON document and a newline to stdout; takes the node. */
void lig_cli_print_json (JsonNode *node);

/* A table in aligned columns on stdout; `rows` holds string vectors as wide as `header`, whose
 * strings it may replace. A header that begins with '>' is right-aligned. */
void lig_cli_print_table (const char *const *header, GPtrArray *rows);

/* Returns "12.3 us", "1.4 ms", "0:42", "3 h 05 min"; (transfer full). */
char *lig_cli_format_time (double seconds);

G_END_DECLS
