/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels of caches. See <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdint.h>

/**
 * LigCacheParams:
 * @length: the number of rows T of each text
 * @capacity: the number of positions S of a slot
 *
 * Parameters of cache_append.
 */
typedef struct {
  int64_t length;
  int64_t capacity;
} LigCacheParams;
