/* SPDX-License-Identifier: MIT */
/* Keeps the paths of tied parameters correct while ops are inserted, removed and moved. */
#include "engine/sequence/tie.h"

#include "engine/sequence/op-private.h"

#include <string.h>

#define UP "../"
#define MAX_LEVELS 64

static gboolean
is_removed (const char *text)
{
  return g_str_has_prefix (text, LIG_TIE_REMOVED);
}

gboolean
lig_tie_is_path (const char *text)
{
  const char *at = text + (is_removed (text) ? strlen (LIG_TIE_REMOVED) : 0);
  while (g_str_has_prefix (at, UP))
    at += strlen (UP);
  if (!g_ascii_isdigit (*at))
    return FALSE;
  for (; *at; at++) {
    gboolean inside = g_ascii_isalnum (*at) || strchr ("-_", *at);
    if (!inside && !(*at == '.' && at[1] && g_ascii_isalnum (at[1])))
      return FALSE;
  }
  return TRUE;
}

/* Removes the last number of a path, or everything if there is only one. */
static void
drop_number (char *path)
{
  char *point = strrchr (path, '.');
  *(point ? point : path) = '\0';
}

char *
lig_tie_resolve (const char *text, const char *from)
{
  if (!g_str_has_prefix (text, UP))
    return g_strdup (text);
  g_autofree char *list = g_strdup (from);
  drop_number (list);
  for (text += strlen (UP); g_str_has_prefix (text, UP); text += strlen (UP)) {
    if (!*list)
      return NULL;
    drop_number (list);
    drop_number (list);
  }
  return *list ? g_strconcat (list, ".", text, NULL) : g_strdup (text);
}

/* --- Lists --------------------------------------------------------------------------------- */

static LigSequence *
around (LigSequence *list)
{
  LigOp *block = lig_sequence_get_block (list);
  return block ? lig_op_get_owner (block) : NULL;
}

static LigSequence *
outermost (LigSequence *list)
{
  for (LigSequence *next; list && (next = around (list));)
    list = next;
  return list;
}

/* An op that is about to be added to a list; null for none. */
typedef struct {
  LigOp *op;
  LigSequence *list;
} Added;

static int
depth_of (LigSequence *list)
{
  int depth = 0;
  while ((list = around (list)))
    depth++;
  return depth;
}

static int
position_of (LigOp *op)
{
  LigSequence *list = lig_op_get_owner (op);
  for (guint i = 0; i < lig_sequence_get_length (list); i++)
    if (lig_sequence_get (list, (int) i, NULL) == op)
      return (int) i;
  return -1;
}

/* A parsed path. */
typedef struct {
  LigOp *op;
  const char *suffix; /* the part of a macro, with its dot; or empty */
  int ups, levels;    /* number of `../`; of repetitions */
  guint repetitions[MAX_LEVELS];
} Place;

static guint
read_number (const char **at)
{
  char *end;
  guint64 number = g_ascii_strtoull (*at, &end, 10);
  *at = end;
  return (guint) MIN (number, (guint64) G_MAXINT);
}

/* Returns the outermost list, where absolute paths begin; null in a block that is not in a sequence
 * yet. */
static LigSequence *
start_of (LigSequence *list, Added added)
{
  LigSequence *root = outermost (list);
  if (added.op && lig_sequence_get_block (root) == added.op)
    root = outermost (added.list);
  return root && !lig_sequence_get_block (root) ? root : NULL;
}

/* Follows the path of a tie from the list of its op. */
static gboolean
follow (LigSequence *list, const char *text, Added added, Place *place)
{
  *place = (Place){.suffix = ""};
  for (; g_str_has_prefix (text, UP); text += strlen (UP))
    if (place->ups++ > 0 && list)
      list = added.op && lig_sequence_get_block (list) == added.op ? added.list : around (list);
  if (place->ups == 0)
    list = start_of (list, added);
  while (list && g_ascii_isdigit (*text)) {
    guint position = read_number (&text);
    if (position >= lig_sequence_get_length (list))
      return FALSE;
    place->op = lig_sequence_get (list, (int) position, NULL);
    LigSequence *body = lig_op_get_body (place->op);
    if (!body || *text != '.' || !g_ascii_isdigit (text[1]) || place->levels == MAX_LEVELS)
      break;
    text++;
    place->repetitions[place->levels++] = read_number (&text);
    if (*text != '.' || !g_ascii_isdigit (text[1]))
      return FALSE;
    text++;
    list = body;
  }
  place->suffix = text;
  return place->op && (*text == '\0' || *text == '.');
}

/* --- Writing paths ------------------------------------------------------------------------- */

