/* SPDX-License-Identifier: MIT */
/* Matmuls through cuBLASLt: their descriptors, and the table of the matmuls seen so far, with their
 * descriptors and algorithms, so that a launch only sets pointers.
 *
 * cuBLASLt is column-major. A row-major [rows, columns] is its [columns, rows], so the matmul is
 * computed as result^T = right^T left^T: its A is `right`, its B is `left`, its m counts
 * columns. */
#include "kernels/cuda/matmul/algorithms.h"
#include "kernels/times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether cuBLASLt's epilogues can apply the activation. Their gelu is accurate enough only
 * for 16 bits; an fp32 result gets the exact formula. */
static bool
activation_fits (const LigMatmul *matmul)
{
  bool gelu = matmul->activation == LIG_GELU || matmul->activation == LIG_GELU_BACKWARD;
  return !gelu || matmul->result.dtype != LIG_FP32;
}

/* Returns whether cuBLASLt's epilogues can compute the sums. */
static bool
sums_fit (const LigMatmul *matmul)
{
  switch (matmul->sums) {
  case LIG_SUMS_OF_RESULT:
    return matmul->activation == LIG_GELU_BACKWARD && !matmul->extra.data;
  case LIG_SUMS_OF_LEFT: /* undocumented: whether the factor applies to the sums */
    return matmul->activation == LIG_AS_IT_IS && matmul->left_transposed && !matmul->extra.data &&
           matmul->factor == 1;
  case LIG_NO_SUMS:
    break;
  }
  return matmul->activation != LIG_GELU_BACKWARD || (!matmul->vector.data && !matmul->extra.data);
}

/* Returns whether a matrix is absent or of that type. */
static bool
type_fits (const LigMatrix *matrix, LigDtype dtype)
{
  return !matrix->data || matrix->dtype == dtype;
}

/* Returns whether the result of an 8-bit matmul has a supported type: a floating type, or, after
 * gelu, 8 bits with a scale if all scales are per tensor. */
static bool
quantized_result_fits (const LigMatmul *matmul)
{
  if (lig_dtype_is_floating (matmul->result.dtype))
    return matmul->activation == LIG_AS_IT_IS;
  return matmul->result.dtype == LIG_FP8_E4M3 && matmul->result_scale && !matmul->extra.data &&
         matmul->activation == LIG_GELU && matmul->left_scales.kind == LIG_SCALES_TENSOR &&
         matmul->right_scales.kind == LIG_SCALES_TENSOR;
}

/* Returns whether cuBLASLt supports these operand types. 8-bit operands need scales, and at most
 * one may be e5m2. */
static bool
types_fit (const LigMatmul *matmul)
{
  LigDtype left = matmul->left.dtype, right = matmul->right.dtype;
  LigDtype output = matmul->result.dtype;
  if (lig_dtype_has (left, LIG_DTYPE_QUANTIZED) && lig_dtype_has (right, LIG_DTYPE_QUANTIZED))
    return (left == LIG_FP8_E4M3 || right == LIG_FP8_E4M3) && matmul->left_scales.data &&
           matmul->right_scales.data && !matmul->left_transposed && matmul->right_transposed &&
           quantized_result_fits (matmul);
  return lig_dtype_is_floating (left) && right == left && (output == left || output == LIG_FP32);
}

/* Returns whether cuBLASLt may support the matmul. */
static bool
fits (const LigMatmul *matmul)
{
  LigDtype output = lig_matmul_side (matmul->result.dtype);
  bool aux_needed = matmul->activation == LIG_GELU_BACKWARD;
  return matmul->rows > 0 && matmul->columns > 0 && matmul->depth > 0 && types_fit (matmul) &&
         type_fits (&matmul->extra, output) && type_fits (&matmul->aux, output) &&
         type_fits (&matmul->vector, output) &&
         (matmul->aux.data ? matmul->aux.stride % 8 == 0 : !aux_needed) &&
         activation_fits (matmul) && sums_fit (matmul);
}

