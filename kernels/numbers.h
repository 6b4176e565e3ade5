/* SPDX-License-Identifier: MIT */
/* Loads of experts with which kernels are timed. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the shares of experts, whose sum is 1, to a Zipf distribution: that of expert e is
 * proportional to (e + 1)^-exponent (Zipf, 1949). */
void lig_zipf_shares (double exponent, int64_t experts, double *shares);

/* Sets the rows of each expert, of which there are `rows` in all: in proportion to the shares,
 * which need not be normalized, but at most `max` if that is possible. */
void
lig_share_rows (const double *shares, int64_t experts, int64_t rows, int64_t max, int64_t *counts);

/* Sets the experts of the choices of rows, [rows, top_k]: those of a row are different, and as many
 * choices as the shares say have each expert. Null: equal shares. */
void lig_spread_experts (
  const double *shares, int64_t experts, int64_t rows, int64_t top_k, int32_t *to);

#ifdef __cplusplus
}
#endif
