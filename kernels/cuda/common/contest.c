/* SPDX-License-Identifier: MIT */
/* Timed comparisons of two implementations: the number of launches per measurement, their graphs,
 * the medians. */
#include "kernels/cuda/common/contest.h"
#include "kernels/cuda/common/steady.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LAUNCHES = 20, ROUNDS = 5 };

/* The ratio of two times up to which their order may be different at steady clocks. */
#define NEAR 1.25f

typedef struct {
  LigContender launch;
  cudaGraphExec_t graph;
  float rounds[ROUNDS];
} Contender;

typedef struct {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  void *data;
  int launches;
  Contender both[2];
} Contest;

/* Returns the microseconds between the events; negative after a failure. */
static float
elapsed (const Contest *contest)
{
  float milliseconds = 0;
  bool good = cudaEventSynchronize (contest->end) == cudaSuccess &&
              cudaEventElapsedTime (&milliseconds, contest->begin, contest->end) == cudaSuccess;
  return good ? 1000 * milliseconds : -1;
}

/* Returns the number of launches for a reliable measurement of each, given the time of one
 * launch. */
static int
count_launches (const Contest *contest)
{
  cudaEventRecord (contest->begin, contest->stream);
  contest->both[1].launch (contest->data);
  cudaEventRecord (contest->end, contest->stream);
  float once = elapsed (contest);
  int launches = once > 0 ? (int) (2000 / once) : 1;
  return launches < 1 ? 1 : launches > MAX_LAUNCHES ? MAX_LAUNCHES : launches;
}

/* Captures several launches, because the host launches small kernels more slowly than the device
 * runs them. */
static bool
capture (const Contest *contest, Contender *contender)
{
  cudaGraph_t graph = NULL;
  bool good = true;
  if (cudaStreamBeginCapture (contest->stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess)
    return false;
  for (int i = 0; i < contest->launches && good; i++)
    good = contender->launch (contest->data);
  if (cudaStreamEndCapture (contest->stream, &graph) != cudaSuccess || !good || !graph ||
      cudaGraphInstantiate (&contender->graph, graph, 0) != cudaSuccess)
    contender->graph = NULL;
  if (graph)
    cudaGraphDestroy (graph);
  return contender->graph != NULL;
}

static int
compare_floats (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;
  return (x > y) - (x < y);
}

static bool
measure (Contest *contest)
{
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < 2; i++) {
      Contender *contender = &contest->both[(round + i) % 2];
      cudaEventRecord (contest->begin, contest->stream);
      bool good = cudaGraphLaunch (contender->graph, contest->stream) == cudaSuccess;
      cudaEventRecord (contest->end, contest->stream);
      float time = elapsed (contest);
      if (!good || time < 0)
        return false;
      contender->rounds[round] = time / (float) contest->launches;
    }
  return true;
}

/* Replaces the times by those at steady clocks if these may change the decision. */
static bool
steady_times (const Contest *contest, LigBackendDevice *device, float times[2])
{
  float steady[2];
  if (times[0] < LIG_STEADY_FROM || times[1] < LIG_STEADY_FROM || times[0] > NEAR * times[1] ||
      times[1] > NEAR * times[0])
    return true;
  for (int i = 0; i < 2; i++) {
    bool limited;
    steady[i] = lig_steady_time (device, contest->stream, contest->both[i].graph, contest->launches,
                                 times[i], &limited);
    if (steady[i] < 0 || !limited)
      return steady[i] >= 0;
  }
  memcpy (times, steady, sizeof steady);
  return true;
}

bool
lig_contest (LigBackendDevice *device,
             void *stream,
             LigContender first,
             LigContender second,
             void *data,
             float times[2])
{
  Contest contest;
  memset (&contest, 0, sizeof contest);
  contest.stream = stream;
  contest.data = data;
  contest.both[0].launch = first;
  contest.both[1].launch = second;
  bool good = cudaEventCreate (&contest.begin) == cudaSuccess &&
              cudaEventCreate (&contest.end) == cudaSuccess;
  if (good) {
    contest.launches = count_launches (&contest);
    good = capture (&contest, &contest.both[0]) && capture (&contest, &contest.both[1]) &&
           measure (&contest);
  }
  for (int i = 0; i < 2; i++) {
    Contender *contender = &contest.both[i];
    qsort (contender->rounds, ROUNDS, sizeof *contender->rounds, compare_floats);
    times[i] = contender->rounds[ROUNDS / 2];
  }
  good = good && steady_times (&contest, device, times);
  for (int i = 0; i < 2; i++)
    if (contest.both[i].graph)
      cudaGraphExecDestroy (contest.both[i].graph);
  if (contest.begin)
    cudaEventDestroy (contest.begin);
  if (contest.end)
    cudaEventDestroy (contest.end);
  cudaGetLastError ();
  return good;
}
