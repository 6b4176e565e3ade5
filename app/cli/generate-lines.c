/* SPDX-License-Identifier: MIT */
/* The documents of `lig generate`: of --json, and the lines of --lines. */
#include "app/cli/generate-lines.h"

#include "app/cli/print.h"
#include <ligature/error.h>
#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/units.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* The longest request: a prompt of some hundred thousand words. */
#define LONGEST ((gsize) 16 << 20)

/* --- Documents ----------------------------------------------------------------------------- */

void
lig_generate_add_model (JsonBuilder *to, const LigGenerateModel *model)
{
  LigGeneratorFigures figures;
  lig_generator_get_figures (model->generator, &figures);
  lig_json_add_text (to, "model", model->name ? model->name : "");
  lig_json_add_text (to, "weights", model->weights);
  lig_json_add_text (to, "device", model->device);
  lig_json_add_integer (to, "vocabulary", lig_generator_get_vocabulary (model->generator));
  lig_json_add_text (to, "tokenizer",
                     model->tokenizer ? lig_tokenizer_get_name (model->tokenizer) : NULL);
  lig_json_begin_object (to, "cache");
  lig_json_add_integer (to, "length", lig_generator_get_length (model->generator));
  lig_json_add_integer (to, "bytes", figures.cache_bytes);
  lig_json_add_text (to, "refusal", figures.rejection);
  json_builder_end_object (to);
}

static void
add_chance (JsonBuilder *to, LigTokenizer *tokenizer, const LigTokenChance *chance)
{
  g_autofree char *text = lig_cli_token_text (tokenizer, chance->token);
  lig_json_add_integer (to, "token", chance->token);
  lig_json_add_text (to, "text", text);
  lig_json_add_number (to, "probability", (double) chance->probability);
}

static void
add_token (JsonBuilder *to, LigTokenizer *tokenizer, const LigSampled *sampled)
{
  add_chance (to, tokenizer, &sampled->chosen);
  lig_json_begin_array (to, "alternatives");
  for (guint i = 0; i < LIG_SAMPLING_ALTERNATIVES && sampled->alternatives[i].token >= 0; i++) {
    json_builder_begin_object (to);
    add_chance (to, tokenizer, &sampled->alternatives[i]);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

void
lig_generate_add_text (JsonBuilder *to, LigTokenizer *tokenizer, const LigCliText *text)
{
  json_builder_begin_object (to);
  lig_json_add_text (to, "prompt", text->prompt);
  lig_json_begin_array (to, "tokens");
  for (guint i = 0; i < text->tokens->len; i++)
    json_builder_add_int_value (to, g_array_index (text->tokens, gint32, i));
  json_builder_end_array (to);
  lig_json_add_text (to, "text", text->text->str);
  lig_json_begin_array (to, "generated");
  for (guint i = 0; i < text->generated->len; i++) {
    json_builder_begin_object (to);
    add_token (to, tokenizer, &g_array_index (text->generated, LigCliToken, i).sampled);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
  lig_json_add_text (to, "ended", text->ended);
  json_builder_end_object (to);
}

void
lig_generate_add_figures (JsonBuilder *to, LigGenerator *generator)
{
  LigGeneratorFigures figures;
  lig_generator_get_figures (generator, &figures);
  lig_json_begin_object (to, "figures");
  lig_json_add_integer (to, "prompt_tokens", figures.prompt_tokens);
  lig_json_add_integer (to, "tokens", figures.tokens);
  lig_json_add_number (to, "prompt_tokens_per_second",
                       (double) figures.prompt_tokens / figures.prompt_seconds);
  lig_json_add_number (to, "tokens_per_second",
                       (double) figures.tokens / (figures.seconds + figures.prompt_seconds));
  json_builder_end_object (to);
}

/* --- Lines --------------------------------------------------------------------------------- */

typedef struct {
  LigGenerator *generator;
  LigTokenizer *tokenizer;
  const LigSampling *sampling;
  GPtrArray *texts; /* LigCliText */
  GString *input;   /* what was read of the next lines */
  gboolean ended;   /* the input ended */
} Server;

static void
print_node (JsonBuilder *builder)
{
  json_builder_end_object (builder);
  lig_cli_print_document ("generate-lines", json_builder_get_root (builder));
}

static void
reply_error (const char *id, const char *message)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "id", id);
  lig_json_add_text (builder, "error", message);
  print_node (builder);
}

static void
reply_end (Server *self, const LigCliText *text, const char *shown)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "id", text->name);
  lig_json_add_text (builder, "ended", text->ended);
  lig_json_add_text (builder, "shown", shown);
  lig_generate_add_figures (builder, self->generator);
  print_node (builder);
}

