/* SPDX-License-Identifier: MIT */
/* The arrays of a state: parameters, gradients and optimizer state. The functions may be called
 * from any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * LigStateArray:
 * @LIG_STATE_PARAMETERS: the parameters
 * @LIG_STATE_GRADIENTS: their gradients
 * @LIG_STATE_MASTER: the fp32 master weights, of which 16-bit parameters are rounded copies
 * @LIG_STATE_KEPT: the first of the arrays that optimizers name in their tables, like `moment` and
 *   `variance`. Their numbers may differ between versions of the library, but not their names
 * @LIG_MAX_STATE_ARRAYS: the maximum number of arrays
 */
typedef enum {
  LIG_STATE_PARAMETERS,
  LIG_STATE_GRADIENTS,
  LIG_STATE_MASTER,
  LIG_STATE_KEPT,
  LIG_MAX_STATE_ARRAYS = 16
} LigStateArray;

/**
 * lig_state_array_name:
 * @array: a number from 0
 *
 * Returns: (nullable) (transfer none): `parameters`, `gradients`, `master`, then the names from the
 *   optimizers' tables; %NULL after the last
 */
LIG_API const char *lig_state_array_name (LigStateArray array);

/**
 * lig_state_find_array:
 * @name: a name as lig_state_array_name() returns it
 *
 * Returns: the #LigStateArray of that name, or -1 if there is none
 */
LIG_API int lig_state_find_array (const char *name);

G_END_DECLS
