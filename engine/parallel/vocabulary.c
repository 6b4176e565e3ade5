/* SPDX-License-Identifier: MIT */
/* Chooses the ops whose vocabulary tensor parallelism shards (Shoeybi and others, "Megatron-LM",
 * 2019): the sequence as written determines which weights are shared. */
#include "engine/parallel/vocabulary.h"

#include "engine/sequence/tie.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>

/* An op whose vocabulary may be sharded, or that shares the weight of one. */
typedef struct {
  LigOp *op; /* (unowned) */
  char *path, *tied;
  gboolean sharded;   /* by the op's own parameters */
  gboolean automatic; /* parallel=auto */
  int class;          /* the number of the first member with the same weight */
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

/* Returns whether the op's features are in several sections. */
static gboolean
has_sections (LigOp *op)
{
  g_auto (GValue) value = G_VALUE_INIT;
  if (!g_object_class_find_property (G_OBJECT_GET_CLASS (op), "sections"))
    return FALSE;
  g_value_init (&value, LIG_TYPE_SHAPE);
  g_object_get_property (G_OBJECT (op), "sections", &value);
  const LigShape *sections = g_value_get_boxed (&value);
  return sections && sections->n_axes > 0;
}

/* Returns whether the op's vocabulary is sharded; `automatic` is set if the op has parallel=auto.
 */
static gboolean
is_sharded (LigOp *op, gboolean outermost, gboolean head, int ranks, gboolean *automatic)
{
  const LigOpInfo *info = lig_op_get_info (op);
  gboolean looks_up = info->flags & LIG_OP_INTEGER_INPUT;
  g_autofree char *parallel = NULL;
  *automatic = FALSE;
  if (!info->vocabulary)
    return FALSE;
  g_object_get (op, "parallel", &parallel, NULL);
  gint64 length = get_length (op, info->vocabulary);
  if (!outermost || length < 1 || has_sections (op))
    return FALSE;
  *automatic = g_str_equal (parallel, "auto");
  return *automatic ? (looks_up || head) && length % ranks == 0
                    : g_str_equal (parallel, info->vocabulary_choice);
}

/* Adds the ops of a list and, recursively, of the blocks in it; only outermost ops can be
 * sharded. */
static void
collect (GArray *members, LigSequence *list, const char *prefix, int ranks)
{
  guint length = lig_sequence_get_length (list);
  LigOp *last = length > 0 ? lig_sequence_get (list, -1, NULL) : NULL;
  gboolean loss = last && !*prefix && lig_op_get_info (last)->flags & LIG_OP_CLASSES;
  for (guint i = 0; i < length; i++) {
    LigOp *op = lig_sequence_get (list, (int) i, NULL);
    LigSequence *body = lig_op_get_body (op);
    Member member = {.op = op, .path = g_strdup_printf ("%s%u", prefix, i), .class = -1};
    const char *tied = lig_op_get_tie (op, 0, NULL);
    member.sharded = is_sharded (op, !*prefix, loss && i + 2 == length, ranks, &member.automatic);
    member.tied = tied ? lig_tie_resolve (tied, member.path) : NULL;
    if (body) {
      g_autofree char *inside = g_strdup_printf ("%s.0.", member.path);
      collect (members, body, inside, ranks);
    }
    g_array_append_val (members, member);
  }
}

/* Finds the members with the same weight. A weight that belongs to another op is not sharded. */
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
      member->sharded &= next > 0;
      if (next == 0)
        break;
      at = next - 1;
    }
    member->class = (int) at;
  }
}

/* Records a note if the LM head stays unsharded with parallel=auto: it is often the largest
 * matmul. */
static void
note_unsharded (LigGraph *graph, int ranks)
{
  guint length = lig_sequence_get_length (graph->request->sequence);
  LigOp *head =
    length > 1 ? lig_sequence_get (graph->request->sequence, (int) length - 2, NULL) : NULL;
  LigOp *loss = head ? lig_sequence_get (graph->request->sequence, -1, NULL) : NULL;
  const LigOpInfo *info = head ? lig_op_get_info (head) : NULL;
  gboolean automatic;
  if (!loss || !(lig_op_get_info (loss)->flags & LIG_OP_CLASSES) ||
      is_sharded (head, TRUE, TRUE, ranks, &automatic) || !automatic ||
      info->flags & LIG_OP_INTEGER_INPUT)
    return;
  g_autofree char *text = g_strdup_printf (
    _ ("%s at %u is not sharded: %s is %" PRId64 ", not a multiple of %d"), info->name, length - 2,
    info->vocabulary, get_length (head, info->vocabulary), ranks);
  graph->vocabulary->unsharded = g_string_chunk_insert_const (graph->strings, text);
}

void
lig_vocabulary_choose (LigGraph *graph)
{
  int ranks = lig_device_get_n_ranks (graph->request->device, LIG_GROUP_TENSOR);
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (Member));
  if (ranks == 1)
    return;
  graph->vocabulary = g_new0 (LigVocabulary, 1);
  graph->vocabulary->sharded = g_hash_table_new (NULL, NULL);
  g_array_set_clear_func (members, clear_member);
  note_unsharded (graph, ranks);
  collect (members, graph->request->sequence, "", ranks);
  find_classes (members);
  for (guint i = 0; i < members->len; i++)
    if (!get (members, i)->sharded)
      get (members, (guint) get (members, i)->class)->sharded = FALSE;
  for (guint i = 0; i < members->len; i++)
    if (get (members, i)->automatic && get (members, (guint) get (members, i)->class)->sharded)
      g_hash_table_add (graph->vocabulary->sharded, get (members, i)->op);
}

gboolean
lig_vocabulary_is_sharded (const LigGraph *graph, LigOp *op)
{
  return graph->vocabulary && g_hash_table_contains (graph->vocabulary->sharded, op);
}

void
lig_vocabulary_free (LigVocabulary *self)
{
  if (!self)
    return;
  g_hash_table_unref (self->sharded);
  g_free (self);
}