/* Returns the epilogue that covers everything after the matmul. */
static cublasLtEpilogue_t
epilogue_of (const LigMatmul *matmul)
{
  bool bias = matmul->vector.data && matmul->sums == LIG_NO_SUMS, aux = matmul->aux.data;
  switch (matmul->activation) {
  case LIG_GELU:
    if (aux)
      return bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
    return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  case LIG_RELU:
    return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  case LIG_GELU_BACKWARD:
    return matmul->sums == LIG_NO_SUMS ? CUBLASLT_EPILOGUE_DGELU : CUBLASLT_EPILOGUE_DGELU_BGRAD;
  case LIG_AS_IT_IS:
    break;
  }
  if (matmul->sums == LIG_SUMS_OF_LEFT)
    return CUBLASLT_EPILOGUE_BGRADB;
  return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

/* Returns the largest power of two up to 16 that divides the address; no algorithm needs more. */
static uint8_t
alignment (const void *data)
{
  uintptr_t bits = (uintptr_t) data | 16;
  return (uint8_t) (bits & -bits);
}

/* Returns the key of a matmul. */
static LigMatmulKey
key_of (const LigMatmul *matmul, bool tf32)
{
  LigMatmulKey key;
  const void *extra = matmul->extra.data ? matmul->extra.data : matmul->result.data;
  memset (&key, 0, sizeof key);
  key.m = matmul->columns;
  key.n = matmul->rows;
  key.k = matmul->depth;
  key.lda = matmul->right.stride;
  key.ldb = matmul->left.stride;
  key.ldc = matmul->extra.data ? matmul->extra.stride : matmul->result.stride;
  key.ldd = matmul->result.stride;
  key.ld_aux = matmul->aux.data ? matmul->aux.stride : 0;
  key.workspace = matmul->shares_workspace ? LIG_LIBRARY_SPACE : LIG_WORKSPACE_SIZE;
  key.epilogue = (int32_t) epilogue_of (matmul);
  if (matmul->vector.data)
    key.vector_length =
      (int32_t) (matmul->sums == LIG_SUMS_OF_LEFT ? matmul->rows : matmul->columns);
  key.transposed_a = matmul->right_transposed;
  key.transposed_b = matmul->left_transposed;
  key.beta = matmul->extra.data != NULL;
  key.tf32 = tf32 && matmul->left.dtype == LIG_FP32;
  key.input = (uint8_t) matmul->left.dtype;
  if (matmul->left_scales.data) {
    key.input_a = matmul->right.dtype == matmul->left.dtype ? 0 : (uint8_t) matmul->right.dtype;
    key.scales = (uint8_t) (1 << 7 | matmul->fast << 4 | matmul->right_scales.kind << 2 |
                            matmul->left_scales.kind);
  }
  key.output = (uint8_t) matmul->result.dtype;
  key.vector = (uint8_t) (matmul->vector.data ? matmul->vector.dtype : matmul->result.dtype);
  key.align_a = alignment (matmul->right.data);
  key.align_b = alignment (matmul->left.data);
  key.align_c = alignment (extra);
  key.align_d = alignment (matmul->result.data);
  key.align_vector = alignment (matmul->vector.data);
  key.align_aux = alignment (matmul->aux.data);
  key.left_sums = matmul->left_sums.data != NULL;
  return key;
}

/* Returns the CUDA constant of a floating type. */
static cudaDataType_t
data_type (uint8_t dtype)
{
  return dtype == LIG_FP32       ? CUDA_R_32F
         : dtype == LIG_FP16     ? CUDA_R_16F
         : dtype == LIG_FP8_E4M3 ? CUDA_R_8F_E4M3
         : dtype == LIG_FP8_E5M2 ? CUDA_R_8F_E5M2
                                 : CUDA_R_16BF;
}

/* Sets an attribute of an entry's descriptor; false if the library rejects it. */
static bool
set (LigMatmulEntry *entry, cublasLtMatmulDescAttributes_t which, const void *value, size_t size)
{
  return cublasLtMatmulDescSetAttribute (&entry->description, which, value, size) ==
         CUBLAS_STATUS_SUCCESS;
}

/* Returns the library's constant for a kind of scales. */
static cublasLtMatmulMatrixScale_t
scale_mode (unsigned kind)
{
  static const cublasLtMatmulMatrixScale_t modes[] = {
    [LIG_SCALES_TENSOR] = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F,
    [LIG_SCALES_ROW] = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F,
    [LIG_SCALES_BLOCK] = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F,
    [LIG_SCALES_TILE] = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F,
  };
  return modes[kind & 3];
}

/* Sets the type of a bias that is added to an 8-bit result. */
static bool
describe_vector (LigMatmulEntry *entry)
{
  const LigMatmulKey *key = &entry->key;
  cudaDataType_t type = data_type (key->vector);
  return !key->vector_length || !lig_dtype_has ((LigDtype) key->output, LIG_DTYPE_QUANTIZED) ||
         set (entry, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof type);
}

/* Sets the scales of fp8 operands, and the precision of accumulation. */
static bool
describe_scales (LigMatmulEntry *entry)
{
  unsigned scales = entry->key.scales;
  cublasLtMatmulMatrixScale_t a = scale_mode (scales >> 2), b = scale_mode (scales);
  int8_t fast = scales >> 4 & 1;
  return !scales || (set (entry, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &a, sizeof a) &&
                     set (entry, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &b, sizeof b) &&
                     set (entry, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast));
}

/* Sets transposition, precision and epilogue. */
static bool
describe_operation (LigMatmulEntry *entry)
{
  const LigMatmulKey *key = &entry->key;
  cublasOperation_t a = key->transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasOperation_t b = key->transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasComputeType_t compute = key->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  uint32_t epilogue = (uint32_t) key->epilogue;
  return cublasLtMatmulDescInit (&entry->description, compute, CUDA_R_32F) ==
           CUBLAS_STATUS_SUCCESS &&
         set (entry, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a) &&
         set (entry, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b) &&
         set (entry, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue) &&
         describe_scales (entry) && describe_vector (entry) &&
         (!key->ld_aux ||
          set (entry, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &key->ld_aux, sizeof key->ld_aux));
}

/* Creates the layout of a matrix. */
static bool
describe_matrix (cublasLtMatrixLayoutOpaque_t *layout,
                 uint8_t dtype,
                 int64_t rows,
                 int64_t columns,
                 int64_t stride)
{
  return cublasLtMatrixLayoutInit (layout, data_type (dtype), (uint64_t) rows, (uint64_t) columns,
                                   stride) == CUBLAS_STATUS_SUCCESS;
}

/* Creates the entry of a matmul; null if there is no memory. */
static LigMatmulEntry *
entry_new (const LigMatmulKey *key)
{
  LigMatmulEntry *entry = calloc (1, sizeof *entry);
  if (!entry)
    return NULL;
  entry->key = *key;
  memset (entry->answers, -1, sizeof entry->answers);
  bool a = key->transposed_a, b = key->transposed_b;
  uint8_t input_a = key->input_a ? key->input_a : key->input;
  uint8_t side = (uint8_t) lig_matmul_side ((LigDtype) key->output);
  bool described =
    describe_operation (entry) &&
    describe_matrix (&entry->a, input_a, a ? key->k : key->m, a ? key->m : key->k, key->lda) &&
    describe_matrix (&entry->b, key->input, b ? key->n : key->k, b ? key->k : key->n, key->ldb) &&
    describe_matrix (&entry->c, side, key->m, key->n, key->ldc) &&
    describe_matrix (&entry->d, key->output, key->m, key->n, key->ldd);
  /* A matmul for which not even descriptors can be created is known to be unsupported. */
  entry->decided = entry->autotuned = !described;
  return entry;
}

/* Returns the hash of a key (FNV-1a by words). */
static size_t
hash (const LigMatmulKey *key)
{
  uint64_t words[sizeof *key / sizeof (uint64_t)], value = 0xcbf29ce484222325u;
  memcpy (words, key, sizeof words);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    value = (value ^ words[i]) * 0x100000001b3u;
    value ^= value >> 32;
  }
  return (size_t) value;
}

