/* SPDX-License-Identifier: MIT */
/* lig generate: continues texts with a trained model. */
#include "app/cli/generate-lines.h"

#include "app/cli/blame.h"
#include "app/cli/document.h"
#include "app/cli/model.h"
#include "app/cli/shared-options.h"
#include "app/cli/task.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *weights, *vocabulary, *length_text;
static GStrv prompts, prompt_files, token_lists, stops;
static gboolean lines, dry_run, no_cache;
static gint64 copies;

static int run (int argc, char **argv);

LIG_COMMAND (generate) = {
  .name = "generate",
  .usage = "RUN|P --prompt TEXT [--weights W] [--max N] [--temperature X] …",
  .summary = "Continues texts with a trained model",
  .example =
    "printf 'one two three one two three one two three' > count.txt && lig train "
    "'embedding(16) ! position-embedding(8) ! transformer-layer(2) ! linear(256) ! "
    "cross-entropy' --input 2x8:int32 --data text:count.txt --steps 20 --name count && lig "
    "generate count --prompt one --max 20",
  .run = run,
};

static const GOptionEntry own_entries[] = {
  LIG_CLI_GROUP ("Prompt"),
  {"prompt", 0, 0, G_OPTION_ARG_STRING_ARRAY, &prompts, "The beginning of a text" LIG_CLI_SEVERAL,
   "TEXT"},
  {"prompt-file", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &prompt_files,
   "A file with the beginning of a text" LIG_CLI_SEVERAL, "FILE"},
  {"tokens", 0, 0, G_OPTION_ARG_STRING_ARRAY, &token_lists,
   "The beginning of a text as tokens" LIG_CLI_SEVERAL, "1,2,3"},
  LIG_CLI_GROUP ("Model"),
  {"weights", 0, 0, G_OPTION_ARG_FILENAME, &weights,
   "Parameters: a file, a folder or a run [default: those of the run]", "W|RUN"},
  {"vocabulary", 0, 0, G_OPTION_ARG_FILENAME, &vocabulary,
   "A tokenizer.json, or a tokenizer of llm.c [default: that of the training data, else the one "
   "next to the weights, else bytes for up to 256 tokens]",
   "FILE"},
  {"no-cache", 0, 0, G_OPTION_ARG_NONE, &no_cache,
   "Compute the window again for each token, for comparison", NULL},
  {"length", 0, 0, G_OPTION_ARG_STRING, &length_text,
   "Tokens that the model reads at once [default: as in training]", "N"},
  LIG_CLI_GROUP (LIG_CLI_OUTPUT),
  {"lines", 0, 0, G_OPTION_ARG_NONE, &lines,
   "Read requests as lines of JSON from standard input, write tokens as lines of JSON", NULL},
  {"dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run, "Only print what would be used", NULL},
  {NULL},
};

/* --- Options of sampling ------------------------------------------------------------------- */

static struct {
  char *max, *temperature, *top_k, *top_p, *min_p, *repetition, *seed, *copies;
} given;

static const GOptionEntry sampling_entries[] = {
  LIG_CLI_GROUP ("Sampling"),
  {"max", 0, 0, G_OPTION_ARG_STRING, &given.max, "New tokens of a text [default: 256]", "N"},
  {"temperature", 0, 0, G_OPTION_ARG_STRING, &given.temperature,
   "Divisor of the logits; 0: the most probable token [default: 0.8]", "X"},
  {"top-k", 0, 0, G_OPTION_ARG_STRING, &given.top_k,
   "Draw among the N most probable tokens; 0: all [default: 0]", "N"},
  {"top-p", 0, 0, G_OPTION_ARG_STRING, &given.top_p,
   "Draw among the most probable tokens with this probability together [default: 1]", "X"},
  {"min-p", 0, 0, G_OPTION_ARG_STRING, &given.min_p,
   "Draw no token less probable than this share of the most probable one [default: 0]", "X"},
  {"repetition", 0, 0, G_OPTION_ARG_STRING, &given.repetition,
   "Penalty of tokens that the text already has; 1: none [default: 1]", "X"},
  {"seed", 0, 0, G_OPTION_ARG_STRING, &given.seed, "Seed of the draws [default: 0]", "N"},
  {"stop", 0, 0, G_OPTION_ARG_STRING_ARRAY, &stops, "A text that ends a text" LIG_CLI_SEVERAL,
   "TEXT"},
  {"copies", 0, 0, G_OPTION_ARG_STRING, &given.copies,
   "Continuations of each prompt, with seeds one after the other [default: 1]", "N"},
  {NULL},
};

static gboolean
read_number (const char *name, const char *text, double *value, GError **error)
{
  char *end;
  if (!text)
    return TRUE;
  *value = g_ascii_strtod (text, &end);
  if (*text && !*end)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%s '%s': expected a number",
               name, text);
  return FALSE;
}

