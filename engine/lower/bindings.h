/* SPDX-License-Identifier: MIT */
/* Bindings of the operands of kernels, `dy=1.dy x=0.x:row y=terms@2/4`: the text from lowering
 * functions is parsed once for each kernel that they emit. */
#pragma once

#include "engine/graph/graph.h"

/* The port of an op, a form of it or a part of its rows to which an operand is bound; or nothing.
 */
typedef struct {
  char operand[32]; /* of the kernel; empty: a port without an operand */
  char text[64];    /* the port as written, without its place: `1.x:row`, `-` */
  int element;      /* the number of the pattern's element; -1: none is written */
  int name, form; /* where the names of the port and of its form begin in the text; form 0: none */
  int piece, pieces; /* its place, `@piece/pieces`; pieces 0: all rows */
} LigBinding;

typedef struct {
  int count;
  LigBinding list[2 * LIG_MAX_OPERANDS];
} LigBindings;

/* Parses the text of a port. */
void lig_binding_parse (LigBinding *self, const char *port);

/* Adds the bindings of a text (nullable); of two for an operand the first one counts. Those beyond
 * the maximum number of operands are omitted. */
void lig_bindings_add (LigBindings *self, const char *text);

/* Adds a binding of the operand to this port, or to another form of it: if `suffix` is given, such
 * as `-scale`, it is appended to the name of the form. Null: to nothing. */
void lig_bindings_bind (LigBindings *self,
                        const char *operand,
                        const LigBinding *to,
                        const char *form,
                        const char *suffix);

/* Finds the binding of an operand: without one it is the port with the operand's name. */
void lig_bindings_find (const LigBindings *self, const char *operand, LigBinding *found);