/* Returns the slot of the key, or the free slot where it belongs. */
static LigMatmulEntry **
slot_of (LigMatmulEntry **entries, size_t capacity, const LigMatmulKey *key)
{
  size_t at = hash (key) & (capacity - 1);
  while (entries[at] && memcmp (&entries[at]->key, key, sizeof *key) != 0)
    at = (at + 1) & (capacity - 1);
  return &entries[at];
}

/* Doubles the table; false if there is no memory. */
static bool
grow (LigMatmuls *matmuls)
{
  size_t capacity = 2 * matmuls->capacity;
  LigMatmulEntry **entries = calloc (capacity, sizeof *entries);
  if (!entries)
    return false;
  for (size_t i = 0; i < matmuls->capacity; i++)
    if (matmuls->entries[i])
      *slot_of (entries, capacity, &matmuls->entries[i]->key) = matmuls->entries[i];
  free (matmuls->entries);
  matmuls->entries = entries;
  matmuls->capacity = capacity;
  return true;
}

/* Creates the library's handle with the first matmul, so that programs without matmuls do not wait
 * for it. */
static bool
start (LigLaunch *launch)
{
  LigMatmuls *matmuls = launch->device->matmuls;
  if (matmuls->handle)
    return true;
  cublasStatus_t status = cublasLtCreate (&matmuls->handle);
  lig_times_mark ("cuBLASLt");
  if (status == CUBLAS_STATUS_SUCCESS)
    return true;
  matmuls->handle = NULL;
  snprintf (launch->device->message, sizeof launch->device->message, "cuBLASLt does not start: %s",
            cublasLtGetStatusString (status));
  return false;
}

