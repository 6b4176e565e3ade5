/* SPDX-License-Identifier: MIT */
/* Launches: the operands of a kernel, the other arguments of a launch, the peers of a collective,
 * and the result. Plain C without GLib. <ligature/kernels.h> has the rules that kernels follow. */
#pragma once

#include <ligature/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * LigStatus:
 * @LIG_OK: the kernel ran, or was launched
 * @LIG_FAILED: the kernel or a library that it calls failed; LigLaunch.where has the reason
 * @LIG_OUT_OF_MEMORY: the device has too little memory
 * @LIG_UNSUPPORTED: the kernel does not support a type or a size
 * @LIG_DEVICE_LOST: this process cannot run anything on this device anymore
 *
 * The result of a launch or of a backend call.
 */
typedef enum { LIG_OK, LIG_FAILED, LIG_OUT_OF_MEMORY, LIG_UNSUPPORTED, LIG_DEVICE_LOST } LigStatus;

/**
 * LigBackendKind:
 * @LIG_BACKEND_CPU: the CPU
 * @LIG_BACKEND_CUDA: NVIDIA GPUs
 * @LIG_BACKEND_NULL: devices that are only described; kernels do nothing
 * @LIG_N_BACKENDS: the number of backends
 *
 * A backend, as the index of LigKernel.functions.
 */
typedef enum { LIG_BACKEND_CPU, LIG_BACKEND_CUDA, LIG_BACKEND_NULL, LIG_N_BACKENDS } LigBackendKind;

/**
 * LIG_WORKSPACE_SIZE:
 *
 * The bytes of workspace of every launch, 256-byte aligned, with undefined content before and after
 * it. A kernel that needs more splits its work by a rule that depends only on this size and its
 * operands, never on the number of threads, so that results do not depend on that number either.
 */
#define LIG_WORKSPACE_SIZE ((size_t) 32 << 20)

/**
 * LIG_MAX_OPERANDS:
 *
 * The largest number of operands of a kernel.
 */
#define LIG_MAX_OPERANDS 20

/**
 * LIG_MOST_PARAMS:
 *
 * The largest size of a kernel's parameters in bytes.
 */
#define LIG_MAX_PARAMS 96

/**
 * LigOperand:
 * @data: the first element, aligned for its type, in the memory of the backend's device; null if
 *   the operand is absent
 * @size: the total number of elements
 * @columns: the length of the last axis, 1 for a scalar; the number of rows is @size / @columns
 * @dtype: the type of the elements
 *
 * A tensor that a kernel reads or writes, contiguous and row-major. The plan owns the memory.
 */
typedef struct LigOperand {
  void *data;
  int64_t size;
  int64_t columns;
  LigDtype dtype;
} LigOperand;

/**
 * LigTick:
 * @seed: the seed of the run, which is the Philox key
 * @micro_step: the number of earlier forward passes in the run
 * @step: the number of this optimizer step, from 1
 * @learning_rate: the learning rate of this step
 * @clip_norm: the global norm to which larger gradients are scaled down; 0 never scales them
 *
 * The values that change from step to step. They are in device memory, so that a captured graph
 * reads the current ones.
 */
typedef struct {
  uint64_t seed;
  uint64_t micro_step;
  uint64_t step;
  float learning_rate;
  float clip_norm;
} LigTick;

/**
 * LigBackendDevice:
 *
 * An opened device; each backend defines its own.
 */
typedef struct LigBackendDevice LigBackendDevice;

/**
 * LigLane:
 * @LIG_LANE_MAIN: the steps of a plan, one after another
 * @LIG_LANE_SIDE: steps too small for the whole device, in parallel with those after them
 * @LIG_LANE_COMMUNICATION: collectives, overlapping with the steps after them
 * @LIG_LANE_COPY: copies of the next batch from host memory, overlapping with all steps
 * @LIG_N_LANES: the number of lanes
 *
 * A queue of launches on a device. Each has its own stream and, except for copies, its own
 * workspace.
 */
typedef enum {
  LIG_LANE_MAIN,
  LIG_LANE_SIDE,
  LIG_LANE_COMMUNICATION,
  LIG_LANE_COPY,
  LIG_N_LANES
} LigLane;

