/* SPDX-License-Identifier: MIT */
/* The values for gradient checks. */
#pragma once

#include <ligature/tensor.h>

/* Returns a tensor whose values depend only on its name: odd multiples of 1/32 between -bound and
 * bound; integers from 0 to 3. Null with the error set if there is not enough memory. */
LigTensor *lig_check_values (
  const char *name, LigDtype dtype, const LigShape *shape, double bound, GError **error);
