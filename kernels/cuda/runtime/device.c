/* SPDX-License-Identifier: MIT */
/* The CUDA backend: devices, memory, streams and events, in a table of functions, which is the
 * module's only exported symbol. A function that depends on the current device first sets it,
 * because several devices may be open. */
#include "kernels/cuda/runtime/device.h"

#include "kernels/cuda/attention/cudnn.h"
#include "kernels/cuda/common/health.h"
#include "kernels/cuda/connect/nccl.h"
#include "kernels/cuda/matmul/matmul.h"
#include "kernels/cuda/runtime/table.h"
#include "kernels/times.h"

#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Explains errors that the user can fix. */
static void
explain (cudaError_t error, char *why, size_t size)
{
  int driver = 0, runtime = CUDART_VERSION;
  cudaDriverGetVersion (&driver);
  if (error == cudaErrorInsufficientDriver && driver == 0)
    snprintf (why, size, "no NVIDIA driver is loaded; install or load it");
  else if (error == cudaErrorInsufficientDriver)
    snprintf (why, size,
              "the driver supports CUDA %d.%d, this build needs %d.%d; update the driver",
              driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  else if (error == cudaErrorNoDevice)
    snprintf (why, size, "the driver finds no GPU");
  else
    snprintf (why, size, "%s (%s)", cudaGetErrorString (error), cudaGetErrorName (error));
}

/* Returns the number of GPUs; negative, with the reason in `why`, if there are none. */
static int
count (char *why, size_t size)
{
  int devices = 0;
  cudaError_t error = cudaGetDeviceCount (&devices);
  lig_times_mark ("driver");
  if (error == cudaSuccess && devices > 0)
    return devices;
  explain (error == cudaSuccess ? cudaErrorNoDevice : error, why, size);
  cudaGetLastError ();
  return -1;
}

/* Frees a device, its matmuls and its attention; null is allowed. */
static void
close_device (LigBackendDevice *device)
{
  if (!device)
    return;
  cudaSetDevice (device->number);
  if (device->matmuls)
    lig_matmuls_free (device->matmuls);
  lig_attention_free (device->attention);
  free (device);
}

/* Returns whether the module has code for the device: a build for one architecture has no code for
 * others, and each launch would fail. */
static bool
can_run (LigBackendDevice *device, char *why, size_t size)
{
  if (device->capability < 80) {
    snprintf (why, size, "compute capability is sm_%d; the kernels need sm_80 or newer",
              device->capability);
    return false;
  }
  cudaError_t error = lig_cuda_probe ();
  lig_times_mark ("kernels");
  if (error == cudaSuccess)
    return true;
  cudaGetLastError ();
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction ||
      error == cudaErrorUnsupportedPtxVersion)
    snprintf (why, size,
              "compute capability is sm_%d, the module was built for %s; build with "
              "-Dcuda-architectures=all",
              device->capability, LIG_CUDA_TARGETS);
  else
    snprintf (why, size, "the kernels, built for %s, do not load: %s (%s)", LIG_CUDA_TARGETS,
              cudaGetErrorString (error), cudaGetErrorName (error));
  return false;
}

/* Returns the memory bandwidth in bytes per SM and SM clock, where memory transfers twice per
 * memory clock; 0 if the driver does not know the clocks. The query takes 0.7 ms. */
static double
find_bytes_of_clock (const LigBackendDevice *device)
{
  int clock = 0, memory_clock = 0; /* kHz */
  cudaError_t error = cudaDeviceGetAttribute (&clock, cudaDevAttrClockRate, device->number);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute (&memory_clock, cudaDevAttrMemoryClockRate, device->number);
  if (error != cudaSuccess)
    cudaGetLastError (); /* Otherwise the next launch would report it. */
  if (error != cudaSuccess || clock <= 0)
    return 0;
  return 2.0 * memory_clock * device->properties.memoryBusWidth / 8 / clock /
         device->multiprocessors;
}

