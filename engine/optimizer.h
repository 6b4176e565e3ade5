/* SPDX-License-Identifier: MIT */
/* Optimizers: how parameters follow their gradients. One kernel runs over the whole arena of
 * parameters; matrices decay, vectors (biases, norm gains) do not. */
#pragma once

#include "engine/error.h"
#include "kernels/params.h"

G_BEGIN_DECLS

typedef enum { LIG_OPTIMIZER_SGD, LIG_OPTIMIZER_ADAMW } LigOptimizerKind;

/**
 * LigOptimizer:
 * @kind: plain stochastic gradient descent with momentum, or AdamW
 * @sgd: its params; momentum 0 keeps no moment
 * @adamw: its params
 */
typedef struct _LigOptimizer {
  LigOptimizerKind kind;
  LigSgdParams sgd;
  LigAdamwParams adamw;
} LigOptimizer;

#define LIG_OPTIMIZER_INIT \
  { \
    .kind = LIG_OPTIMIZER_ADAMW, .sgd = {0, 0}, .adamw = { 0.9f, 0.95f, 1e-8f, 0.01f } \
  }

/* `sgd`, `adamw`. */
LIG_API const char *lig_optimizer_name (LigOptimizerKind kind);
LIG_API gboolean lig_optimizer_from_name (const char *name, LigOptimizerKind *kind, GError **error);

G_END_DECLS
