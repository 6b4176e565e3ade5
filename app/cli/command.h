/* SPDX-License-Identifier: MIT */
/* A command of `lig`: one file and one word in app/cli/meson.build. */
#pragma once

#include <ligature/json-members.h>

#include <json-glib/json-glib.h>
#include <ligature/units.h>

G_BEGIN_DECLS

/* Exit codes of every command. */
enum { LIG_EXIT_OK = 0, LIG_EXIT_FAILED = 1, LIG_EXIT_USAGE = 2, LIG_EXIT_INTERRUPTED = 130 };

/* A line of an option table that begins a group: help texts list the options after it under its
 * title, until the next such line. Groups of the same title are joined; they are listed in the
 * order in which their titles first appear. */
#define LIG_CLI_GROUP(title) \
  { \
    .long_name = "", .description = (title) \
  }

/* The titles that several commands have. */
#define LIG_CLI_DATA "Data"
#define LIG_CLI_DEVICE "Device"
#define LIG_CLI_FUSIONS "Fusions"
#define LIG_CLI_GENERAL "General" /* the options of every command */
#define LIG_CLI_OPTIONS "Options" /* those before the first line of a group */
#define LIG_CLI_OPTIMIZER "Optimizer"
#define LIG_CLI_OUTPUT "Output"
#define LIG_CLI_SCHEDULE "Schedule"
#define LIG_CLI_SEQUENCE "Sequence"

/* The defaults of every --device and --store. */
#define LIG_CLI_DEVICE_DEFAULT " [default: the first GPU that works, else the CPU]"
#define LIG_CLI_STORE_DEFAULT " [default: $LIGATURE_STORE, else Ligature's data folder]"

/* The end of the description of an option that may be given several times. */
#define LIG_CLI_SEVERAL "; several times for more"

/* Returns whether the line begins a group. */
static inline gboolean
lig_cli_is_group (const GOptionEntry *entry)
{
  return !*entry->long_name;
}

/* A form of a command's arguments that begins with a word of its own, as `show RUN`. */
typedef struct {
  const char *name, *arguments, *summary;
  const char *options; /* the long names of the options that it has, separated by spaces */
  gboolean pages;      /* see LigCommand */
} LigCliVerb;

typedef struct {
  const char *name;
  const char *usage;                  /* the arguments after the name: "P [--input I]" */
  const char *summary;                /* one line for `lig --help` */
  const char *example;                /* a whole command line that works when pasted */
  int (*run) (int argc, char **argv); /* argv[0] is the command's name */
  /* (nullable): appends lines to the help text, before the example */
  void (*notes) (GString *to);
  /* (nullable): returns the verbs in the order of the help text, NULL after the last */
  const LigCliVerb *(*verb_nth) (guint n);
  gboolean pages; /* whether its text is shown by a pager if it is longer than the terminal */
} LigCommand;

/* Each command's file defines `const LigCommand lig_command_NAME`. */
#define LIG_COMMAND(name) const LigCommand lig_command_##name

/* Parses the command line with `entries` (null-terminated) plus the options of every command
 * (--json, --help) and removes them from argv. A description ends with the default, as in
 * `Steps in all [default: 1000]`. At least `least` and at most `most` positional arguments may
 * remain. Otherwise it prints the error (to stderr, or as JSON) and returns FALSE; the command then
 * returns LIG_EXIT_USAGE. */
gboolean lig_cli_parse (const LigCommand *command,
                        const GOptionEntry *entries,
                        int *argc,
                        char ***argv,
                        int least,
                        int most);

/* Returns whether the command line that lig_cli_parse() read has the option. */
gboolean lig_cli_was_given (const char *option);

/* Returns the commands in the order of the help text, NULL after the last. */
const LigCommand *lig_cli_command_nth (guint n);

/* Receives a command's options, including the lines of groups and the options of every command,
 * null-terminated. */
