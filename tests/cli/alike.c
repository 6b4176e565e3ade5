/* SPDX-License-Identifier: MIT */
/* Tests that an option is the same in all commands that have it: name, kind of value, description
 * and errors about its value. The options are those of `lig --generate options`, so that a new
 * command is also tested. */
#include "tests/cli/switch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
  char *command, *name, *letter, *kind, *argument, *help;
} Option;

static void
free_option (gpointer data)
{
  Option *self = data;
  char **fields[] = {&self->command, &self->name,     &self->letter,
                     &self->kind,    &self->argument, &self->help};
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    g_free (*fields[i]);
  g_free (self);
}

static GPtrArray *
read_options (void)
{
  GPtrArray *options = g_ptr_array_new_with_free_func (free_option);
  g_auto (Outcome) found = lig ("--generate", "options", NULL);
  g_assert_cmpint (found.code, ==, 0);
  g_auto (GStrv) lines = g_strsplit (g_strchomp (found.out), "\n", -1);
  for (char **line = lines; *line; line++) {
    g_auto (GStrv) words = g_strsplit (*line, "\t", -1);
    g_assert_cmpuint (g_strv_length (words), ==, 6);
    Option option = {words[0], words[1], words[2], words[3], words[4], words[5]};
    memset (words, 0, 6 * sizeof *words);
    g_ptr_array_add (options, g_memdup2 (&option, sizeof option));
  }
  g_assert_cmpuint (options->len, >, 80);
  return options;
}

/* Options that differ for a reason. A name that has another meaning in some command belongs here
 * only if scripts rely on both. */
static const struct {
  const char *command, *name, *why;
} different[] = {
  {"apply", "input", "the file has the tensors, and their shape"},
  {"apply", "policy", "its default is all, because measuring does not pay off for a single run"},
  {"check", "device", "its default is null, as nothing is chosen for a device"},
  {"runs", "device", "it selects runs"},
  {"runs", "name", "it selects runs by their name"},
  {"runs", "sweep", "it selects runs"},
  {"fuse", "all", "all verdicts"},
  {"runs", "all", "all runs"},
  {"report", "format", "the formats of reports"},
  {"runs", "format", "the formats of metrics"},
  {"profile", "steps", "the steps that are timed, not those of a training run"},
  {"profile", "compare", "policies"},
  {"verify", "weights", "a run has its own"},
  {"apply", "weights", "a run has its own"},
  {"predict", "weights", "a run has its own"},
  {"generate", "weights", "a run has its own"},
  {"predict", "input", "the file has rows, and their shape"},
  {"predict", "output", "csv or tensors, by default on standard output"},
  {"predict", "batch", "rows that are predicted at once"},
  {"predict", "data", "only for weights that lack their columns"},
  {"predict", "lines", "rows instead of texts"},
  {"generate", "seed", "of the draws"},
  {"export-weights", "vocabulary", "rows that are written"},
  {"export", "weights", "a run has its own"},
  {"export", "recipe", "only none"},
  {"generate", "vocabulary", "has more defaults than the setting"},
  {"plan", "optimizer", "none unless it is given"},
  {"check", "optimizer", "none unless it is given"},
  {"fuse", "optimizer", "none unless it is given"},
  {"report", "optimizer", "none unless it is given"},
  {"fit", "optimizer", "none unless it is given"},
  {"diff", "optimizer", "none unless it is given"},
  {"runs", "histograms", "shows what was recorded"},
  {"train", "resume", "a training run"},
  {"sweep", "resume", "a sweep"},
  {"train", "quiet", "its result is a uuid"},
  {"sweep", "quiet", "its result is a uuid"},
};

static gboolean
is_different (const Option *option)
{
  for (guint i = 0; i < G_N_ELEMENTS (different); i++)
    if (g_str_equal (different[i].command, option->command) &&
        g_str_equal (different[i].name, option->name))
      return TRUE;
  return FALSE;
}

