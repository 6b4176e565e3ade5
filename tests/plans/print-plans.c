/* SPDX-License-Identifier: MIT */
/* Prints the plans of standard input, a case on each line: options as those of `lig plan`, and what
 * that command has no option for, then a sequence's file or expression. Each case is a line of the
 * output, the checksum of its texts; with --whole the texts. tests/plans/oracle.py compares them
 * with those of an earlier commit. */
#include <ligature/compile.h>
#include <ligature/error.h>
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/policy.h>
#include <ligature/report.h>

#include <stdio.h>
#include <string.h>

typedef struct {
  char *input, *device, *dtype, *recipe, *optimizer, *policy, *recompute, *parallel, *freeze,
    *force;
  int ranks, rank;
  gint64 bucket;
  gboolean eval, tf32, accumulate, accuracy, calibrating, keep, recall, shard, input_gradient;
  GStrv words;
} Case;

static void
case_clear (Case *self)
{
  char **texts[] = {&self->input,     &self->device, &self->dtype,     &self->recipe,
                    &self->optimizer, &self->policy, &self->recompute, &self->parallel,
                    &self->freeze,    &self->force};
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (*texts[i]);
  g_strfreev (self->words);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Case, case_clear)

#define TEXT(name, field) \
  { \
    name, 0, 0, G_OPTION_ARG_STRING, &self->field, "", NULL \
  }
#define TRUTH(name, field) \
  { \
    name, 0, 0, G_OPTION_ARG_NONE, &self->field, "", NULL \
  }

static gboolean
parse_case (Case *self, const char *line, GError **error)
{
  const GOptionEntry entries[] = {
    TEXT ("input", input),
    TEXT ("device", device),
    TEXT ("dtype", dtype),
    TEXT ("recipe", recipe),
    TEXT ("optimizer", optimizer),
    TEXT ("policy", policy),
    TEXT ("recompute", recompute),
    TEXT ("parallel", parallel),
    TEXT ("freeze", freeze),
    TEXT ("force", force),
    {"ranks", 0, 0, G_OPTION_ARG_INT, &self->ranks, "", NULL},
    {"rank", 0, 0, G_OPTION_ARG_INT, &self->rank, "", NULL},
    {"bucket", 0, 0, G_OPTION_ARG_INT64, &self->bucket, "", NULL},
    TRUTH ("eval", eval),
    TRUTH ("tf32", tf32),
    TRUTH ("accumulate", accumulate),
    TRUTH ("accuracy", accuracy),
    TRUTH ("calibrating", calibrating),
    TRUTH ("keep-values", keep),
    TRUTH ("recall", recall),
    TRUTH ("shard-optimizer", shard),
    TRUTH ("input-gradient", input_gradient),
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &self->words, "", NULL},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
  };
  g_autofree char *whole = g_strconcat ("case ", line, NULL);
  g_auto (GStrv) arguments = NULL;
  g_autoptr (GOptionContext) options = g_option_context_new (NULL);
  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_shell_parse_argv (whole, NULL, &arguments, error) ||
      !g_option_context_parse_strv (options, &arguments, error))
    return FALSE;
  if (self->words && self->words[0] && !self->words[1])
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "the line names no sequence, or several");
  return FALSE;
}

static gboolean
set_types (const Case *self, LigPlanOptions *options, GError **error)
{
  LigDtype dtype;
  if (!self->dtype)
    return TRUE;
  g_auto (GStrv) types = g_strsplit (self->dtype, ":", 2);
  if (!lig_dtype_from_name (types[0], &dtype)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "no type %s", types[0]);
    return FALSE;
  }
  options->compute = (int) dtype;
  return !types[1] || lig_parameters_from_name (types[1], &options->parameters);
}

static gboolean
set_options (const Case *self,
             LigSequence *sequence,
             const LigLayout *layout,
             LigOptimizer *optimizer,
             LigPlanOptions *options,
             GError **error)
{
  options->training = !self->eval;
  options->input_gradient = self->input_gradient;
  options->tf32 = self->tf32;
  options->accumulate = self->accumulate;
  options->accuracy = self->accuracy;
  options->calibrating = self->calibrating;
  options->keep_values = self->keep;
  options->recall = self->recall;
  options->shard_optimizer = self->shard;
  options->bucket_bytes = self->bucket > 0 ? self->bucket : options->bucket_bytes;
  options->freeze = self->freeze;
  options->recipe = self->recipe;
  if (self->policy)
    lig_policy_from_name (self->policy, &options->policy);
  if (self->recompute)
    lig_recompute_from_name (self->recompute, &options->recompute);
  if (self->optimizer && !lig_optimizer_init (optimizer, self->optimizer, error))
    return FALSE;
  options->optimizer = self->optimizer ? optimizer : NULL;
  return set_types (self, options, error) &&
         (self->ranks < 2 || lig_plan_options_shard (options, sequence, layout, error));
}

static LigSequence *
read_sequence (const Case *self, GError **error)
{
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  const char *text = self->words[0];
  g_autoptr (LigSequence) sequence = g_str_has_suffix (text, ".lig")
                                       ? lig_sequence_load (text, NULL, error)
                                       : lig_sequence_from_expression (text, error);
  if (!sequence || (self->input && !lig_shape_parse (self->input, &shape, &dtype, error)))
    return NULL;
  if (self->input)
    lig_sequence_set_input (sequence, &shape, dtype);
  if (self->force) {
    g_auto (GStrv) words = g_strsplit (self->force, "@", 2);
    LigOp *op = lig_sequence_find (sequence, words[1], error);
    if (!op)
      return NULL;
    lig_op_set_forced (op, (const char *const[]){words[0], NULL});
  }
  return g_steal_pointer (&sequence);
}

static LigPlan *
compile (const Case *self, GError **error)
{
  LigLayout layout;
  LigOptimizer optimizer;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = read_sequence (self, error);
  g_autoptr (LigDevice) device =
    sequence ? lig_device_open (self->device ? self->device : "null", error) : NULL;
  if (!device)
    return NULL;
  if (self->ranks > 1) {
    if (!lig_layout_parse (&layout, self->parallel, self->ranks, error))
      return NULL;
    lig_device_assume_ranks (device, self->rank, &layout);
  }
  return set_options (self, sequence, &layout, &optimizer, &options, error)
           ? lig_plan_compile (sequence, device, &options, error)
           : NULL;
}

static void
append (const char *text, gsize length, gpointer to)
{
  g_string_append_len (to, text, (gssize) length);
}

static char *
print_case (const char *line)
{
  g_auto (Case) self = {0};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plan = parse_case (&self, line, &error) ? compile (&self, &error) : NULL;
  if (!plan)
    return g_strconcat ("error: ", error->message, "\n", NULL);
  g_autofree char *text = lig_plan_to_text (plan);
  GString *whole = g_string_new (text);
  lig_plan_write_json (plan, append, whole);
  return g_string_free (whole, FALSE);
}

int
main (int argc, char **argv)
{
  gboolean whole = argc > 1 && strcmp (argv[1], "--whole") == 0;
  char line[1 << 14];
  while (fgets (line, sizeof line, stdin)) {
    g_autofree char *text = print_case (line);
    g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
    if (whole)
      fputs (text, stdout);
    else
      printf ("%s%s\n", g_str_has_prefix (text, "error: ") ? "rejected " : "", sum);
    fflush (stdout);
  }
  return ferror (stdin) ? 1 : 0;
}
