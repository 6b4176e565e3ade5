/* SPDX-License-Identifier: MIT */
/* What cuBLASLt's heuristic proposes for a product, and whether an algorithm serves it. The
 * environment variable LIGATURE_SEARCH=heuristic leaves it at the proposals: no variations;
 * LIGATURE_SEARCH=none, at the first of them. */
#include "kernels/cuda/product/candidates.h"

#include <stdlib.h>
#include <string.h>

/* Only products that take less, in microseconds, are worth a search. */
#define LONGEST 400.0f

/* Split products are summed in fp32 and in a fixed order, or not at all. In place, the order may
 * vary; in the type of the result, each part would be rounded. */
static bool
is_exact (const cublasLtMatmulAlgo_t *algorithm)
{
  uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_MASK;
  int32_t parts = 0;
  size_t written;
  cublasLtMatmulAlgoConfigGetAttribute (algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts,
                                        sizeof parts, &written);
  if (cublasLtMatmulAlgoConfigGetAttribute (algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                                            &scheme, sizeof scheme,
                                            &written) != CUBLAS_STATUS_SUCCESS)
    return false;
  return scheme == CUBLASLT_REDUCTION_SCHEME_NONE ||
         scheme == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE || parts == 1;
}

static bool
prefer (cublasLtMatmulPreference_t preference,
        cublasLtMatmulPreferenceAttributes_t which,
        const void *value,
        size_t size)
{
  return cublasLtMatmulPreferenceSetAttribute (preference, which, value, size) ==
         CUBLAS_STATUS_SUCCESS;
}

static bool
state_preferences (cublasLtMatmulPreference_t preference, const LigProductKey *key)
{
  uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  uint32_t a = key->align_a, b = key->align_b, c = key->align_c, d = key->align_d;
  return cublasLtMatmulPreferenceInit (preference) == CUBLAS_STATUS_SUCCESS &&
         prefer (preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &key->workspace,
                 sizeof key->workspace) &&
         prefer (preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                 sizeof schemes) &&
         prefer (preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &a, sizeof a) &&
         prefer (preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &b, sizeof b) &&
         prefer (preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &c, sizeof c) &&
         prefer (preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &d, sizeof d);
}

int
lig_candidates_propose (LigProducts *products,
                        LigProductEntry *entry,
                        cublasLtMatmulAlgo_t *algorithms,
                        int most)
{
  cublasLtMatmulPreferenceOpaque_t preference;
  cublasLtMatmulHeuristicResult_t results[LIG_MOST_PROPOSED];
  int found = 0, count = 0;
  memset (results, 0, sizeof results);
  if (!state_preferences (&preference, &entry->key) ||
      cublasLtMatmulAlgoGetHeuristic (products->handle, &entry->description, &entry->a, &entry->b,
                                      &entry->c, &entry->d, &preference, LIG_MOST_PROPOSED, results,
                                      &found) != CUBLAS_STATUS_SUCCESS)
    return 0;
  for (int i = 0; i < found && count < most; i++)
    if (results[i].state == CUBLAS_STATUS_SUCCESS &&
        results[i].workspaceSize <= entry->key.workspace && is_exact (&results[i].algo))
      algorithms[count++] = results[i].algo;
  return count;
}

bool
lig_candidate_serves (const LigProducts *products,
                      LigProductEntry *entry,
                      const cublasLtMatmulAlgo_t *algorithm)
{
  cublasLtMatmulHeuristicResult_t result;
  memset (&result, 0, sizeof result);
  return cublasLtMatmulAlgoCheck (products->handle, &entry->description, &entry->a, &entry->b,
                                  &entry->c, &entry->d, algorithm,
                                  &result) == CUBLAS_STATUS_SUCCESS &&
         result.workspaceSize <= entry->key.workspace && is_exact (algorithm);
}

/* The library does not look at addresses when it checks an algorithm, so none is made up where they
 * or the strides are not fit for all. */
static bool
is_aligned (const LigProductKey *key)
{
  int64_t input = 16 / (int64_t) lig_dtype_size ((LigDtype) key->input);
  int64_t output = 16 / (int64_t) lig_dtype_size ((LigDtype) key->output);
  return key->align_a == 16 && key->align_b == 16 && key->align_c == 16 && key->align_d == 16 &&
         (!key->ld_aux || key->align_aux == 16) && key->lda % input == 0 && key->ldb % input == 0 &&
         key->ldc % output == 0 && key->ldd % output == 0 && key->ld_aux % output == 0;
}

bool
lig_candidates_can_widen (const LigTrial *trial)
{
  const char *wanted = getenv ("LIGATURE_SEARCH");
  return trial->best < LONGEST && is_aligned (&trial->entry->key) &&
         !(wanted && strcmp (wanted, "heuristic") == 0);
}
