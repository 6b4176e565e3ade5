/* SPDX-License-Identifier: MIT */
/* Kernels: their operands, their launches, and the table of the built-in ones. Plain C without
 * GLib. A program that has kernels of its own fills in a #LigKernel and a #LigKernelFunc for each
 * backend that it serves.
 *
 * A kernel computes on operands that the plan laid out beforehand. It never allocates, never waits
 * for the device, and touches nothing but its operands, its parameters, the tick, and the stream
 * and the workspace of its launch. Its problem size follows from its operands. Several launches of
 * one kernel may run at the same time in several threads, each with its own LigLaunch.
 *
 * A kernel's signature names its operands, inputs first: `x weight bias -> y mean rstd`. The names
 * are those of the ports of ops: `x` is the main input, `y` the main output, `dNAME` the gradient
 * of NAME; ops, fused or not, bind values to operands by these names. Matrices are row-major: x is
 * [M, K], the weight of a linear map [N, K], y [M, N]. No operand is empty: a step over no rows is
 * not launched, and its other outputs become zero, as sums over nothing are.
 *
 * An operand whose `data` is null is absent: an absent input is left out of the sum, an absent
 * output is not computed. Signatures mark the inputs that may be absent with `?`; every output may
 * be absent, but not all at once.
 *
 * An output marked `dx=dy|x` may be computed in place of dy or x: the kernel reads each element of
 * these for the last time before it writes that element. No other operands overlap, and two outputs
 * never share memory. */
#pragma once

#include <ligature/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * LigStatus:
 * @LIG_OK: the kernel ran, or was launched
 * @LIG_FAILED: the kernel or a library that it calls refused; LigLaunch.where has the reason
 * @LIG_OUT_OF_MEMORY: the device has too little memory
 * @LIG_UNSUPPORTED: the kernel has no code for a type or a size
 * @LIG_DEVICE_LOST: nothing more can run on this device in this process
 *
 * The result of a launch, or of a call of a backend.
 */
typedef enum { LIG_OK, LIG_FAILED, LIG_OUT_OF_MEMORY, LIG_UNSUPPORTED, LIG_DEVICE_LOST } LigStatus;

/**
 * LigBackendKind:
 * @LIG_BACKEND_CPU: the processor
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
#define LIG_MOST_PARAMS 96

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
typedef struct {
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
 * @exchange: null on CUDA; sends the bytes from `bounds[i]` to `bounds[i + 1]` of `from` to peer i,
 *   and receives what each peer sends to this one, in the order of the peers, in `to`, which has
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
  LigStatus (*exchange) (const struct LigPeers *peers,
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
 * @tf32: whether fp32 matrix products may round their operands to 10 bits of mantissa
 * @nondeterministic: whether sums may be added up in an order that differs from launch to launch,
 *   where that is faster
 * @rehearse: whether this launch is outside of a capture and may measure, to choose among
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
  bool accumulate;
  bool tf32;
  bool nondeterministic;
  bool rehearse;
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

/**
 * LIG_PRODUCT_OVER_COLUMNS:
 *
 * As LigKernel.work: the product of the first two operands a[M, K] and b[N, K], which takes
 * 2 M N K operations, where K is the number of columns of a.
 *
 * LIG_PRODUCT_OVER_ROWS: the product of a[M, N] and b[M, K], likewise, where M is the number of
 * rows of a. LIG_PRODUCT_COLUMNS_BY_ROWS: the product of a[M, N] and b[N, K], where N is the number
 * of columns of a. LIG_WORK_BY_PARAMS: LigKernel.flops counts it.
 */
enum {
  LIG_PRODUCT_OVER_COLUMNS = -1,
  LIG_PRODUCT_OVER_ROWS = -2,
  LIG_PRODUCT_COLUMNS_BY_ROWS = -3,
  LIG_WORK_BY_PARAMS = -4
};

/**
 * LIG_TYPES:
 * @dtype: a #LigDtype
 *
 * The set that consists of one type; sets are joined by `|`.
 */
#define LIG_TYPES(dtype) (1u << (dtype))

/**
 * LIG_FLOATING_TYPES:
 *
 * The set of the types that kernels compute in.
 */
#define LIG_FLOATING_TYPES (LIG_TYPES (LIG_FP32) | LIG_TYPES (LIG_FP16) | LIG_TYPES (LIG_BF16))

/**
 * LIG_MAX_BACKENDS:
 *
 * The largest number of backends that a later version can have.
 */
#define LIG_MAX_BACKENDS 8

