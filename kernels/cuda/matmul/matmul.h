/* SPDX-License-Identifier: MIT */
/* Matmuls through cuBLASLt, each with the algorithm that was measured to be the fastest. */
#pragma once

#include "kernels/cuda/common/cuda.h"
#include <ligature/scales.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of elements, `stride` elements apart; null data means absent. */
typedef struct {
  void *data;
  int64_t stride;
  LigDtype dtype;
} LigMatrix;

/* The scales of a quantized matrix; null data: it is not quantized. */
typedef struct {
  const void *data;
  LigScales kind;
} LigQuantized;

typedef enum { LIG_AS_IT_IS, LIG_GELU, LIG_RELU, LIG_GELU_BACKWARD } LigActivation;

/* Sums over rows that are computed with a matmul: of the result, or of a transposed left
 * operand. */
typedef enum { LIG_NO_SUMS, LIG_SUMS_OF_RESULT, LIG_SUMS_OF_LEFT } LigSums;

/* Returns the type of the other matrices and the vector for a result of that type. */
static inline LigDtype
lig_matmul_side (LigDtype result)
{
  return lig_dtype_has (result, LIG_DTYPE_QUANTIZED) ? LIG_BF16 : result;
}

/* A matmul: result = activation (factor left right + extra + vector) if there are no sums. If there
 * are, they are written to `vector`. `aux` is gelu's input: LIG_GELU writes it if it is present,
 * LIG_GELU_BACKWARD reads it and multiplies by gelu's derivative there. All matrices except `left`,
 * `right` and `left_sums` have the type of the result, or bf16 if the result is fp8; cuBLASLt does
 * not compute `left_sums`. */
typedef struct {
  int64_t rows, columns, depth;
  LigMatrix left, right;                  /* [rows, depth], [depth, columns] */
  bool left_transposed, right_transposed; /* stored as [depth, rows], as [columns, depth] */
  LigMatrix extra, aux, result;           /* [rows, columns]; extra may share the result's memory */
  LigMatrix vector;                       /* one row */
  LigMatrix left_sums; /* one row: the column sums of `left`, which is not transposed */
  float factor;
  LigActivation activation;
  LigSums sums;
  bool shares_workspace;                  /* uses only its last LIG_LIBRARY_SPACE bytes */
  LigQuantized left_scales, right_scales; /* of fp8 operands: either both are fp8 or neither */
  const void *result_scale;               /* the factor of an fp8 result before rounding */
  bool fast;                              /* fp8: accumulation may have less precision than fp32 */
} LigMatmul;

/* The size of the part at the end of the workspace that is left to the library. */
#define LIG_LIBRARY_SPACE ((size_t) 8 << 20)

/* Returns an empty table of matmuls; null, with the reason in `why`, if there is no memory. */
LigMatmuls *lig_matmuls_new (LigBackendDevice *device, char *why, size_t size);

/* Frees a table of matmuls; null is allowed. */
void lig_matmuls_free (LigMatmuls *matmuls);

/* Launches a matmul. Returns LIG_UNSUPPORTED, with nothing launched, if cuBLASLt has no
 * algorithm for it. */
LigStatus lig_matmul (LigLaunch *launch, const LigMatmul *matmul);

/* Returns the time of the matmul according to the measurement that chose its algorithm; 0 if
 * unknown. */
double lig_matmul_microseconds (LigLaunch *launch, const LigMatmul *matmul);

/* Reports, once per matmul, that there is no memory to measure it. */
void lig_matmul_report_no_memory (LigLaunch *launch, const LigMatmul *matmul);

/* Questions about a matmul that are answered by measurements: whether the matmul and its sums are
 * faster as separate kernels, and whether the built-in matmul, of many or of few rows, is faster
 * than the library's. */
typedef enum {
  LIG_SUMS_APART,
  LIG_BUILT_IN_MATMUL,
  LIG_FEW_ROWS_MATMUL,
  LIG_N_QUESTIONS
} LigMatmulQuestion;

/* Returns the known answer, in a warm-up run also a stored one: 1, 0, or -1 if there is none. */
int lig_matmul_answer (LigLaunch *launch, const LigMatmul *matmul, LigMatmulQuestion question);

/* Keeps and stores an answer, with the microseconds of the faster variant. */
void lig_matmul_keep_answer (LigLaunch *launch,
                             const LigMatmul *matmul,
                             LigMatmulQuestion question,
                             bool answer,
                             double microseconds);

#ifdef __cplusplus
}
#endif
