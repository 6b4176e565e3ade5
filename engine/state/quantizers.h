/* SPDX-License-Identifier: MIT */
/* The scales and histories of quantizers that a state keeps for recipes with scales from earlier
 * steps: for each operand of each matmul {scale, amax of this step, history}. */
#pragma once

#include "engine/graph/layout.h"
#include <ligature/device.h>
#include <ligature/tensor-file.h>

typedef struct _LigStateQuantizers LigStateQuantizers;

/* Returns those of a layout, with scales of 1 and without device memory; null if there are none. */
LigStateQuantizers *lig_state_quantizers_new (const LigStateLayout *layout, LigDevice *device);
void lig_state_quantizers_free (LigStateQuantizers *self);

/* Checks that a plan has the same quantizers; `self` may be null. */
gboolean lig_state_quantizers_fit (const LigStateQuantizers *self,
                                   const LigStateLayout *layout,
                                   GError **error);

/* Returns the address of a number; the first call allocates the memory. */
void *lig_state_quantizers_address (LigStateQuantizers *self, gint64 offset, GError **error);

/* Adds them to a file, as `quantizer.PATH.ROLE.scale`, `.amax-history` and `.amax-target`, the
 * magnitude to which an amax is scaled; and loads all of them, or none if one is missing, has
 * another length, is not a scale, or is not for an operand of the state. A scale of another target
 * is converted. A null state has no quantizers. */
gboolean lig_state_quantizers_store (LigStateQuantizers *self, LigTensorFile *file, GError **error);
gboolean lig_state_quantizers_load (LigStateQuantizers *self, LigTensorFile *file, GError **error);

/* Loads only the scales, all of them, from a file of weights: the histories belong to the run that
 * wrote it. If the file has none, changes nothing and returns a sentence in `note`. */
gboolean lig_state_quantizers_load_scales (LigStateQuantizers *self,
                                           LigTensorFile *file,
                                           char **note,
                                           GError **error);
