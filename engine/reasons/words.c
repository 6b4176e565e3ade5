/* SPDX-License-Identifier: MIT */
/* Words for ops, groups and accepted ops. */
#include "engine/reasons/words.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* --- Ops ----------------------------------------------------------------------------------- */

char *
lig_verdict_row_path (const char *path)
{
  /* Every number is at least as long as the 0 that replaces a repetition's. */
  char *row = g_strdup (path), *to = row;
  gboolean repetition = FALSE;
  for (const char *from = path; *from; from++) {
    gboolean point = *from == '.';
    if (point || !repetition)
      *to++ = *from;
    if (!point)
      continue;
    repetition = !repetition;
    if (repetition)
      *to++ = '0';
  }
  *to = '\0';
  return row;
}

/* Returns whether an op before it, or after it, has the same path: they are parts of one macro. */
static gboolean
is_part (const LigReasonCase *self, int index)
{
  const LigReasonOp *ops = self->ops;
  const LigOpInfo *written = lig_op_info_find (ops[index].title);
  return written && written != ops[index].info &&
         ((index > 0 && g_str_equal (ops[index - 1].path, ops[index].path)) ||
          (index + 1 < (int) self->n_ops && g_str_equal (ops[index + 1].path, ops[index].path)));
}

/* Returns whether the op belongs to a linear inside a macro, such as qkv in transformer-layer:
 * people know it by that name. */
static gboolean
is_named (const LigReasonCase *self, int index)
{
  const LigReasonOp *op = &self->ops[index];
  return op->part && (op->info->flags & LIG_OP_MATMUL ||
                      (index > 0 && g_strcmp0 (self->ops[index - 1].part, op->part) == 0));
}

/* Returns whether the op belongs to a macro with named parts, larger than a linear. */
static gboolean
is_inside (const LigReasonCase *self, int index)
{
  const LigReasonOp *ops = self->ops;
  int first = index, end = index + 1;
  while (first > 0 && g_str_equal (ops[first - 1].path, ops[index].path))
    first--;
  while (end < (int) self->n_ops && g_str_equal (ops[end].path, ops[index].path))
    end++;
  for (int i = first; i < end; i++)
    if (ops[i].part)
      return TRUE;
  return FALSE;
}

/* Returns the name that people know the op by: the part's, that of an op inside a larger macro, or
 * that of the op as written. */
static const char *
get_title (const LigReasonCase *self, int index)
{
  const LigReasonOp *op = &self->ops[index];
  if (is_named (self, index))
    return op->part;
  const LigOpInfo *written = lig_op_info_find (op->title);
  return _ (written && !is_inside (self, index) ? written->title : op->info->title);
}

/* Returns whether the op is in a later repetition of a block than the op @from. */
static gboolean
is_repeated (const LigReasonCase *self, int index, int from)
{
  if (from < 0 || from >= index)
    return FALSE;
  const char *a = self->ops[from].path, *b = self->ops[index].path;
  for (guint i = 0;; i++) {
    gsize length = strcspn (a, "."), other = strcspn (b, ".");
    if (length != other || strncmp (a, b, length) != 0)
      return i % 2 == 1;
    if (!a[length] || !b[length])
      return FALSE;
    a += length + 1;
    b += length + 1;
  }
}

/* Returns the name of an op and its row. */
static char *
name_op (const LigReasonCase *self, int index)
{
  const LigReasonOp *op = &self->ops[index];
  g_autofree char *path = lig_verdict_row_path (op->path);
  /* The matmul is named as the linear itself. */
  if (is_part (self, index) && !(op->info->flags & LIG_OP_MATMUL)) {
    const char *whole = is_named (self, index) ? op->part : _ (lig_op_info_find (op->title)->title);
    return g_strdup_printf (_ ("%s of %s at %s"), _ (op->info->title), whole, path);
  }
  return g_strdup_printf (_ ("%s at %s"), get_title (self, index), path);
}

