/* SPDX-License-Identifier: MIT */
/* The parts of a macro. */
#pragma once

#include <ligature/lowering.h>

struct _LigParts {
  GPtrArray *ops;   /* owned; null where the macro failed to create one */
  GPtrArray *names; /* interned; null for none */
};

/* Expands a macro once: parts that are macros stay whole. */
void lig_parts_init (LigParts *self, LigOp *macro);
void lig_parts_clear (LigParts *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigParts, lig_parts_clear)
