/* SPDX-License-Identifier: MIT */
/* Runs of a graph at steady clocks. */
#include "kernels/cuda/common/steady.h"
#include "kernels/cuda/common/health.h"

#include <math.h>
#include <string.h>

/* The microseconds until the clocks are steady, and the microseconds of the timed runs after
 * that. */
#define WARMING 80e3f
#define TIMED 40e3f

/* Launches the graph repeatedly for that many microseconds; returns the number of launches, 0 after
 * a failure. */
static int
run_for (cudaStream_t stream, cudaGraphExec_t graph, float graph_time, float microseconds)
{
  int count = (int) ceilf (microseconds / fmaxf (graph_time, 1));
  for (int i = 0; i < count; i++)
    if (cudaGraphLaunch (graph, stream) != cudaSuccess)
      return 0;
  return count;
}

/* Returns whether the clocks are currently power-limited. */
static bool
is_limited (LigBackendDevice *device)
{
  LigBackendHealth health;
  lig_cuda_health (device, &health);
  return strstr (health.throttling, "power cap") != NULL;
}

float
lig_steady_time (LigBackendDevice *device,
                 void *stream,
                 void *graph,
                 int launches,
                 float microseconds,
                 bool *limited)
{
  cudaEvent_t begin = NULL, end = NULL;
  float milliseconds = -1, graph_time = (float) launches * microseconds;
  int count = 0;
  *limited = false;
  if (cudaEventCreate (&begin) == cudaSuccess && cudaEventCreate (&end) == cudaSuccess &&
      run_for (stream, graph, graph_time, WARMING) > 0 &&
      cudaEventRecord (begin, stream) == cudaSuccess)
    count = run_for (stream, graph, graph_time, TIMED);
  if (count > 0 && cudaEventRecord (end, stream) == cudaSuccess &&
      cudaEventSynchronize (begin) == cudaSuccess) {
    *limited = is_limited (device); /* while the device is busy */
    if (cudaEventSynchronize (end) != cudaSuccess ||
        cudaEventElapsedTime (&milliseconds, begin, end) != cudaSuccess)
      milliseconds = -1;
  }
  if (begin)
    cudaEventDestroy (begin);
  if (end)
    cudaEventDestroy (end);
  return milliseconds < 0 ? -1 : 1000 * milliseconds / (float) (count * launches);
}
