/* SPDX-License-Identifier: MIT */
/* Integers like those of real data, with which kernels are timed: with zeros all rows would have
 * one expert, or none. */
#include "kernels/numbers.h"
#include "kernels/demands.h"
#include <ligature/params-experts.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Neighbouring rows, or places, are this far apart. */
enum { STRIDE = 7919 };

/* --- Loads --------------------------------------------------------------------------------- */

void
lig_zipf_shares (double exponent, int64_t experts, double *shares)
{
  double sum = 0;
  for (int64_t e = 0; e < experts; e++)
    sum += shares[e] = pow ((double) (e + 1), -exponent);
  for (int64_t e = 0; e < experts; e++)
    shares[e] /= sum;
}

/* Gives experts whose share exceeds `max` that number, until no other share does. Sets the rows
 * and the shares of the others. */
static void
limit (
  const double *shares, int64_t experts, int64_t max, int64_t *counts, double *rest, double *sum)
{
  for (bool again = true; again;) {
    again = false;
    for (int64_t e = 0; e < experts; e++)
      if (counts[e] < 0 && *sum > 0 && shares[e] / *sum * *rest > (double) max) {
        counts[e] = max;
        *rest -= (double) max;
        *sum -= shares[e];
        again = true;
      }
  }
}

void
lig_share_rows (const double *shares, int64_t experts, int64_t rows, int64_t max, int64_t *counts)
{
  double rest = (double) rows, sum = 0;
  int64_t left = rows;
  for (int64_t e = 0; e < experts; e++) {
    sum += shares[e];
    counts[e] = -1;
  }
  limit (shares, experts, max, counts, &rest, &sum);
  for (int64_t e = 0; e < experts; e++) {
    if (counts[e] < 0)
      counts[e] = sum > 0 && shares[e] > 0 ? (int64_t) fmax (shares[e] / sum * rest, 0) : 0;
    left -= counts[e];
  }
  /* Rounding down leaves less than a row for each expert. */
  for (bool placed = true; placed && left > 0;) {
    placed = false;
    for (int64_t e = 0; e < experts && left > 0; e++)
      if (counts[e] < max) {
        counts[e]++;
        left--;
        placed = true;
      }
  }
}

/* All experts equally often; those of neighbours are different, too. */
static void
spread_evenly (int64_t experts, int64_t rows, int64_t top_k, int32_t *to)
{
  for (int64_t i = 0; i < rows * top_k && experts > 0; i++) {
    int64_t row = i / top_k;
    to[i] = (int32_t) ((row * STRIDE + row / experts + i % top_k) % experts);
  }
}

void
lig_spread_experts (const double *shares, int64_t experts, int64_t rows, int64_t top_k, int32_t *to)
{
  int64_t counts[LIG_MAX_EXPERTS], i = 0, step = rows % STRIDE != 0 ? STRIDE : 1;
  if (!shares || experts > LIG_MAX_EXPERTS || top_k > experts) {
    spread_evenly (experts, rows, top_k, to);
    return;
  }
  /* No expert has more choices than there are rows, so that those of an expert, one after the
   * other, are of different rows. */
  lig_share_rows (shares, experts, rows * top_k, rows, counts);
  for (int64_t e = 0; e < experts; e++)
    for (int64_t j = 0; j < counts[e]; j++, i++)
      to[i % rows * step % rows * top_k + i / rows] = (int32_t) e;
}

/* --- Kernels ------------------------------------------------------------------------------- */

/* The operands begin with rows. */
LIG_NUMBERS (grouped)
{
  const LigOperand *offsets = &operands[index];
  int64_t count = lig_grouped_rows (&operands[0], params), groups = offsets->size - 1;
  double shares[LIG_MAX_EXPERTS] = {0};
  int64_t counts[LIG_MAX_EXPERTS], end = 0;
  bool even = exponent == 0 || groups > LIG_MAX_EXPERTS;
  if (!even) {
    lig_zipf_shares (exponent, groups, shares);
    lig_share_rows (shares, groups, count, count, counts);
  }
  for (int64_t g = 0; g < offsets->size; g++) {
    to[g] = (int32_t) (groups <= 0 ? 0 : even ? count * g / groups : end);
    end += !even && g < groups ? counts[g] : 0;
  }
}

/* Fills in experts. */
static void
spread (const LigOperand *operand, int64_t experts, double exponent, int32_t *to)
{
  double shares[LIG_MAX_EXPERTS] = {0};
  int64_t top_k = operand->columns > 0 ? operand->columns : 1;
  bool even = exponent == 0 || experts > LIG_MAX_EXPERTS;
  if (!even)
    lig_zipf_shares (exponent, experts, shares);
  lig_spread_experts (even ? NULL : shares, experts, operand->size / top_k, top_k, to);
}

/* The third operand is x, with a column for each expert. */
LIG_NUMBERS (router)
{
  (void) params;
  spread (&operands[index], operands[2].columns, exponent, to);
}

LIG_NUMBERS (permute)
{
  const LigPermuteParams *permutation = params;
  spread (&operands[index], permutation ? permutation->experts : 1, exponent, to);
}

/* Fills in the offsets of rows that are sent, those of the second operand, or the sizes of those
 * that arrived: equal for all experts. */
LIG_NUMBERS (exchange)
{
  const LigExchangeParams *exchange = params;
  const LigOperand *filled = &operands[index], *places = &operands[index + 1];
  int64_t ranks = exchange && exchange->ranks > 0 ? exchange->ranks : 1;
  int64_t experts = filled->size > 1 ? filled->size - 1 : 1;
  bool sizes = filled->size % ranks == 0 && operands[2].dtype == LIG_INT32 &&
               operands[2].size == filled->size / ranks + 1;
  (void) exponent;
  for (int64_t i = 0; i < filled->size; i++)
    to[i] = (int32_t) (sizes ? places->size / (2 * filled->size) : places->size * i / experts);
}

/* Fills in places: a permutation that separates neighbours. */
LIG_NUMBERS (place)
{
  int64_t count = operands[index].size, step = count % STRIDE != 0 ? STRIDE : 1;
  (void) params;
  (void) exponent;
  for (int64_t i = 0; i < count; i++)
    to[i] = (int32_t) (i * step % count);
}
