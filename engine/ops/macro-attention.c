/* SPDX-License-Identifier: MIT */
/* Parts of the macros that contain attention. */
#include "engine/ops/macro-attention.h"

#include <inttypes.h>

static gint64
count_kv_heads (const LigMacroAttention *values)
{
  return values->kv_heads > 0 ? values->kv_heads : values->heads;
}

/* Returns the number of features of so many heads. */
static LigMacroLength
length_of (const LigMacroAttention *values, gint64 heads)
{
  LigMacroLength length = {heads * values->features, heads, values->heads};
  return length;
}

/* Connects a part's extra input to the macro's channel, which is outside the macro. */
static void
connect (LigOp *macro, const char *param, LigOp *part, const char *port)
{
  g_autofree char *channel = lig_macro_text (macro, param);
  g_autofree char *outside = g_strconcat ("../", channel, NULL);
  if (part && channel)
    g_object_set (part, port, g_str_equal (channel, "caller") ? channel : outside, NULL);
}

static void
add_rotary (LigParts *parts, LigOp *macro)
{
  lig_parts_add (parts, NULL,
                 lig_macro_op (macro, "rotary",
                               "heads kv-heads rotary-base=base rotary-fraction=fraction "
                               "rotary-interleaved=interleaved rotary-scaling=scaling "
                               "rotary-factor=factor rotary-low=low rotary-high=high "
                               "rotary-original=original rotary-magnitude=magnitude "
                               "rotary-truncate=truncate"));
}

static void
add_qk_norm (LigParts *parts, LigOp *macro)
{
  g_autofree char *kind = lig_macro_text (macro, "qk-norm");
  if (g_str_equal (kind, "none"))
    return;
  lig_parts_add (parts, "qk-norm",
                 lig_macro_op (macro, "qk-norm", "heads kv-heads qk-norm=kind qk-norm-eps=eps"));
}

static gboolean
has_qkv_bias (LigOp *macro)
{
  return lig_macro_is (macro, "bias") || lig_macro_is (macro, "qkv-bias");
}

static gboolean
has_out_bias (LigOp *macro)
{
  return lig_macro_is (macro, "bias") && lig_macro_is (macro, "out-bias");
}

#define SCORES "heads kv-heads scale softcap sinks attention-dropout=dropout"
#define ATTENTION SCORES " window alibi"

void
lig_macro_add_attention (LigParts *parts, LigOp *macro, const LigMacroAttention *values)
{
  gint64 kv_heads = count_kv_heads (values), heads = values->heads + 2 * kv_heads;
  LigShape sections;
  lig_shape_init (&sections, 3, values->heads, kv_heads, kv_heads);
  lig_macro_add_first (parts, macro, "qkv", has_qkv_bias (macro), length_of (values, heads),
                       &sections);
  if (values->norm_first)
    add_qk_norm (parts, macro);
  if (values->rotary)
    add_rotary (parts, macro);
  if (!values->norm_first)
    add_qk_norm (parts, macro);
  LigOp *attention = lig_macro_op (macro, "attention", ATTENTION " mask");
  connect (macro, "lengths", attention, "lengths");
  connect (macro, "documents", attention, "documents");
  lig_parts_add (parts, "attention", attention);
  lig_macro_add_last (parts, macro, "proj", has_out_bias (macro));
}

void
lig_macro_add_cross_attention (LigParts *parts,
                               LigOp *macro,
                               const LigMacroAttention *values,
                               const char *attention,
                               const char *mask,
                               const char *lengths,
                               const char *proj,
                               gboolean behind)
{
  g_autofree char *memory = lig_macro_text (macro, "memory");
  g_autofree char *outside = g_strconcat ("../", memory, NULL);
  gint64 packed = 2 * count_kv_heads (values);
  LigShape sections;
  lig_shape_init (&sections, 2, (gint64) 1, (gint64) 1);
  lig_macro_add_first (parts, macro, "query", has_qkv_bias (macro),
                       length_of (values, values->heads), NULL);
  lig_macro_add_branch (parts, "query");
  lig_macro_add_load_branch (parts, g_strcmp0 (memory, "caller") == 0 ? NULL : outside);
  lig_macro_add_first (parts, macro, "key-value", has_qkv_bias (macro), length_of (values, packed),
                       &sections);
  lig_macro_add_branch (parts, "key-value");
  lig_macro_add_load_branch (parts, "query");
  LigOp *op = lig_macro_op (macro, "attention", behind ? SCORES : ATTENTION);
  if (op)
    g_object_set (op, "mask", mask, "memory", "key-value", NULL);
  connect (macro, lengths, op, "lengths");
  lig_parts_add (parts, attention, op);
  lig_macro_add_last (parts, macro, proj, has_out_bias (macro));
}

void
lig_macro_check_attention (LigParts *parts, LigOp *macro, const LigMacroAttention *values)
{
  gint64 heads = values->heads, kv_heads = count_kv_heads (values);
  g_autofree char *division = lig_macro_text (macro, "parallel");
  if (heads % MAX (kv_heads, 1) != 0)
    lig_parts_reject (parts, _ ("heads is %" PRId64 ", expected a multiple of kv-heads, %" PRId64),
                      heads, kv_heads);
  /* Otherwise the matmul before the attention would reject its packed columns. */
  if (!g_str_equal (division, "none")) {
    lig_parts_check_sharding (parts, "heads", heads);
    lig_parts_check_sharding (parts, "kv-heads", kv_heads);
  }
  if ((heads + 2 * kv_heads) * values->features > (gint64) LIG_MAX_FEATURES)
    lig_parts_reject (
      parts, _ ("head-features is %" PRId64 ", with %" PRId64 " heads expected at most %" PRId64),
      values->features, heads + 2 * kv_heads, (gint64) LIG_MAX_FEATURES / (heads + 2 * kv_heads));
}
