/* SPDX-License-Identifier: MIT */
/* Chooses the ops of which the ranks of a tensor group divide the vocabulary (Shoeybi and others,
 * "Megatron-LM", 2019): the sequence as written says which weights are shared. */
#include "engine/compile/vocabulary.h"

#include "engine/sequence/tie.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>

/* An op that may have a part of the vocabulary, or that shares the weight of one that may. */
typedef struct {
  LigOp *op; /* (unowned) */
  char *path, *tied;
  gboolean divides; /* as far as the op itself is concerned */
  gboolean open;    /* it is not said in the op */
  int class;        /* the number of the first member with the same weight */
} Member;

static void
clear_member (gpointer data)
{
  Member *self = data;
  g_free (self->path);
  g_free (self->tied);
}

static Member *
get (const GArray *members, guint i)
{
  return &g_array_index (members, Member, i);
}

static gint64
get_length (LigOp *op, const char *param)
{
  gint64 value;
  g_object_get (op, param, &value, NULL);
  return value;
}

/* Returns whether the out-features of a product are in several sections. */
static gboolean
has_sections (LigOp *op)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_value_init (&value, LIG_TYPE_SHAPE);
  g_object_get_property (G_OBJECT (op), "sections", &value);
  const LigShape *sections = g_value_get_boxed (&value);
  return sections && sections->n_axes > 0;
}

/* Returns whether the op divides its vocabulary among the ranks; `open` is set if it leaves that
 * open. */
static gboolean
divides (LigOp *op, gboolean outermost, gboolean head, int ranks, gboolean *open)
{
  const char *name = lig_op_get_name (op);
  gboolean embedding = g_str_equal (name, "embedding");
  g_autofree char *parallel = NULL;
  *open = FALSE;
  if (!embedding && !g_str_equal (name, "linear") && !g_str_equal (name, "basic-linear"))
    return FALSE;
  g_object_get (op, "parallel", &parallel, NULL);
  gint64 length = get_length (op, embedding ? "vocabulary" : "out-features");
  if (!outermost || length < 1 || (!embedding && has_sections (op)))
    return FALSE;
  *open = g_str_equal (parallel, "auto");
  return *open ? (embedding || head) && length % ranks == 0
               : g_str_equal (parallel, embedding ? "vocabulary" : "column");
}

/* Adds the ops of a list, and of the blocks in it those that are tied to another op. */
static void
collect (GArray *members, LigSequence *list, const char *prefix, int ranks)
{
  guint length = lig_sequence_get_length (list);
  LigOp *last = length > 0 ? lig_sequence_get (list, -1, NULL) : NULL;
  gboolean loss = last && !*prefix && g_str_equal (lig_op_get_name (last), "cross-entropy");
  for (guint i = 0; i < length; i++) {
    LigOp *op = lig_sequence_get (list, (int) i, NULL);
    LigSequence *body = lig_op_get_body (op);
    Member member = {.op = op, .path = g_strdup_printf ("%s%u", prefix, i), .class = -1};
    const char *tied = lig_op_get_tie (op, 0, NULL);
    member.divides = divides (op, !*prefix, loss && i + 2 == length, ranks, &member.open);
    member.tied = tied ? lig_tie_resolve (tied, member.path) : NULL;
    if (body) {
      g_autofree char *inside = g_strdup_printf ("%s.0.", member.path);
      collect (members, body, inside, ranks);
    }
    g_array_append_val (members, member);
  }
}

/* Finds the members with the same weight. A weight of something else is of none of them, and is not
 * divided. */
static void
find_classes (GArray *members)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < members->len; i++)
    g_hash_table_insert (numbers, get (members, i)->path, GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < members->len; i++) {
    Member *member = get (members, i);
    guint at = i;
    for (guint steps = 0; steps < members->len && get (members, at)->tied; steps++) {
      guint next = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, get (members, at)->tied));
      member->divides &= next > 0;
      if (next == 0)
        break;
      at = next - 1;
    }
    member->class = (int) at;
  }
}

/* Notes the product before the loss that stays whole although the op leaves that open: it is often
 * the largest of all. */
static void
note_whole (LigDraft *draft, int ranks)
{
  guint length = lig_sequence_get_length (draft->sequence);
  LigOp *head = length > 1 ? lig_sequence_get (draft->sequence, (int) length - 2, NULL) : NULL;
  LigOp *loss = head ? lig_sequence_get (draft->sequence, -1, NULL) : NULL;
  gboolean open;
  if (!loss || !g_str_equal (lig_op_get_name (loss), "cross-entropy") ||
      divides (head, TRUE, TRUE, ranks, &open) || !open ||
      g_str_equal (lig_op_get_name (head), "embedding") || has_sections (head))
    return;
  g_autofree char *text = g_strdup_printf (
    _ ("%s at %u is whole on each rank: out-features is %" PRId64 ", no multiple of %d"),
    lig_op_get_name (head), length - 2, get_length (head, "out-features"), ranks);
  draft->whole = g_string_chunk_insert_const (draft->strings, text);
}

void
lig_vocabulary_choose (LigDraft *draft)
{
  int ranks = lig_device_get_n_ranks (draft->device, LIG_GROUP_TENSOR);
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (Member));
  if (ranks == 1)
    return;
  g_array_set_clear_func (members, clear_member);
  note_whole (draft, ranks);
  collect (members, draft->sequence, "", ranks);
  find_classes (members);
  for (guint i = 0; i < members->len; i++)
    if (!get (members, i)->divides)
      get (members, (guint) get (members, i)->class)->divides = FALSE;
  draft->divided = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < members->len; i++)
    if (get (members, i)->open && get (members, (guint) get (members, i)->class)->divides)
      g_hash_table_add (draft->divided, get (members, i)->op);
}

gboolean
lig_vocabulary_is_divided (const LigDraft *draft, LigOp *op)
{
  return draft->divided && g_hash_table_contains (draft->divided, op);
}
