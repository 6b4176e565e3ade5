/* SPDX-License-Identifier: MIT */
/* Expands attention over a sequence that is sharded over a context-parallel group, usually to ring
 * attention (ring-attention.c). A window and ALiBi depend on distances between tokens, which the
 * steps of a ring do not know: with them the keys and values of all ranks are gathered, as in the
 * training of Llama 3 (2024, section 3.3.2), and each of the two blocks of queries attends to the
 * keys up to its end with the cross-attention kernels and a bottom-right mask. */
#include "engine/ops/define.h"

/* Returns a new op with the named parameters of the attention op. */
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

/* Adds ring attention. */
static void
add_ring (LigParts *parts, LigOp *op, gboolean causal)
{
  static const char *const params[] = {"heads", "kv-heads", "scale", "softcap",
                                       "sinks", "dropout",  NULL};
  LigOp *ring = like (op, "ring-attention", params);
  if (ring)
    g_object_set (ring, "mask", causal ? "causal" : "none", NULL);
  lig_parts_add (parts, NULL, ring);
}

/* Adds attention of one block of queries to the keys arranged for it. The first one has the path of
 * the op, which is thus also that of its sinks; the second one shares them. */
static void
add_block (LigParts *parts, LigOp *op, gboolean causal, const char *queries, const char *memory)
{
  static const char *const params[] = {"heads", "kv-heads", "window",  "scale", "softcap",
                                       "alibi", "sinks",    "dropout", NULL};
  LigOp *block = like (op, "attention", params);
  gboolean second = g_str_equal (queries, "second");
  if (block)
    g_object_set (block, "mask", causal ? "causal-bottom-right" : "none", "memory", memory, "block",
                  queries, NULL);
  lig_parts_add (parts, NULL, make ("load-branch", "from", queries));
  lig_parts_add (parts, second ? queries : NULL, block);
  if (second)
    lig_parts_share_parameters (parts, NULL);
}

/* Rejects parameters that depend on token positions, which cross-attention kernels do not know. */
static void
reject (LigParts *parts, LigOp *op, gboolean causal)
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
      lig_parts_reject (parts,
                        _ ("with context=%d, %s is not supported; shard the batch instead: "
                           "data=%d"),
                        ranks, inputs[i], ranks);
  }
  g_object_get (op, "window", &window, "alibi", &alibi, "block", &block, NULL);
  if (!g_str_equal (block, "all"))
    lig_parts_reject (
      parts, _ ("with context=%d, its blocks are sharded without block=%s; omit it"), ranks, block);
  if (!causal && (window > 0 || alibi))
    lig_parts_reject (parts, _ ("with context=%d and mask=none, %s is not supported"), ranks,
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

/* The tokens per rank from which attention takes long enough to hide a ring's communication: with
 * fewer, its many short kernels take longer than gathering everything at once, as predicted for
 * GPT-2 on eight H200. */
#define MIN_IN_RING 1024

/* Returns whether to use ring attention; windows and ALiBi depend on distances, which its kernels
 * do not know. */
static gboolean
takes_ring (LigParts *parts, LigOp *op, gint64 length)
{
  gint64 window;
  gboolean alibi, gpu = lig_parts_on_gpu (parts);
  g_object_get (op, "window", &window, "alibi", &alibi, NULL);
  return window == 0 && !alibi && (!gpu || length >= MIN_IN_RING);
}

void
lig_attention_expand_positions (LigOp *op, LigParts *parts, gint64 length)
{
  g_autofree char *mask = NULL;
  g_object_get (op, "mask", &mask, NULL);
  gboolean causal = !g_str_equal (mask, "none");
  reject (parts, op, causal);
  if (takes_ring (parts, op, length))
    add_ring (parts, op, causal);
  else
    add_gathered (parts, op, causal);
}
