/* SPDX-License-Identifier: MIT */
/* encode TOKENIZER [plain]: reads JSON strings from the standard input, one in a line, and prints
 * for each a line with its tokens, and one with the JSON string of the text that they decode to.
 * With `plain`, special tokens are text. */
#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/tokenizer.h>

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

static void
print_text (const char *text)
{
  g_autoptr (JsonNode) value = json_node_new (JSON_NODE_VALUE);
  g_autoptr (GString) line = g_string_new (NULL);
  json_node_set_string (value, text);
  lig_json_append (line, value);
  puts (line->str);
}

static gboolean
encode (LigTokenizer *tokenizer, const char *line, gboolean special, GError **error)
{
  g_autoptr (JsonNode) value = lig_json_from_text (line, error);
  if (!value)
    return FALSE;
  gsize n_tokens = 0, length = 0;
  const char *text = json_node_get_string (value);
  g_autofree gint32 *tokens = lig_tokenizer_encode (tokenizer, text, -1, special, &n_tokens, error);
  if (!tokens)
    return FALSE;
  for (gsize i = 0; i < n_tokens; i++)
    printf ("%s%d", i > 0 ? " " : "", tokens[i]);
  putchar ('\n');
  g_autofree char *decoded = lig_tokenizer_decode (tokenizer, tokens, n_tokens, TRUE, &length);
  print_text (decoded);
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTokenizer) tokenizer = argc > 1 ? lig_tokenizer_open (argv[1], &error) : NULL;
  gboolean special = argc < 3 || strcmp (argv[2], "plain") != 0, good = tokenizer != NULL;
  g_autofree char *line = NULL;
  size_t room = 0;
  for (ssize_t n; good && (n = getline (&line, &room, stdin)) > 0;)
    good = encode (tokenizer, line, special, &error);
  if (error)
    fprintf (stderr, "%s\n", error->message);
  return good ? 0 : 1;
}