/* Commands that run something cannot use a device description, and start ranks. */
static gboolean
runs_otherwise (const Option *a, const Option *b)
{
  static const char *const running[] = {"apply", "generate", "predict", "profile",
                                        "sweep", "train",    "verify",  NULL};
  return (g_str_equal (a->name, "device") || g_str_equal (a->name, "ranks")) &&
         g_strv_contains (running, a->command) != g_strv_contains (running, b->command);
}

static void
test_tables (void)
{
  guint shared = 0;
  g_autoptr (GPtrArray) options = read_options ();
  for (guint i = 0; i < options->len; i++)
    for (guint k = 0; k < i; k++) {
      const Option *a = options->pdata[k], *b = options->pdata[i];
      if (!g_str_equal (a->name, b->name) || is_different (a) || is_different (b))
        continue;
      shared++;
      gboolean alike = g_str_equal (a->letter, b->letter) && g_str_equal (a->kind, b->kind) &&
                       g_str_equal (a->argument, b->argument) &&
                       (g_str_equal (a->help, b->help) || runs_otherwise (a, b));
      if (!alike)
        g_error ("--%s differs: lig %s has '%s' %s %s, lig %s has '%s' %s %s", a->name, a->command,
                 a->help, a->argument, a->letter, b->command, b->help, b->argument, b->letter);
    }
  g_assert_cmpuint (shared, >, 100);
  /* An unused exception would hide the next difference. */
  for (guint i = 0; i < G_N_ELEMENTS (different); i++) {
    gboolean found = FALSE;
    for (guint k = 0; k < options->len; k++)
      found |= g_str_equal (((const Option *) options->pdata[k])->name, different[i].name) &&
               g_str_equal (((const Option *) options->pdata[k])->command, different[i].command);
    if (!found)
      g_error ("lig %s has no option --%s", different[i].command, different[i].name);
  }
}

/* A letter means the same option in all commands. */
static void
test_letters (void)
{
  g_autoptr (GPtrArray) options = read_options ();
  for (guint i = 0; i < options->len; i++)
    for (guint k = 0; k < i; k++) {
      const Option *a = options->pdata[k], *b = options->pdata[i];
      if (*a->letter && g_str_equal (a->letter, b->letter))
        g_assert_cmpstr (a->name, ==, b->name);
    }
}

/* The arguments that complete a command line of each command, except the tested option. */
static const struct {
  const char *command, *arguments;
} usual[] = {
  {"check", "gelu"},
  {"fuse", "gelu"},
  {"plan", "gelu"},
  {"profile", "gelu --steps 1"},
  {"verify", "gelu"},
  {"report", "gelu -o x.md"},
  {"apply", "gelu --input x.safetensors -o y.safetensors"},
  {"train", "'linear(2) ! mean-squared-error' --data synthetic --steps 1"},
  {"sweep", "'linear(2) ! mean-squared-error' --data synthetic --steps 1 --over lr=0.1,0.2"},
};

static Outcome
run_with (guint command, const char *option)
{
  gboolean file = g_str_equal (usual[command].command, "apply");
  g_autofree char *line =
    g_strdup_printf ("lig %s %s %s %s --json", usual[command].command, usual[command].arguments,
                     option, file || strstr (option, "--input") ? "" : "--input 4x2");
  return shell (line);
}

static gboolean
has_option (GPtrArray *options, const char *command, const char *name)
{
  for (guint i = 0; i < options->len; i++) {
    const Option *option = options->pdata[i];
    if (g_str_equal (option->command, command) && g_str_equal (option->name, name))
      return TRUE;
  }
  return FALSE;
}

/* Returns the message of an error without the name of the command, which may appear at its end. */
static char *
read_message (const Outcome *outcome)
{
  const char *message = text_at (outcome->json, "error.message");
  const char *end = strstr (message, "; see lig");
  return g_strndup (message, end ? (gsize) (end - message) : strlen (message));
}

