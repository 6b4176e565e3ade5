/* SPDX-License-Identifier: MIT */
/* Recognizes the messages of mpirun and its libraries by their form: blocks between two lines of
 * hyphens, and lines that begin with one of their names, or with a host and a process in
 * brackets. */
#include "app/cli/noise.h"

#include <string.h>

/* The minimum number of hyphens of a line around a block, and the maximum length of the text that
 * is kept. */
enum { HYPHENS = 60, MAX_KEPT = 4000 };

void
lig_cli_noise_init (LigCliNoise *self)
{
  *self = (LigCliNoise){.line = g_string_new (NULL), .swallowed = g_string_new (NULL)};
}

void
lig_cli_noise_clear (LigCliNoise *self)
{
  g_string_free (self->line, TRUE);
  g_string_free (self->swallowed, TRUE);
}

/* Returns whether the line begins with `[host:process]`. */
static gboolean
has_sender (const char *line)
{
  const char *end = *line == '[' ? strchr (line, ']') : NULL;
  const char *colon = end ? memchr (line, ':', (gsize) (end - line)) : NULL;
  return colon && colon > line + 1 && colon + 1 < end &&
         strspn (colon + 1, "0123456789") == (gsize) (end - colon - 1);
}

static gboolean
is_edge (const char *line)
{
  gsize count = strspn (line, "-");
  return count >= HYPHENS && line[count] == '\0';
}

static gboolean
is_noise (LigCliNoise *self, const char *line)
{
  if (is_edge (line)) {
    self->in_block = !self->in_block;
    return TRUE;
  }
  static const char *const prefixes[] = {"mpirun", "[warn] ", "[hwloc/", "hwloc/", "libibverbs: "};
  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (g_str_has_prefix (line, prefixes[i]))
      return TRUE;
  return self->in_block || *line == '\0' || has_sender (line);
}

static void
end_line (LigCliNoise *self, LigCliNoiseLine pass, gpointer data)
{
  const char *line = g_strchomp (self->line->str);
  if (!is_noise (self, line))
    pass (line, data);
  else if (*line && !is_edge (line) && self->swallowed->len < MAX_KEPT)
    g_string_append_printf (self->swallowed, "%s%s", self->swallowed->len > 0 ? " " : "", line);
  g_string_truncate (self->line, 0);
}

void
lig_cli_noise_add (
  LigCliNoise *self, const char *bytes, gsize count, LigCliNoiseLine pass, gpointer data)
{
  if (count == 0 && self->line->len > 0)
    end_line (self, pass, data);
  for (gsize i = 0; i < count; i++)
    if (bytes[i] == '\n')
      end_line (self, pass, data);
    else
      g_string_append_c (self->line, bytes[i]);
}
