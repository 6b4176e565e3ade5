/* SPDX-License-Identifier: MIT */
/* Suggestions from the tables of the engine. */
#pragma once

#include <ligature/suggest.h>

G_BEGIN_DECLS

/* Does the same as lig_suggest_ending() with the names of a table: structures of `size` bytes with
 * the name at `offset`; the last one has none. A null table is empty. */
char *lig_suggest_from (const char *word, gconstpointer table, gsize size, gsize offset);

/* The same for a table whose structures of the type have a member `name`. */
#define LIG_SUGGEST_FROM(word, table, type) \
  lig_suggest_from (word, table, sizeof (type), G_STRUCT_OFFSET (type, name))

/* Does the same with the names that a function returns for 0, 1, …; null ends them. */
char *lig_suggest_nth (const char *word, const char *(*nth) (guint n));

G_END_DECLS
