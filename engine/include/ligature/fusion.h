/* SPDX-License-Identifier: MIT */
/* Fusions: rules that let one kernel, or fewer kernels, serve a run of ops. A fusion is data: a
 * pattern, the pass it belongs to, and a function that emits its kernels. A forward fusion saves
 * the same values for the backward pass as its ops would, and a backward fusion reads those values;
 * a joint fusion covers the same ops in both passes and may save others.
 *
 * Threads: any number of threads may register and look up fusions at once; a table's functions are
 * called by the threads that compile. */
#pragma once

#include <ligature/op.h>
#include <ligature/verdict.h>

G_BEGIN_DECLS

typedef struct _LigRejection LigRejection;
typedef struct LigKernel LigKernel;

/* The share of the device's memory from which on the output of an op is large: joint fusions that
 * avoid it are taken without measuring, and a matmul before them is not quantized. */
#define LIG_LARGE_SHARE 0.25

/* The reason why a fusion's condition rejects a place. */
struct _LigRejection {
  LigReason reason;          /* PARALLEL, RECIPE, DTYPE, SHAPE or KERNEL */
  char *observed, *required; /* (transfer full) */
  double observed_value, required_value;
  const char *unit; /* static; null if the reason is not numeric */
  unsigned types;   /* DTYPE: the set of accepted compute types, LIG_TYPES (…) */
};

/* The table of a fusion. It begins with its size in the program's version of the struct, so that a
 * newer library does not read fields beyond it. */
struct _LigFusion {
  gsize size;       /* sizeof (LigFusion) */
  const char *name; /* kebab-case, beginning with its pass, at most 60 bytes */
  LigPass pass;     /* forward, backward or joint */
  const char *summary;

  /* The elements, separated by spaces; `|` separates alternatives, [brackets] enclose an optional
   * element, and `@activation` and `@gated` stand for every op with that flag. At least two ops
   * must match. The ops are registered before the fusion; none is opaque or a macro, because
   * patterns are matched against the parts of macros. */
  const char *pattern;

  /* A further condition, or null. It reads ports and params through the lowering. */
  gboolean (*allows) (LigLowering *match, LigRejection *rejection);

  /* Emits the kernels of its pass (joint: of the forward pass). */
  void (*lower) (LigLowering *lowering);
  /* Joint: the backward kernels. */
  void (*lower_backward) (LigLowering *lowering);
  /* Joint: the ports that its backward kernels read, as in bindings ("0.x 1.y"); null: the
   * values that the ops save. */
  const char *saves;

  /* Backward: for titles, the gradient that each element of the pattern contributes, a word each:
   * `input`, `weight`, `bias`, `branch`, `gradients` for all, `gradient` for the only one, `-` for
   * none that a title names. Null: the gradient of each. */
  const char *gradients;

  /* Joint: values that its forward kernels compute for its backward ones, each with the port whose
   * shape it has, and its type unless it is that port's: "gx=0.dx gweight=0.dweight:fp32". It is
   * absent where the port is: such gradients are of frozen parameters, or nobody needs them.
   * Bindings use the names without a number. Null: none. */
  const char *computes;

  /* The fewest parts, lig_lower_get_pieces(), in which its kernels exchange and multiply each
   * rank's rows. Policy `measured` times several numbers of them. 0: it does not divide rows. */
  int min_pieces;
};

/**
 * lig_register_kernel: (skip)
 * @kernel: a kernel, valid and unchanged until the process ends
 *
 * Registers a kernel of the embedding program under its name, so that the tables of ops may use it
 * as `forward` and `backward`, and lig_lower_kernel() accepts it. It must be registered before the
 * ops that name it. May be called from any thread, like lig_register_op().
 *
 * Returns: %FALSE with %LIG_ERROR_OP set, a sentence that names the kernel and the fault: a name
 *   that is taken, a signature that cannot be read, no function for any backend
 */
LIG_API gboolean lig_register_kernel (const LigKernel *kernel, GError **error);

/**
 * lig_register_fusion:
 * @fusion: a table; its strings and functions must stay valid until the process ends, the struct is
 *   copied
 * @first: whether it is tried before all others of its pass; otherwise after them
 *
 * Registers a fusion after checking its whole table. Any thread may register at any time, as for
 * lig_register_op(); plans that are already compiled do not change.
 *
 * Returns: %FALSE with %LIG_ERROR_FUSION set, a sentence that names the fusion and the fault: a
 *   name that is taken, a pattern that cannot be parsed or names unknown ops, an incomplete table
 */
LIG_API gboolean lig_register_fusion (const LigFusion *fusion, gboolean first, GError **error);

/**
 * lig_fusion_nth:
 * @n: the fusion's number, from 0
 *
 * Returns: (nullable): the @n-th fusion in the order in which policy `all` tries them: joint,
 *   forward, backward; null after the last
 */
LIG_API const LigFusion *lig_fusion_nth (guint n);

/**
 * lig_fusion_find:
 * @name: the name of a fusion
 *
 * Returns: (nullable) (transfer none): its table, or %NULL if no fusion has that name
 */
LIG_API const LigFusion *lig_fusion_find (const char *name);

/**
 * lig_fusion_takes:
 * @self: a registered fusion
 * @op: the table of an op
 *
 * Returns: whether the op fits an element of the fusion's pattern. A macro fits none: its parts do
 */
LIG_API gboolean lig_fusion_takes (const LigFusion *self, const LigOpInfo *op);

/**
 * lig_fusion_has: (skip)
 * @self: a fusion
 * @element: the number of an element of its pattern, from 0, or from the end: -1 is the last one
 * @flags: some of #LigOpFlags
 *
 * Returns: whether the element takes, by name, an op that has one of the flags
 */
LIG_API gboolean lig_fusion_has (const LigFusion *self, int element, unsigned flags);

/**
 * lig_fusion_has_trait: (skip)
 * @self: a fusion
 * @flags: some of #LigOpFlags
 *
 * Returns: whether an element of its pattern takes, by name, an op that has one of the flags
 */
LIG_API gboolean lig_fusion_has_trait (const LigFusion *self, unsigned flags);

G_END_DECLS
