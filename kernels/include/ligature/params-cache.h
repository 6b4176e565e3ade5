/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels of caches. See <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdint.h>

/* A slot of a multiple of this many positions is a ring: position p is at place p % S. Tiles of keys
 * then lie in one turn of it. In other slots positions from S on are not written and not read. */
#define LIG_CACHE_UNIT 64

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
