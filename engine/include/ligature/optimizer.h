/* SPDX-License-Identifier: MIT */
/* Optimizers: how parameters follow their gradients. One kernel runs over the whole arena of
 * parameters; weights of linear maps and embeddings decay, gains and biases do not, and a custom
 * op's parameter does if its table says so.
 *
 * An update whose gradients' global norm is not finite writes nothing. It counts as a step of the
 * training, but not as one of those by which AdamW corrects its moments, as with PyTorch's
 * GradScaler. */
#pragma once

#include <ligature/error.h>
#include <ligature/params.h>

G_BEGIN_DECLS

typedef enum { LIG_OPTIMIZER_SGD, LIG_OPTIMIZER_ADAMW } LigOptimizerKind;

/**
 * LigOptimizer:
 * @kind: plain stochastic gradient descent with momentum, or AdamW
 * @sgd: its params; momentum 0 keeps no moment
 * @adamw: its params
 * @loss_scale: the factor by which the gradients that arrive from the caller are multiplied before
 *   the backward pass, and divided by in the update; 0: found as the training goes on where the
 *   output is a loss and activations or gradients are fp16 (65536 at first, half of it after each
 *   overflow, twice as much after 2,000 updates without), else 1; 1: none
 */
typedef struct _LigOptimizer {
  LigOptimizerKind kind;
  LigSgdParams sgd;
  LigAdamwParams adamw;
  double loss_scale;
} LigOptimizer;

#define LIG_OPTIMIZER_INIT \
  { \
    .kind = LIG_OPTIMIZER_ADAMW, .sgd = {0, 0}, .adamw = { 0.9f, 0.95f, 1e-8f, 0.01f } \
  }

/* `sgd`, `adamw`. */
LIG_API const char *lig_optimizer_name (LigOptimizerKind kind);
LIG_API gboolean lig_optimizer_from_name (const char *name, LigOptimizerKind *kind, GError **error);

G_END_DECLS
