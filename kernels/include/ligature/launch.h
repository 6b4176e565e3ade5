/* SPDX-License-Identifier: MIT */
/* Launches: the operands of a kernel, the other arguments of one launch, the processes with which
 * it exchanges, and its result. Plain C without GLib. <ligature/kernels.h> has the rules that
 * kernels follow. */
#pragma once

#include <ligature/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * LigStatus:
 * @LIG_OK: the kernel ran, or was launched
 * @LIG_FAILED: the kernel or a library that it calls rejected; LigLaunch.where has the reason
 * @LIG_OUT_OF_MEMORY: the device has too little memory
 * @LIG_UNSUPPORTED: the kernel has no code for a type or a size
 * @LIG_DEVICE_LOST: nothing more can run on this device in this process
 *
 * The result of a launch, or of a call of a backend.
 */
typedef enum { LIG_OK, LIG_FAILED, LIG_OUT_OF_MEMORY, LIG_UNSUPPORTED, LIG_DEVICE_LOST } LigStatus;

/**
 * LigBackendKind:
 * @LIG_BACKEND_CPU: the CPU
 * @LIG_BACKEND_CUDA: NVIDIA GPUs
 * @LIG_BACKEND_NULL: described devices, on which every kernel does nothing
 * @LIG_N_BACKENDS: the number of backends
 *
 * A backend, as the index of LigKernel.functions.
 */
typedef enum { LIG_BACKEND_CPU, LIG_BACKEND_CUDA, LIG_BACKEND_NULL, LIG_N_BACKENDS } LigBackendKind;

/**
 * LIG_WORKSPACE_SIZE:
 *
 * The bytes of scratch memory of every launch, 256-byte aligned, whose content is undefined before
 * and after it. A kernel that needs more divides its work, by a rule that depends on this size and
 * its operands alone and never on the number of threads, so that results do not depend on it
 * either.
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
 * The largest number of bytes of a kernel's parameters.
 */
#define LIG_MAX_PARAMS 96

/**
 * LigOperand:
 * @data: the first element, aligned for its type, in the memory of the backend's device; null if
 *   the operand is absent
 * @size: the number of all elements
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
 * @micro_step: the number of forward passes of the run before this one
 * @step: the number of this optimizer step, from 1
 * @learning_rate: the learning rate of this step
 * @clip_norm: the global norm to which larger gradients are scaled down; 0 never scales them
 *
 * The numbers that change from step to step. They are kept in the device's memory, so that a
 * captured graph of launches reads the present ones.
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
 * @LIG_LANE_MAIN: the steps of a plan one after another
 * @LIG_LANE_SIDE: steps too small for the whole device, in parallel with those after them
 * @LIG_LANE_COMMUNICATION: exchanges with other processes, in parallel with the steps after them
 * @LIG_LANE_COPY: copies of the next batch from the host's memory, in parallel with all steps
 * @LIG_N_LANES: the number of lanes
 *
 * A queue of launches on a device. Each has a stream of its own and, but for copies, a workspace.
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
 * @rank: the number of this process among its peers, from 0
 * @count: the number of peers, this process among them
 * @handle: an ncclComm_t on CUDA; on the CPU the data of the functions
 * @collective: null on CUDA; sends the bytes from `bounds[i]` to `bounds[i + 1]` of `from` to peer
 * i, and receives what each peer sends to this one, in the order of the peers, in `to`, which has
 *   room for @count pieces as long as this peer's own
 * @gather: null on CUDA; of `data`, peer i has the bytes from `bounds[i]` to `bounds[i + 1]`, and
 *   receives the others
 * @shift: null on CUDA; sends so many bytes of `from` to peer (@rank + distance) mod @count, and
 *   receives as many of peer (@rank - distance) mod @count in `to`; `distance` is less than @count.
 * Its messages do not meet those of the other functions, so that it may be called by another thread
 * at the same time
 *
 * The processes that take part in a collective kernel. `bounds` has @count + 1 offsets, the same on
 * all peers. The functions end when all peers whose data they need have called them, and set
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
 * @params: the kernel's own struct, one of params.h for a built-in kernel; null for its defaults
 * @tick: the numbers of this step, in the device's memory
 * @workspace: %LIG_WORKSPACE_SIZE bytes of the device's memory
 * @scratch: as many bytes as LigKernel.scratch asked for, 256-byte aligned, with undefined content;
 *   null if it asked for none
 * @stream: the backend's stream, a cudaStream_t on CUDA; null on the CPU
 * @device: the device that the launch runs on; null on the CPU
 * @peers: the processes with which a collective kernel exchanges; null if the process is alone
 * @part: the number of the operands' rows among the rows of all processes, of which each has as
 *   many; kernels draw by the number of an element among those of all
 * @accumulate: whether gradients of parameters are added to the old values instead of replacing
 *   them
 * @tf32: whether fp32 matmuls may round their operands to 10 bits of mantissa
 * @nondeterministic: whether sums may be added up in an order that differs from launch to launch,
 *   where that is faster
 * @autotune: whether this launch is outside of a capture and may measure, to choose among
 *   algorithms
 * @where: set by a kernel that fails: `file:line: reason`, a string that stays valid
 *
 * The arguments of a kernel. The caller owns all memory; the kernel writes @where alone.
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
#ifdef __GI_SCANNER__ /* it takes bool for a type of four bytes */
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
 * A kernel's function for one backend. On CUDA it enqueues its work on the launch's stream and
 * returns without waiting; on the CPU the work is done when it returns.
 *
 * Returns: LIG_OK, or the reason why nothing was computed
 */
typedef LigStatus (*LigKernelFunc) (LigLaunch *launch);

#ifdef __cplusplus
}
#endif
