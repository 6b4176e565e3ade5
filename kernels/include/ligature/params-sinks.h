/* SPDX-License-Identifier: MIT */
/* Parameters of attention sinks. See <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdint.h>

/**
 * LigSinksParams:
 * @heads: the number of query heads H
 * @features: the head dim
 * @length: the number of queries per row
 *
 * Parameters of attention_sinks and attention_sinks_backward.
 */
typedef struct {
  int32_t heads;
  int32_t features;
  int64_t length;
} LigSinksParams;
