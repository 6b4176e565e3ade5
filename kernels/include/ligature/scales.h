/* SPDX-License-Identifier: MIT */
/* Scales: the numbers by which the elements of a quantized matrix are multiplied. */
#pragma once

/**
 * LigScales:
 * @LIG_SCALES_TENSOR: one scale for the whole matrix
 * @LIG_SCALES_ROW: one for each row
 * @LIG_SCALES_BLOCK: one for each 128 elements of a row, the last ones fewer; the scales are stored
 *   as [ceil (columns / 128), rows]
 * @LIG_SCALES_TILE: one for each tile of 128 by 128 elements; the scales are stored as [ceil (rows
 * / 128), ceil (columns / 128) rounded up to a multiple of 4], the rest zero
 * @LIG_SCALES_MX: one for each 32 elements of a row, a power of two in a byte (e8m0) whose exponent
 *   is biased by 127; stored as [rows rounded up to a multiple of 128, ceil (columns / 32) rounded
 *   up to a multiple of 4]. Only plans for described devices have them
 * @LIG_SCALES_NV: one for each 16 elements of a row, in a byte (e4m3), stored as those of
 *   @LIG_SCALES_MX but for the 16; an fp32 number for the whole matrix follows. Two elements of 4
 *   bits (e2m1) share a byte. Only plans for described devices have them
 *
 * The scales of a quantized matrix, fp32 numbers by which its elements are multiplied to get their
 * values back. A transposed matrix has those of its own rows and columns.
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
 * The length of a block, and of each side of a tile, that has a scale of its own.
 */
#define LIG_SCALES_EDGE 128