/* Reports that the host has no memory; returns null. */
static LigMatmulEntry *
fail_memory (LigLaunch *launch)
{
  snprintf (launch->device->message, sizeof launch->device->message, "no memory on the host");
  return NULL;
}

/* Returns the entry of a matmul; null, with the reason in the device's message, if there is no
 * memory. */
static LigMatmulEntry *
entry_of (LigLaunch *launch, const LigMatmul *matmul)
{
  LigMatmuls *matmuls = launch->device->matmuls;
  LigMatmulKey key = key_of (matmul, launch->tf32);
  LigMatmulEntry **slot = slot_of (matmuls->entries, matmuls->capacity, &key);
  if (!*slot) {
    if (2 * (matmuls->count + 1) > matmuls->capacity) {
      if (!grow (matmuls))
        return fail_memory (launch);
      slot = slot_of (matmuls->entries, matmuls->capacity, &key);
    }
    *slot = entry_new (&key);
    if (!*slot)
      return fail_memory (launch);
    matmuls->count++;
  }
  return *slot;
}

/* Returns the entry of a supported matmul, with its algorithm chosen; null, with the reason in the
 * device's message, if that fails. */
static LigMatmulEntry *
find (LigLaunch *launch, const LigMatmul *matmul)
{
  LigMatmulEntry *entry = start (launch) ? entry_of (launch, matmul) : NULL;
  if (entry && (!entry->decided || (launch->autotune && !entry->autotuned)))
    lig_algorithm_choose (launch->device->matmuls, entry, launch);
  return entry;
}

/* Matmuls without a vector or an aux matrix do not read these attributes. */
static bool
point (LigMatmulEntry *entry, const void *vector, const void *aux)
{
  return (!entry->key.vector_length ||
          set (entry, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &vector, sizeof vector)) &&
         (!entry->key.ld_aux ||
          set (entry, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof aux));
}

/* Matmuls of fp8 operands read the addresses of their scales from the descriptor. */
static bool
point_scales (LigMatmulEntry *entry, const LigMatmulCall *call)
{
  const void *a = call->a_scales, *b = call->b_scales, *d = call->d_scale;
  return !entry->key.scales || (set (entry, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &a, sizeof a) &&
                                set (entry, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &b, sizeof b) &&
                                (lig_dtype_is_floating ((LigDtype) entry->key.output) ||
                                 set (entry, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, &d, sizeof d)));
}

