/* SPDX-License-Identifier: MIT */
/* For authors of ops: the sharding of values over ranks. */
#pragma once

#include <ligature/op.h>

G_BEGIN_DECLS

/**
 * lig_infer_reject_sharding: (skip)
 * @self: the input of a shape rule
 *
 * Rejects the sharding of x over a tensor group; the message says how the previous op can produce
 * another one.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE set
 */
LIG_API gboolean lig_infer_reject_sharding (const LigInfer *self, GError **error);

G_END_DECLS