/* A wrong value gives the same error in each command. */
static void
test_errors (void)
{
  static const struct {
    const char *name, *option;
  } wrong[] = {
    {"device", "--device nothing"},
    {"dtype", "--dtype fp33"},
    {"dtype", "--dtype int32"},
    {"policy", "--policy some"},
    {"seed", "--seed -1"},
    {"seed", "--seed many"},
    {"batch", "--batch -1"},
    {"tf32", "--tf32=maybe"},
    {"no-tf32", "--no-tf32=1"},
    {"forbid", "--forbid nothing"},
    {"force", "--force forward-add-norm"},
    {"json", "--json=1"},
    {"input", "--input 4xx"},
    {"input", "--input 4x2:fp99"},
  };
  g_autoptr (GPtrArray) options = read_options ();
  g_autofree char *tensors = in_folder ("x.safetensors");
  const char header[] = "@\0\0\0\0\0\0\0{\"input\":{\"dtype\":\"F32\",\"shape\":[1,2],"
                        "\"data_offsets\":[0,8]}}    \0\0\200?\0\0\0@";
  g_assert_true (g_file_set_contents (tensors, header, sizeof header - 1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autofree char *first = NULL;
    for (guint k = 0; k < G_N_ELEMENTS (usual); k++) {
      gboolean tensors_file =
        g_str_equal (usual[k].command, "apply") && g_str_equal (wrong[i].name, "input");
      if (!has_option (options, usual[k].command, wrong[i].name) || tensors_file)
        continue;
      g_auto (Outcome) found = run_with (k, wrong[i].option);
      if (found.code != 2 || !found.json)
        g_error ("lig %s %s: exit code %d: %s", usual[k].command, wrong[i].option, found.code,
                 found.err);
      g_autofree char *message = read_message (&found);
      if (!first)
        first = g_steal_pointer (&message);
      else
        g_assert_cmpstr (message, ==, first);
    }
    g_assert_nonnull (first);
  }
}

/* A device description is a command-line error in each command that runs something. */
static void
test_described (void)
{
  static const char *const running[] = {"apply", "generate", "predict", "profile",
                                        "sweep", "train",    "verify",  NULL};
  for (guint k = 0; k < G_N_ELEMENTS (usual); k++) {
    g_auto (Outcome) found = run_with (k, "--device null:h200");
    if (g_strv_contains (running, usual[k].command))
      assert_failed (&found, 2, "usage", "only a description and cannot run");
    else
      g_assert_cmpint (found.code, ==, 0);
  }
}

/* The switch has one form, and the values of older command lines are accepted. */
static void
test_tf32 (void)
{
  static const struct {
    const char *option;
    gint64 value;
  } forms[] = {
    {"", 0},           {"--tf32", 1},    {"--no-tf32", 0},        {"--tf32=1", 1},
    {"--tf32=0", 0},   {"--tf32 1", 1},  {"--tf32 0", 0},         {"--tf32=true", 1},
    {"--tf32=off", 0}, {"--tf32=no", 0}, {"--tf32 --no-tf32", 0}, {"--no-tf32 --tf32", 1},
  };
  g_autoptr (GPtrArray) options = read_options ();
  for (guint k = 0; k < G_N_ELEMENTS (usual); k++)
    g_assert_true (has_option (options, usual[k].command, "tf32") &&
                   has_option (options, usual[k].command, "no-tf32"));
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++) {
    g_autofree char *line = g_strdup_printf (
      "lig train 'linear(2) ! mean-squared-error' --input 4x2 --data synthetic --steps 1 "
      "--device cpu %s --json > train.json && lig runs show last --json",
      forms[i].option);
    g_auto (Outcome) run = shell (line);
    g_assert_cmpint (run.code, ==, 0);
    g_assert_cmpint (int_at (run.json, "settings.tf32"), ==, forms[i].value);
    check_plans ("tf32", forms[i].option, forms[i].value == 1);
  }
  check_runs ("tf32", "tf32.lig");
}

/* --- -o - ---------------------------------------------------------------------------------- */