/* Initializes the device, which takes most of a program's startup time. */
static cudaError_t
start (LigBackendDevice *device)
{
  cudaError_t error = cudaSetDevice (device->number);
  if (error == cudaSuccess)
    error = cudaFree (NULL);
  lig_times_mark ("context");
  if (error == cudaSuccess)
    error = cudaGetDeviceProperties (&device->properties, device->number);
  device->multiprocessors = device->properties.multiProcessorCount;
  device->capability = 10 * device->properties.major + device->properties.minor;
  if (error == cudaSuccess)
    device->bytes_of_clock = find_bytes_of_clock (device);
  return error;
}

static LigStatus
open_device (int number, LigBackendDevice **opened, char *why, size_t size)
{
  int devices = count (why, size);
  *opened = NULL;
  if (devices < 0)
    return LIG_FAILED;
  if (number < 0 || number >= devices) {
    snprintf (why, size,
              devices == 1 ? "there is %d GPU, number 0" : "there are %d GPUs, numbered from 0",
              devices);
    return LIG_FAILED;
  }
  LigBackendDevice *device = calloc (1, sizeof *device);
  if (!device)
    return LIG_OUT_OF_MEMORY;
  device->number = number;
  cudaError_t error = start (device);
  if (error != cudaSuccess) {
    explain (error, why, size);
    cudaGetLastError ();
  } else if (can_run (device, why, size)) {
    device->matmuls = lig_matmuls_new (device, why, size);
  }
  if (device->matmuls) {
    *opened = device;
    return LIG_OK;
  }
  close_device (device);
  return LIG_FAILED;
}

static void
enter (LigBackendDevice *device)
{
  cudaSetDevice (device->number);
}

static const char *
message (LigBackendDevice *device)
{
  return device->message;
}

/* Writes the device's UUID in the format of the driver's own tools. */
static void
write_id (const cudaUUID_t *uuid, char *text, size_t size)
{
  int at = snprintf (text, size, "GPU");
  for (int i = 0; i < 16; i++)
    at += snprintf (text + at, size - (size_t) at, "%s%02x",
                    i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                    (unsigned char) uuid->bytes[i]);
}