/* Appends the path from the list down to the op, with the last repetitions of the old path. */
static void
append_descent (GString *text, LigSequence *from, LigOp *op, const Place *old)
{
  int chain[MAX_LEVELS], levels = 0;
  LigSequence *list = lig_op_get_owner (op);
  chain[levels++] = position_of (op);
  for (; list != from && levels < MAX_LEVELS; list = around (list))
    chain[levels++] = position_of (lig_sequence_get_block (list));
  for (int i = levels - 1; i >= 0; i--) {
    g_string_append_printf (text, "%d", chain[i]);
    int known = old->levels - i;
    if (i > 0)
      g_string_append_printf (text, ".%u.", known >= 0 ? old->repetitions[known] : 0);
  }
}

/* Returns the path that names the target. An absolute path stays absolute if the target is as deep
 * as before; ops that were put into one block together are tied within each repetition. */
static char *
write_path (LigOp *tied, LigOp *target, const char *text)
{
  Place old;
  GString *path = g_string_new (NULL);
  LigSequence *own = lig_op_get_owner (tied), *list = lig_op_get_owner (target), *common = own;
  int levels = depth_of (list);
  g_autofree char *suffix = NULL;
  old = (Place){0};
  for (const char *at = text; *at && !suffix; at++)
    if (*at == '.' && at[1] != '.' && g_ascii_isalpha (at[1]))
      suffix = g_strdup (at);
  const char *at = text;
  for (; g_str_has_prefix (at, UP); at += strlen (UP))
    old.ups++;
  for (gboolean second = FALSE; g_ascii_isdigit (*at); second = !second) {
    guint number = read_number (&at);
    if (second && old.levels < MAX_LEVELS)
      old.repetitions[old.levels++] = number;
    at += *at == '.';
  }
  for (int deep = depth_of (common); common && deep >= 0; deep--, common = around (common)) {
    LigSequence *outer = list;
    while (outer && outer != common)
      outer = around (outer);
    if (outer)
      break;
  }
  gboolean detached = lig_sequence_get_block (outermost (own)) != NULL;
  if (lig_sequence_get_block (common) && (detached || !(old.ups == 0 && old.levels == levels)))
    for (int i = depth_of (own) - depth_of (common); i >= 0; i--)
      g_string_append (path, UP);
  else
    common = outermost (own);
  append_descent (path, common, target, &old);
  g_string_append (path, suffix ? suffix : "");
  return g_string_free (path, FALSE);
}

/* --- Edits --------------------------------------------------------------------------------- */

static void
find_of_op (LigOp *op, LigSequence *list, Added added)
{
  LigSequence *body = lig_op_get_body (op);
  for (int slot = 0; slot < LIG_MAX_PARAMETERS; slot++) {
    LigOp *target;
    Place place;
    const char *text = lig_op_get_tie (op, slot, &target);
    if (!text || (target && outermost (lig_op_get_owner (target)) == outermost (list)) ||
        (target && !lig_op_get_owner (target)) || is_removed (text))
      continue;
    g_autofree char *path = g_strdup (text);
    lig_op_set_tie (op, slot, path, follow (list, path, added, &place) ? place.op : NULL);
  }
  for (guint i = 0;
       body && lig_sequence_get_n_ties (body) > 0 && i < lig_sequence_get_length (body); i++)
    find_of_op (lig_sequence_get (body, (int) i, NULL), body, added);
}

int
lig_op_get_n_ties (LigOp *self)
{
  LigSequence *body = lig_op_get_body (self);
  int count = body ? lig_sequence_get_n_ties (body) : 0;
  for (int i = 0; i < LIG_MAX_PARAMETERS; i++)
    count += lig_op_get_tie (self, i, NULL) != NULL;
  return count;
}

void
lig_ties_find (LigSequence *edited, LigOp *added)
{
  LigSequence *root = outermost (edited);
  const Added none = {NULL, NULL};
  for (guint i = 0; lig_sequence_get_n_ties (root) > 0 && i < lig_sequence_get_length (root); i++)
    find_of_op (lig_sequence_get (root, (int) i, NULL), root, none);
  if (added && lig_op_get_n_ties (added) > 0)
    find_of_op (added, edited, (Added){added, edited});
}

static void
renew_of_op (LigOp *op, LigSequence *root)
{
  LigSequence *body = lig_op_get_body (op);
  for (int slot = 0; slot < LIG_MAX_PARAMETERS; slot++) {
    LigOp *target;
    Place place;
    const char *text = lig_op_get_tie (op, slot, &target);
    if (!text || !target)
      continue;
    g_autofree char *path = NULL;
    const char *bare = text + (is_removed (text) ? strlen (LIG_TIE_REMOVED) : 0);
    if (outermost (lig_op_get_owner (target)) != root)
      path = is_removed (text) ? g_strdup (text) : g_strconcat (LIG_TIE_REMOVED, text, NULL);
    else if (is_removed (text) ||
             !follow (lig_op_get_owner (op), text, (Added){NULL, NULL}, &place) ||
             place.op != target)
      path = write_path (op, target, bare);
    if (path)
      lig_op_set_tie (op, slot, path, target);
  }
  for (guint i = 0;
       body && lig_sequence_get_n_ties (body) > 0 && i < lig_sequence_get_length (body); i++)
    renew_of_op (lig_sequence_get (body, (int) i, NULL), root);
}

