/* SPDX-License-Identifier: MIT */
/* A command of `lig`: one file and one word in app/cli/meson.build. With this header a command has
 * all functions that report its results and its errors. */
#pragma once

#include "app/cli/fail.h"
#include "app/cli/given.h"
#include "app/cli/modes.h"
#include "app/cli/print.h"
#include "app/cli/say.h"
#include <ligature/json-members.h>
#include <ligature/units.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* A line of an option table that begins a group: help texts list the options up to the next such
 * line under its title. Groups with the same title are merged, and listed in the order in which
 * their titles first appear. */
#define LIG_CLI_GROUP(title) \
  { \
    .long_name = "", .description = (title) \
  }

/* Titles shared by several commands. */
#define LIG_CLI_DATA "Data"
#define LIG_CLI_DEVICE "Device"
#define LIG_CLI_FUSIONS "Fusions"
#define LIG_CLI_GENERAL "General" /* the options of every command */
#define LIG_CLI_OPTIONS "Options" /* those before the first group line */
#define LIG_CLI_OPTIMIZER "Optimizer"
#define LIG_CLI_OUTPUT "Output"
#define LIG_CLI_SCHEDULE "Schedule"
#define LIG_CLI_SEQUENCE "Sequence"

/* The defaults of every --device and --store. */
#define LIG_CLI_DEVICE_DEFAULT " [default: the first GPU that works, else the CPU]"
#define LIG_CLI_STORE_DEFAULT " [default: $LIGATURE_STORE, else Ligature's data folder]"

/* The end of the description of a repeatable option. */
#define LIG_CLI_SEVERAL "; repeatable"

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
  gboolean pages; /* whether its output goes through a pager if it is longer than the terminal */
  gboolean pairs; /* whether an option that accepts one of some words may have a list of them,
                     which the command checks itself */
} LigCommand;

/* Each command's file defines `const LigCommand lig_command_NAME`. */
#define LIG_COMMAND(name) const LigCommand lig_command_##name

/* Parses the command line with `entries` (null-terminated) plus the options of every command
 * (--json, --help) and removes them from argv. A description ends with the default, as in `Total
 * steps [default: 1000]`. Between `min` and `max` positional arguments may remain. On an error it
 * prints it (to stderr, or as JSON) and returns FALSE; the command then returns LIG_EXIT_USAGE. */
gboolean lig_cli_parse (const LigCommand *command,
                        const GOptionEntry *entries,
                        int *argc,
                        char ***argv,
                        int min,
                        int max);

G_END_DECLS
