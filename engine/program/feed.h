/* SPDX-License-Identifier: MIT */
/* Sends batches to the device: prefetched in a separate stream, from pinned host memory, while the
 * device still works on the previous batch. */
#pragma once

#include "engine/device/device-private.h"
#include <ligature/tensor.h>

G_BEGIN_DECLS

typedef struct _LigFeed LigFeed;

/**
 * lig_feed_new:
 * @target: device memory that steps read
 *
 * Returns a feed with room for a few batches of `size` elements in flight.
 */
LigFeed *lig_feed_new (LigDevice *device, void *target, gint64 size, LigDtype dtype);
void lig_feed_free (LigFeed *self);

/* Sends the tensor, rounded to the feed's type: steps launched from now on read it from the target.
 * The caller may change the tensor after the call. */
gboolean lig_feed_send (LigFeed *self, const LigTensor *tensor, GError **error);

G_END_DECLS
