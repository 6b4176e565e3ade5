/* SPDX-License-Identifier: MIT */
/* Lists of ports in their parsed form. Tables and kernels write them as text, `x bias? -> sum=x y`;
 * each text is parsed once, when the op, fusion or kernel with that text is registered. */
#pragma once

#include <ligature/op.h>

typedef struct {
  const char *name;
  gboolean optional; /* may be absent */
  unsigned places;   /* of an output: the inputs, by bit, whose memory it may reuse */
} LigPort;

typedef struct {
  int count, n_inputs; /* n_inputs: the ports before the arrow; without an arrow, all ports */
  const LigPort *ports;
} LigPorts;

/* Returns the ports of a text; null has none. The first call with a text parses it; the result is
 * never freed. May be called from any thread. */
const LigPorts *lig_ports_parse (const char *text);

/* Returns the position of a name among the ports, or -1. */
int lig_ports_find (const LigPorts *self, const char *name);

/* Returns how many different texts have been parsed so far. */
guint lig_ports_parsed (void);

/* A port, or its gradient: its kind, and its index among the ports of that kind. */
typedef struct {
  LigPortKind kind;
  int slot;
  gboolean gradient;
} LigPortSlot;

/* The port lists of a registered op. */
typedef struct {
  const LigPorts *extra_inputs, *extra_outputs, *computes, *saves;
  GHashTable *slots;          /* of LigPortSlot, by the names of ports and of their gradients */
  char **forward, **backward; /* names of kernels, null after the last */
} LigOpPorts;

/* Returns a port or its gradient by its name; null if the op has none. */
const LigPortSlot *lig_op_ports_find (const LigOpPorts *self, const char *name);

/* Returns the lists of an op that is registered, or that this thread has proposed. */
const LigOpPorts *lig_op_info_ports (const LigOpInfo *info);