static void
describe (LigBackendDevice *device, LigBackendFacts *facts)
{
  const struct cudaDeviceProp *properties = &device->properties;
  int driver = 0;
  size_t cublas = cublasLtGetVersion ();
  const char *why;
  memset (facts, 0, sizeof *facts);
  cudaDriverGetVersion (&driver);
  snprintf (facts->name, sizeof facts->name, "%.63s", properties->name);
  facts->capability = device->capability;
  facts->multiprocessors = device->multiprocessors;
  facts->memory = (int64_t) properties->totalGlobalMem;
  facts->l2 = properties->l2CacheSize;
  write_id (&properties->uuid, facts->id, sizeof facts->id);
  snprintf (facts->driver, sizeof facts->driver, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
  snprintf (facts->libraries, sizeof facts->libraries,
            "ligature " LIG_VERSION ", CUDA %d.%d, cuBLASLt %zu.%zu.%zu, ", CUDART_VERSION / 1000,
            CUDART_VERSION % 1000 / 10, cublas / 10000, cublas % 10000 / 100, cublas % 100);
  size_t length = strlen (facts->libraries), cudnn = lig_cudnn_version (&why);
  if (cudnn)
    snprintf (facts->libraries + length, sizeof facts->libraries - length, "cuDNN %zu.%zu.%zu",
              cudnn / 10000, cudnn % 10000 / 100, cudnn % 100);
  else
    snprintf (facts->libraries + length, sizeof facts->libraries - length, "no cuDNN");
}

static void
keep_choices (LigBackendDevice *device, const LigChoices *choices)
{
  device->choices = choices ? *choices : (LigChoices){0};
}

static LigStatus
free_memory (LigBackendDevice *device, size_t *unused, size_t *total)
{
  cudaSetDevice (device->number);
  return lig_cuda_status (device, cudaMemGetInfo (unused, total), "asking for free memory");
}

static LigStatus
allocate (LigBackendDevice *device, size_t bytes, void **memory)
{
  *memory = NULL;
  cudaSetDevice (device->number);
  return lig_cuda_status (device, cudaMalloc (memory, bytes < 256 ? 256 : bytes), "allocating");
}

static void
release (LigBackendDevice *device, void *memory)
{
  cudaSetDevice (device->number);
  cudaFree (memory);
}

static LigStatus
allocate_host (LigBackendDevice *device, size_t bytes, void **memory)
{
  *memory = NULL;
  cudaSetDevice (device->number);
  return lig_cuda_status (device, cudaMallocHost (memory, bytes < 256 ? 256 : bytes),
                          "allocating host memory");
}

static void
release_host (LigBackendDevice *device, void *memory)
{
  (void) device;
  cudaFreeHost (memory);
}

static LigStatus
stream_new (LigBackendDevice *device, void **stream)
{
  *stream = NULL;
  cudaSetDevice (device->number);
  return lig_cuda_status (
    device, cudaStreamCreateWithFlags ((cudaStream_t *) stream, cudaStreamNonBlocking),
    "creating a stream");
}

static void
stream_free (LigBackendDevice *device, void *stream)
{
  (void) device;
  cudaStreamDestroy (stream);
}

static LigStatus
wait_stream (LigBackendDevice *device, void *stream)
{
  return lig_cuda_status (device, cudaStreamSynchronize (stream), "running");
}

static LigStatus
copy (LigBackendDevice *device, void *target, const void *source, size_t bytes, void *stream)
{
  return lig_cuda_status (
    device, cudaMemcpyAsync (target, source, bytes, cudaMemcpyDefault, stream), "copying");
}

static LigStatus
fill (LigBackendDevice *device, void *target, int byte, size_t bytes, void *stream)
{
  return lig_cuda_status (device, cudaMemsetAsync (target, byte, bytes, stream), "filling");
}

static LigStatus
event_new (LigBackendDevice *device, void **event)
{
  *event = NULL;
  cudaSetDevice (device->number);
  return lig_cuda_status (device, cudaEventCreate ((cudaEvent_t *) event), "creating an event");
}

static void
event_free (LigBackendDevice *device, void *event)
{
  (void) device;
  if (event)
    cudaEventDestroy (event);
}

static LigStatus
record (LigBackendDevice *device, void *event, void *stream)
{
  return lig_cuda_status (device, cudaEventRecord (event, stream), "recording an event");
}

static LigStatus
await_event (LigBackendDevice *device, void *stream, void *event)
{
  return lig_cuda_status (device, cudaStreamWaitEvent (stream, event, 0), "awaiting an event");
}

static LigStatus
wait_event (LigBackendDevice *device, void *event)
{
  return lig_cuda_status (device, cudaEventSynchronize (event), "running");
}

static LigStatus
elapsed (LigBackendDevice *device, void *begin, void *end, double *seconds)
{
  float milliseconds = 0;
  cudaError_t error = cudaEventElapsedTime (&milliseconds, begin, end);
  *seconds = (double) milliseconds * 1e-3;
  return lig_cuda_status (device, error, "timing");
}

LIG_API const LigBackend *lig_backend (void);

const LigBackend *
lig_backend (void)
{
  static const LigBackend backend = {
    .version = LIG_BACKEND_VERSION,
    .n_functions = LIG_N_CUDA_FUNCTIONS,
    .functions = lig_cuda_functions,
    .built_for = LIG_CUDA_TARGETS,
    .count = count,
    .library = lig_cuda_library,
    .open = open_device,
    .close = close_device,
    .enter = enter,
    .message = message,
    .describe = describe,
    .health = lig_cuda_health,
    .keep_choices = keep_choices,
    .allocate = allocate,
    .release = release,
    .allocate_host = allocate_host,
    .release_host = release_host,
    .free_memory = free_memory,
    .stream_new = stream_new,
    .stream_free = stream_free,
    .wait = wait_stream,
    .copy = copy,
    .fill = fill,
    .put = lig_cuda_put,
    .event_new = event_new,
    .event_free = event_free,
    .record = record,
    .await = await_event,
    .wait_event = wait_event,
    .elapsed = elapsed,
    .start = lig_cuda_start,
    .stop = lig_cuda_stop,
    .capture = lig_cuda_capture,
    .capture_end = lig_cuda_capture_end,
    .replay = lig_cuda_replay,
    .graph_free = lig_cuda_graph_free,
    .connection_key = lig_cuda_connection_key,
    .connect = lig_cuda_connect,
    .disconnect = lig_cuda_disconnect,
    .connection_state = lig_cuda_connection_state,
  };
  return &backend;
}
