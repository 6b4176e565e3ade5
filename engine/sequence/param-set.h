/* SPDX-License-Identifier: MIT */
/* A set of the parameters of an op, by their indices. */
#pragma once

#include <glib.h>

/* The most parameters that an op may have. */
enum { LIG_MAX_OP_PARAMS = 128 };

typedef struct {
  guint64 bits[LIG_MAX_OP_PARAMS / 64];
} LigParamSet;

static inline void
lig_param_set_add (LigParamSet *self, guint index)
{
  self->bits[index / 64] |= G_GUINT64_CONSTANT (1) << index % 64;
}

static inline gboolean
lig_param_set_has (const LigParamSet *self, guint index)
{
  return self->bits[index / 64] >> index % 64 & 1;
}
