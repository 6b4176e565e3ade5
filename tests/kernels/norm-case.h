/* SPDX-License-Identifier: MIT */
/* A problem for a norm: its operands, a reference in double precision, and the calls of its
 * kernels. */
#pragma once

#include "tests/kernels/case.h"
#include <ligature/params-norm.h>

typedef enum { LAYER, RMS, L2, N_KINDS } Kind;

static const char *const norm_names[] = {"layer_norm", "rms_norm", "l2_normalization"};

/* A problem: its operands, and their values for the reference. */
typedef struct {
  Kind kind;
  int64_t rows, columns;
  LigDtype compute, parameters;
  LigNormParams params;
  LigOperand x, weight, bias, dy;
  double *weights, *biases, *dys;
} Problem;

typedef struct {
  double *y, *mean, *rstd, *dx, *dweight, *dbias;
} Reference;

static inline Problem
problem (Kind kind, int64_t rows, int64_t columns, LigDtype compute, LigDtype parameters)
{
  Problem p = {.kind = kind, .rows = rows, .columns = columns};
  p.compute = compute;
  p.parameters = parameters;
  p.params = (LigNormParams){1e-3f, (rows + columns) % 2};
  p.x = random_tensor (compute, rows, columns);
  p.weight = random_tensor (parameters, 1, columns);
  p.bias = random_tensor (parameters, 1, columns);
  p.dy = random_tensor (compute, rows, columns);
  p.weights = wide (p.weight);
  p.biases = wide (p.bias);
  p.dys = wide (p.dy);
  return p;
}

static inline double
gain (const Problem *p, int64_t i)
{
  return p->kind == L2 ? 1 : p->weights[i] + p->params.zero_centered;
}

static inline void
reference_row (const Problem *p, const double *x, int64_t row, Reference *r)
{
  double mean = 0, square = 0, n = (double) p->columns, share = p->kind == L2 ? 1 : 1 / n;
  const double *dy = p->dys + row * p->columns;
  for (int64_t i = 0; p->kind == LAYER && i < p->columns; i++)
    mean += x[i] / n;
  for (int64_t i = 0; i < p->columns; i++)
    square += (x[i] - mean) * (x[i] - mean) * share;
  double rstd = 1 / sqrt (square + (double) p->params.eps), u_mean = 0, uh_mean = 0;
  for (int64_t i = 0; i < p->columns; i++) {
    double h = (x[i] - mean) * rstd, u = gain (p, i) * dy[i];
    r->y[row * p->columns + i] = h * gain (p, i) + (p->kind == LAYER ? p->biases[i] : 0);
    u_mean += p->kind == LAYER ? u * share : 0;
    uh_mean += u * h * share;
    r->dweight[i] += dy[i] * h;
    r->dbias[i] += dy[i];
  }
  for (int64_t i = 0; i < p->columns; i++)
    r->dx[row * p->columns + i] =
      rstd * (gain (p, i) * dy[i] - u_mean - (x[i] - mean) * rstd * uh_mean);
  r->mean[row] = mean;
  r->rstd[row] = rstd;
}

static inline Reference
reference (const Problem *p, const double *x)
{
  int64_t size = p->rows * p->columns;
  Reference r = {doubles (size), doubles (p->rows),    doubles (p->rows),
                 doubles (size), doubles (p->columns), doubles (p->columns)};
  for (int64_t row = 0; row < p->rows; row++)
    reference_row (p, x + row * p->columns, row, &r);
  return r;
}

/* The outputs of the kernels; absent ones have null data. */
typedef struct {
  LigOperand sum, y, mean, rstd, dx, dweight, dbias;
} Results;

static inline Results
results (const Problem *p)
{
  LigOperand like_x = blank (p->compute, p->rows, p->columns);
  LigOperand like_weight = blank (p->parameters, 1, p->columns);
  LigOperand statistic = blank (LIG_FP32, p->rows, 1);
  return (Results){.sum = like_x,
                   .y = copy (like_x),
                   .mean = statistic,
                   .rstd = copy (statistic),
                   .dx = copy (like_x),
                   .dweight = like_weight,
                   .dbias = copy (like_weight)};
}

/* Runs a kernel of the problem's kind with the operands that it takes. */
static inline void
run_named (const Problem *p,
           const char *before,
           const char *after,
           const LigOperand *const *operands,
           size_t count,
           bool accumulate)
{
  LigOperand present[LIG_MAX_OPERANDS];
  int n = 0;
  for (size_t i = 0; i < count; i++)
    if (operands[i])
      present[n++] = *operands[i];
  g_autofree char *name = g_strconcat (before, norm_names[p->kind], after, NULL);
  run (name, present, &p->params, accumulate);
}

/* Runs the forward kernel; with `extra` its fused variant. */
static inline void
forward (const Problem *p, LigOperand x, const LigOperand *extra, const Results *r)
{
  const LigOperand *all[] = {&x,
                             extra,
                             p->kind != L2 ? &p->weight : NULL,
                             p->kind == LAYER ? &p->bias : NULL,
                             extra ? &r->sum : NULL,
                             &r->y,
                             p->kind == LAYER ? &r->mean : NULL,
                             &r->rstd};
  run_named (p, extra ? "add_" : "", "", all, G_N_ELEMENTS (all), false);
}

static inline void
backward (const Problem *p, LigOperand dy, const LigOperand *branch, const Results *r, bool add)
{
  const LigOperand *all[] = {&dy,
                             branch,
                             &p->x,
                             p->kind != L2 ? &p->weight : NULL,
                             p->kind == LAYER ? &r->mean : NULL,
                             &r->rstd,
                             &r->dx,
                             p->kind != L2 ? &r->dweight : NULL,
                             p->kind == LAYER ? &r->dbias : NULL};
  run_named (p, "", branch ? "_backward_add" : "_backward", all, G_N_ELEMENTS (all), add);
}
