/* SPDX-License-Identifier: MIT */
/* A lowering, and the values of its ports. */
#pragma once

#include "engine/graph/graph.h"
#include "engine/lower/bindings.h"
#include <ligature/lowering.h>

struct _LigLowering {
  LigGraph *graph;
  const LigPlanGroup *group;
  gboolean backward;
  gboolean update;            /* of the parameters with own_update */
  GArray *steps;              /* of LigGraphStep; appended to */
  gboolean probe;             /* only find the kernels: aliases are undone */
  gboolean keeps;             /* all outputs are read within the group */
  GArray *aliases;            /* of int: aliases to undo */
  GError *error;              /* the first error in a table */
  const char *missing;        /* the first missing kernel */
  const LigPart *unquantized; /* a matmul whose kernel has no twin for quantized operands */
  GHashTable *own;            /* values that the kernels of an op pass to one another; or null */
};

/* Records the first error in the table of the op or fusion, which ends the compilation. */
void lig_lower_fault (LigLowering *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Returns the value of a part's port; the port decides between the incoming and the outgoing
 * gradient. */
int lig_lower_part_port (const LigGraph *graph, const LigPart *part, const char *name);

/* Returns the value of a port as in bindings, `0.x`; negative if it is absent or unknown. */
int lig_lower_port (LigLowering *self, const char *port);

/* Finds a value that the group computes for itself, by LigFusion.computes of its joint fusion or by
 * lig_lower_value () of its op. Returns FALSE if it computes none of that name; the value is -1 for
 * a missing optional element. */
gboolean lig_find_own_value (LigLowering *self, const char *name, int *value);

/* Finds a value that was stored under its key, or stores a new one; takes ownership of the key. */
gboolean lig_find_own (const LigGraph *graph, const char *key, int *value);
void lig_keep_own (LigGraph *graph, char *key, int value);

/* Returns the value of a binding; negative if its port is absent or unknown. */
int lig_lower_bound (LigLowering *self, const LigBinding *port);

/* Returns the part that a port's number refers to; null for an optional element that is missing. */
const LigPart *lig_lower_port_part (LigLowering *self, const LigBinding *port);

/* Returns the name of the port without the number of its element. */
const char *lig_lower_port_name (const LigLowering *self, const LigBinding *port);

/* Appends the step of a kernel. */
void lig_lower_emit (LigLowering *self,
                     const LigKernel *kernel,
                     const LigBindings *bindings,
                     const void *params,
                     gsize params_size);