char *
lig_reasons_name_op (const LigReasonCase *self, int index, int from)
{
  char **known = self->names ? &self->names[index] : NULL;
  g_autofree char *name = known && *known ? g_strdup (*known) : name_op (self, index);
  if (known && !*known)
    *known = g_strdup (name);
  return is_repeated (self, index, from) ? g_strdup_printf (_ ("%s of the next repetition"), name)
                                         : g_steal_pointer (&name);
}

/* --- Titles of groups ---------------------------------------------------------------------- */

static char *
lower_first (const char *text, const char *original)
{
  /* Translations choose their own capital letters, and names such as GELU keep theirs. */
  gboolean word = text == original && text[0] && g_ascii_islower (text[1]) &&
                  !strpbrk (text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  char *lower = g_strdup (text);
  if (word)
    lower[0] = g_ascii_tolower (lower[0]);
  return lower;
}

static char *
raise_first (const char *text)
{
  g_autofree char *first = g_utf8_substring (text, 0, MIN (g_utf8_strlen (text, -1), 1));
  g_autofree char *raised = g_utf8_strup (first, -1);
  return g_strconcat (raised, text + strlen (first), NULL);
}

/* The same phrases as in lig_plan_name_ops(). */
static char *
short_name (const LigOpInfo *info, gboolean begins)
{
  const char *title = info->short_title ? info->short_title : info->title;
  return begins ? g_strdup (_ (title)) : lower_first (_ (title), title);
}

/* The words of LigFusion.gradients. */
static const struct {
  const char *word, *phrase;
} gradients[] = {
  {"gradient", N_ ("%s's gradient")},      {"input", N_ ("%s's input gradient")},
  {"weight", N_ ("%s's weight gradient")}, {"bias", N_ ("%s's bias gradient")},
  {"gradients", N_ ("%s's gradients")},    {"branch", N_ ("branch gradient")},
};

static char *
name_gradient (const LigReasonCase *self, int index, const char *word)
{
  const char *title = get_title (self, index);
  if (g_str_equal (word, "branch"))
    return g_strdup (_ ("branch gradient"));
  if (g_str_equal (word, "bias") && !is_part (self, index))
    word = "gradient";
  for (guint i = 0; i < G_N_ELEMENTS (gradients); i++)
    if (g_str_equal (word, gradients[i].word)) {
      g_auto (GStrv) around = g_strsplit (_ (gradients[i].phrase), "%s", 2);
      return g_strjoinv (title, around);
    }
  return g_strdup (title);
}

static char *
title_backward (const LigReasonCase *self, const LigReasonFusion *fusion)
{
  const int *elements = fusion->elements;
  int lead = -1; /* the op that the title begins with */
  g_auto (GStrv) words = g_strsplit (fusion->gradients ? fusion->gradients : "", " ", -1);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  for (guint i = 0; (int) i < fusion->n_elements; i++) {
    const char *word = i < g_strv_length (words) ? words[i] : "gradient";
    if (elements[i] < 0 || g_str_equal (word, "-"))
      continue;
    if (lead < 0)
      lead = elements[i];
    int next = i + 1 < g_strv_length (words) ? elements[i + 1] : -1;
    /* Both gradients of one row become one phrase. */
    if (next >= 0 && g_str_equal (word, "weight") && g_str_equal (words[i + 1], "bias") &&
        g_str_equal (self->ops[elements[i]].path, self->ops[next].path)) {
      g_autofree char *both =
        g_strdup_printf (_ ("%s's weight and bias gradient"), get_title (self, next));
      g_strv_builder_add (names, both);
      i++;
      continue;
    }
    g_autofree char *name = name_gradient (self, elements[i], word);
    g_strv_builder_add (names, name);
  }
  g_auto (GStrv) list = g_strv_builder_end (names);
  char *joined = g_strjoinv (" + ", list);
  /* The name of a part is spelled as it is. */
  if (lead < 0 || is_named (self, lead))
    return joined;
  g_autofree char *lower = joined;
  return raise_first (lower);
}

char *
lig_reasons_title (
  const LigReasonCase *self, const LigReasonFusion *fusion, LigPass pass, int first, int count)
{
  if (pass == LIG_PASS_BACKWARD && fusion->elements)
    return title_backward (self, fusion);
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = first; i < first + count && i < (int) self->n_ops; i++) {
    /* An implicit op inside a group passes its values on. */
    if (self->ops[i].implicit && i > first && i + 1 < first + count)
      continue;
    g_autofree char *name = short_name (self->ops[i].info, i == first);
    g_string_append_printf (text, "%s%s", i > first ? " + " : "", name);
  }
  return g_strdup (text->str);
}