typedef void (*LigCliCollector) (const LigCommand *command,
                                 const GOptionEntry *entries,
                                 gpointer data);

/* Calls the collector with the options of the command, without running it. */
void lig_cli_collect (const LigCommand *command, LigCliCollector collector, gpointer data);

/* Runs `lig --generate man|bash|zsh|fish`: prints the manual page or the completions of a shell,
 * made from the tables of the commands. `arguments` are those after --generate. Returns an exit
 * code. */
int lig_cli_generate (int n, char **arguments);

/* Returns whether --json was given. The first function makes it so, before anything can fail. */
void lig_cli_request_json (void);
gboolean lig_cli_json (void);

/* Prints each document as one line from now on, and at once. */
void lig_cli_request_lines (void);

/* Returns whether text has colours: as --color says, else if stdout is a terminal with colours
 * (NO_COLOR and TERM=dumb are respected). The mode is `auto`, `always` or `never`. */
void lig_cli_set_colour (const char *mode);
gboolean lig_cli_colour (void);

/* Returns the error's message with its setting as an option: `give --steps` for `set steps`;
 * (transfer full). */
char *lig_cli_phrase (const GError *error);

/* Prints the error, `lig: MESSAGE` to stderr, with --json also {"error":{"code","message","path"}}
 * to stdout, frees it, and returns LIG_EXIT_FAILED (or LIG_EXIT_INTERRUPTED when cancelled). */
int lig_cli_fail (GError *error);

/* Does the same for a wrong command line and returns LIG_EXIT_USAGE. */
int lig_cli_usage (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Returns the exit code of lig_cli_fail(), and the error's code in JSON. */
int lig_cli_exit_code (const GError *error);
const char *lig_cli_code_name (const GError *error);

/* Prints the JSON document of a failure, if --json was given. */
void lig_cli_print_failure (const char *code, const char *message, const char *path);

/* With --quiet nothing is printed to stderr but errors and warnings that something failed. */
void lig_cli_set_quiet (gboolean quiet);
gboolean lig_cli_quiet (void);

/* A LigTuningMonitor that shows on stderr that a first measurement goes on. */
void lig_cli_measuring (const char *what, double seconds, double share);

/* A LigTuningListener that prints the sentence to stderr. */
void lig_cli_listen (const char *text);

/* Prints a line to stderr for people: `lig: …`. Control characters are escaped, here and in the
 * functions below except for JSON. */
void lig_cli_say (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Does the same also with --quiet, for failures. */
void lig_cli_warn (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Prints a line to stdout. */
void lig_cli_print (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Prints one JSON document and a newline to stdout; takes the node. Adds the units of numbers whose
 * keys do not name them. `schema` names the file in data/doc/schemas that describes the document,
 * without .json; tests/cli/documents.py checks that it does. */
void lig_cli_print_document (const char *schema, JsonNode *node);

/* Returns element `index` of a document, an object (transfer full), or null to omit it. */
typedef JsonNode *LigCliElement (guint index, gpointer data);

/* Prints a document that is an array of `count` objects, one at a time: there may be very many. */
void lig_cli_print_elements (const char *schema, guint count, LigCliElement *make, gpointer data);

/* Prints a document without a schema; takes the node. */
void lig_cli_print_json (JsonNode *node);

/* Prints a table in aligned columns to stdout. `rows` contains string vectors as long as `header`;
 * the function may replace their strings. A header that begins with '>' is right-aligned. */
void lig_cli_print_table (const char *const *header, GPtrArray *rows);

/* Returns "12.3 µs", "1.40 ms", "0:42", "3 h 05 min"; (transfer full). */
char *lig_cli_format_time (double seconds);

/* Returns the time that is left as "42 s", "1:05", "3 h 05 min"; (transfer full). */
char *lig_cli_format_left (double seconds);

/* Returns "142 to 150 µs": two times in the same unit, or each with its own; (transfer full). */
char *lig_cli_format_range (double from, double to);

G_END_DECLS