void
lig_matmul_assume_alignment (LigMatmulEntry *entry)
{
  const uintptr_t base = (uintptr_t) 1 << 32;
  const LigMatmulCall scales = {.a_scales = (const void *) base,
                                .b_scales = (const void *) base,
                                .d_scale = (const void *) base};
  point (entry, (const void *) (base + entry->key.align_vector),
         (const void *) (base + entry->key.align_aux));
  point_scales (entry, &scales);
}

cublasStatus_t
lig_matmul_call (LigMatmuls *matmuls,
                 LigMatmulEntry *entry,
                 const cublasLtMatmulAlgo_t *algorithm,
                 const LigMatmulCall *call)
{
  float beta = entry->key.beta ? 1 : 0;
  /* An 8-bit result has another type than C, which is not read, and must not share its memory. */
  const void *c = lig_dtype_is_floating ((LigDtype) entry->key.output) ? call->c : NULL;
  if (!point (entry, call->vector, call->aux) || !point_scales (entry, call))
    return CUBLAS_STATUS_INVALID_VALUE;
  return cublasLtMatmul (matmuls->handle, &entry->description, &call->alpha, call->a, &entry->a,
                         call->b, &entry->b, &beta, c, &entry->c, call->d, &entry->d, algorithm,
                         call->workspace, entry->key.workspace, call->stream);
}

/* Reports the library's status as the launch's failure. */
static LigStatus
rejected (LigLaunch *launch, cublasStatus_t status)
{
  LigBackendDevice *device = launch->device;
  LigStatus lost = lig_cuda_status (device, cudaGetLastError (), "multiplying matrices");
  if (lost == LIG_OK)
    snprintf (device->message, sizeof device->message, "cublasLtMatmul: %s",
              cublasLtGetStatusString (status));
  launch->where = device->message;
  return lost == LIG_OK ? LIG_FAILED : lost;
}

LigStatus
lig_matmul (LigLaunch *launch, const LigMatmul *matmul)
{
  if (!fits (matmul))
    return LIG_UNSUPPORTED;
  LigMatmulEntry *entry = find (launch, matmul);
  if (!entry) {
    launch->where = launch->device->message;
    return LIG_FAILED;
  }
  if (!entry->supported)
    return LIG_UNSUPPORTED;
  LigMatmulCall call = {.a = matmul->right.data,
                        .b = matmul->left.data,
                        .c = matmul->extra.data ? matmul->extra.data : matmul->result.data,
                        .d = matmul->result.data,
                        .a_scales = matmul->right_scales.data,
                        .b_scales = matmul->left_scales.data,
                        .d_scale = matmul->result_scale,
                        .vector = matmul->vector.data,
                        .aux = matmul->aux.data,
                        .workspace = launch->workspace,
                        .alpha = matmul->factor,
                        .stream = launch->stream};
  if (matmul->shares_workspace)
    call.workspace = (char *) launch->workspace + LIG_WORKSPACE_SIZE - LIG_LIBRARY_SPACE;
  cublasStatus_t status =
    lig_matmul_call (launch->device->matmuls, entry, &entry->algorithm, &call);
  if (status == CUBLAS_STATUS_SUCCESS)
    return LIG_OK;
  if (status != CUBLAS_STATUS_NOT_SUPPORTED)
    return rejected (launch, status);
  entry->supported = false;
  return LIG_UNSUPPORTED;
}

double
lig_matmul_microseconds (LigLaunch *launch, const LigMatmul *matmul)
{
  LigMatmulEntry *entry = fits (matmul) ? find (launch, matmul) : NULL;
  return entry && entry->supported ? (double) entry->microseconds : 0;
}

void
lig_matmul_report_no_memory (LigLaunch *launch, const LigMatmul *matmul)
{
  /* The search for the library's algorithm reports the matmul without these sums. */
  LigMatmul searched = *matmul;
  searched.left_sums.data = NULL;
  LigMatmulEntry *entry = entry_of (launch, &searched);
  if (entry)
    lig_algorithm_report_no_memory (launch->device->matmuls, entry);
}

/* The questions, as prefixes of the keys of stored answers. The number of the built-in matmul's is
 * raised when it becomes faster, or when the comparison changes. */