/* --- Accepted ops -------------------------------------------------------------------------- */

/* Kinds of ops, each recognized by a flag or by the palette's category. */
static const struct {
  unsigned flag;
  const char *category, *phrase;
} kinds[] = {
  {LIG_OP_ACTIVATION, NULL, N_ ("an activation")},
  {LIG_OP_GATED, NULL, N_ ("a gated unit")},
  {0, "Normalization", N_ ("a norm")},
};

static int
find_kind (const LigOpInfo *info)
{
  for (guint k = 0; info && k < G_N_ELEMENTS (kinds); k++)
    if (info->flags & kinds[k].flag ||
        (kinds[k].category && g_strcmp0 (info->category, kinds[k].category) == 0))
      return (int) k;
  return -1;
}

/* Returns how many of the names are of that kind. */
static guint
count_kind (const char *const *names, int kind)
{
  guint count = 0;
  for (; *names; names++)
    count += find_kind (lig_op_info_find (*names)) == kind;
  return count;
}

/* Returns whether the names are replaced by their kind: all activations or gated units of the
 * registry, or several norms, because the other norms are rare. */
static gboolean
folds (const char *const *names, int kind)
{
  guint all = 0;
  const LigOpInfo *info;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++)
    all += find_kind (info) == kind;
  guint count = count_kind (names, kind);
  return count > 1 && (count == all || kinds[kind].flag == 0);
}

static const char *
name_need (const char *name)
{
  const LigOpInfo *info = lig_op_info_find (name);
  return info ? _ (info->noun ? info->noun : info->title) : name;
}

/* Returns the phrase for a kind of op: `an activation`. */
static const char *
name_kind (const LigOpInfo *info)
{
  int kind = find_kind (info);
  return kind < 0 ? name_need (info->name) : _ (kinds[kind].phrase);
}

char *
lig_verdict_describe_none (const LigOpInfo *before, const LigOpInfo *after)
{
  if (!after)
    return g_strdup_printf (_ ("No fusion joins %s with an op after it."), name_kind (before));
  return g_strdup_printf (_ ("No fusion joins %s with %s after it."), name_kind (before),
                          name_kind (after));
}

char *
lig_verdict_describe_needs (const LigVerdict *self)
{
  return self->reason == LIG_REASON_PATTERN ? lig_reasons_name_needs (self->needed.names) : NULL;
}

char *
lig_reasons_name_needs (const char *const *names)
{
  guint said = 0;
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  for (guint i = 0; names && names[i]; i++) {
    int kind = find_kind (lig_op_info_find (names[i]));
    if (kind < 0 || !folds (names, kind))
      g_ptr_array_add (list, (gpointer) name_need (names[i]));
    else if (!(said & 1u << kind))
      g_ptr_array_add (list, (gpointer) _ (kinds[kind].phrase));
    said |= kind < 0 ? 0 : 1u << kind;
  }
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < list->len; i++)
    g_string_append_printf (text, "%s%s",
                            i == 0              ? ""
                            : i + 1 < list->len ? ", "
                                                : _ (" or "),
                            (const char *) list->pdata[i]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
