/* SPDX-License-Identifier: MIT */
/* The plans that a verification runs for comparison, and the values that they have in common. */
#pragma once

#include "engine/program/private.h"

#include <math.h>

/* The squared norm of the difference from the reference, that of the reference, and their dot
 * product. */
typedef struct {
  double difference, whole, matmul;
} LigErrorSum;

/* The plans that run a batch, in this order: the unfused plan in fp32 on the CPU, which is the
 * reference; the same with inputs perturbed by half a bit; the unfused plan in the types of the
 * plan, on its device; the plan. */
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
  LigState *state; /* of the current batch, like the program and its initial parameters */
  LigProgram *program;
  GPtrArray *begun;
  int *shared;      /* for each value: the index of its reference value, or -1 */
  int *last_writer; /* for each value: the last step that writes it, or -1 */
  double scale;     /* the loss scale of gradients in the current batch */
} LigWitness;

/* A value of the reference plan. */
typedef struct {
  float *numbers; /* of the current batch; null: none */
  gint64 count;
  LigErrorSum sums[LIG_N_WITNESSES];
} LigRightValue;

/* Finds the reference values of the other plans' values, and the last steps that write them. A
 * recomputed value has the reference of its original. */
void lig_witnesses_pair (LigWitness witnesses[LIG_N_WITNESSES]);

/* Returns the value that a step writes; for a part without its own reference, such as that of a
 * matmul whose result is communicated in chunks, the whole value. */
int lig_witness_written (const LigWitness *self, int value);

void lig_sum_errors (LigErrorSum *sum, const float *numbers, const float *right, gint64 count);

/* Returns the relative error; infinite if the reference is zero and the value is not, NaN if the
 * value is not finite where the reference is. */
double lig_error_of (LigErrorSum sum);

/* Returns (transfer full) the contents of a value in the program's memory; gradients without the
 * loss scale. */
float *lig_witness_read (const LigWitness *self, int value, GError **error);

/* Adds the sums of all ranks, `per_value` for each value of a plan, by the names of the values. All
 * ranks call it. */
gboolean lig_verify_join (
  LigRanks *ranks, const LigPlan *plan, LigErrorSum *sums, guint per_value, GError **error);

/* Perturbs each element of the floating-point inputs by the relative amount, up or down. */
gboolean lig_witness_nudge_inputs (LigWitness *self, double amount, guint32 seed, GError **error);

/* Does the same with an fp32 tensor. */
void lig_nudge (LigTensor *tensor, double amount, guint32 seed);

/* Returns the relative rounding error of the type in which the plan computes matmuls: half a unit
 * in the last place. */
double lig_witness_unit (const LigWitness *self);
