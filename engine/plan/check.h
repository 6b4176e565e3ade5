/* SPDX-License-Identifier: MIT */
/* The values that gradients are checked with. */
#pragma once

#include <ligature/tensor.h>

/* A tensor whose values follow from the name: odd multiples of 1/32 between -bound and bound;
 * integers from 0 to 3. Null with the error set where there is no memory. */
LigTensor *lig_check_values (
  const char *name, LigDtype dtype, const LigShape *shape, double bound, GError **error);