/* Reads the numbers of a request. Unknown members are ignored. */
static gboolean
read_sampling (JsonObject *object, LigSampling *sampling, GError **error)
{
  struct {
    const char *name;
    double *number;
    gint64 *integer;
  } members[] = {
    {"temperature", &sampling->temperature, NULL},
    {"top-p", &sampling->top_p, NULL},
    {"min-p", &sampling->min_p, NULL},
    {"repetition", &sampling->repetition, NULL},
    {"top-k", NULL, &sampling->top_k},
    {"max", NULL, &sampling->max_tokens},
    {"seed", NULL, (gint64 *) &sampling->seed},
  };
  for (guint i = 0; i < G_N_ELEMENTS (members); i++) {
    JsonNode *node = json_object_get_member (object, members[i].name);
    if (!node)
      continue;
    if (!JSON_NODE_HOLDS_VALUE (node) || (json_node_get_value_type (node) != G_TYPE_INT64 &&
                                          json_node_get_value_type (node) != G_TYPE_DOUBLE)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "%s: expected a number", members[i].name);
      return FALSE;
    }
    if (members[i].number)
      *members[i].number = json_node_get_double (node);
    else
      *members[i].integer = json_node_get_int (node);
  }
  if (sampling->max_tokens < 1) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "max is %" G_GINT64_FORMAT ", expected a whole number from 1 to %d",
                 sampling->max_tokens, G_MAXINT32);
    return FALSE;
  }
  return lig_sampling_check (sampling, error);
}

static GArray *
read_tokens (JsonObject *object)
{
  JsonArray *array = lig_json_get_array (object, "tokens");
  GArray *tokens = array ? g_array_new (FALSE, FALSE, sizeof (gint32)) : NULL;
  for (guint i = 0; array && i < json_array_get_length (array); i++) {
    JsonNode *node = json_array_get_element (array, i);
    gint64 number = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_int (node) : -1;
    gint32 token = (gint32) CLAMP (number, -1, G_MAXINT32);
    g_array_append_val (tokens, token);
  }
  return tokens;
}

static GStrv
read_stops (JsonObject *object)
{
  JsonArray *array = lig_json_get_array (object, "stops");
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (guint i = 0; array && i < json_array_get_length (array); i++) {
    JsonNode *node = json_array_get_element (array, i);
    if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
      g_strv_builder_add (builder, json_node_get_string (node));
  }
  return g_strv_builder_end (builder);
}

static gboolean
begin_text (Server *self, JsonObject *object, const char *id, GError **error)
{
  LigSampling sampling = *self->sampling;
  g_autoptr (GArray) tokens = read_tokens (object);
  g_auto (GStrv) stops = read_stops (object);
  const char *prompt = lig_json_get_string (object, "prompt", NULL);
  if (!read_sampling (object, &sampling, error))
    return FALSE;
  g_autoptr (LigCliText) text = lig_cli_text_new (self->tokenizer,
                                                  tokens   ? NULL
                                                  : prompt ? prompt
                                                           : "",
                                                  tokens, (const char *const *) stops, error);
  if (!text || !lig_generator_add (self->generator, (const gint32 *) (gpointer) text->tokens->data,
                                   text->tokens->len, &sampling, &text->id, error))
    return FALSE;
  text->name = g_strdup (id);
  g_ptr_array_add (self->texts, g_steal_pointer (&text));
  return TRUE;
}

/* Returns the index of the text of a request, or -1. */
static int
find_name (const Server *self, const char *name)
{
  for (guint i = 0; i < self->texts->len; i++)
    if (strcmp (((const LigCliText *) self->texts->pdata[i])->name, name) == 0)
      return (int) i;
  return -1;
}

