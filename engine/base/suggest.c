/* SPDX-License-Identifier: MIT */
/* Finds the known name that a mistyped one means, by optimal string alignment. */
#include "engine/base/suggest.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* The names of this project are shorter; the rest of a longer word is not a typo. */
#define LONGEST 63

/* A prefix of at least this many characters counts as an abbreviation. */
#define MIN_PREFIX 2

/* The same for letters omitted in the middle. */
#define MIN_ABBREVIATION 3

enum { RANK_CASE, RANK_PREFIX, RANK_EDITS, RANK_NONE };

typedef struct {
  guint rank, edits;
} Likeness;

/* Returns the name in lower case, with hyphens for underscores. */
static char *
fold (const char *name)
{
  return g_strdelimit (g_ascii_strdown (name, -1), "_", '-');
}

/* Returns the number of insertions, removals, replacements and swaps of neighbours. */
static guint
count_edits (const char *a, const char *b)
{
  guint rows[3][LONGEST + 1];
  guint *before = rows[0], *last = rows[1], *row = rows[2];
  gsize width = strlen (b);
  for (guint j = 0; j <= width; j++)
    last[j] = j;
  for (guint i = 0; a[i]; i++) {
    row[0] = i + 1;
    for (guint j = 0; j < width; j++) {
      row[j + 1] = MIN (MIN (last[j + 1], row[j]) + 1, last[j] + (a[i] != b[j]));
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = MIN (row[j + 1], before[j - 1] + 1);
    }
    guint *oldest = before;
    before = last;
    last = row;
    row = oldest;
  }
  return last[width];
}

/* Returns whether the word is the name without some of its letters, the most common typo. */
static gboolean
lacks_letters (const char *word, const char *name)
{
  for (; *word && *name; name++)
    word += *word == *name;
  return !*word;
}

static Likeness
compare (const char *word, const char *candidate)
{
  g_autofree char *name = fold (candidate);
  gsize length = strlen (word), longer = MAX (length, strlen (name));
  if (strlen (name) > LONGEST)
    return (Likeness){RANK_NONE, 0};
  if (strcmp (word, name) == 0)
    return (Likeness){RANK_CASE, 0};
  if (length >= MIN_PREFIX && g_str_has_prefix (name, word))
    return (Likeness){RANK_PREFIX, (guint) (longer - length)};
  guint edits = count_edits (word, name);
  /* A short name with another first letter is another word, such as `gpu` and `cpu`. */
  gboolean other = longer <= 3 && word[0] != name[0] && word[0] != name[1];
  gboolean lacks = lacks_letters (word, name);
  /* An abbreviation such as `adm` may lack half of the letters. */
  gboolean brief = lacks && length >= MIN_ABBREVIATION && word[0] == name[0];
  gboolean similar = edits <= MAX (longer, 3) / (brief ? 2 : 3) && edits < length && !other;
  /* Among names at equal distance, one that only lacks letters is more likely. */
  return (Likeness){similar ? RANK_EDITS : RANK_NONE, 2 * edits - lacks};
}

const char *
lig_suggest (const char *word, const char *const *candidates)
{
  Likeness best = {RANK_NONE, 0};
  const char *found = NULL;
  if (!*word || strlen (word) > LONGEST)
    return NULL;
  g_autofree char *folded = fold (word);
  for (; *candidates; candidates++) {
    Likeness one = compare (folded, *candidates);
    if (one.rank < best.rank || (found && one.rank == best.rank && one.edits < best.edits)) {
      best = one;
      found = *candidates;
    }
  }
  return found;
}

char *
lig_suggest_ending (const char *word, const char *const *candidates)
{
  const char *like = lig_suggest (word, candidates);
  return like ? g_strdup_printf (_ ("; did you mean '%s'?"), like) : g_strdup ("");
}

char *
lig_suggest_from (const char *word, gconstpointer table, gsize size, gsize offset)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (const char *at = table; at && G_STRUCT_MEMBER (const char *, at, offset); at += size)
    g_ptr_array_add (names, (gpointer) G_STRUCT_MEMBER (const char *, at, offset));
  g_ptr_array_add (names, NULL);
  return lig_suggest_ending (word, (const char *const *) names->pdata);
}

char *
lig_suggest_nth (const char *word, const char *(*nth) (guint n))
{
  const char *name;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; (name = nth (i)); i++)
    g_ptr_array_add (names, (gpointer) name);
  g_ptr_array_add (names, NULL);
  return lig_suggest_ending (word, (const char *const *) names->pdata);
}