static gboolean
read_count (const char *name, const char *text, gint64 min, gint64 *value, GError **error)
{
  if (!text || g_ascii_string_to_signed (text, 10, min, G_MAXINT32, value, NULL))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--%s '%s': expected a whole number from %" G_GINT64_FORMAT " to %d", name, text,
               min, G_MAXINT32);
  return FALSE;
}

static gboolean
read_sampling (LigSampling *sampling, gint64 *length, GError **error)
{
  gint64 seed = 0;
  *sampling = (LigSampling) LIG_SAMPLING_INIT;
  sampling->temperature = 0.8;
  sampling->max_tokens = 256;
  copies = 1;
  *length = 0;
  if (!read_number ("temperature", given.temperature, &sampling->temperature, error) ||
      !read_number ("top-p", given.top_p, &sampling->top_p, error) ||
      !read_number ("min-p", given.min_p, &sampling->min_p, error) ||
      !read_number ("repetition", given.repetition, &sampling->repetition, error) ||
      !read_count ("top-k", given.top_k, 0, &sampling->top_k, error) ||
      !read_count ("max", given.max, 1, &sampling->max_tokens, error) ||
      !read_count ("copies", given.copies, 1, &copies, error) ||
      !read_count ("length", length_text, 1, length, error) ||
      !read_count ("seed", given.seed, 0, &seed, error))
    return FALSE;
  sampling->seed = (guint64) seed;
  return lig_sampling_check (sampling, error) || lig_cli_blame_named (error);
}

/* --- The model ----------------------------------------------------------------------------- */

/* Returns the tokenizer.json next to the weights (transfer full) (nullable). */
static char *
find_near_vocabulary (const LigCliModel *model)
{
  if (!model->weights)
    return NULL;
  g_autofree char *folder = g_file_test (model->weights, G_FILE_TEST_IS_DIR)
                              ? g_strdup (model->weights)
                              : g_path_get_dirname (model->weights);
  g_autofree char *path = g_build_filename (folder, "tokenizer.json", NULL);
  return g_file_test (path, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer (&path) : NULL;
}

/* Opens the tokenizer, null with the error unset if none is known. */
static LigTokenizer *
open_vocabulary (const LigCliModel *model, gint64 size, GError **error)
{
  g_autofree char *path = vocabulary ? g_strdup (vocabulary) : g_strdup (model->vocabulary);
  if (!path)
    path = find_near_vocabulary (model);
  if (!path)
    return size <= 256 ? lig_tokenizer_new_bytes () : NULL;
  g_autoptr (LigTokenizer) tokenizer = lig_tokenizer_open (path, error);
  gint32 tokens = tokenizer ? lig_tokenizer_get_size (tokenizer) : 0;
  if (tokens > size) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "%s has size %d, the vocabulary of the model %" G_GINT64_FORMAT
                 "; give the tokenizer that it was trained with",
                 path, tokens, size);
    return NULL;
  }
  return g_steal_pointer (&tokenizer);
}

/* The program that generates, and all that it needs. */
typedef struct {
  LigCliModel model;
  LigDevice *device;
  LigGenerator *generator;
  LigTokenizer *tokenizer;
} Engine;

static void
clear_engine (Engine *self)
{
  g_clear_pointer (&self->generator, lig_generator_free);
  g_clear_pointer (&self->tokenizer, lig_tokenizer_unref);
  g_clear_object (&self->device);
  lig_cli_model_clear (&self->model);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Engine, clear_engine)

static gboolean
open_engine (
  Engine *self, const char *text, const LigSequenceOptions *options, gint64 length, GError **error)
{
  g_autoptr (LigPlanOptions) plan = lig_cli_new_plan_options ();
  LigGeneratorOptions own = LIG_GENERATOR_OPTIONS_INIT;
  lig_run_settings_init (&self->model.settings);
  if (!lig_cli_open_model (text, weights, options, &self->model, error))
    return FALSE;
  if (!self->model.weights) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "'%s' has no trained weights; give a run, such as last, or --weights", text);
    return FALSE;
  }
  if (!lig_cli_model_options (&self->model, options, plan, error))
    return FALSE;
  own.plan = plan;
  own.length = length;
  own.fill = '\n';
  own.recompute = no_cache;
  lig_cli_task_begin ("generating");
  lig_cli_task_detail ("planning", NULL);
  self->device = lig_cli_open_device (options, error);
  g_autoptr (LigState) state =
    self->device ? lig_cli_load_model (&self->model, self->device, plan, 0, error) : NULL;
  self->generator = state ? lig_generator_new (self->model.sequence, state, &own, error) : NULL;
  lig_cli_task_end ();
  if (!self->generator)
    return FALSE;
  g_autoptr (GError) local = NULL;
  self->tokenizer =
    open_vocabulary (&self->model, lig_generator_get_vocabulary (self->generator), &local);
  if (local)
    g_propagate_error (error, g_steal_pointer (&local));
  return self->tokenizer || !error || !*error;
}