void
lig_ties_renew (LigSequence *edited)
{
  LigSequence *root = outermost (edited);
  for (guint i = 0; lig_sequence_get_n_ties (root) > 0 && i < lig_sequence_get_length (root); i++)
    renew_of_op (lig_sequence_get (root, (int) i, NULL), root);
}

static void
forget_in_op (LigOp *op, LigOp *old)
{
  LigSequence *body = lig_op_get_body (op);
  for (int slot = 0; slot < LIG_MAX_PARAMETERS; slot++) {
    LigOp *target;
    g_autofree char *path = g_strdup (lig_op_get_tie (op, slot, &target));
    if (path && target == old)
      lig_op_set_tie (op, slot, path, NULL);
  }
  for (guint i = 0;
       body && lig_sequence_get_n_ties (body) > 0 && i < lig_sequence_get_length (body); i++)
    forget_in_op (lig_sequence_get (body, (int) i, NULL), old);
}

void
lig_ties_forget (LigSequence *edited, LigOp *old)
{
  LigSequence *root = outermost (edited);
  for (guint i = 0; lig_sequence_get_n_ties (root) > 0 && i < lig_sequence_get_length (root); i++)
    forget_in_op (lig_sequence_get (root, (int) i, NULL), old);
}

/* Returns the name of the parameter that a tie replaces; null in a macro, whose part has it. */
static const char *
tied_parameter (LigOp *op, int slot)
{
  const LigOpInfo *info = lig_op_get_info (op);
  return info->parameters ? info->parameters[slot].name : NULL;
}

static void
shard_in_op (LigOp *op, LigOp *old, LigTieFind find, gpointer data)
{
  LigSequence *body = lig_op_get_body (op);
  for (int slot = 0; slot < LIG_MAX_PARAMETERS; slot++) {
    LigOp *target;
    const char *text = lig_op_get_tie (op, slot, &target), *rest;
    if (!text || target != old)
      continue;
    const char *bare = text + (is_removed (text) ? strlen (LIG_TIE_REMOVED) : 0), *suffix = bare;
    while (*suffix && !(*suffix == '.' && g_ascii_isalpha (suffix[1])))
      suffix++;
    LigOp *part = find (suffix, tied_parameter (op, slot), &rest, data);
    if (!part)
      continue;
    g_autofree char *within = g_strdup_printf ("%.*s%s", (int) (suffix - bare), bare, rest);
    g_autofree char *path = write_path (op, part, within);
    lig_op_set_tie (op, slot, path, part);
  }
  for (guint i = 0;
       body && lig_sequence_get_n_ties (body) > 0 && i < lig_sequence_get_length (body); i++)
    shard_in_op (lig_sequence_get (body, (int) i, NULL), old, find, data);
}

void
lig_ties_split (LigSequence *edited, LigOp *old, LigTieFind find, gpointer data)
{
  LigSequence *root = outermost (edited);
  for (guint i = 0; lig_sequence_get_n_ties (root) > 0 && i < lig_sequence_get_length (root); i++)
    shard_in_op (lig_sequence_get (root, (int) i, NULL), old, find, data);
}

static void
shift_in_op (LigOp *op, int depth, int first, int end, int by)
{
  LigSequence *body = lig_op_get_body (op);
  for (int slot = 0; slot < LIG_MAX_PARAMETERS; slot++) {
    const char *text = lig_op_get_tie (op, slot, NULL), *at = text;
    int ups = 0;
    if (!text || is_removed (text))
      continue;
    for (; g_str_has_prefix (at, UP); at += strlen (UP))
      ups++;
    if ((ups > 0 && ups - 1 != depth) || !g_ascii_isdigit (*at))
      continue;
    gsize start = (gsize) (at - text);
    int position = (int) read_number (&at);
    g_autofree char *path = position >= first && position < end
                              ? g_strdup_printf ("%.*s%d%s", (int) start, text, position + by, at)
                              : g_strconcat (LIG_TIE_REMOVED, text, NULL);
    lig_op_set_tie (op, slot, path, NULL);
  }
  for (guint i = 0; body && i < lig_sequence_get_length (body); i++)
    shift_in_op (lig_sequence_get (body, (int) i, NULL), depth + 1, first, end, by);
}

void
lig_ties_shift (LigOp *op, int first, int end, int by)
{
  if (lig_op_get_n_ties (op) > 0)
    shift_in_op (op, 0, first, end, by);
}
