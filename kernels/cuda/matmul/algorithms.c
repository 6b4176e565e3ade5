/* SPDX-License-Identifier: MIT */
/* The choice of a matmul's algorithm: a stored choice if there is one; else the fastest of the
 * heuristic's proposals and their variations, timed on random data; without timing the heuristic's
 * first. */
#include "kernels/cuda/matmul/candidates.h"
#include "kernels/times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_PROPOSED = 4 };

/* The seconds for which proposals may keep the device busy, and the total seconds of timing them,
 * including everything that the library loads; then the seconds after which variations must end. */
#define BUDGET 0.3
#define MAX_SECONDS 3.0
#define MAX_SECONDS_WITH_VARIATIONS 1.4

/* Times the proposals until the time is up: the heuristic puts the best first. */
static void
run_proposals (LigTrial *trial, const cublasLtMatmulAlgo_t *proposals, int count)
{
  double started = lig_trial_clock ();
  for (int i = 0; i < count; i++) {
    if (i >= MIN_PROPOSED && (trial->busy > BUDGET || lig_trial_clock () - started > MAX_SECONDS))
      break;
    lig_trial_run (trial, &proposals[i]);
  }
  if (lig_candidates_can_widen (trial) && lig_trial_expect (trial))
    lig_candidates_widen (trial, started + MAX_SECONDS_WITH_VARIATIONS);
}

void
lig_algorithm_report_no_memory (const LigMatmuls *matmuls, LigMatmulEntry *entry)
{
  const LigChoices *choices = &matmuls->device->choices;
  char what[96];
  snprintf (what, sizeof what, "%lld x %lld x %lld", (long long) entry->key.n,
            (long long) entry->key.k, (long long) entry->key.m);
  if (choices->no_memory && !entry->reported)
    choices->no_memory (choices->guard, what);
  entry->reported = true;
}

/* Times algorithms; returns true if the entry's algorithm is now the fastest. The launch's memory
 * is not accessed. */
static bool
race (LigMatmuls *matmuls,
      LigMatmulEntry *entry,
      const cublasLtMatmulAlgo_t *proposals,
      int count,
      const LigLaunch *launch)
{
  const LigTrialAlgorithm *best = NULL;
  LigTrial trial;
  memset (&trial, 0, sizeof trial);
  cudaStreamSynchronize (launch->stream);
  if (lig_trial_open (&trial, matmuls, entry)) {
    run_proposals (&trial, proposals, count);
    best = lig_trial_decide (&trial);
  }
  if (best) {
    entry->algorithm = best->algorithm;
    entry->microseconds = best->microseconds;
  }
  if (trial.no_memory)
    lig_algorithm_report_no_memory (matmuls, entry);
  lig_trial_close (&trial);
  lig_times_mark ("searching");
  return best != NULL;
}

/* Stores a choice: the algorithm's bytes in hexadecimal, then its nanoseconds. */
static void
remember (const LigMatmuls *matmuls, const LigMatmulEntry *entry)
{
  const LigChoices *choices = &matmuls->device->choices;
  unsigned char bytes[sizeof entry->algorithm];
  char words[1024], choice[2 * sizeof bytes + 32];
  if (!choices->put)
    return;
  memcpy (bytes, &entry->algorithm, sizeof bytes);
  for (size_t i = 0; i < sizeof bytes; i++)
    snprintf (choice + 2 * i, 3, "%02x", bytes[i]);
  /* In nanoseconds, because a decimal point would depend on the locale. */
  snprintf (choice + 2 * sizeof bytes, 32, " %lld", (long long) (entry->microseconds * 1000));
  lig_matmul_words (matmuls, &entry->key, "product 2", words, sizeof words);
  choices->put (choices->data, words, (double) entry->microseconds, choice);
}

/* Returns the value of a hexadecimal digit; -1 for any other character. */
static int
digit (char c)
{
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Applies a stored choice if it is complete and the library confirms that it supports this
 * matmul. */
static bool
recall (const LigMatmuls *matmuls, LigMatmulEntry *entry)
{
  const LigChoices *choices = &matmuls->device->choices;
  cublasLtMatmulAlgo_t algorithm;
  unsigned char bytes[sizeof algorithm];
  char words[1024], choice[2 * sizeof bytes + 32] = "";
  lig_matmul_words (matmuls, &entry->key, "product 2", words, sizeof words);
  if (!choices->get || !choices->get (choices->data, words, choice, sizeof choice))
    return false;
  for (size_t i = 0; i < sizeof bytes; i++) {
    int high = digit (choice[2 * i]), low = high < 0 ? -1 : digit (choice[2 * i + 1]);
    if (low < 0)
      return false;
    bytes[i] = (unsigned char) (16 * high + low);
  }
  memcpy (&algorithm, bytes, sizeof bytes);
  if (!lig_candidate_serves (matmuls, entry, &algorithm))
    return false;
  entry->algorithm = algorithm;
  entry->microseconds = (float) strtoll (choice + 2 * sizeof bytes, NULL, 10) / 1000;
  return true;
}

/* Returns whether the launch's stream is being captured. */
static bool
is_capturing (const LigLaunch *launch)
{
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing (launch->stream, &status) != cudaSuccess ||
         status != cudaStreamCaptureStatusNone;
}

/* Returns whether a matmul is so small that any algorithm takes no longer than a launch. */
static bool
is_tiny (const LigMatmulKey *key)
{
  return key->k <= 256 && (double) key->m * (double) key->n * (double) key->k <= 1 << 20;
}

/* Returns whether a search is allowed: LIGATURE_SEARCH=none forbids it, for programs that run a
 * matmul only once, where a search costs more than it gains. */
static bool
may_search (const LigMatmulKey *key)
{
  const char *setting = getenv ("LIGATURE_SEARCH");
  return !is_tiny (key) && !(setting && strcmp (setting, "none") == 0);
}

/* Searches while no other process measures on the device. A previous process may have stored the
 * choice in the meantime. */
static bool
search (LigMatmuls *matmuls,
        LigMatmulEntry *entry,
        const cublasLtMatmulAlgo_t *proposals,
        int count,
        const LigLaunch *launch)
{
  LigChoices choices = matmuls->device->choices;
  if (choices.begin)
    choices.begin (choices.guard);
  bool found = recall (matmuls, entry);
  if (!found && race (matmuls, entry, proposals, count, launch)) {
    remember (matmuls, entry);
    found = true;
  }
  if (choices.end)
    choices.end (choices.guard);
  return found;
}

void
lig_algorithm_choose (LigMatmuls *matmuls, LigMatmulEntry *entry, const LigLaunch *launch)
{
  bool autotune = launch->autotune && !is_capturing (launch);
  lig_matmul_assume_alignment (entry);
  if (autotune && recall (matmuls, entry)) {
    entry->decided = entry->supported = entry->autotuned = true;
    return;
  }
  bool searched = autotune && may_search (&entry->key);
  cublasLtMatmulAlgo_t proposals[LIG_MAX_PROPOSED];
  int count = lig_candidates_propose (matmuls, entry, proposals, searched ? LIG_MAX_PROPOSED : 1);
  if (count > 0) {
    entry->algorithm = proposals[0];
    entry->decided = entry->supported = true;
    entry->autotuned = searched ? search (matmuls, entry, proposals, count, launch) : autotune;
  } else if (!is_capturing (launch)) {
    /* During a capture the heuristic may be unable to answer; then nothing is decided yet. */
    entry->decided = entry->autotuned = true;
  }
}
