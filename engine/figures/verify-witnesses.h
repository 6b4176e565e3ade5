/* SPDX-License-Identifier: MIT */
/* The plans that a verification runs beside each other, and the values that they have in common. */
#pragma once

#include "engine/program/private.h"

#include <math.h>

/* The squared length of differences from right numbers, that of the right numbers, and the matmul
 * of both. */
typedef struct {
  double difference, whole, matmul;
} LigErrorSum;

/* The plans that run a batch, in this order: every op alone in fp32 on the CPU; the same after a
 * change of half a bit; every op alone in the types of the plan, on its device; the plan. */
typedef enum {
  LIG_WITNESS_RIGHT,
  LIG_WITNESS_NUDGED,
  LIG_WITNESS_ALONE,
  LIG_WITNESS_PLAN,
  LIG_N_WITNESSES
} LigWitnessKind;

typedef struct {
  LigWitnessKind kind;
  LigPlan *plan;
  LigDevice *device;
  LigState *state; /* of the present batch, as are the program and the parameters it began with */
  LigProgram *program;
  GPtrArray *begun;
  int *shared;      /* of each value: the number of the right one, or -1 */
  int *last_writer; /* of each value: the last step that writes it, or -1 */
  double scale;     /* the loss scale of gradients in the present batch */
} LigWitness;

/* A value of the right plan. */
typedef struct {
  float *numbers; /* of the present batch; null: none */
  gint64 count;
  LigErrorSum sums[LIG_N_WITNESSES];
} LigRightValue;

/* Finds which values of the other plans are those of the right one, and who writes them last. A
 * value that is computed again is that of its original. */
void lig_witnesses_pair (LigWitness witnesses[LIG_N_WITNESSES]);

/* Returns the value that a step writes: a part of one that has no right numbers of its own stands
 * for the whole, as of a matmul that is exchanged in parts. */
int lig_witness_written (const LigWitness *self, int value);

void lig_sum_errors (LigErrorSum *sum, const float *numbers, const float *right, gint64 count);

/* Returns the relative error; infinite if the right numbers are zero and the others are not, NaN if
 * some are not finite where the right ones are. */
double lig_error_of (LigErrorSum sum);

/* Returns (transfer full) the numbers of a value in the program's memory; gradients without the
 * loss scale. */
float *lig_witness_read (const LigWitness *self, int value, GError **error);

/* Changes each element of the inputs that are no integers by the relative amount, up or down. */
gboolean lig_witness_nudge_inputs (LigWitness *self, double amount, guint32 seed, GError **error);

/* Does the same with a tensor of fp32. */
void lig_nudge (LigTensor *tensor, double amount, guint32 seed);

/* Returns the relative error of rounding to the type in which the plan computes matmuls: half of
 * the last bit. */
double lig_witness_unit (const LigWitness *self);
