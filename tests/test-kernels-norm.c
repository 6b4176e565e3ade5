/* SPDX-License-Identifier: MIT */
/* Norms of the CPU against a reference in double and central differences, alone and fused. */
#include "tests/kernel-case.h"

typedef enum { LAYER, RMS, L2, N_KINDS } Kind;

static const int64_t row_counts[] = { 1, 2, 17, 600 }, column_counts[] = { 1, 3, 7, 31, 33, 1000,
                                                                           2100 };

/* One problem: its operands, and the parameters of the kernels. */
typedef struct {
  Kind kind;
  int64_t rows, columns;
  LigDtype compute, parameters;
  LigNormParams params;
  LigOperand x, weight, bias, dy;
} Problem;

static Problem
problem (Kind kind, int64_t rows, int64_t columns, LigDtype compute, LigDtype parameters)
{
  return (Problem){ .kind = kind,
                    .rows = rows,
                    .columns = columns,
                    .compute = compute,
                    .parameters = parameters,
                    .params = { 1e-3f, (rows + columns) % 2 },
                    .x = random_tensor (compute, rows, columns),
                    .weight = random_tensor (parameters, 1, columns),
                    .bias = random_tensor (parameters, 1, columns),
                    .dy = random_tensor (compute, rows, columns) };
}

/* All problems of one kind. */
static void
each (Kind kind, void (*function) (const Problem *))
{
  static const LigDtype types[][2] = { { LIG_FP32, LIG_FP32 }, { LIG_FP16, LIG_FP16 },
                                       { LIG_BF16, LIG_BF16 }, { LIG_BF16, LIG_FP32 },
                                       { LIG_FP32, LIG_FP16 } };
  for (size_t i = 0; i < G_N_ELEMENTS (row_counts); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (column_counts); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (types); k++) {
        case_begin ();
        Problem p = problem (kind, row_counts[i], column_counts[j], types[k][0], types[k][1]);
        function (&p);
        case_end ();
      }
}

typedef struct {
  double *y, *mean, *rstd, *dx, *dweight, *dbias;
} Reference;

static double
gain_of (const Problem *p, const double *weight, int64_t i)
{
  return p->kind == L2 ? 1 : weight[i] + p->params.zero_centered;
}

static void
reference_row (const Problem *p, const double *x, int64_t row, Reference *r)
{
  double mean = 0, square = 0, n = (double) p->columns;
  double *weight = wide (p->weight), *bias = wide (p->bias), *dy = wide (p->dy);
  for (int64_t i = 0; p->kind == LAYER && i < p->columns; i++)
    mean += x[i] / n;
  for (int64_t i = 0; i < p->columns; i++)
    square += (x[i] - mean) * (x[i] - mean) / (p->kind == L2 ? 1 : n);
  double rstd = 1 / sqrt (square + (double) p->params.eps), u_mean = 0, uh_mean = 0;
  for (int64_t i = 0, at = row * p->columns; i < p->columns; i++, at++) {
    double h = (x[i] - mean) * rstd, u = gain_of (p, weight, i) * dy[at];
    r->y[at] = h * gain_of (p, weight, i) + (p->kind == LAYER ? bias[i] : 0);
    u_mean += p->kind == LAYER ? u / n : 0;
    uh_mean += u * h / (p->kind == L2 ? 1 : n);
    r->dweight[i] += dy[at] * h;
    r->dbias[i] += dy[at];
  }
  for (int64_t i = 0, at = row * p->columns; i < p->columns; i++, at++)
    r->dx[at] =
        rstd * (gain_of (p, weight, i) * dy[at] - u_mean - (x[i] - mean) * rstd * uh_mean);
  r->mean[row] = mean;
  r->rstd[row] = rstd;
}

static Reference
reference (const Problem *p, LigOperand x)
{
  int64_t size = p->rows * p->columns;
  Reference r = { doubles (size),       doubles (p->rows),    doubles (p->rows), doubles (size),
                  doubles (p->columns), doubles (p->columns) };
  double *values = wide (x);
  for (int64_t row = 0; row < p->rows; row++)
    reference_row (p, values + row * p->columns, row, &r);
  return r;
}
