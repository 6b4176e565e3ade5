/* SPDX-License-Identifier: MIT */
/* The parts that a macro's `expand` adds, and the lengths that are known only after shape
 * inference. */
#pragma once

#include <ligature/device.h>
#include <ligature/macro.h>

/* A length of a macro's part that follows from the macro's input: the integer parameter `param` is
 * multiple / divisor times the length of the input's last axis. */
typedef struct {
  const char *param; /* interned; null for none */
  gint64 multiple, divisor;
} LigPartSize;

struct _LigParts {
  GPtrArray *ops;             /* owned; null where the macro failed to create one */
  GPtrArray *names;           /* interned; null for none */
  GArray *sizes;              /* of LigPartSize */
  GPtrArray *owners;          /* interned: the name of the part whose parameters each has, `` for
                                 one without a name; null: its own */
  char *problem;              /* why the macro rejects its parameters, or null */
  LigDevice *device;          /* (unowned) (nullable) */
  gboolean shards_vocabulary; /* see lig_parts_shards_vocabulary () */
  gboolean apart;             /* they are written into a sequence, for any number of ranks */
};

/* `device`: (nullable): the device whose ranks the parts are for; null: one rank. */
LigParts *lig_parts_new (LigDevice *device);
void lig_parts_free (LigParts *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigParts, lig_parts_free)
