/* SPDX-License-Identifier: MIT */
/* Scales: the factors that dequantize the elements of a quantized matrix. */
#pragma once

/**
 * LigScales:
 * @LIG_SCALES_TENSOR: one scale for the whole matrix
 * @LIG_SCALES_ROW: one per row
 * @LIG_SCALES_BLOCK: one per 128 elements of a row, the last block may be shorter; the scales are
 *   stored as [ceil (columns / 128), rows]
 * @LIG_SCALES_TILE: one per tile of 128 by 128 elements; the scales are stored as [ceil (rows
 * / 128), ceil (columns / 128) rounded up to a multiple of 4], the rest zero
 * @LIG_SCALES_MX: one per 32 elements of a row, a power of two in one byte (e8m0, exponent bias
 *   127); stored as [rows rounded up to a multiple of 128, ceil (columns / 32) rounded up to a
 *   multiple of 4]. Only plans for described devices have them
 * @LIG_SCALES_NV: one per 16 elements of a row, in one byte (e4m3), stored like those of
 *   @LIG_SCALES_MX with 16 instead of 32, followed by an fp32 scale of the whole matrix. Two
 *   elements of 4 bits (e2m1) share a byte. Only plans for described devices have them
 *
 * The scales of a quantized matrix: fp32 factors by which its elements are multiplied to dequantize
 * them. The scales of a transposed copy refer to its own rows and columns.
 */
typedef enum {
  LIG_SCALES_TENSOR,
  LIG_SCALES_ROW,
  LIG_SCALES_BLOCK,
  LIG_SCALES_TILE,
  LIG_SCALES_MX,
  LIG_SCALES_NV
} LigScales;

/**
 * LIG_SCALES_EDGE:
 *
 * The length of a block, and of each side of a tile, with its own scale.
 */
#define LIG_SCALES_EDGE 128
