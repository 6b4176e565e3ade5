/* SPDX-License-Identifier: MIT */
/* Gives all ranks the choices that rank 0 made by measuring. */
#pragma once

#include <ligature/tuning.h>

G_BEGIN_DECLS

/* Copies rank 0's choice of groups, a text that may be null, to all ranks that the device has
 * joined; to those with an equal device also the rates of the device and the algorithms of its
 * kernels, so that predictions and programs are the same. Does nothing without ranks. All ranks
 * call it together; `tuning` is rank 0's table, or null. */
gboolean
lig_choices_share (LigDevice *device, const LigTuning *tuning, char **groups, GError **error);

G_END_DECLS
