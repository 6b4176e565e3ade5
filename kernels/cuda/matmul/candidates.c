/* SPDX-License-Identifier: MIT */
/* The algorithms that cuBLASLt's heuristic proposes for a matmul, and the check whether an
 * algorithm supports it. The environment variable LIGATURE_SEARCH=heuristic restricts the search to
 * the proposals, LIGATURE_SEARCH=none to the first of them. */
#include "kernels/cuda/matmul/candidates.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether a split-K matmul is reduced in fp32 and in a fixed order. An in-place reduction
 * has no fixed order; a reduction in the result's type would round each part. */
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

/* Sets one preference of the heuristic; false if the library rejects it. */
static bool
prefer (cublasLtMatmulPreference_t preference,
        cublasLtMatmulPreferenceAttributes_t which,
        const void *value,
        size_t size)
{
  return cublasLtMatmulPreferenceSetAttribute (preference, which, value, size) ==
         CUBLAS_STATUS_SUCCESS;
}

/* Sets workspace, reduction schemes and alignments as the heuristic's preferences. */
static bool
state_preferences (cublasLtMatmulPreference_t preference, const LigMatmulKey *key)
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
lig_candidates_propose (LigMatmuls *matmuls,
                        LigMatmulEntry *entry,
                        cublasLtMatmulAlgo_t *algorithms,
                        int max)
{
  cublasLtMatmulPreferenceOpaque_t preference;
  cublasLtMatmulHeuristicResult_t results[LIG_MAX_PROPOSED];
  int found = 0, count = 0;
  memset (results, 0, sizeof results);
  if (!state_preferences (&preference, &entry->key) ||
      cublasLtMatmulAlgoGetHeuristic (matmuls->handle, &entry->description, &entry->a, &entry->b,
                                      &entry->c, &entry->d, &preference, LIG_MAX_PROPOSED, results,
                                      &found) != CUBLAS_STATUS_SUCCESS)
    return 0;
  for (int i = 0; i < found && count < max; i++)
    if (results[i].state == CUBLAS_STATUS_SUCCESS &&
        results[i].workspaceSize <= entry->key.workspace && is_exact (&results[i].algo))
      algorithms[count++] = results[i].algo;
  return count;
}

bool
lig_candidate_serves (const LigMatmuls *matmuls,
                      LigMatmulEntry *entry,
                      const cublasLtMatmulAlgo_t *algorithm)
{
  cublasLtMatmulHeuristicResult_t result;
  memset (&result, 0, sizeof result);
  return cublasLtMatmulAlgoCheck (matmuls->handle, &entry->description, &entry->a, &entry->b,
                                  &entry->c, &entry->d, algorithm,
                                  &result) == CUBLAS_STATUS_SUCCESS &&
         result.workspaceSize <= entry->key.workspace && is_exact (algorithm);
}

/* Returns whether addresses and strides are multiples of 16 bytes. Otherwise no variations are
 * tried, because the library does not check an algorithm against addresses. */
static bool
is_aligned (const LigMatmulKey *key)
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
  const char *setting = getenv ("LIGATURE_SEARCH");
  return is_aligned (&trial->entry->key) && !trial->entry->key.scales &&
         !(setting && strcmp (setting, "heuristic") == 0);
}