/* Returns the tokens that end a text: those that models end with, and the special tokens that
 * --stop names. */
static GArray *
list_stops (LigTokenizer *tokenizer)
{
  static const char *const usual[] = {
    "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|im_end|>", "</s>", NULL};
  GArray *tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
  const char *const *lists[] = {usual, (const char *const *) stops};
  for (guint i = 0; tokenizer && i < G_N_ELEMENTS (lists); i++)
    for (guint k = 0; lists[i] && lists[i][k]; k++) {
      gint32 token = lig_tokenizer_find (tokenizer, lists[i][k]);
      if (token >= 0)
        g_array_append_val (tokens, token);
    }
  return tokens;
}

/* --- Prompts ------------------------------------------------------------------------------- */

static GArray *
parse_tokens (const char *text, GError **error)
{
  g_autoptr (GArray) tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  for (char **word = words; *word; word++) {
    gint64 number;
    if (!g_ascii_string_to_signed (*word, 10, 0, G_MAXINT32, &number, NULL)) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--tokens '%s': expected numbers separated by commas, such as 1,2,3", text);
      return NULL;
    }
    gint32 token = (gint32) number;
    g_array_append_val (tokens, token);
  }
  return g_steal_pointer (&tokens);
}

/* Adds a text to the list. */
static gboolean
add_text (
  GPtrArray *texts, LigTokenizer *tokenizer, const char *prompt, GArray *tokens, GError **error)
{
  for (gint64 i = 0; i < copies; i++) {
    LigCliText *text =
      lig_cli_text_new (tokenizer, prompt, tokens, (const char *const *) stops, error);
    if (!text)
      return FALSE;
    g_ptr_array_add (texts, text);
  }
  return TRUE;
}

static gboolean
list_texts (const Engine *engine, GPtrArray *texts, GError **error)
{
  for (char **prompt = prompts; prompt && *prompt; prompt++)
    if (!add_text (texts, engine->tokenizer, *prompt, NULL, error))
      return FALSE;
  for (char **file = prompt_files; file && *file; file++) {
    g_autofree char *prompt = NULL;
    if (!g_file_get_contents (*file, &prompt, NULL, error) ||
        !add_text (texts, engine->tokenizer, prompt, NULL, error))
      return FALSE;
  }
  for (char **list = token_lists; list && *list; list++) {
    g_autoptr (GArray) tokens = parse_tokens (*list, error);
    if (!tokens || !add_text (texts, engine->tokenizer, NULL, tokens, error))
      return FALSE;
  }
  return TRUE;
}

/* --- Output -------------------------------------------------------------------------------- */

/* Prints text as it is, except for control characters that would command a terminal. */
static void
show (const char *text)
{
  gboolean terminal = isatty (STDOUT_FILENO);
  for (const char *at = text ? text : ""; *at; at++)
    if (terminal && g_ascii_iscntrl (*at) && *at != '\n' && *at != '\t')
      printf ("\\x%02x", (guchar) *at);
    else
      putchar (*at);
  fflush (stdout);
}

static void
print_text (const LigCliText *text, guint number, guint count)
{
  if (number > 0)
    show ("\n");
  if (count > 1)
    lig_cli_print ("--- %u of %u (%s)", number + 1, count, text->ended);
  fflush (stdout);
  show (text->prompt);
  show (text->text->str);
  show ("\n");
}

static LigCliText *
find_text (GPtrArray *texts, guint64 id)
{
  for (guint i = 0; i < texts->len; i++)
    if (((LigCliText *) texts->pdata[i])->id == id)
      return texts->pdata[i];
  return NULL;
}

static gboolean
begin_texts (const Engine *engine, GPtrArray *texts, const LigSampling *sampling, GError **error)
{
  LigSampling own = *sampling;
  for (guint i = 0; i < texts->len; i++) {
    LigCliText *text = texts->pdata[i];
    own.seed = sampling->seed + i % (guint64) copies;
    if (!lig_generator_add (engine->generator, (const gint32 *) (gpointer) text->tokens->data,
                            text->tokens->len, &own, &text->id, error))
      return FALSE;
  }
  return TRUE;
}

