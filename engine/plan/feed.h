/* SPDX-License-Identifier: MIT */
/* Batches on their way to the device: copied ahead, in a stream of their own, from host memory that
 * copies fast, while the device still works on the batch before. */
#pragma once

#include "engine/device/device-private.h"
#include <ligature/tensor.h>

G_BEGIN_DECLS

typedef struct _LigFeed LigFeed;

/**
 * lig_feed_new:
 * @target: device memory that steps read
 *
 * Room for a few batches of `size` elements in flight.
 */
LigFeed *lig_feed_new (LigDevice *device, void *target, gint64 size, LigDtype dtype);
void lig_feed_free (LigFeed *self);

/* The tensor, rounded to the feed's type, will be in the target for what is launched from now on;
 * it may be changed as soon as this returns. */
gboolean lig_feed_send (LigFeed *self, const LigTensor *tensor, GError **error);

G_END_DECLS
