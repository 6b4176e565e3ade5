/* SPDX-License-Identifier: MIT */
/* For authors of ops: the parts of values that ranks have. */
#pragma once

#include <ligature/op.h>

G_BEGIN_DECLS

/**
 * lig_infer_reject_sharding: (skip)
 * @self: the input of a shape rule
 *
 * Rejects the part of x that a rank of a tensor group has: the sentence says how the op before may
 * give another one.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE set
 */
LIG_API gboolean lig_infer_reject_sharding (const LigInfer *self, GError **error);

G_END_DECLS