static const char *const questions[LIG_N_QUESTIONS] = {[LIG_SUMS_APART] = "sums apart",
                                                       [LIG_BUILT_IN_MATMUL] = "own product 3",
                                                       [LIG_FEW_ROWS_MATMUL] = "few rows 1"};

int
lig_matmul_answer (LigLaunch *launch, const LigMatmul *matmul, LigMatmulQuestion question)
{
  const LigChoices *choices = &launch->device->choices;
  LigMatmulEntry *entry = entry_of (launch, matmul);
  char words[1024], choice[16] = "";
  if (!entry)
    return -1;
  if (entry->answers[question] < 0 && launch->autotune && choices->get) {
    lig_matmul_words (launch->device->matmuls, &entry->key, questions[question], words,
                      sizeof words);
    if (choices->get (choices->data, words, choice, sizeof choice) &&
        (strcmp (choice, "yes") == 0 || strcmp (choice, "no") == 0))
      entry->answers[question] = choice[0] == 'y';
  }
  return entry->answers[question];
}

void
lig_matmul_keep_answer (LigLaunch *launch,
                        const LigMatmul *matmul,
                        LigMatmulQuestion question,
                        bool answer,
                        double microseconds)
{
  const LigChoices *choices = &launch->device->choices;
  LigMatmulEntry *entry = entry_of (launch, matmul);
  char words[1024];
  if (!entry)
    return;
  entry->answers[question] = answer;
  if (choices->put) {
    lig_matmul_words (launch->device->matmuls, &entry->key, questions[question], words,
                      sizeof words);
    choices->put (choices->data, words, microseconds, answer ? "yes" : "no");
  }
}

void
lig_matmul_words (
  const LigMatmuls *matmuls, const LigMatmulKey *key, const char *what, char *text, size_t size)
{
  char scales[48] = "";
  if (key->scales)
    snprintf (scales, sizeof scales, " | by %s scales %d",
              lig_dtype_name ((LigDtype) (key->input_a ? key->input_a : key->input)), key->scales);
  snprintf (
    text, size,
    "%s | %s | %lld x %lld x %lld %c%c | %s to %s%s | epilogue %d on %d %s | extra %d"
    " | strides %lld %lld %lld %lld %lld | aligned to %d %d %d %d %d %d | workspace %llu%s%s",
    what, matmuls->machine, (long long) key->m, (long long) key->n, (long long) key->k,
    key->transposed_a ? 'T' : 'N', key->transposed_b ? 'T' : 'N',
    lig_dtype_name ((LigDtype) key->input), lig_dtype_name ((LigDtype) key->output),
    key->tf32 ? " tf32" : "", key->epilogue, key->vector_length,
    lig_dtype_name ((LigDtype) key->vector), key->beta, (long long) key->lda, (long long) key->ldb,
    (long long) key->ldc, (long long) key->ldd, (long long) key->ld_aux, key->align_a, key->align_b,
    key->align_c, key->align_d, key->align_vector, key->align_aux,
    (unsigned long long) key->workspace, key->left_sums ? " | left sums" : "", scales);
}

LigMatmuls *
lig_matmuls_new (LigBackendDevice *device, char *why, size_t size)
{
  LigMatmuls *matmuls = calloc (1, sizeof *matmuls);
  if (matmuls) {
    matmuls->device = device;
    matmuls->capacity = 256;
    matmuls->entries = calloc (matmuls->capacity, sizeof *matmuls->entries);
    snprintf (matmuls->machine, sizeof matmuls->machine, "cuBLASLt %zu | %s", cublasLtGetVersion (),
              device->properties.name);
  }
  if (matmuls && matmuls->entries)
    return matmuls;
  snprintf (why, size, "no memory on the host");
  free (matmuls);
  return NULL;
}

void
lig_matmuls_free (LigMatmuls *matmuls)
{
  if (!matmuls)
    return;
  for (size_t i = 0; matmuls->entries && i < matmuls->capacity; i++)
    free (matmuls->entries[i]);
  free (matmuls->entries);
  if (matmuls->handle)
    cublasLtDestroy (matmuls->handle);
  free (matmuls);
}
