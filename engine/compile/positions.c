/* SPDX-License-Identifier: MIT */
/* The positions of rows that the ranks of a context group divide: of 2 n equal blocks rank r of n
 * has number r and number 2 n - 1 - r, so that with a causal mask all have the same work. Most ops
 * compute position by position. Attention is a ring of keys and values,
 * engine/ops/ring-attention.c. A window and ALiBi depend on distances between positions, which its
 * steps do not know: with them attention gathers the keys and values of all ranks, as in the
 * training of Llama 3 (2024, section 3.3.2), and each of the two blocks of queries attends to the
 * keys up to its end by the kernels for queries to a memory, whose mask is then bottom-right. */
#include "engine/compile/positions.h"

#include "engine/compile/parts.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

gboolean
lig_positions_divide (LigDraft *draft, GError **error)
{
  int ranks = lig_device_get_n_ranks (draft->device, LIG_GROUP_CONTEXT);
  LigShape *input = &draft->input;
  if (ranks == 1)
    return TRUE;
  if (input->n_axes != (draft->input_dtype == LIG_INT32 ? 2 : 3)) {
    g_autofree char *shape = lig_shape_to_string (input);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the input is %s %s, which has no axis of positions for context=%d to divide; "
                    "train on sequences of tokens, or divide the batch: data=%d"),
                 shape, lig_dtype_name (draft->input_dtype), ranks, ranks);
    return lig_error_set_setting (error, "input");
  }
  if (input->axes[1] % (2 * ranks) != 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the length of a sequence is %" PRId64
                    ", expected a multiple of %d: two blocks on each rank of context=%d"),
                 input->axes[1], 2 * ranks, ranks);
    return lig_error_set_setting (error, "input");
  }
  input->axes[1] /= ranks;
  return TRUE;
}

/* Returns whether the user put an op there that has rows of other ranks of the group, which are
 * other positions: those behind it would not know which. A sum of all has as many as each. */
static gboolean
mixes_positions (const LigPart *part)
{
  const char *const names[] = {"all-gather", "reduce-scatter", "take-part", NULL};
  g_autofree char *group = NULL;
  if (!g_strv_contains (names, part->info->name) || part->op != part->written)
    return FALSE;
  g_object_get (part->op, "group", &group, NULL);
  return g_str_equal (group, lig_rank_group_name (LIG_GROUP_CONTEXT));
}

gboolean
lig_positions_check (const LigPart *part, const LigInfer *infer, GError **error)
{
  unsigned flags = part->info->flags, kinds = part->info->shardings;
  gboolean fits = part->implicit ||
                  flags & (LIG_OP_TRANSPARENT | LIG_OP_ACTIVATION | LIG_OP_GATED | LIG_OP_RECALL) ||
                  kinds & (LIG_COMPUTES_POSITIONS | LIG_COMPUTES_ROWS | LIG_COMPUTES_ANY);
  int ranks = infer->n_ranks[LIG_GROUP_CONTEXT];
  if (ranks == 1 || (fits && !mixes_positions (part)))
    return TRUE;
  if (fits)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("group=context exchanges rows of other positions (context=%d), which the ops "
                    "after it cannot know; give group=data or group=tensor"),
                 ranks);
  else
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      _ ("it may compute across positions, which the ranks of context=%d divide; take the op "
         "away, or divide the batch: data=%d"),
      ranks, ranks);
  return FALSE;
}

gboolean
lig_positions_parts (const LigDraft *draft, LigOp *op)
{
  return lig_device_get_n_ranks (draft->device, LIG_GROUP_CONTEXT) > 1 &&
         g_str_equal (lig_op_get_name (op), "attention");
}

/* Returns a new op with some parameters of attention. */
static LigOp *
like (LigOp *attention, const char *name, const char *const *params)
{
  LigOp *op = lig_op_new (name, NULL);
  for (const char *const *param = params; op && *param; param++) {
    g_auto (GValue) value = G_VALUE_INIT;
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (attention), *param);
    g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (spec));
    g_object_get_property (G_OBJECT (attention), *param, &value);
    g_object_set_property (G_OBJECT (op), *param, &value);
  }
  return op;
}

static LigOp *
make (const char *name, const char *param, const char *value)
{
  LigOp *op = lig_op_new (name, NULL);
  if (op)
    g_object_set (op, param, value, NULL);
  return op;
}

