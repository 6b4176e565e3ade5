/* SPDX-License-Identifier: MIT */
/* Parses the command lines of all commands. GLib assigns the values; the words are checked first,
 * so that all messages have one form and suggest the most similar name. */
#include "app/cli/collect.h"
#include "app/cli/help.h"
#include "app/cli/pager.h"
#include "app/cli/switches.h"
#include "app/cli/values.h"
#include "app/cli/verbs.h"

#include <ligature/suggest.h>

#include <stdlib.h>
#include <string.h>

/* GLib needs a variable; lig_cli_json() returns the value. */
static gboolean json;
static gboolean no_pager;
static char *colour;

static const GOptionEntry common[] = {
  LIG_CLI_GROUP (LIG_CLI_GENERAL),
  {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON document", NULL},
  {"color", 0, 0, G_OPTION_ARG_STRING, &colour, "Whether text has colours [default: auto]",
   "auto|always|never"},
  {"no-pager", 0, 0, G_OPTION_ARG_NONE, &no_pager, "Do not page long output", NULL},
  {"help", 'h', 0, G_OPTION_ARG_NONE, NULL, "Print this help; -h: only the options", NULL},
  {NULL},
};

/* Returns the entries and those of every command. */
static GArray *
join (const GOptionEntry *entries)
{
  GArray *all = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  for (; entries && entries->long_name; entries++)
    g_array_append_val (all, *entries);
  for (entries = common; entries->long_name; entries++)
    g_array_append_val (all, *entries);
  return all;
}

/* --- Checking ------------------------------------------------------------------------------ */

typedef struct {
  const LigCommand *command;
  const GOptionEntry *entries;
  GPtrArray *given; /* the entries of the options on the line */
  int help;         /* 1 for -h, 2 for --help */
  const char *word; /* the first word besides options, before a request for help */
} Line;

static gboolean reject (const Line *line, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
reject (const Line *line, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  lig_cli_usage ("%s; see lig %s --help", message, line->command->name);
  return FALSE;
}

static const GOptionEntry *
find_long (const GOptionEntry *entries, const char *name)
{
  for (; entries->long_name; entries++)
    if (!lig_cli_is_group (entries) && strcmp (entries->long_name, name) == 0)
      return entries;
  return NULL;
}

/* Returns lig's name for an option that other programs call by this name; or null. */
static const char *
resolve_alias (const char *name)
{
  static const char *const words[][2] = {
    {"learning-rate", "lr"},
    {"batch-size", "batch"},
    {"bs", "batch"},
    {"max-steps", "steps"},
    {"num-steps", "steps"},
    {"iterations", "steps"},
    {"iters", "steps"},
    {"max-iters", "steps"},
    {"precision", "dtype"},
    {"type", "dtype"},
    {"amp", "dtype"},
    {"dataset", "data"},
    {"train-data", "data"},
    {"wd", "weight-decay"},
    {"warmup-steps", "warmup"},
    {"lr-schedule", "schedule"},
    {"lr-scheduler", "schedule"},
    {"scheduler", "schedule"},
    {"grad-clip", "clip"},
    {"max-grad-norm", "clip"},
    {"clip-grad-norm", "clip"},
    {"gradient-accumulation-steps", "accumulate"},
    {"grad-accum", "accumulate"},
    {"eval-interval", "eval-every"},
    {"save-every", "checkpoint-every"},
    {"save-interval", "checkpoint-every"},
    {"gpus", "ranks"},
    {"nproc", "ranks"},
    {"world-size", "ranks"},
    {"out", "output"},
    {"input-shape", "input"},
    {"shape", "input"},
    {"gradient-checkpointing", "recompute"},
    {"opt", "optimizer"},
    {"min-learning-rate", "min-lr"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (words[i][0], name) == 0)
      return words[i][1];
  return NULL;
}

static gboolean
reject_option (const Line *line, const char *name)
{
  const char *known = resolve_alias (name);
  if (known && find_long (line->entries, known)) {
    lig_cli_usage ("option --%s is unknown; did you mean --%s?", name, known);
    return FALSE;
  }
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (const GOptionEntry *at = line->entries; at->long_name; at++)
    if (!lig_cli_is_group (at))
      g_ptr_array_add (names, (gpointer) at->long_name);
  g_ptr_array_add (names, NULL);
  const char *like = lig_suggest (name, (const char *const *) names->pdata);
  if (!like)
    return reject (line, "option --%s is unknown", name);
  lig_cli_usage ("option --%s is unknown; did you mean --%s?", name, like);
  return FALSE;
}

static const GOptionEntry *
find_short (const GOptionEntry *entries, char name)
{
  for (; entries->long_name; entries++)
    if (name && entries->short_name == name)
      return entries;
  return NULL;
}

/* The kinds of values that completion lists completely. */
static gboolean
is_list (const char *kind)
{
  static const char *const kinds[] = {"FORMAT", "POLICY", "STATUS", NULL};
  return g_strv_contains (kinds, kind);
}

/* Returns the only values that an option accepts, such as those of `auto|always|never`, or NULL. */
static GStrv
list_values (const GOptionEntry *entry)
{
  const char *form = entry->arg_description;
  if (entry->arg != G_OPTION_ARG_STRING || !form)
    return NULL;
  if (is_list (form))
    return lig_cli_values_list (form);
  return strchr (form, '|') &&
             strspn (form, "abcdefghijklmnopqrstuvwxyz0123456789-|") == strlen (form)
           ? g_strsplit (form, "|", -1)
           : NULL;
}

static gboolean
check_word (const Line *line, const GOptionEntry *entry, const char *value)
{
  g_auto (GStrv) values = list_values (entry);
  gboolean pair = line->command->pairs && strchr (value, ',');
  if (!values || pair || g_strv_contains ((const char *const *) values, value))
    return TRUE;
  const char *like = lig_suggest (value, (const char *const *) values);
  g_autofree char *list = lig_cli_values_join ((const char *const *) values);
  if (like)
    lig_cli_usage ("--%s is '%s', expected %s; did you mean '%s'?", entry->long_name, value, list,
                   like);
  else
    reject (line, "--%s is '%s', expected %s", entry->long_name, value, list);
  return FALSE;
}

/* Checks a number, or a word that must be one of a list. Other values are checked where they are
 * used. */
static gboolean
check_value (const Line *line, const GOptionEntry *entry, const char *value)
{
  gint64 whole;
  char *end;
  gint64 max = entry->arg == G_OPTION_ARG_INT ? G_MAXINT : G_MAXINT64;
  if (entry->arg == G_OPTION_ARG_DOUBLE && (g_ascii_strtod (value, &end), end == value || *end))
    return reject (line, "--%s is '%s', expected a number", entry->long_name, value);
  if ((entry->arg == G_OPTION_ARG_INT || entry->arg == G_OPTION_ARG_INT64) &&
      !g_ascii_string_to_signed (value, 10, -max, max, &whole, NULL))
    return reject (line, "--%s is '%s', expected a whole number", entry->long_name, value);
  return check_word (line, entry, value);
}

/* Checks an option whose value is the rest of its word, else the next word. */
static gboolean
check_option (Line *line, const GOptionEntry *entry, const char *rest, char ***word)
{
  g_ptr_array_add (line->given, (gpointer) entry);
  if (entry->arg == G_OPTION_ARG_NONE)
    return TRUE;
  const char *value = rest ? rest : *++*word;
  if (!value)
    return reject (line, "--%s needs a value, %s", entry->long_name, entry->arg_description);
  /* An unset variable of a script does not request the default, such as another store. */
  if (!*value)
    return reject (line, "--%s is empty, expected %s", entry->long_name, entry->arg_description);
  if (entry->arg != G_OPTION_ARG_FILENAME && !g_utf8_validate (value, -1, NULL))
    return reject (line, "--%s is '%s', expected UTF-8 text", entry->long_name, value);
  return check_value (line, entry, value);
}

static gboolean
check_long (Line *line, char ***word)
{
  const char *text = **word + 2, *sign = strchr (text, '=');
  g_autofree char *name = sign ? g_strndup (text, (gsize) (sign - text)) : g_strdup (text);
  const GOptionEntry *entry = find_long (line->entries, name);
  if (!entry)
    return reject_option (line, name);
  if (sign && entry->arg == G_OPTION_ARG_NONE)
    return reject (line, "--%s takes no value, not '%s'", name, sign + 1);
  if (strcmp (name, "help") == 0)
    line->help = 2;
  return check_option (line, entry, sign ? sign + 1 : NULL, word);
}

/* Reports a long option with one hyphen, as in `-input 2x2`, and returns whether it is one. */
static gboolean
reject_hyphen (const char *word, const GOptionEntry *entries)
{
  g_autofree char *name = g_strndup (word + 1, strcspn (word + 1, "="));
  if (!name[0] || !name[1] || !find_long (entries, name))
    return FALSE;
  lig_cli_usage ("option -%s is unknown; did you mean --%s?", name, name);
  return TRUE;
}

/* Checks a word such as `-y`, `-oFILE` or `-yh`. */
static gboolean
check_short (Line *line, char ***word)
{
  if (reject_hyphen (**word, line->entries))
    return FALSE;
  for (const char *at = **word + 1; *at; at++) {
    const GOptionEntry *entry = find_short (line->entries, *at);
    if (!entry)
      return reject (line, "option -%.*s is unknown", (int) (g_utf8_next_char (at) - at), at);
    if (*at == 'h')
      line->help = MAX (line->help, 1);
    if (entry->arg != G_OPTION_ARG_NONE)
      return check_option (line, entry, at[1] ? at + 1 : NULL, word);
    g_ptr_array_add (line->given, (gpointer) entry);
  }
  return TRUE;
}

/* Checks all words up to `--` or a request for help. */
static gboolean
check (Line *line, char **words)
{
  for (char **word = words; *word && strcmp (*word, "--") != 0 && !line->help; word++) {
    if (!line->word && (**word != '-' || !(*word)[1]))
      line->word = *word;
    if (g_str_has_prefix (*word, "--") ? !check_long (line, &word)
        : **word == '-' && (*word)[1]  ? !check_short (line, &word)
                                       : FALSE)
      return FALSE;
  }
  return TRUE;
}

/* --- Parsing ------------------------------------------------------------------------------- */

static void
parse (const GOptionEntry *entries, int *argc, char ***argv, GError **error)
{
  g_autoptr (GArray) plain = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  g_autoptr (GOptionContext) options = g_option_context_new (NULL);
  for (; entries->long_name; entries++)
    if (!lig_cli_is_group (entries) && strcmp (entries->long_name, "help") != 0)
      g_array_append_val (plain, *entries);
  g_option_context_set_help_enabled (options, FALSE);
  g_option_context_add_main_entries (options, (const GOptionEntry *) (gpointer) plain->data, NULL);
  if (!g_option_context_parse (options, argc, argv, error))
    return;
  /* GLib keeps it in argv if the next word begins with a dash. */
  for (int i = 1; i < *argc; i++)
    if (strcmp ((*argv)[i], "--") == 0) {
      memmove (*argv + i, *argv + i + 1, (gsize) (*argc - i) * sizeof **argv);
      --*argc;
      break;
    }
}

/* Returns the first verb among the words, NULL if there is none. */
static const LigCliVerb *
find_verb (const LigCommand *command, char **words)
{
  const LigCliVerb *verb = NULL;
  for (; *words && !verb; words++)
    verb = lig_cli_find_verb (command, *words);
  return verb;
}

/* Takes --color and --no-pager, which also apply to help texts. */
static void
take_output_options (char **words)
{
  for (; *words && strcmp (*words, "--") != 0; words++)
    if (strcmp (*words, "--no-pager") == 0)
      no_pager = TRUE;
    else if (g_str_has_prefix (*words, "--color"))
      colour = (*words)[7] == '=' ? *words + 8 : words[1];
}

/* Applies --color and --no-pager; `pages` is whether the command's output is paged. */
static void
prepare_output (gboolean pages)
{
  lig_cli_set_colour (colour);
  if (pages && !no_pager && !lig_cli_json ())
    lig_cli_page ();
}

/* Returns whether the words are `lig COMMAND help` or `lig COMMAND help VERB`. */
static gboolean
asks_for_help (const LigCommand *command, int argc, char **argv)
{
  return argc > 1 && strcmp (argv[1], "help") == 0 && strcmp (command->name, "help") != 0 &&
         (argc == 2 || (argc == 3 && command->verb_nth)) &&
         !g_file_test ("help", G_FILE_TEST_EXISTS);
}

static void
print_help (const Line *line, char **words)
{
  prepare_output (TRUE);
  lig_cli_print_options (line->command, find_verb (line->command, words), line->entries,
                         line->help > 1);
  exit (LIG_EXIT_OK);
}

/* Prints the help text that the words `help` or `help VERB` ask for. */
static gboolean
print_verb_help (const LigCommand *command, int argc, char **argv)
{
  const LigCliVerb *verb = argc > 2 ? lig_cli_find_verb (command, argv[2]) : NULL;
  if (argc > 2 && !verb)
    return lig_cli_reject_verb (command, argv[2]) == LIG_EXIT_OK;
  prepare_output (TRUE);
  lig_cli_print_help (command, verb);
  exit (LIG_EXIT_OK);
}

/* Checks that the verb has all options that were given. */
static gboolean
check_verb (const Line *line, const LigCliVerb *verb)
{
  for (guint i = 0; verb && verb->options && i < line->given->len; i++) {
    const GOptionEntry *entry = line->given->pdata[i];
    if (lig_cli_verb_has (verb, lig_cli_group_of (line->entries, entry), entry->long_name))
      continue;
    lig_cli_usage ("lig %s %s has no option --%s; see lig help %s %s", line->command->name,
                   verb->name, entry->long_name, line->command->name, verb->name);
    return FALSE;
  }
  return TRUE;
}

/* Rejects a missing or an additional argument. The words of an expression without quotes are
 * several arguments. */
static gboolean
reject_count (const Line *line, int count, int max, char **words)
{
  const char *usage = line->command->usage;
  const char *end = strstr (usage, " [-");
  g_autofree char *needed = end ? g_strndup (usage, (gsize) (end - usage)) : g_strdup (usage);
  const char *name = line->command->name;
  if (count <= max && line->command->verb_nth)
    return reject (line, "%s needs a verb, %s", name, needed);
  if (count <= max)
    return reject (line, "%s needs %s%s", name, g_str_equal (needed, "P") ? "a sequence " : "",
                   needed);
  if (*usage != 'P')
    return reject (line, "argument '%s' is unexpected", words[max]);
  return reject (line, "argument '%s' is unexpected; write an expression in quotes", words[max]);
}

gboolean
lig_cli_parse (
  const LigCommand *command, const GOptionEntry *entries, int *argc, char ***argv, int min, int max)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) all = join (entries);
  g_autoptr (GPtrArray) given = g_ptr_array_new ();
  Line line = {command, (const GOptionEntry *) (gpointer) all->data, given, 0, NULL};
  if (lig_cli_hand_over (command, line.entries))
    return FALSE;
  lig_cli_settle_switches (line.entries, argc, *argv);
  take_output_options (*argv + 1);
  if (!check (&line, *argv + 1))
    return FALSE;
  if (line.help && line.word && command->verb_nth && strcmp (line.word, "help") != 0 &&
      !lig_cli_find_verb (command, line.word))
    return lig_cli_reject_verb (command, line.word) == LIG_EXIT_OK;
  if (line.help)
    print_help (&line, *argv + 1);
  parse (line.entries, argc, argv, &error);
  if (error)
    return reject (&line, "%s", error->message);
  if (asks_for_help (command, *argc, *argv))
    return print_verb_help (command, *argc, *argv);
  if (*argc - 1 < min || *argc - 1 > max)
    return reject_count (&line, *argc - 1, max, *argv + 1);
  const LigCliVerb *verb = *argc > 1 ? lig_cli_find_verb (command, (*argv)[1]) : NULL;
  if (!check_verb (&line, verb))
    return FALSE;
  prepare_output (verb ? verb->pages : command->pages);
  lig_cli_remember_given (given);
  return TRUE;
}