/**
 * LIG_MAX_PEERS:
 *
 * The largest number of processes that take part in a collective kernel.
 */
#define LIG_MAX_PEERS 1024

/**
 * LigPeers: (skip)
 * @rank: the index of this process among its peers, from 0
 * @count: the number of peers, including this process
 * @handle: an ncclComm_t on CUDA; on the CPU the first argument of the functions
 * @collective: null on CUDA; all-to-all: sends the bytes from `bounds[i]` to `bounds[i + 1]` of
 *   `from` to peer i, and receives the piece that each peer sends to this one, in the order of the
 *   peers, in `to`, which has room for @count pieces of the length of this peer's own piece
 * @gather: null on CUDA; all-gather: peer i provides the bytes from `bounds[i]` to `bounds[i + 1]`
 *   of `data`, and receives the others
 * @shift: null on CUDA; sends the given number of bytes of `from` to peer (@rank + distance) mod
 *   @count, and receives as many from peer (@rank - distance) mod @count in `to`; `distance` is
 *   less than @count. Its messages are separate from those of the other functions, so that another
 *   thread may call it concurrently
 *
 * The processes that take part in a collective kernel. `bounds` has @count + 1 offsets, the same on
 * all peers. The functions return when all peers whose data they need have called them, and set
 * `where` if they fail.
 */
typedef struct LigPeers {
  int rank, count;
  void *handle;
  LigStatus (*collective) (const struct LigPeers *peers,
                           const void *from,
                           const int64_t *bounds,
                           void *to,
                           const char **where);
  LigStatus (*gather) (const struct LigPeers *peers,
                       void *data,
                       const int64_t *bounds,
                       const char **where);
  LigStatus (*shift) (const struct LigPeers *peers,
                      int distance,
                      const void *from,
                      void *to,
                      int64_t bytes,
                      const char **where);
} LigPeers;

/**
 * LigLaunch:
 * @operands: the operands in the order of the kernel's signature
 * @params: the kernel's parameter struct, for a built-in kernel one of params.h; null for its
 *   defaults
 * @tick: the values of this step, in device memory
 * @workspace: %LIG_WORKSPACE_SIZE bytes of device memory
 * @scratch: as many bytes as LigKernel.scratch requested, 256-byte aligned, with undefined content;
 *   null if it requested none
 * @stream: the backend's stream, a cudaStream_t on CUDA; null on the CPU
 * @device: the device on which the launch runs; null on the CPU
 * @peers: the processes that take part in a collective kernel; null if there is only one process
 * @part: the index of this process's rows among the rows of all processes, of which each has
 *   equally many; kernels generate random numbers by the global index of an element
 * @accumulate: whether gradients of parameters are added to the old values instead of replacing
 *   them
 * @tf32: whether fp32 matmuls may round their operands to 10 bits of mantissa
 * @nondeterministic: whether the order of summation may differ from launch to launch where that is
 *   faster
 * @autotune: whether this launch is not being captured and may time algorithms to choose one
 * @where: set by a kernel that fails: `file:line: reason`, a string that stays valid
 *
 * The arguments of a kernel. The caller owns all memory; the kernel writes only @where.
 */
typedef struct {
  const LigOperand *operands;
  const void *params;
  const LigTick *tick;
  void *workspace;
  void *scratch;
  void *stream;
  LigBackendDevice *device;
  const LigPeers *peers;
  int32_t part;
#ifdef __GI_SCANNER__ /* bool is stored in four bytes here */
  unsigned char accumulate, tf32, nondeterministic, autotune;
#else
  bool accumulate;
  bool tf32;
  bool nondeterministic;
  bool autotune;
#endif
  const char *where;
} LigLaunch;

/**
 * LigKernelFunc: (skip)
 * @launch: the operands and parameters
 *
 * A kernel's function for one backend. On CUDA it enqueues its work in the launch's stream and
 * returns without waiting; on the CPU the work is done when it returns.
 *
 * Returns: LIG_OK, or the reason why nothing was computed
 */
typedef LigStatus (*LigKernelFunc) (LigLaunch *launch);

#ifdef __cplusplus
}
#endif
