/* SPDX-License-Identifier: MIT */
/* CUDA graphs: captured launches, instantiated and uploaded, to be replayed many times. */
#include "kernels/cuda/runtime/device.h"

LigStatus
lig_cuda_capture (LigBackendDevice *device, void *stream)
{
  return lig_cuda_status (device, cudaStreamBeginCapture (stream, cudaStreamCaptureModeThreadLocal),
                          "beginning to capture");
}

LigStatus
lig_cuda_capture_end (LigBackendDevice *device, void *stream, void **graph)
{
  cudaGraph_t captured = NULL;
  cudaGraphExec_t instance = NULL;
  *graph = NULL;
  cudaError_t error = cudaStreamEndCapture (stream, &captured);
  if (error == cudaSuccess)
    error = cudaGraphInstantiate (&instance, captured, 0);
  if (captured)
    cudaGraphDestroy (captured);
  if (error == cudaSuccess)
    error = cudaGraphUpload (instance, stream);
  if (error != cudaSuccess && instance) {
    cudaGraphExecDestroy (instance);
    instance = NULL;
  }
  *graph = instance;
  return lig_cuda_status (device, error, "capturing the steps");
}

LigStatus
lig_cuda_replay (LigBackendDevice *device, void *graph, void *stream)
{
  cudaError_t error = cudaGraphLaunch (graph, stream);
  return error == cudaSuccess ? LIG_OK : lig_cuda_status (device, error, "launching the steps");
}

void
lig_cuda_graph_free (LigBackendDevice *device, void *graph)
{
  (void) device;
  if (graph)
    cudaGraphExecDestroy (graph);
}
