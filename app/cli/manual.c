/* SPDX-License-Identifier: MIT */
/* The manual page lig.1: the tables of the commands, and general sections. */
#include "app/cli/texts.h"

#include "app/cli/wrap.h"

#include <string.h>

/* The width of preformatted text: 80 columns minus the margins of a page. */
#define MANUAL_WIDTH 68

typedef struct {
  const char *name, *text;
} Fact;

static const Fact description[] = {
  {NULL,
   "lig fuses and trains sequences of operations without a window. P stands for a sequence: a "
   ".lig file, - for one on standard input, or an expression such as layer-norm ! linear(3072) "
   "! gelu. RUN stands for a run in the store: its uuid, at least four of its first "
   "characters, its name, or last; last~1 is the run before the newest, NAME~1 the one before the "
   "newest of that name. Options may also precede the command."},
  {NULL, "Every command prints one JSON document with --json; an error is then an object with the "
         "members code, message and path. Messages go to standard error."},
  {NULL, "Output that is longer than the terminal is shown in a pager, as in git."},
};

static const Fact options[] = {
  {"help [COMMAND [VERB]], --help",
   "Print the commands, or the options and an example of one; -h: without the example."},
  {"--json", "Print one JSON document, also for errors."},
  {"--color auto|always|never", "Whether text has colours: by default on a terminal."},
  {"--no-pager", "Do not page long output."},
  {"--version", "Print the version."},
  {"--generate man|bash|zsh|fish|options",
   "Print this page, the completions of a shell, or all options as a table."},
  {"--values KIND",
   "Print the values that a completion offers, one per line: COLUMN, COMPUTE, DEVICE, FORMAT, "
   "FUSION, KIND, OP, POLICY, RECIPE, RUN, STATUS or SWEEP."},
};

static const Fact statuses[] = {
  {"0", "The command succeeded."},
  {"1", "The command failed; the message names the thing, the problem and the remedy. Commands "
        "that print a plan also fail if it does not fit in the memory of its device."},
  {"2", "The command line is wrong."},
  {"130", "The command was interrupted (Ctrl+C). A training run saves a checkpoint first."},
};

static const Fact environment[] = {
  {"LIGATURE_STORE", "The store that is used without --store."},
  {"LIGATURE_DATA",
   "A folder with device profiles and examples, searched before the installed one."},
  {"LIGATURE_MODULES", "A folder with the module of the CUDA backend, searched first."},
  {"LIGATURE_SYNC",
   "If set, lig synchronizes after each CUDA kernel, so that an error names its kernel."},
  {"LIGATURE_POISON", "If set, memory is filled with NaN before each run of a plan."},
  {"LIGATURE_PIECES", "The number of chunks into which a matmul that overlaps a collective splits "
                      "each rank's rows, instead of the fastest."},
  {"LIGATURE_RANKS_SILENCE",
   "The seconds without a heartbeat after which a rank counts as lost; 15 by default."},
  {"OMP_NUM_THREADS", "The number of CPU threads per rank."},
  {"GOMP_SPINCOUNT, OMP_WAIT_POLICY", "How long idle threads spin. If none of these is set, lig "
                                      "re-executes itself with a short spin."},
  {"LIG_PAGER, PAGER", "The pager, run by a shell; less by default, with LESS=FRX unless LESS is "
                       "set. If it is empty or "
                       "cat, nothing is paged."},
  {"COLUMNS", "The width of texts, from 60 to 200 columns; by default that of the terminal."},
  {"NO_COLOR, TERM", "No colour is printed if NO_COLOR is set or TERM is dumb."},
};

static const Fact files[] = {
  {"$XDG_DATA_HOME/ligature/ligature.db",
   "The store, an SQLite database: runs, metrics, timings, fusions, verdicts and measured times. "
   "XDG_DATA_HOME is ~/.local/share by default."},
  {"*.lig", "A sequence with its input, fusion constraints and training settings, in JSON."},
  {"*.safetensors", "Weights, tensors and checkpoints."},
  {"share/ligature/doc/schemas",
   "Below the installation prefix: a JSON Schema for each document and file."},
};

/* Escapes hyphens, which troff would turn into dashes, and line starts that troff would read as
 * requests. */
static void
append_text (GString *to, const char *text)
{
  gboolean first = TRUE;
  for (const char *at = text; *at; at++) {
    if (first && (*at == '.' || *at == '\''))
      g_string_append (to, "\\&");
    if (*at == '\\')
      g_string_append (to, "\\e");
    else if (*at == '-')
      g_string_append (to, "\\-");
    else if (*at == '\'')
      g_string_append (to, "\\(aq");
    else if (*at == '`' || *at == '^' || *at == '~')
      g_string_append (to, *at == '`' ? "\\(ga" : *at == '^' ? "\\(ha" : "\\(ti");
    else
      g_string_append_c (to, *at);
    first = *at == '\n';
  }
}

static void
append_line (GString *to, const char *request, const char *text)
{
  g_string_append (to, request);
  append_text (to, text);
  g_string_append_c (to, '\n');
}

/* Appends the text with a full stop. */
static void
append_sentence (GString *to, const char *text)
{
  g_autofree char *sentence = g_strconcat (text, *text ? "." : "", NULL);
  append_line (to, "", sentence);
}

