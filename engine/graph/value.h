/* SPDX-License-Identifier: MIT */
/* Values of a graph, and parameters by number. */
#pragma once

#include "engine/graph/graph.h"

/* Appends a value; the name is copied. */
int lig_graph_add_value (LigGraph *self,
                         LigValueRole role,
                         const LigShape *shape,
                         LigDtype dtype,
                         int part,
                         const char *format,
                         ...) G_GNUC_PRINTF (6, 7);

/* Returns the value of the state's LigScaling; the first call adds it. */
int lig_graph_scaling (LigGraph *self);

/* Returns the value that aliases resolve to. */
int lig_graph_root (const LigGraph *self, int value);

/* Returns an operand for the value, without memory. */
LigOperand lig_graph_operand (const LigGraph *self, int value);

/* Adds a value for elements of an array of the state. */
int lig_array_value (LigGraph *graph, int array, gint64 first, gint64 count);

/* Returns the shape of the parameter on all ranks together. */
LigShape lig_sharding_whole (const LigTie *parameter);

/* Returns whether the op may use the parameter of another op. */
gboolean lig_sharding_same (const LigTie *tie, const LigParameter *parameter);

/* Returns the numbers of all parameters in the order of their offsets in the state, of int. */
GArray *lig_parameters_by_offset (const LigGraph *graph);
