/* SPDX-License-Identifier: MIT */
/* Matrix products through cuBLASLt: their description in its terms, and the table of the products
 * met so far, with their descriptors and algorithms, so that a launch only sets pointers.
 *
 * cuBLASLt stores matrices by columns. A row-major [rows, columns] is its [columns, rows], so
 * the product is computed as result^T = right^T left^T: its A is `right`, its B is `left`, its m
 * counts columns. */
#include "kernels/cuda/product/algorithms.h"
#include "kernels/times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether cuBLASLt's epilogues can apply the activation. Their gelu is accurate enough
 * for 16 bits only; an fp32 result gets the exact formula. */
static bool
activation_fits (const LigProduct *product)
{
  bool gelu = product->activation == LIG_GELU || product->activation == LIG_GELU_BACKWARD;
  return !gelu || product->result.dtype != LIG_FP32;
}

/* Returns whether cuBLASLt's epilogues can compute the sums. */
static bool
sums_fit (const LigProduct *product)
{
  switch (product->sums) {
  case LIG_SUMS_OF_RESULT:
    return product->activation == LIG_GELU_BACKWARD && !product->extra.data;
  case LIG_SUMS_OF_LEFT: /* not documented: whether the factor applies to the sums */
    return product->activation == LIG_AS_IT_IS && product->left_transposed &&
           !product->extra.data && product->factor == 1;
  case LIG_NO_SUMS:
    break;
  }
  return product->activation != LIG_GELU_BACKWARD ||
         (!product->vector.data && !product->extra.data);
}

/* Returns whether a matrix is absent or of that type. */
static bool
type_fits (const LigMatrix *matrix, LigDtype dtype)
{
  return !matrix->data || matrix->dtype == dtype;
}

/* Returns whether the result of a product of 8 bits can be written: of a floating type, or, after
 * gelu, of 8 bits with a scale if all scales are those of tensors. */
static bool
quantized_result_fits (const LigProduct *product)
{
  if (lig_dtype_is_floating (product->result.dtype))
    return product->activation == LIG_AS_IT_IS;
  return product->result.dtype == LIG_FP8_E4M3 && product->result_scale && !product->extra.data &&
         product->activation == LIG_GELU && product->left_scales.kind == LIG_SCALES_TENSOR &&
         product->right_scales.kind == LIG_SCALES_TENSOR;
}

/* Returns whether cuBLASLt may multiply matrices of these types. Those of 8 bits need scales, and
 * not both may have the short mantissa. */
static bool
types_fit (const LigProduct *product)
{
  LigDtype left = product->left.dtype, right = product->right.dtype;
  LigDtype output = product->result.dtype;
  if (lig_dtype_has (left, LIG_DTYPE_QUANTIZED) && lig_dtype_has (right, LIG_DTYPE_QUANTIZED))
    return (left == LIG_FP8_E4M3 || right == LIG_FP8_E4M3) && product->left_scales.data &&
           product->right_scales.data && !product->left_transposed && product->right_transposed &&
           quantized_result_fits (product);
  return lig_dtype_is_floating (left) && right == left && (output == left || output == LIG_FP32);
}

/* Returns whether cuBLASLt may serve the product. */
static bool
fits (const LigProduct *product)
{
  LigDtype output = lig_product_side (product->result.dtype);
  bool aux_needed = product->activation == LIG_GELU_BACKWARD;
  return product->rows > 0 && product->columns > 0 && product->depth > 0 && types_fit (product) &&
         type_fits (&product->extra, output) && type_fits (&product->aux, output) &&
         type_fits (&product->vector, output) &&
         (product->aux.data ? product->aux.stride % 8 == 0 : !aux_needed) &&
         activation_fits (product) && sums_fit (product);
}