/* Adds attention whose keys and values travel from rank to rank. */
static void
add_ring (LigParts *parts, LigOp *op, gboolean causal)
{
  static const char *const params[] = {"heads", "kv-heads", "scale", "softcap", "dropout", NULL};
  LigOp *ring = like (op, "ring-attention", params);
  if (ring)
    g_object_set (ring, "mask", causal ? "causal" : "none", NULL);
  lig_parts_add (parts, NULL, ring);
}

/* Adds attention of one block of queries to the keys that were arranged for it. */
static void
add_block (LigParts *parts, LigOp *op, gboolean causal, const char *queries, const char *memory)
{
  static const char *const params[] = {"heads",   "kv-heads", "window",  "scale",
                                       "softcap", "alibi",    "dropout", NULL};
  LigOp *block = like (op, "attention", params);
  if (block)
    g_object_set (block, "mask", causal ? "causal-bottom-right" : "none", "memory", memory, "block",
                  queries, NULL);
  lig_parts_add (parts, NULL, make ("recall", "from", queries));
  lig_parts_add (parts, queries, block);
}

/* Refuses parameters whose meaning depends on positions that a kernel for queries to a memory does
 * not know. */
static void
refuse (LigParts *parts, LigOp *op, gboolean causal)
{
  static const char *const inputs[] = {"lengths", "documents", "memory"};
  gint64 window;
  gboolean alibi;
  g_autofree char *block = NULL;
  int ranks = lig_parts_get_n_ranks (parts, LIG_GROUP_CONTEXT);
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++) {
    g_autofree char *channel = NULL;
    g_object_get (op, inputs[i], &channel, NULL);
    if (channel)
      lig_parts_refuse (parts,
                        _ ("with context=%d, %s is not possible yet; divide the batch: "
                           "data=%d"),
                        ranks, inputs[i], ranks);
  }
  g_object_get (op, "window", &window, "alibi", &alibi, "block", &block, NULL);
  if (!g_str_equal (block, "all"))
    lig_parts_refuse (
      parts, _ ("with context=%d, its blocks are divided without block=%s; omit it"), ranks, block);
  if (!causal && (window > 0 || alibi))
    lig_parts_refuse (parts, _ ("with context=%d and mask=none, %s is not possible yet"), ranks,
                      window > 0 ? "window" : "alibi");
}

/* Adds attention to the gathered keys and values of all ranks. */
static void
add_gathered (LigParts *parts, LigOp *op, gboolean causal)
{
  static const char *const heads[] = {"heads", "kv-heads", NULL};
  LigOp *split = like (op, "split-heads", heads);
  LigOp *arrange = make ("arrange-halves", "second", "second-keys");
  if (split)
    g_object_set (split, "first", "first", "second", "second", NULL);
  if (arrange)
    g_object_set (arrange, "causal", causal, NULL);
  lig_parts_add (parts, NULL, split);
  lig_parts_add (parts, NULL, make ("all-gather", "group", "context"));
  lig_parts_add (parts, NULL, arrange);
  lig_parts_add (parts, NULL, make ("make-extra-output", "to", "first-keys"));
  add_block (parts, op, causal, "first", "first-keys");
  lig_parts_add (parts, NULL, make ("make-extra-output", "to", "done"));
  add_block (parts, op, causal, "second", "second-keys");
  lig_parts_add (parts, NULL, make ("join-halves", "first", "done"));
}

/* The positions of a rank from which a GPU computes long enough to hide the exchanges of a ring:
 * with fewer, its many short kernels take longer than to gather everything at once, as predicted
 * for GPT-2 on eight H200. */
#define LEAST_IN_RING 1024

/* Returns whether keys and values travel in a ring; windows and ALiBi depend on distances, which
 * its kernels do not know. */
static gboolean
takes_ring (LigParts *parts, LigOp *op, gint64 length)
{
  gint64 window;
  gboolean alibi, gpu = lig_device_get_facts (parts->device)->capability > 0;
  g_object_get (op, "window", &window, "alibi", &alibi, NULL);
  return window == 0 && !alibi && (!gpu || length >= LEAST_IN_RING);
}

gboolean
lig_positions_expand (LigOp *op, LigParts *parts, gint64 length)
{
  g_autofree char *mask = NULL;
  g_object_get (op, "mask", &mask, NULL);
  gboolean causal = !g_str_equal (mask, "none");
  refuse (parts, op, causal);
  if (takes_ring (parts, op, length))
    add_ring (parts, op, causal);
  else
    add_gathered (parts, op, causal);
  return TRUE;
}