/* Generates all texts; a single one is printed token by token. */
static gboolean
generate_all (const Engine *engine, GPtrArray *texts, GError **error)
{
  gboolean streams = texts->len == 1 && !lig_cli_json ();
  guint done = 0;
  g_autoptr (GArray) generated = g_array_new (FALSE, FALSE, sizeof (LigGenerated));
  if (streams)
    show (((const LigCliText *) texts->pdata[0])->prompt);
  while (done < texts->len) {
    if (!lig_generator_step (engine->generator, generated, error))
      return FALSE;
    for (guint i = 0; i < generated->len; i++) {
      const LigGenerated *one = &g_array_index (generated, LigGenerated, i);
      LigCliText *text = find_text (texts, one->id);
      const char *part = lig_cli_text_add (text, one);
      if (streams)
        show (part);
      if (!text->ended)
        continue;
      lig_generator_cancel (engine->generator, one->id);
      done++;
    }
  }
  if (streams)
    show ("\n");
  for (guint i = 0; i < texts->len && !streams && !lig_cli_json (); i++)
    print_text (texts->pdata[i], i, texts->len);
  return TRUE;
}

static LigGenerateModel
describe (const Engine *engine)
{
  return (LigGenerateModel){lig_sequence_get_name (engine->model.sequence), engine->model.weights,
                            lig_device_get_name (engine->device), engine->generator,
                            engine->tokenizer};
}

static void
print_json (const Engine *engine, GPtrArray *texts)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  LigGenerateModel model = describe (engine);
  lig_generate_add_model (builder, &model);
  lig_json_begin_array (builder, "texts");
  for (guint i = 0; i < texts->len; i++)
    lig_generate_add_text (builder, engine->tokenizer, texts->pdata[i]);
  json_builder_end_array (builder);
  lig_generate_add_figures (builder, engine->generator);
  json_builder_end_object (builder);
  lig_cli_print_document ("generate", json_builder_get_root (builder));
}

static void
say_facts (const Engine *engine)
{
  LigGeneratorFigures figures;
  lig_generator_get_figures (engine->generator, &figures);
  g_autofree char *tokens =
    engine->tokenizer ? lig_tokenizer_describe (engine->tokenizer) : g_strdup ("tokens unknown");
  lig_cli_print ("vocabulary %" G_GINT64_FORMAT " (%s), window %" G_GINT64_FORMAT ", on %s",
                 lig_generator_get_vocabulary (engine->generator), tokens,
                 lig_generator_get_length (engine->generator),
                 lig_device_get_name (engine->device));
  g_autofree char *bytes = lig_units_bytes ((double) figures.cache_bytes);
  if (figures.cache_bytes > 0)
    lig_cli_print ("cache of %s", bytes);
  if (figures.rejection)
    lig_cli_print ("no cache: %s; the window is recomputed for each token", figures.rejection);
}

static gboolean
generate (const char *text,
          const LigSequenceOptions *options,
          const LigSampling *sampling,
          gint64 length,
          GError **error)
{
  g_auto (Engine) engine = {0};
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_cli_text_free);
  if (!open_engine (&engine, text, options, length, error))
    return FALSE;
  LigSampling whole = *sampling;
  g_autoptr (GArray) ends = list_stops (engine.tokenizer);
  whole.stops = (const gint32 *) (gpointer) ends->data;
  whole.n_stops = ends->len;
  LigGenerateModel model = describe (&engine);
  if (lines)
    return lig_generate_lines (&model, &whole, error);
  if (!list_texts (&engine, texts, error))
    return FALSE;
  if (dry_run && !lig_cli_json ())
    say_facts (&engine);
  if (!dry_run &&
      (!begin_texts (&engine, texts, &whole, error) || !generate_all (&engine, texts, error)))
    return FALSE;
  if (lig_cli_json ())
    print_json (&engine, texts);
  return TRUE;
}

static int
run (int argc, char **argv)
{
  g_auto (LigSequenceOptions) options = {0};
  LigSampling sampling;
  gint64 length;
  g_autoptr (GArray) own = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  g_array_append_vals (own, own_entries, G_N_ELEMENTS (own_entries) - 1);
  g_array_append_vals (own, sampling_entries, G_N_ELEMENTS (sampling_entries) - 1);
  g_autofree GOptionEntry *entries =
    lig_cli_sequence_entries (&options,
                              LIG_OPTION_INPUT | LIG_OPTION_DEVICE | LIG_OPTION_RUNS |
                                LIG_OPTION_DTYPE | LIG_OPTION_TF32 | LIG_OPTION_POLICY,
                              (const GOptionEntry *) (gpointer) own->data);
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_generate, entries, &argc, &argv, 1, 1))
    return LIG_EXIT_USAGE;
  if (lines && (prompts || prompt_files || token_lists))
    return lig_cli_usage ("--lines reads prompts from standard input; omit --prompt, --prompt-file "
                          "and --tokens");
  if (!prompts && !prompt_files && !token_lists && !lines && !dry_run)
    return lig_cli_usage ("generate needs --prompt TEXT; see lig generate --help");
  if (!read_sampling (&sampling, &length, &error) ||
      !generate (argv[1], &options, &sampling, length, &error))
    return lig_cli_fail (g_steal_pointer (&error));
  return LIG_EXIT_OK;
}