static void
append_facts (GString *to, const char *title, const Fact *facts, gsize count)
{
  g_string_append_printf (to, ".SH %s\n", title);
  for (gsize i = 0; i < count; i++) {
    g_string_append (to, facts[i].name ? ".TP\n" : i > 0 ? ".PP\n" : "");
    if (facts[i].name)
      append_line (to, ".B ", facts[i].name);
    append_line (to, "", facts[i].text);
  }
}

static void
append_option (GString *to, const GOptionEntry *entry)
{
  g_string_append (to, ".TP\n\\fB");
  if (entry->short_name)
    g_string_append_printf (to, "\\-%c\\fR, \\fB", entry->short_name);
  g_string_append (to, "\\-\\-");
  append_text (to, entry->long_name);
  g_string_append (to, "\\fR");
  if (entry->arg != G_OPTION_ARG_NONE) {
    g_string_append (to, " \\fI");
    append_text (to, entry->arg_description ? entry->arg_description : "VALUE");
    g_string_append (to, "\\fR");
  }
  g_string_append_c (to, '\n');
  append_line (to, "", entry->description);
}

static void
append_example (GString *to, const char *example)
{
  g_string_append (to, ".PP\n.RS 4\n.nf\n");
  append_line (to, "", example);
  g_string_append (to, ".fi\n.RE\n");
}

static void
append_verbs (GString *to, const LigCommand *command)
{
  const LigCliVerb *verb;
  for (guint i = 0; command->verb_nth && (verb = command->verb_nth (i)); i++) {
    g_autofree char *text =
      g_strdup_printf ("lig %s %s %s", command->name, verb->name, verb->arguments);
    append_line (to, ".TP\n.B ", text);
    append_sentence (to, verb->summary ? verb->summary : "");
  }
}

static void
append_group (GString *to, const LigCliPage *page, const char *title)
{
  gboolean first = TRUE;
  for (guint i = 0; i < page->entries->len; i++) {
    if (strcmp (page->groups->pdata[i], title) != 0)
      continue;
    if (first)
      g_string_append_printf (to, ".PP\n%s:\n", title);
    first = FALSE;
    append_option (to, &g_array_index (page->entries, GOptionEntry, i));
  }
}

static void
append_command (GString *to, const LigCliPage *page)
{
  const LigCommand *command = page->command;
  g_autofree char *usage = g_strconcat ("lig ", command->name, " ", command->usage, NULL);
  append_line (to, ".SS ", usage);
  append_sentence (to, command->summary);
  append_verbs (to, command);
  /* The options of every command are in a section of their own. */
  for (guint i = 0; i < page->titles->len; i++)
    if (strcmp (page->titles->pdata[i], LIG_CLI_GENERAL) != 0)
      append_group (to, page, page->titles->pdata[i]);
  g_autoptr (GString) notes = g_string_new (NULL);
  g_autoptr (GString) wrapped = g_string_new (NULL);
  if (command->notes)
    command->notes (notes);
  lig_cli_append_lines (wrapped, g_strchomp (notes->str), MANUAL_WIDTH);
  if (wrapped->len > 0)
    append_example (to, wrapped->str);
}

/* Returns the date that a package build sets, or an empty text (transfer full): with the build's
 * date, builds would not be reproducible. */
static char *
format_date (void)
{
  gint64 seconds;
  const char *epoch = g_getenv ("SOURCE_DATE_EPOCH");
  g_autoptr (GDateTime) date =
    epoch && g_ascii_string_to_signed (epoch, 10, 0, G_MAXINT64, &seconds, NULL)
      ? g_date_time_new_from_unix_utc (seconds)
      : NULL;
  return date ? g_date_time_format (date, "%F") : g_strdup ("");
}

void
lig_cli_append_manual (GString *to, GPtrArray *pages)
{
  g_string_append (to, ".\\\" Made by lig --generate man.\n");
  g_autofree char *date = format_date ();
  g_string_append_printf (to, ".TH LIG 1 \"%s\" \"Ligature %s\" \"User Commands\"\n", date,
                          LIG_VERSION);
  g_string_append (to,
                   ".SH NAME\nlig \\- fuse and train sequences of operations\n"
                   ".SH SYNOPSIS\n.B lig\n[\\fIOPTION\\fR]...\n.I COMMAND\n[\\fIARGUMENT\\fR]... "
                   "[\\fIOPTION\\fR]...\n");
  append_facts (to, "DESCRIPTION", description, G_N_ELEMENTS (description));
  append_facts (to, "OPTIONS", options, G_N_ELEMENTS (options));
  g_string_append (to, ".SH COMMANDS\n");
  for (guint i = 0; i < pages->len; i++)
    append_command (to, pages->pdata[i]);
  append_facts (to, "EXIT STATUS", statuses, G_N_ELEMENTS (statuses));
  append_facts (to, "ENVIRONMENT", environment, G_N_ELEMENTS (environment));
  append_facts (to, "FILES", files, G_N_ELEMENTS (files));
  g_string_append (to, ".SH EXAMPLES\n");
  for (guint i = 0; i < pages->len; i++) {
    const LigCommand *command = ((const LigCliPage *) pages->pdata[i])->command;
    g_string_append (to, i > 0 ? ".PP\n" : "");
    append_sentence (to, command->summary);
    g_autoptr (GString) example = g_string_new (NULL);
    lig_cli_append_shell (example, command->example, 0, MANUAL_WIDTH);
    append_example (to, example->str);
  }
}