/**
 * LigKernel: (skip)
 * @size: sizeof (LigKernel) as the program was compiled; a newer library reads no further
 * @name: the name, with underscores, different from that of any built-in kernel
 * @signature: the names of the operands, see above
 * @work: the number of floating-point operations per element of the largest operand, or one of the
 *   negative numbers for matrix products; used for predictions alone
 * @types: the set of %LIG_TYPES of its first floating operand that it serves, on every backend
 * @functions: the kernel's function by #LigBackendKind; null where it has none, or where the
 *   backend's module is not loaded
 * @flops: counts the floating-point operations of a launch from the sizes of its operands and its
 *   params; null unless @work is %LIG_WORK_BY_PARAMS
 * @scratch: returns the bytes of LigLaunch.scratch that a launch needs on a backend; of the launch
 *   it reads only the sizes and types of the operands, @params, @tf32 and @nondeterministic; null:
 *   none
 * @ignores_tick: whether it never reads LigLaunch.tick, so that its launches need not wait for new
 *   numbers; false is always right
 * @exchanges: whether it exchanges with LigLaunch.peers, and its params are #LigCollectiveParams
 *
 * A kernel. The program that defines it keeps it unchanged until it ends.
 */
typedef struct LigKernel {
  size_t size;
  const char *name;
  const char *signature;
  int work;
  unsigned types;
  LigKernelFunc functions[LIG_MAX_BACKENDS];
  double (*flops) (const LigOperand *operands, const void *params);
  int64_t (*scratch) (const LigLaunch *launch, LigBackendKind backend);
  bool ignores_tick;
  bool exchanges;
} LigKernel;

/**
 * lig_kernel_find: (skip)
 * @name: a name with underscores, as in kernel-list.h
 *
 * Finds a built-in kernel. Its CPU function is the one for this machine's vector instructions. May
 * be called from any thread, but not while the CUDA module is being loaded.
 *
 * Returns: (transfer none) (nullable): the kernel, valid until the process ends; null if there is
 *   none of that name
 */
LIG_API const LigKernel *lig_kernel_find (const char *name);

/**
 * lig_kernel_nth: (skip)
 * @n: a number from 0
 *
 * Returns the built-in kernels one by one.
 *
 * Returns: (transfer none) (nullable): the kernel, valid until the process ends; null after the
 * last
 */
LIG_API const LigKernel *lig_kernel_nth (int n);

/**
 * lig_signature_count: (skip)
 * @signature: the signature of a kernel
 * @inputs: (out) (optional): location for the number of operands before the arrow
 *
 * Returns: the number of operands
 */
LIG_API int lig_signature_count (const char *signature, int *inputs);

/**
 * lig_signature_name: (skip)
 * @signature: the signature of a kernel
 * @index: the number of an operand, from 0
 * @name: memory for 32 bytes, for the operand's name without its marks; empty if there is no such
 *   operand, cut to 31 characters
 *
 * Returns: true if the operand may be absent
 */
LIG_API bool lig_signature_name (const char *signature, int index, char *name);

/**
 * lig_signature_places: (skip)
 * @signature: the signature of a kernel
 * @index: the number of an output, counted from the first operand
 *
 * Returns: the set of inputs, one bit each, in place of which the output may be computed
 */
LIG_API unsigned lig_signature_places (const char *signature, int index);

/**
 * lig_kernel_flops: (skip)
 * @kernel: a kernel
 * @operands: its operands, of which only sizes and types are read
 * @params: (nullable): its params
 *
 * Returns: the number of floating-point operations of a launch, by LigKernel.work
 */
LIG_API double
lig_kernel_flops (const LigKernel *kernel, const LigOperand *operands, const void *params);

/**
 * lig_kernel_scratch: (skip)
 * @kernel: a kernel
 * @launch: a launch of it, of which only the fields are read that LigKernel.scratch names
 * @backend: the backend that launches it
 *
 * Returns: the bytes of LigLaunch.scratch, 0 for none
 */
LIG_API int64_t lig_kernel_scratch (const LigKernel *kernel,
                                    const LigLaunch *launch,
                                    LigBackendKind backend);

/**
 * lig_kernel_ignores_tick: (skip)
 * @kernel: a kernel
 *
 * Returns: LigKernel.ignores_tick; false for a kernel that was compiled without that field
 */
LIG_API bool lig_kernel_ignores_tick (const LigKernel *kernel);

/**
 * lig_kernel_exchanges: (skip)
 * @kernel: a kernel
 *
 * Returns: LigKernel.exchanges; false for a kernel that was compiled without that field
 */
LIG_API bool lig_kernel_exchanges (const LigKernel *kernel);

/**
 * lig_kernel_bytes: (skip)
 * @kernel: a kernel
 * @operands: its operands, of which only sizes and types are read
 * @read: (out): location for the bytes of all inputs
 * @written: (out): location for the bytes of all outputs
 *
 * Computes the bytes that a launch moves if each operand crosses the memory bus once.
 */
LIG_API void lig_kernel_bytes (const LigKernel *kernel,
                               const LigOperand *operands,
                               double *read,
                               double *written);

/**
 * lig_cpu_level:
 *
 * Returns the instruction level of the CPU kernels in use: the machine's best, or the one that the
 * environment variable LIGATURE_CPU names if the machine has it. It is chosen once per process.
 *
 * Returns: (transfer none): `baseline`, `v3` (AVX2, FMA) or `v4` (AVX-512); a static string
 */
LIG_API const char *lig_cpu_level (void);

#ifdef __cplusplus
}
#endif