/* Returns the epilogue that does everything after the product. */
static cublasLtEpilogue_t
epilogue_of (const LigProduct *product)
{
  bool bias = product->vector.data && product->sums == LIG_NO_SUMS, aux = product->aux.data;
  switch (product->activation) {
  case LIG_GELU:
    if (aux)
      return bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
    return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  case LIG_RELU:
    return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  case LIG_GELU_BACKWARD:
    return product->sums == LIG_NO_SUMS ? CUBLASLT_EPILOGUE_DGELU : CUBLASLT_EPILOGUE_DGELU_BGRAD;
  case LIG_AS_IT_IS:
    break;
  }
  if (product->sums == LIG_SUMS_OF_LEFT)
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

/* Returns the key of a product. */
static LigProductKey
key_of (const LigProduct *product, bool tf32)
{
  LigProductKey key;
  const void *extra = product->extra.data ? product->extra.data : product->result.data;
  memset (&key, 0, sizeof key);
  key.m = product->columns;
  key.n = product->rows;
  key.k = product->depth;
  key.lda = product->right.stride;
  key.ldb = product->left.stride;
  key.ldc = product->extra.data ? product->extra.stride : product->result.stride;
  key.ldd = product->result.stride;
  key.ld_aux = product->aux.data ? product->aux.stride : 0;
  key.workspace = product->shares_workspace ? LIG_LIBRARY_SPACE : LIG_WORKSPACE_SIZE;
  key.epilogue = (int32_t) epilogue_of (product);
  if (product->vector.data)
    key.vector_length =
      (int32_t) (product->sums == LIG_SUMS_OF_LEFT ? product->rows : product->columns);
  key.transposed_a = product->right_transposed;
  key.transposed_b = product->left_transposed;
  key.beta = product->extra.data != NULL;
  key.tf32 = tf32 && product->left.dtype == LIG_FP32;
  key.input = (uint8_t) product->left.dtype;
  if (product->left_scales.data) {
    key.input_a = product->right.dtype == product->left.dtype ? 0 : (uint8_t) product->right.dtype;
    key.scales = (uint8_t) (1 << 7 | product->fast << 4 | product->right_scales.kind << 2 |
                            product->left_scales.kind);
  }
  key.output = (uint8_t) product->result.dtype;
  key.vector = (uint8_t) (product->vector.data ? product->vector.dtype : product->result.dtype);
  key.align_a = alignment (product->right.data);
  key.align_b = alignment (product->left.data);
  key.align_c = alignment (extra);
  key.align_d = alignment (product->result.data);
  key.align_vector = alignment (product->vector.data);
  key.align_aux = alignment (product->aux.data);
  key.left_sums = product->left_sums.data != NULL;
  return key;
}

/* Returns the CUDA name of a floating type. */
static cudaDataType_t
data_type (uint8_t dtype)
{
  return dtype == LIG_FP32       ? CUDA_R_32F
         : dtype == LIG_FP16     ? CUDA_R_16F
         : dtype == LIG_FP8_E4M3 ? CUDA_R_8F_E4M3
         : dtype == LIG_FP8_E5M2 ? CUDA_R_8F_E5M2
                                 : CUDA_R_16BF;
}

/* Sets an attribute of an entry's description; false if the library rejects it. */
static bool
set (LigProductEntry *entry, cublasLtMatmulDescAttributes_t which, const void *value, size_t size)
{
  return cublasLtMatmulDescSetAttribute (&entry->description, which, value, size) ==
         CUBLAS_STATUS_SUCCESS;
}

/* Returns the library's name of a kind of scales. */
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

/* Describes the type of a bias that is added to a result of 8 bits. */
static bool
describe_vector (LigProductEntry *entry)
{
  const LigProductKey *key = &entry->key;
  cudaDataType_t type = data_type (key->vector);
  return !key->vector_length || !lig_dtype_has ((LigDtype) key->output, LIG_DTYPE_QUANTIZED) ||
         set (entry, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof type);
}

/* Describes the scales of fp8 operands, and how exactly they are summed. */
static bool
describe_scales (LigProductEntry *entry)
{
  unsigned scales = entry->key.scales;
  cublasLtMatmulMatrixScale_t a = scale_mode (scales >> 2), b = scale_mode (scales);
  int8_t fast = scales >> 4 & 1;
  return !scales || (set (entry, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &a, sizeof a) &&
                     set (entry, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &b, sizeof b) &&
                     set (entry, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast));
}

/* Describes transposition, precision and epilogue. */
static bool
describe_operation (LigProductEntry *entry)
{
  const LigProductKey *key = &entry->key;
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

/* Describes a matrix by its columns. */
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

/* Returns the entry of a product; null if there is no memory. */
static LigProductEntry *
entry_new (const LigProductKey *key)
{
  LigProductEntry *entry = calloc (1, sizeof *entry);
  if (!entry)
    return NULL;
  entry->key = *key;
  memset (entry->answers, -1, sizeof entry->answers);
  bool a = key->transposed_a, b = key->transposed_b;
  uint8_t input_a = key->input_a ? key->input_a : key->input;
  uint8_t side = (uint8_t) lig_product_side ((LigDtype) key->output);
  bool described =
    describe_operation (entry) &&
    describe_matrix (&entry->a, input_a, a ? key->k : key->m, a ? key->m : key->k, key->lda) &&
    describe_matrix (&entry->b, key->input, b ? key->n : key->k, b ? key->k : key->n, key->ldb) &&
    describe_matrix (&entry->c, side, key->m, key->n, key->ldc) &&
    describe_matrix (&entry->d, key->output, key->m, key->n, key->ldd);
  /* A product that cannot even be described is known to be rejected. */
  entry->decided = entry->rehearsed = !described;
  return entry;
}

/* Returns the hash of a key (FNV-1a by words). */
static size_t
hash (const LigProductKey *key)
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
static LigProductEntry **
slot_of (LigProductEntry **entries, size_t capacity, const LigProductKey *key)
{
  size_t at = hash (key) & (capacity - 1);
  while (entries[at] && memcmp (&entries[at]->key, key, sizeof *key) != 0)
    at = (at + 1) & (capacity - 1);
  return &entries[at];
}

/* Doubles the table; false if there is no memory. */
static bool
grow (LigProducts *products)
{
  size_t capacity = 2 * products->capacity;
  LigProductEntry **entries = calloc (capacity, sizeof *entries);
  if (!entries)
    return false;
  for (size_t i = 0; i < products->capacity; i++)
    if (products->entries[i])
      *slot_of (entries, capacity, &products->entries[i]->key) = products->entries[i];
  free (products->entries);
  products->entries = entries;
  products->capacity = capacity;
  return true;
}

/* Creates the library's handle with the first product: programs without products do not wait for
 * it. */
static bool
start (LigLaunch *launch)
{
  LigProducts *products = launch->device->products;
  if (products->handle)
    return true;
  cublasStatus_t status = cublasLtCreate (&products->handle);
  lig_times_mark ("cuBLASLt");
  if (status == CUBLAS_STATUS_SUCCESS)
    return true;
  products->handle = NULL;
  snprintf (launch->device->message, sizeof launch->device->message, "cuBLASLt does not start: %s",
            cublasLtGetStatusString (status));
  return false;
}

/* Reports that the host has no memory; returns null. */
static LigProductEntry *
fail_memory (LigLaunch *launch)
{
  snprintf (launch->device->message, sizeof launch->device->message, "no memory on the host");
  return NULL;
}

/* Returns the entry of a product; null, with the reason in the device's message, if there is no
 * memory. */
static LigProductEntry *
entry_of (LigLaunch *launch, const LigProduct *product)
{
  LigProducts *products = launch->device->products;
  LigProductKey key = key_of (product, launch->tf32);
  LigProductEntry **slot = slot_of (products->entries, products->capacity, &key);
  if (!*slot) {
    if (2 * (products->count + 1) > products->capacity) {
      if (!grow (products))
        return fail_memory (launch);
      slot = slot_of (products->entries, products->capacity, &key);
    }
    *slot = entry_new (&key);
    if (!*slot)
      return fail_memory (launch);
    products->count++;
  }
  return *slot;
}

/* Returns the entry of a product that fits, with its algorithm decided; null, with the reason in
 * the device's message, if that fails. */
static LigProductEntry *
find (LigLaunch *launch, const LigProduct *product)
{
  LigProductEntry *entry = start (launch) ? entry_of (launch, product) : NULL;
  if (entry && (!entry->decided || (launch->rehearse && !entry->rehearsed)))
    lig_algorithm_choose (launch->device->products, entry, launch);
  return entry;
}

/* Products without a vector or an aux matrix do not read these attributes. */
static bool
point (LigProductEntry *entry, const void *vector, const void *aux)
{
  return (!entry->key.vector_length ||
          set (entry, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &vector, sizeof vector)) &&
         (!entry->key.ld_aux ||
          set (entry, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof aux));
}

/* Products of fp8 operands read the addresses of their scales from the descriptor. */
static bool
point_scales (LigProductEntry *entry, const LigProductCall *call)
{
  const void *a = call->a_scales, *b = call->b_scales, *d = call->d_scale;
  return !entry->key.scales || (set (entry, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &a, sizeof a) &&
                                set (entry, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &b, sizeof b) &&
                                (lig_dtype_is_floating ((LigDtype) entry->key.output) ||
                                 set (entry, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, &d, sizeof d)));
}

void
lig_product_assume_alignment (LigProductEntry *entry)
{
  const uintptr_t base = (uintptr_t) 1 << 32;
  const LigProductCall scales = {.a_scales = (const void *) base,
                                 .b_scales = (const void *) base,
                                 .d_scale = (const void *) base};
  point (entry, (const void *) (base + entry->key.align_vector),
         (const void *) (base + entry->key.align_aux));
  point_scales (entry, &scales);
}

cublasStatus_t
lig_product_call (LigProducts *products,
                  LigProductEntry *entry,
                  const cublasLtMatmulAlgo_t *algorithm,
                  const LigProductCall *call)
{
  float beta = entry->key.beta ? 1 : 0;
  /* A result of 8 bits has another type than C, which is not read, and must not share its memory.
   */
  const void *c = lig_dtype_is_floating ((LigDtype) entry->key.output) ? call->c : NULL;
  if (!point (entry, call->vector, call->aux) || !point_scales (entry, call))
    return CUBLAS_STATUS_INVALID_VALUE;
  return cublasLtMatmul (products->handle, &entry->description, &call->alpha, call->a, &entry->a,
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
lig_product (LigLaunch *launch, const LigProduct *product)
{
  if (!fits (product))
    return LIG_UNSUPPORTED;
  LigProductEntry *entry = find (launch, product);
  if (!entry) {
    launch->where = launch->device->message;
    return LIG_FAILED;
  }
  if (!entry->supported)
    return LIG_UNSUPPORTED;
  LigProductCall call = {.a = product->right.data,
                         .b = product->left.data,
                         .c = product->extra.data ? product->extra.data : product->result.data,
                         .d = product->result.data,
                         .a_scales = product->right_scales.data,
                         .b_scales = product->left_scales.data,
                         .d_scale = product->result_scale,
                         .vector = product->vector.data,
                         .aux = product->aux.data,
                         .workspace = launch->workspace,
                         .alpha = product->factor,
                         .stream = launch->stream};
  if (product->shares_workspace)
    call.workspace = (char *) launch->workspace + LIG_WORKSPACE_SIZE - LIG_LIBRARY_SPACE;
  cublasStatus_t status =
    lig_product_call (launch->device->products, entry, &entry->algorithm, &call);
  if (status == CUBLAS_STATUS_SUCCESS)
    return LIG_OK;
  if (status != CUBLAS_STATUS_NOT_SUPPORTED)
    return rejected (launch, status);
  entry->supported = false;
  return LIG_UNSUPPORTED;
}

double
lig_product_microseconds (LigLaunch *launch, const LigProduct *product)
{
  LigProductEntry *entry = fits (product) ? find (launch, product) : NULL;
  return entry && entry->supported ? (double) entry->microseconds : 0;
}

void
lig_product_report_no_memory (LigLaunch *launch, const LigProduct *product)
{
  /* The search for the library's algorithm reports the product without these sums. */
  LigProduct searched = *product;
  searched.left_sums.data = NULL;
  LigProductEntry *entry = entry_of (launch, &searched);
  if (entry)
    lig_algorithm_report_no_memory (launch->device->products, entry);
}

/* The questions, as the keys of stored answers begin. The number of the own product's is raised
 * when it becomes faster, or is compared in another way. */
static const char *const questions[LIG_N_QUESTIONS] = {
  [LIG_SUMS_APART] = "sums apart", [LIG_OWN_PRODUCT] = "own product 3"};

int
lig_product_answer (LigLaunch *launch, const LigProduct *product, LigProductQuestion question)
{
  const LigChoices *choices = &launch->device->choices;
  LigProductEntry *entry = entry_of (launch, product);
  char words[1024], choice[16] = "";
  if (!entry)
    return -1;
  if (entry->answers[question] < 0 && launch->rehearse && choices->get) {
    lig_product_words (launch->device->products, &entry->key, questions[question], words,
                       sizeof words);
    if (choices->get (choices->data, words, choice, sizeof choice) &&
        (strcmp (choice, "yes") == 0 || strcmp (choice, "no") == 0))
      entry->answers[question] = choice[0] == 'y';
  }
  return entry->answers[question];
}

void
lig_product_keep_answer (LigLaunch *launch,
                         const LigProduct *product,
                         LigProductQuestion question,
                         bool answer,
                         double microseconds)
{
  const LigChoices *choices = &launch->device->choices;
  LigProductEntry *entry = entry_of (launch, product);
  char words[1024];
  if (!entry)
    return;
  entry->answers[question] = answer;
  if (choices->put) {
    lig_product_words (launch->device->products, &entry->key, questions[question], words,
                       sizeof words);
    choices->put (choices->data, words, microseconds, answer ? "yes" : "no");
  }
}

void
lig_product_words (
  const LigProducts *products, const LigProductKey *key, const char *what, char *text, size_t size)
{
  char scales[48] = "";
  if (key->scales)
    snprintf (scales, sizeof scales, " | by %s scales %d",
              lig_dtype_name ((LigDtype) (key->input_a ? key->input_a : key->input)), key->scales);
  snprintf (
    text, size,
    "%s | %s | %lld x %lld x %lld %c%c | %s to %s%s | epilogue %d on %d %s | extra %d"
    " | strides %lld %lld %lld %lld %lld | aligned to %d %d %d %d %d %d | workspace %llu%s%s",
    what, products->machine, (long long) key->m, (long long) key->n, (long long) key->k,
    key->transposed_a ? 'T' : 'N', key->transposed_b ? 'T' : 'N',
    lig_dtype_name ((LigDtype) key->input), lig_dtype_name ((LigDtype) key->output),
    key->tf32 ? " tf32" : "", key->epilogue, key->vector_length,
    lig_dtype_name ((LigDtype) key->vector), key->beta, (long long) key->lda, (long long) key->ldb,
    (long long) key->ldc, (long long) key->ldd, (long long) key->ld_aux, key->align_a, key->align_b,
    key->align_c, key->align_d, key->align_vector, key->align_aux,
    (unsigned long long) key->workspace, key->left_sums ? " | left sums" : "", scales);
}

LigProducts *
lig_products_new (LigBackendDevice *device, char *why, size_t size)
{
  LigProducts *products = calloc (1, sizeof *products);
  if (products) {
    products->device = device;
    products->capacity = 256;
    products->entries = calloc (products->capacity, sizeof *products->entries);
    snprintf (products->machine, sizeof products->machine, "cuBLASLt %zu | %s",
              cublasLtGetVersion (), device->properties.name);
  }
  if (products && products->entries)
    return products;
  snprintf (why, size, "no memory on the host");
  free (products);
  return NULL;
}

void
lig_products_free (LigProducts *products)
{
  if (!products)
    return;
  for (size_t i = 0; products->entries && i < products->capacity; i++)
    free (products->entries[i]);
  free (products->entries);
  if (products->handle)
    cublasLtDestroy (products->handle);
  free (products);
}
