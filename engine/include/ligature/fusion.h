/* SPDX-License-Identifier: MIT */
/* Fusions: rules that let one kernel, or fewer kernels, serve a run of ops. A fusion is data: a
 * pattern, the pass it belongs to, and how it becomes kernels. It owns nothing and refers to the
 * ops it covers; a forward fusion leaves for backward what its ops would have left, a backward one
 * reads what they left; a joint fusion covers the same ops in both passes.
 *
 * Threads: registering and asking are for any thread at once; a table's functions are called by
 * those that compile. */
#pragma once

#include <ligature/lowering.h>
#include <ligature/verdict.h>

G_BEGIN_DECLS

/* The most elements a pattern may have. */
#define LIG_MAX_ELEMENTS 8

/* The answer of a fusion's condition where it refuses a place. */
typedef struct {
  LigReason reason;          /* PARALLEL, RECIPE, DTYPE, SHAPE or KERNEL */
  char *observed, *required; /* (transfer full) */
  double observed_value, required_value;
  const char *unit; /* static; null where the reason is not numeric */
  unsigned types;   /* DTYPE: the compute types that would be accepted, LIG_TYPES (…) */
} LigRefusal;

/* Begins with its size as the program knows it, so that a library in which fields were added since
 * reads no further. */
struct _LigFusion {
  gsize size;       /* sizeof (LigFusion) */
  const char *name; /* kebab-case, beginning with its pass, at most 60 bytes */
  LigPass pass;     /* forward, backward or joint */
  const char *summary;

  /* Elements separated by spaces; alternatives by `|`; [in brackets]: may be missing; `@activation`
   * and `@gated` stand for every op flagged so. At least two ops must match. The ops are registered
   * before the fusion, and neither macros, which are their parts, nor opaque. */
  const char *pattern;

  /* A further condition, or null. Ports and params are asked for through the lowering. */
  gboolean (*allows) (LigLowering *match, LigRefusal *refusal);

  /* Emits the kernels of its pass (joint: of the forward pass). */
  void (*lower) (LigLowering *lowering);
  /* Joint: the backward kernels. */
  void (*lower_backward) (LigLowering *lowering);
  /* Joint: ports, as in bindings ("0.x 1.y"), that its backward reads; null: what the ops save. */
  const char *saves;
};

/**
 * lig_register_fusion:
 * @fusion: a table; its strings and functions stay valid for ever, the struct is copied
 * @first: tried before all others of its pass, else after them
 *
 * The whole table is checked. Any thread may register at any time, as for lig_register_op(); plans
 * that were compiled before stay as they are.
 *
 * Returns: %FALSE with %LIG_ERROR_FUSION set, a sentence that names the fusion and what is wrong: a
 *   name that is taken, a pattern that is none or names ops that are not there, a table that is not
 *   whole
 */
LIG_API gboolean lig_register_fusion (const LigFusion *fusion, gboolean first, GError **error);

/**
 * lig_fusion_nth:
 *
 * Returns: (nullable): the fusions in the order in which policy `all` tries them: joint, forward,
 *   backward; null after the last
 */
LIG_API const LigFusion *lig_fusion_nth (guint n);

LIG_API const LigFusion *lig_fusion_find (const char *name);

G_END_DECLS
