/* SPDX-License-Identifier: MIT */
/* A text that `lig generate` continues. */
#include "app/cli/generate-text.h"

#include <ligature/error.h>

#include <string.h>

static void
clear_token (gpointer data)
{
  g_free (((LigCliToken *) data)->text);
}

LigCliText *
lig_cli_text_new (LigTokenizer *tokenizer,
                  const char *prompt,
                  GArray *tokens,
                  const char *const *stops,
                  GError **error)
{
  g_autoptr (LigCliText) self = g_new0 (LigCliText, 1);
  self->prompt = g_strdup (prompt);
  self->stops = g_strdupv ((char **) stops);
  self->text = g_string_new (NULL);
  self->tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
  self->generated = g_array_new (FALSE, FALSE, sizeof (LigCliToken));
  g_array_set_clear_func (self->generated, clear_token);
  self->decoder = tokenizer ? lig_token_decoder_new (tokenizer, FALSE) : NULL;
  if (tokens)
    g_array_append_vals (self->tokens, tokens->data, tokens->len);
  if (!prompt)
    return g_steal_pointer (&self);
  if (!tokenizer) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_VALUE,
      "the model's tokens are unknown; give --vocabulary tokenizer.json, or the prompt as "
      "--tokens 1,2,3");
    return NULL;
  }
  gsize count;
  g_autofree gint32 *encoded = lig_tokenizer_encode (tokenizer, prompt, -1, TRUE, &count, error);
  if (!encoded && (!error || *error))
    return NULL;
  g_array_append_vals (self->tokens, encoded, (guint) count);
  return g_steal_pointer (&self);
}

void
lig_cli_text_free (LigCliText *self)
{
  if (!self)
    return;
  g_free (self->name);
  g_free (self->prompt);
  g_strfreev (self->stops);
  g_array_unref (self->tokens);
  g_array_unref (self->generated);
  g_string_free (self->text, TRUE);
  g_clear_pointer (&self->decoder, lig_token_decoder_free);
  g_free (self);
}

/* Returns where the first complete stop begins, at or after the part that was shown; -1 for none.
 */
static gssize
find_stop (const LigCliText *self)
{
  gssize first = -1;
  for (char **stop = self->stops; stop && *stop; stop++) {
    const char *at = **stop ? strstr (self->text->str + self->shown, *stop) : NULL;
    if (at && (first < 0 || at - self->text->str < first))
      first = at - self->text->str;
  }
  return first;
}

/* Returns how many bytes at the end may be the beginning of a stop. */
static gsize
count_held (const LigCliText *self)
{
  gsize held = 0, length = self->text->len - self->shown;
  for (char **stop = self->stops; stop && *stop; stop++)
    for (gsize n = MIN (strlen (*stop), length); n > held; n--)
      if (strncmp (self->text->str + self->text->len - n, *stop, n) == 0) {
        held = n;
        break;
      }
  return held;
}

static const char *
show_up_to (LigCliText *self, gsize end)
{
  const char *from = self->text->str + self->shown;
  self->shown = end;
  return from;
}

const char *
lig_cli_text_add (LigCliText *self, const LigGenerated *generated)
{
  LigCliToken token = {.sampled = generated->sampled};
  gint32 number = generated->sampled.chosen.token;
  gsize length;
  if (generated->ended != LIG_GENERATED_STOP)
    token.text = self->decoder ? lig_token_decoder_next (self->decoder, number, &length)
                               : g_strdup_printf ("%d ", number);
  if (!token.text)
    token.text = g_strdup ("");
  g_array_append_val (self->generated, token);
  gsize before = self->shown;
  g_string_append (self->text, token.text);
  gssize stop = find_stop (self);
  if (stop >= 0) {
    g_string_truncate (self->text, (gsize) stop);
    self->ended = "stop";
  } else if (generated->ended != LIG_GENERATED_MORE) {
    self->ended = generated->ended == LIG_GENERATED_STOP     ? "stop"
                  : generated->ended == LIG_GENERATED_LENGTH ? "length"
                                                             : "cancelled";
  }
  if (self->ended)
    return lig_cli_text_end (self, self->ended);
  /* A copy ends where the rest is held back. */
  show_up_to (self, self->text->len - count_held (self));
  static GString *part;
  if (!part)
    part = g_string_new (NULL);
  g_string_truncate (part, 0);
  g_string_append_len (part, self->text->str + before, (gssize) (self->shown - before));
  return part->str;
}

const char *
lig_cli_text_end (LigCliText *self, const char *why)
{
  gsize length;
  self->ended = why;
  g_autofree char *rest = self->decoder ? lig_token_decoder_finish (self->decoder, &length) : NULL;
  if (rest && g_strcmp0 (why, "stop") != 0)
    g_string_append (self->text, rest);
  return show_up_to (self, self->text->len);
}

char *
lig_cli_token_text (LigTokenizer *tokenizer, gint32 token)
{
  g_autoptr (GBytes) bytes = tokenizer ? lig_tokenizer_get_bytes (tokenizer, token) : NULL;
  gsize size;
  const char *data = bytes ? g_bytes_get_data (bytes, &size) : NULL;
  if (!data)
    return g_strdup_printf ("%d", token);
  if (g_utf8_validate (data, (gssize) size, NULL) && !memchr (data, 0, size))
    return g_strndup (data, size);
  GString *text = g_string_new (NULL);
  for (gsize i = 0; i < size; i++)
    g_string_append_printf (text, "\\x%02x", (guchar) data[i]);
  return g_string_free (text, FALSE);
}