static void
cancel_text (Server *self, const char *name)
{
  int at = find_name (self, name);
  if (at < 0) {
    reply_error (name, "no text in progress has this id; it may have ended");
    return;
  }
  LigCliText *text = self->texts->pdata[at];
  lig_generator_cancel (self->generator, text->id);
  reply_end (self, text, lig_cli_text_end (text, "cancelled"));
  g_ptr_array_remove_index (self->texts, (guint) at);
}

static void
serve (Server *self, const char *line)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) root = lig_json_from_text (line, &error);
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const char *cancelled = object ? lig_json_get_string (object, "cancel", NULL) : NULL;
  const char *id = object ? lig_json_get_string (object, "id", NULL) : NULL;
  if (cancelled)
    cancel_text (self, cancelled);
  else if (!id)
    reply_error (NULL, error ? error->message : "the request has no id, a text");
  else if (find_name (self, id) >= 0)
    reply_error (id, "a text in progress has this id; give each its own");
  else if (!begin_text (self, object, id, &error))
    reply_error (id, error->message);
}

/* Reads the input that has arrived; waits for some if no text is in progress. */
static gboolean
read_input (Server *self, GError **error)
{
  char bytes[4096];
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  while (!self->ended) {
    int ready = poll (&input, 1, self->texts->len > 0 ? 0 : -1);
    if (ready == 0)
      break;
    gssize count = ready < 0 ? -1 : read (STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    self->ended = count <= 0;
    g_string_append_len (self->input, bytes, MAX (count, 0));
    if (self->ended && self->input->len > 0)
      g_string_append_c (self->input, '\n'); /* the last line may lack its end */
    if (memchr (bytes, '\n', (gsize) MAX (count, 0)))
      break;
    if (self->input->len > LONGEST) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   "--lines: a request is longer than 16 MiB; end each with a line break");
      return FALSE;
    }
  }
  for (char *end; (end = memchr (self->input->str, '\n', self->input->len));) {
    gsize length = (gsize) (end - self->input->str);
    *end = '\0';
    if (length > 0)
      serve (self, self->input->str);
    g_string_erase (self->input, 0, (gssize) length + 1);
  }
  return TRUE;
}

/* Writes the new token of a text, and its end. */
static void
reply_token (Server *self, const LigGenerated *one)
{
  guint at = 0;
  while (at < self->texts->len && ((LigCliText *) self->texts->pdata[at])->id != one->id)
    at++;
  LigCliText *text = self->texts->pdata[at];
  const char *shown = lig_cli_text_add (text, one);
  if (one->ended != LIG_GENERATED_STOP) {
    g_autoptr (JsonBuilder) builder = json_builder_new ();
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "id", text->name);
    add_token (builder, self->tokenizer, &one->sampled);
    lig_json_add_text (builder, "shown", text->ended ? "" : shown);
    print_node (builder);
  }
  if (!text->ended)
    return;
  lig_generator_cancel (self->generator, one->id);
  reply_end (self, text, shown);
  g_ptr_array_remove_index (self->texts, at);
}

gboolean
lig_generate_lines (const LigGenerateModel *model, const LigSampling *sampling, GError **error)
{
  LigGenerator *generator = model->generator;
  Server self = {.generator = generator, .tokenizer = model->tokenizer, .sampling = sampling};
  self.texts = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_cli_text_free);
  self.input = g_string_new (NULL);
  g_autoptr (GArray) generated = g_array_new (FALSE, FALSE, sizeof (LigGenerated));
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  lig_cli_request_lines ();
  json_builder_begin_object (builder);
  lig_generate_add_model (builder, model);
  print_node (builder);
  gboolean fine = TRUE;
  while (fine && (!self.ended || self.texts->len > 0)) {
    fine = read_input (&self, error) && lig_generator_step (generator, generated, error);
    for (guint i = 0; fine && i < generated->len; i++)
      reply_token (&self, &g_array_index (generated, LigGenerated, i));
  }
  g_ptr_array_unref (self.texts);
  g_string_free (self.input, TRUE);
  return fine;
}
