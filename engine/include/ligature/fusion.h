/* SPDX-License-Identifier: MIT */
/* Fusions: rules that replace the kernels of consecutive ops by one or a few. A fusion is a table:
 * a pattern, the pass it belongs to, and a function that emits its kernels. A forward fusion saves
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

/* The fraction of the device's memory above which the output of an op is large: joint fusions that
 * avoid it are applied without measuring, and a matmul before them is not quantized. */
#define LIG_LARGE_SHARE 0.25

/* Why a fusion's condition rejects a match. */
struct _LigRejection {
  LigReason reason;          /* PARALLEL, RECIPE, DTYPE, SHAPE or KERNEL */
  char *observed, *required; /* (transfer full) */
  double observed_value, required_value;
  const char *unit;       /* static; null if the reason is not numeric */
  unsigned types;         /* DTYPE: the set of accepted compute types, LIG_TYPES (…) */
  gboolean unless_forced; /* whether it would accept the match if the fusion were forced */
  /* SHAPE: the parameter of the pattern's element with which it would accept the match, an integer,
   * and its required value; null: there is none. */
  const char *param;
  int element;
  gint64 value;
};

/* The table of a fusion. It begins with the size of the struct that the program was compiled with,
 * so that a newer library does not read fields beyond it. */
struct _LigFusion {
  gsize size;       /* sizeof (LigFusion) */
  const char *name; /* kebab-case, beginning with its pass, at most 60 bytes */
  LigPass pass;     /* forward, backward or joint */
  const char *summary;

  /* The elements, separated by spaces; `|` separates alternatives, [brackets] enclose an optional
   * element, and `@activation` and `@gated` stand for every op with that flag. At least two ops
   * must match. The ops must be registered before the fusion, and must not be opaque or macros:
   * patterns are matched against the parts of macros. */
  const char *pattern;

  /* A further condition on a match, or null. It reads ports and params through the lowering. */
  gboolean (*allows) (LigLowering *match, LigRejection *rejection);

  /* Emits the kernels of the pass; for a joint fusion, those of the forward pass. */
  void (*lower) (LigLowering *lowering);
  /* Joint: emits the backward kernels. */
  void (*lower_backward) (LigLowering *lowering);
  /* Joint: the ports that the backward kernels read, written as in bindings ("0.x 1.y"); null: the
   * values that the ops save. */
  const char *saves;

  /* Backward, for titles: one word for each element of the pattern, the gradient that it
   * contributes: `input`, `weight`, `bias`, `branch`, `gradients` for all, `gradient` for the only
   * one, `-` for none that a title names. Null: the gradient of each. */
  const char *gradients;

  /* Joint: values that the forward kernels compute for the backward ones, each with the port whose
   * shape it has, and its type if that differs from the port's: "gx=0.dx gweight=0.dweight:fp32". A
   * value is absent if its port is, because the parameter is frozen or the gradient is unused.
   * Bindings use these names without a number. Null: none. */
  const char *computes;

  /* The minimum number of chunks, lig_lower_get_pieces(), in which its kernels communicate and
   * multiply each rank's rows. Policy `measured` times several numbers. 0: rows are not chunked. */
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
 * Returns: %FALSE with %LIG_ERROR_OP set, a sentence that names the kernel and the fault: the name
 *   is taken, the signature cannot be parsed, or no backend has a function
 */
LIG_API gboolean lig_register_kernel (const LigKernel *kernel, GError **error);

/**
 * lig_register_fusion:
 * @fusion: a table; its strings and functions must stay valid until the process ends, the struct is
 *   copied
 * @first: whether it is tried before all others of its pass instead of after them
 *
 * Registers a fusion after checking its whole table. Any thread may register at any time, as for
 * lig_register_op(); plans that are already compiled do not change.
 *
 * Returns: %FALSE with %LIG_ERROR_FUSION set, a sentence that names the fusion and the fault: the
 *   name is taken, the pattern cannot be parsed or names unknown ops, or the table is incomplete
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
 * Returns: whether the op matches an element of the fusion's pattern; never for a macro, whose
 * parts are matched instead
 */
LIG_API gboolean lig_fusion_takes (const LigFusion *self, const LigOpInfo *op);

/**
 * lig_fusion_has: (skip)
 * @self: a fusion
 * @element: the number of an element of its pattern, from 0, or from the end: -1 is the last one
 * @flags: some of #LigOpFlags
 *
 * Returns: whether the element names an op that has one of the flags
 */
LIG_API gboolean lig_fusion_has (const LigFusion *self, int element, unsigned flags);

/**
 * lig_fusion_has_trait: (skip)
 * @self: a fusion
 * @flags: some of #LigOpFlags
 *
 * Returns: whether an element of its pattern names an op that has one of the flags
 */
LIG_API gboolean lig_fusion_has_trait (const LigFusion *self, unsigned flags);

G_END_DECLS
