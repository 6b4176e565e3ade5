/* SPDX-License-Identifier: MIT */
/* The choice between cuDNN and the built-in kernels of attention: a stored choice if there is one;
 * else the faster of the two, provided that their results agree. */
#include "kernels/cuda/attention/choose.h"

#include "kernels/cuda/attention/race.h"
#include "kernels/times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
is_capturing (const LigLaunch *launch)
{
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing (launch->stream, &status) != cudaSuccess ||
         status != cudaStreamCaptureStatusNone;
}

/* Returns whether a search is allowed, as for matmuls. */
static bool
may_search (void)
{
  const char *setting = getenv ("LIGATURE_SEARCH");
  return !(setting && strcmp (setting, "none") == 0);
}

/* Writes the key of a stored choice. */
static void
write_key (const LigLaunch *launch, const LigAttentionEntry *entry, char *key, size_t size)
{
  const char *why;
  lig_cudnn_case_key (&entry->one, lig_cudnn_version (&why), launch->device->properties.name, key,
                      size);
}

/* Stores the decision: the winner, then the nanoseconds of both, or the reason why there are
 * none. */
static void
remember (const LigLaunch *launch, const LigAttentionEntry *entry, const LigAttentionRace *race)
{
  const LigChoices *choices = &launch->device->choices;
  char key[768], choice[512];
  float best = !race ? 0 : entry->wins ? race->cudnn : race->own;
  if (!choices->put)
    return;
  write_key (launch, entry, key, sizeof key);
  /* In nanoseconds, because a decimal point would depend on the locale. */
  if (race)
    snprintf (choice, sizeof choice, "%s: cuDNN %lld ns, own %lld ns",
              entry->wins ? "cuDNN" : "own", (long long) (race->cudnn * 1000),
              (long long) (race->own * 1000));
  else
    snprintf (choice, sizeof choice, "own: %s", entry->why);
  choices->put (choices->data, key, (double) best, choice);
}

/* Stores the reason why cuDNN was not considered, for reports. */
static void
remember_rejection (const LigLaunch *launch, bool backward, const char *why)
{
  const LigChoices *choices = &launch->device->choices;
  char words[256], key[768], choice[512];
  LigCudnnCase one;
  const char *ignored;
  if (!choices->put || !launch->params)
    return;
  lig_cudnn_case (&one, launch->operands, launch->params, backward, !launch->nondeterministic,
                  &ignored);
  lig_cudnn_case_words (&one, words, sizeof words);
  snprintf (key, sizeof key, "attention %s | %s | %s", words, why, launch->device->properties.name);
  snprintf (choice, sizeof choice, "own: %s", why);
  choices->put (choices->data, key, 0, choice);
}

/* Applies a stored choice; one for cuDNN is valid only if the plan can be built. */
static bool
recall (const LigLaunch *launch, LigAttentionEntry *entry)
{
  const LigChoices *choices = &launch->device->choices;
  char key[768], choice[512] = "";
  write_key (launch, entry, key, sizeof key);
  if (!choices->get || !choices->get (choices->data, key, choice, sizeof choice))
    return false;
  bool wins = strncmp (choice, "cuDNN:", strlen ("cuDNN:")) == 0;
  if (!wins && strncmp (choice, "own:", strlen ("own:")) != 0)
    return false;
  if (wins && !lig_attention_build (launch, entry))
    return false;
  entry->wins = wins;
  return true;
}

/* Reports that there is no memory to compare the two: the built-in kernel runs. */
static void
report_no_memory (const LigLaunch *launch, const LigAttentionEntry *entry)
{
  const LigChoices *choices = &launch->device->choices;
  char words[256], what[272];
  lig_cudnn_case_words (&entry->one, words, sizeof words);
  snprintf (what, sizeof what, "attention %s", words);
  if (choices->no_memory)
    choices->no_memory (choices->guard, what);
}

/* Decides by a comparison. */
static void
decide (const LigLaunch *launch, LigAttentionEntry *entry, LigKernelFunc own)
{
  LigAttentionRace race;
  if (!lig_attention_build (launch, entry)) {
    remember (launch, entry, NULL);
    return;
  }
  lig_attention_race (&race, launch, entry, own);
  lig_times_mark ("searching");
  if (race.no_memory) {
    report_no_memory (launch, entry);
    return;
  }
  if (race.agree && race.repeats && !race.failed) {
    entry->wins = race.cudnn < race.own;
    remember (launch, entry, &race);
    return;
  }
  if (race.failed)
    snprintf (entry->why, sizeof entry->why, "%s failed when both were timed", race.failed);
  else
    snprintf (entry->why, sizeof entry->why,
              race.agree ? "cuDNN computes other bits each time" : "cuDNN computes another result");
  remember (launch, entry, NULL);
}

/* Decides while no other process measures on the device. A previous process may have stored the
 * choice in the meantime. */
static void
search (const LigLaunch *launch, LigAttentionEntry *entry, LigKernelFunc own)
{
  LigChoices choices = launch->device->choices;
  entry->decided = true;
  if (recall (launch, entry) || !may_search ())
    return;
  if (choices.begin)
    choices.begin (choices.guard);
  if (!recall (launch, entry))
    decide (launch, entry, own);
  if (choices.end)
    choices.end (choices.guard);
}

LigStatus
lig_attention_choose (LigLaunch *launch, bool backward, LigKernelFunc own)
{
  const char *why = NULL;
  LigAttentionEntry *entry = lig_attention_entry (launch, backward, &why);
  bool autotunes = launch->autotune && !is_capturing (launch);
  if (entry && !entry->decided && autotunes)
    search (launch, entry, own);
  if (!entry && autotunes)
    remember_rejection (launch, backward, why);
  if (!entry || !entry->wins)
    return own (launch);
  LigStatus status =
    backward ? lig_cudnn_attention_backward (launch) : lig_cudnn_attention (launch);
  return status == LIG_UNSUPPORTED ? own (launch) : status;
}
