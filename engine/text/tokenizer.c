/* SPDX-License-Identifier: MIT */
/* A tokenizer: opening one by the content of its file, and its facts. */
#include "engine/base/file.h"
#include "engine/text/tokenizer-struct.h"

#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/* The tokenizer.json of the largest vocabularies has some 30 MB. */
#define LARGEST_FILE ((gsize) 256 << 20)

static void
clear_stage (gpointer stage)
{
  g_clear_pointer (&((LigSplitStage *) stage)->pattern, g_regex_unref);
}

LigTokenizer *
lig_tokenizer_new (LigTokenizerKind kind, const char *name)
{
  LigTokenizer *self = g_atomic_rc_box_new0 (LigTokenizer);
  self->kind = kind;
  self->name = g_strdup (name);
  lig_token_table_init (&self->table);
  lig_added_tokens_init (&self->raw);
  lig_added_tokens_init (&self->composed);
  self->stages = g_array_new (FALSE, TRUE, sizeof (LigSplitStage));
  g_array_set_clear_func (self->stages, clear_stage);
  self->before = g_array_new (FALSE, FALSE, sizeof (gint32));
  self->after = g_array_new (FALSE, FALSE, sizeof (gint32));
  return self;
}

static void
clear (gpointer data)
{
  LigTokenizer *self = data;
  g_free (self->name);
  lig_token_table_clear (&self->table);
  lig_byte_pairs_clear (&self->pairs);
  lig_added_tokens_clear (&self->raw);
  lig_added_tokens_clear (&self->composed);
  g_array_unref (self->stages);
  g_array_unref (self->before);
  g_array_unref (self->after);
}

LigTokenizer *
lig_tokenizer_ref (LigTokenizer *self)
{
  return g_atomic_rc_box_acquire (self);
}

void
lig_tokenizer_unref (LigTokenizer *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear);
}

G_DEFINE_BOXED_TYPE (LigTokenizer, lig_tokenizer, lig_tokenizer_ref, lig_tokenizer_unref)

/* Returns whether the content begins as an object of JSON. */
static gboolean
is_json (const guint8 *content, gsize length)
{
  gsize at = 0;
  while (at < length && strchr (" \t\r\n", content[at]) && content[at])
    at++;
  return at < length && content[at] == '{';
}

static gboolean
check_size (const char *path, const char *name, GError **error)
{
  gsize size = 0;
  int fd = lig_open_file (path, &size, error);
  if (fd < 0)
    return FALSE;
  close (fd);
  if (size <= LARGEST_FILE)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s: it has %zu bytes, a tokenizer at most %zu; give a tokenizer.json"), name,
               size, LARGEST_FILE);
  return FALSE;
}

LigTokenizer *
lig_tokenizer_open (const char *path, GError **error)
{
  g_return_val_if_fail (path, NULL);
  g_autofree char *file = g_file_test (path, G_FILE_TEST_IS_DIR)
                            ? g_build_filename (path, "tokenizer.json", NULL)
                            : g_strdup (path);
  g_autofree char *name = g_filename_display_name (file);
  if (!check_size (file, name, error))
    return NULL;
  g_autoptr (GBytes) bytes = lig_read_file (file, error);
  if (!bytes)
    return NULL;
  gsize length = 0;
  const guint8 *content = g_bytes_get_data (bytes, &length);
  g_autoptr (LigTokenizer) self = lig_tokenizer_new (LIG_TOKENIZER_BYTE_PAIRS, name);
  gboolean good = FALSE;
  if (lig_tokenizer_is_llm_c (content, length))
    good = lig_tokenizer_read_llm_c (self, content, length, error);
  else if (is_json (content, length))
    good = lig_tokenizer_read_json (self, (const char *) content, length, error);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("%s: it is neither a tokenizer.json nor a tokenizer of llm.c"), name);
  return good ? g_steal_pointer (&self) : NULL;
}

LigTokenizer *
lig_tokenizer_new_bytes (void)
{
  LigTokenizer *self = lig_tokenizer_new (LIG_TOKENIZER_BYTES, "bytes");
  for (gint32 byte = 0; byte < 256; byte++)
    lig_token_table_add (&self->table, byte, &(guint8){(guint8) byte}, 1);
  return self;
}

gint32
lig_tokenizer_get_size (LigTokenizer *self)
{
  g_return_val_if_fail (self, 0);
  return lig_token_table_get_size (&self->table);
}

gint32
lig_tokenizer_find (LigTokenizer *self, const char *text)
{
  g_return_val_if_fail (self && text, -1);
  return GPOINTER_TO_INT (g_hash_table_lookup (self->table.specials, text)) - 1;
}

gboolean
lig_tokenizer_is_special (LigTokenizer *self, gint32 token)
{
  g_return_val_if_fail (self, FALSE);
  const LigTokenEntry *entry = lig_token_table_get (&self->table, token);
  return entry && entry->special;
}

GBytes *
lig_tokenizer_get_bytes (LigTokenizer *self, gint32 token)
{
  g_return_val_if_fail (self, NULL);
  const LigTokenEntry *entry = lig_token_table_get (&self->table, token);
  if (!entry)
    return NULL;
  return g_bytes_new_with_free_func (self->table.bytes->data + entry->at, entry->length,
                                     (GDestroyNotify) lig_tokenizer_unref,
                                     lig_tokenizer_ref (self));
}

const char *
lig_tokenizer_get_name (LigTokenizer *self)
{
  g_return_val_if_fail (self, NULL);
  return self->name;
}

char *
lig_tokenizer_describe (LigTokenizer *self)
{
  g_return_val_if_fail (self, NULL);
  if (self->kind == LIG_TOKENIZER_BYTES)
    return g_strdup (_ ("256 tokens, which are bytes"));
  gulong known = self->table.n_known;
  g_autofree char *tokens = lig_format_count ((gint64) known);
  if (self->kind == LIG_TOKENIZER_DECODES)
    return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "a list of %s token, which only decodes",
                                         "a list of %s tokens, which only decodes", known),
                            tokens);
  g_autofree char *number = lig_format_count (self->pairs.n_merges);
  g_autofree char *merges = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%s merge", "%s merges", self->pairs.n_merges), number);
  return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "byte-level BPE, %s token, %s",
                                       "byte-level BPE, %s tokens, %s", known),
                          tokens, merges);
}
