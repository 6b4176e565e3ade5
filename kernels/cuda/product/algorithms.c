/* SPDX-License-Identifier: MIT */
/* Which algorithm a product takes: what was stored for it; else the fastest of those that the
 * heuristic proposes and of their variations, timed on random data of its own; else the heuristic's
 * first. */
#include "kernels/cuda/product/candidates.h"
#include "kernels/times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_PROPOSED = 4 };

/* Seconds that the device may be kept busy with the proposals, and how long that may take with all
 * that the library loads meanwhile; then, when variations have to end. */
#define BUDGET 0.3
#define PATIENCE 3.0
#define PATIENCE_WITH_VARIATIONS 1.4

/* Times the proposals, until the time is up: the heuristic put the best first. */
static void
run_proposals (LigTrial *trial, const cublasLtMatmulAlgo_t *proposals, int count)
{
  double started = lig_trial_clock ();
  for (int i = 0; i < count; i++) {
    if (i >= LEAST_PROPOSED && (trial->busy > BUDGET || lig_trial_clock () - started > PATIENCE))
      break;
    lig_trial_run (trial, &proposals[i]);
  }
  if (lig_candidates_can_widen (trial) && lig_trial_expect (trial))
    lig_candidates_widen (trial, started + PATIENCE_WITH_VARIATIONS);
}

/* Once for each product: it takes what the heuristic put first, or none of its variations. */
static void
tell_no_memory (const LigProducts *products, LigProductEntry *entry)
{
  const LigChoices *choices = &products->device->choices;
  char what[96];
  snprintf (what, sizeof what, "%lld x %lld x %lld", (long long) entry->key.n,
            (long long) entry->key.k, (long long) entry->key.m);
  if (choices->no_memory && !entry->starved)
    choices->no_memory (choices->guard, what);
  entry->starved = true;
}

/* True if the entry's algorithm is now the fastest. Nothing of the launch is touched. */
static bool
race (LigProducts *products,
      LigProductEntry *entry,
      const cublasLtMatmulAlgo_t *proposals,
      int count,
      const LigLaunch *launch)
{
  const LigTrialAlgorithm *best = NULL;
  LigTrial trial;
  memset (&trial, 0, sizeof trial);
  cudaStreamSynchronize (launch->stream);
  if (lig_trial_open (&trial, products, entry)) {
    run_proposals (&trial, proposals, count);
    best = lig_trial_decide (&trial);
  }
  if (best) {
    entry->algorithm = best->algorithm;
    entry->microseconds = best->microseconds;
  }
  if (trial.no_memory)
    tell_no_memory (products, entry);
  lig_trial_close (&trial);
  lig_times_mark ("searching");
  return best != NULL;
}

/* A stored choice: the algorithm's bytes in hexadecimal, then its microseconds. */
static void
remember (const LigProducts *products, const LigProductEntry *entry)
{
  const LigChoices *choices = &products->device->choices;
  unsigned char bytes[sizeof entry->algorithm];
  char words[1024], choice[2 * sizeof bytes + 32];
  if (!choices->put)
    return;
  memcpy (bytes, &entry->algorithm, sizeof bytes);
  for (size_t i = 0; i < sizeof bytes; i++)
    snprintf (choice + 2 * i, 3, "%02x", bytes[i]);
  /* In nanoseconds, because a decimal point depends on the locale. */
  snprintf (choice + 2 * sizeof bytes, 32, " %lld", (long long) (entry->microseconds * 1000));
  lig_product_words (products, &entry->key, "product", words, sizeof words);
  choices->put (choices->data, words, (double) entry->microseconds, choice);
}

static int
digit (char c)
{
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes a stored choice if it is whole and the library finds that it serves this product. */
static bool
recall (const LigProducts *products, LigProductEntry *entry)
{
  const LigChoices *choices = &products->device->choices;
  cublasLtMatmulAlgo_t algorithm;
  unsigned char bytes[sizeof algorithm];
  char words[1024], choice[2 * sizeof bytes + 32] = "";
  lig_product_words (products, &entry->key, "product", words, sizeof words);
  if (!choices->get || !choices->get (choices->data, words, choice, sizeof choice))
    return false;
  for (size_t i = 0; i < sizeof bytes; i++) {
    int high = digit (choice[2 * i]), low = high < 0 ? -1 : digit (choice[2 * i + 1]);
    if (low < 0)
      return false;
    bytes[i] = (unsigned char) (16 * high + low);
  }
  memcpy (&algorithm, bytes, sizeof bytes);
  if (!lig_candidate_serves (products, entry, &algorithm))
    return false;
  entry->algorithm = algorithm;
  entry->microseconds = (float) strtoll (choice + 2 * sizeof bytes, NULL, 10) / 1000;
  return true;
}

static bool
is_capturing (const LigLaunch *launch)
{
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing (launch->stream, &status) != cudaSuccess ||
         status != cudaStreamCaptureStatusNone;
}

/* Products that take what a launch takes, whatever computes them. */
static bool
is_tiny (const LigProductKey *key)
{
  return key->k <= 256 && (double) key->m * (double) key->n * (double) key->k <= 1 << 20;
}

/* LIGATURE_SEARCH=none: for programs that run a product once, where a search costs more than it can
 * win. */
static bool
may_search (const LigProductKey *key)
{
  const char *wanted = getenv ("LIGATURE_SEARCH");
  return !is_tiny (key) && !(wanted && strcmp (wanted, "none") == 0);
}

/* While nobody else measures on the device: who did before may have found the algorithm. */
static bool
search (LigProducts *products,
        LigProductEntry *entry,
        const cublasLtMatmulAlgo_t *proposals,
        int count,
        const LigLaunch *launch)
{
  LigChoices choices = products->device->choices;
  if (choices.begin)
    choices.begin (choices.guard);
  bool found = recall (products, entry);
  if (!found && race (products, entry, proposals, count, launch)) {
    remember (products, entry);
    found = true;
  }
  if (choices.end)
    choices.end (choices.guard);
  return found;
}

void
lig_algorithm_choose (LigProducts *products, LigProductEntry *entry, const LigLaunch *launch)
{
  bool rehearse = launch->rehearse && !is_capturing (launch);
  lig_product_pretend (entry);
  if (rehearse && recall (products, entry)) {
    entry->decided = entry->supported = entry->rehearsed = true;
    return;
  }
  bool searched = rehearse && may_search (&entry->key);
  cublasLtMatmulAlgo_t proposals[LIG_MOST_PROPOSED];
  int count = lig_candidates_propose (products, entry, proposals, searched ? LIG_MOST_PROPOSED : 1);
  if (count > 0) {
    entry->algorithm = proposals[0];
    entry->decided = entry->supported = true;
    entry->rehearsed = searched ? search (products, entry, proposals, count, launch) : rehearse;
  } else if (!is_capturing (launch)) {
    /* The heuristic may not answer during a capture; then nothing is known yet. */
    entry->decided = entry->rehearsed = true;
  }
}