static const struct {
  const char *command, *line, *begin;
  gboolean text;
} writers[] = {
  {"fuse",
   "lig fuse 'layer-norm ! linear(64) ! | ! gelu' --input 64x64 --device null:h200 --apply-fix 1",
   "{\n  \"ligature\"", TRUE},
  {"report", "lig report gelu --input 4x8 --device cpu --format csv", "index,pass,", TRUE},
  {"report", "lig report gelu --input 4x8 --device cpu --format png", "\211PNG", FALSE},
  {"report", "lig report gelu --input 4x8 --device cpu --format pdf", "%PDF", FALSE},
  {"diff", "lig diff gelu relu --input 4x8 --device cpu --format csv", "pass,", TRUE},
  {"devices", "lig devices null:h200", "{\n  \"name\": \"NVIDIA H200\"", TRUE},
  {"apply", "lig apply gelu --input x.safetensors --device cpu", "@", FALSE},
  {"export-weights", "lig export-weights 'linear(2)' --input 4x8", "\200", FALSE},
  {"export", "lig export 'linear(2)' --input 4x8", "\010\010", FALSE},
  {"predict", "lig predict last --input x.safetensors --device cpu", "prediction.0,", TRUE},
  {"runs", "lig runs export last --format csv", "step,", TRUE},
};

/* Returns what the line prints to a terminal. */
static char *
print_to_terminal (const char *line, int *code)
{
  int terminal = posix_openpt (O_RDWR | O_NOCTTY | O_CLOEXEC);
  g_assert_cmpint (terminal, >=, 0);
  g_assert_true (grantpt (terminal) == 0 && unlockpt (terminal) == 0);
  g_autofree char *whole = g_strdup_printf ("%s > %s", line, ptsname (terminal));
  int keep = open (ptsname (terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  g_auto (Outcome) found = shell (whole);
  *code = found.code;
  close (keep);
  close (terminal);
  return g_strdup (found.err);
}

static void
test_standard_output (void)
{
  g_auto (Outcome) trained = shell ("lig train 'linear(2) ! mean-squared-error' --input 4x2 --data "
                                    "synthetic --steps 1 --device cpu");
  g_assert_cmpint (trained.code, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (writers); i++) {
    int code;
    g_autofree char *plain = g_strdup_printf ("%s -o -", writers[i].line);
    g_autofree char *both = g_strdup_printf ("%s -o - --json", writers[i].line);
    g_auto (Outcome) found = shell (plain);
    if (found.code != 0 || !g_str_has_prefix (found.out, writers[i].begin))
      g_error ("%s: exit code %d: %.20s: %s", plain, found.code, found.out, found.err);
    g_auto (Outcome) rejected = shell (both);
    assert_failed (&rejected, 2, "usage", "--json and -o - both write to standard output");
    g_autofree char *message = print_to_terminal (plain, &code);
    g_assert_cmpint (code, ==, writers[i].text ? 0 : 2);
    if (!writers[i].text)
      assert_contains (message,
                       "is not text and cannot go to a terminal; give -o FILE, or redirect");
    /* Nothing is written to a file called `-`. */
    g_autofree char *file = in_folder ("-");
    g_assert_false (g_file_test (file, G_FILE_TEST_EXISTS));
  }
  /* A pipe gets the bytes of the file. */
  g_auto (Outcome) same =
    shell ("lig apply gelu --input x.safetensors --device cpu -o y.safetensors "
           "&& lig apply gelu --input x.safetensors --device cpu -o - | "
           "cmp - y.safetensors");
  g_assert_cmpint (same.code, ==, 0);
  /* Each command with -o is tested. */
  g_autoptr (GPtrArray) options = read_options ();
  for (guint i = 0; i < options->len; i++) {
    const Option *option = options->pdata[i];
    gboolean tested = !g_str_equal (option->name, "output");
    for (guint k = 0; k < G_N_ELEMENTS (writers); k++)
      tested |= g_str_equal (writers[k].command, option->command);
    if (!tested)
      g_error ("-o - of lig %s is not tested", option->command);
  }
  g_auto (Outcome) format = lig ("report", "gelu", "--input", "4x8", "-o", "-", "--json", NULL);
  assert_failed (&format, 2, "usage", "choose the format with --format: md, html, json");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/alike/tables", test_tables);
  g_test_add_func ("/alike/letters", test_letters);
  g_test_add_func ("/alike/errors", test_errors);
  g_test_add_func ("/alike/described", test_described);
  g_test_add_func ("/alike/tf32", test_tf32);
  g_test_add_func ("/alike/standard-output", test_standard_output);
  return run_cli_tests ();
}
