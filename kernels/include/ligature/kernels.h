/* SPDX-License-Identifier: MIT */
/* Kernels: their descriptions, and the table of built-in kernels. Plain C without GLib. A program
 * that adds its own kernel fills in a #LigKernel, with a #LigKernelFunc for each supported backend.
 *
 * A kernel computes on operands that the plan has allocated. It never allocates, never waits for
 * the device, and accesses only its operands, its parameters, the tick, and the stream and the
 * workspace of its launch. Its problem size follows from its operands. Several launches of one
 * kernel may run concurrently in several threads, each with its own LigLaunch.
 *
 * A kernel's signature names its operands, inputs first: `x weight bias -> y mean rstd`. The names
 * are those of the ports of ops: `x` is the main input, `y` the main output, `dNAME` the gradient
 * of NAME; ops, fused or not, bind values to operands by these names. Matrices are row-major: x is
 * [M, K], the weight of a linear map [N, K], y [M, N]. No operand is empty: a step over zero rows
 * is not launched, and its other outputs are set to zero, because empty sums are zero.
 *
 * An operand whose `data` is null is absent: an absent input is omitted from the formula, an absent
 * output is not computed. Signatures mark optional inputs with `?`; any output may be absent, but
 * not all of them.
 *
 * An output marked `dx=dy|x` may be computed in place, in the memory of dy or x: the kernel reads
 * each of their elements for the last time before it writes that element. No other operands
 * overlap, and two outputs never share memory. */
#pragma once

#include <ligature/launch.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * LIG_MATMUL_OVER_COLUMNS:
 *
 * A value of LigKernel.work: the matmul of the first two operands a[M, K] and b[N, K], which takes
 * 2 M N K operations, where K is the number of columns of a.
 *
 * LIG_MATMUL_OVER_ROWS: the matmul of a[M, N] and b[M, K], with the same number of operations,
 * where M is the number of rows of a. LIG_MATMUL_COLUMNS_BY_ROWS: the matmul of a[M, N] and b[N,
 * K], where N is the number of columns of a. LIG_WORK_BY_PARAMS: LigKernel.flops counts it.
 */
enum {
  LIG_MATMUL_OVER_COLUMNS = -1,
  LIG_MATMUL_OVER_ROWS = -2,
  LIG_MATMUL_COLUMNS_BY_ROWS = -3,
  LIG_WORK_BY_PARAMS = -4
};

/**
 * LigKernelTraits:
 * @LIG_KERNEL_ATTENTION: attention, with the operands and params of the kernel `attention`
 * @LIG_KERNEL_ATTENTION_BACKWARD: its gradient, as `attention_backward`
 * @LIG_KERNEL_WAVES: occupies all SMs of a GPU for several waves, so that it slows down in
 *   proportion to the SMs that concurrent kernels occupy
 * @LIG_KERNEL_BUILT_IN: a kernel of the library; other programs must not set it
 * @LIG_KERNEL_GROUPED: multiplies groups of rows, each by its own matrix; other programs must not
 *   set it
 *
 * The traits of a kernel that affect the prediction and the scheduling of its launches.
 */
typedef enum {
  LIG_KERNEL_ATTENTION = 1 << 0,
  LIG_KERNEL_ATTENTION_BACKWARD = 1 << 1,
  LIG_KERNEL_WAVES = 1 << 2,
  LIG_KERNEL_BUILT_IN = 1 << 3,
  LIG_KERNEL_GROUPED = 1 << 4
} LigKernelTraits;

/**
 * LIG_MAX_BACKENDS:
 *
 * The largest number of backends that any later version can have.
 */
#define LIG_MAX_BACKENDS 8

/**
 * LigKernel: (skip)
 * @size: sizeof (LigKernel) when the program was compiled; a newer library reads no further
 * @name: the name, with underscores, different from that of any built-in kernel
 * @signature: the names of the operands, see above
 * @work: the number of floating-point operations per element of the largest operand, or one of the
 *   negative numbers for matmuls; used only for predictions
 * @types: the set of %LIG_TYPES that it supports for its first floating operand, on every backend
 * @functions: the kernel's function by #LigBackendKind; null where it has none, or where the
 *   backend's module is not loaded
 * @flops: counts the floating-point operations of a launch from the sizes and types of its operands
 *   and, if @work is %LIG_WORK_BY_PARAMS, its params; null: they follow from @work
 * @scratch: returns the bytes of LigLaunch.scratch that a launch needs on a backend; of the launch
 *   it reads only the sizes and types of the operands, @params, @tf32 and @nondeterministic; null:
 *   none
 * @ignores_tick: whether it never reads LigLaunch.tick, so that its launches need not wait for the
 *   tick to be updated; false is always correct
 * @communicates: whether it communicates with LigLaunch.peers, and its params are
 *   #LigCollectiveParams
 * @traits: some of #LigKernelTraits
 * @collective: 1 + the #LigCollective that it performs, whose time depends on the links between
 *   devices; 0: none
 * @numbers: fills in an integer operand, given its index, with numbers like those of real data, for
 *   measurements; of the operands it reads only sizes and types. The loads of experts follow a Zipf
 *   distribution of the exponent; 0: they are equal. Null: the numbers are 0
 *
 * A kernel. The program that defines it must not change it until the process ends.
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
  bool communicates;
  unsigned traits;
  int collective;
  void (*numbers) (
    const LigOperand *operands, const void *params, int index, double exponent, int32_t *to);
} LigKernel;

/**
 * lig_kernel_find: (skip)
 * @name: a name with underscores, as in kernel-list.h
 *
 * Finds a built-in kernel. Its CPU function is compiled for this machine's vector instructions. May
 * be called from any thread, but not while the CUDA module is being loaded.
 *
 * Returns: (transfer none) (nullable): the kernel, valid until the process ends; null if no kernel
 *   has that name
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
 * @name: a buffer of 32 bytes for the operand's name without its marks, truncated to 31 characters;
 *   empty if there is no such operand
 *
 * Returns: true if the operand may be absent
 */
LIG_API bool lig_signature_name (const char *signature, int index, char *name);

/**
 * lig_signature_places: (skip)
 * @signature: the signature of a kernel
 * @index: the number of an output, counted from the first operand
 *
 * Returns: the set of inputs, one bit each, whose memory the output may overwrite
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
 * @launch: a launch of it; only the fields listed at LigKernel.scratch are read
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
 * Returns: LigKernel.ignores_tick; false for a kernel compiled without that field
 */
LIG_API bool lig_kernel_ignores_tick (const LigKernel *kernel);

/**
 * lig_kernel_is_collective: (skip)
 * @kernel: a kernel
 *
 * Returns: LigKernel.communicates; false for a kernel compiled without that field
 */
LIG_API bool lig_kernel_is_collective (const LigKernel *kernel);

/**
 * lig_kernel_fill_numbers: (skip)
 * @kernel: a kernel
 * @operands: its operands, of which only sizes and types are read
 * @params: (nullable): its params
 * @index: the index of an integer operand
 * @exponent: the exponent of the Zipf distribution of loads of experts; 0: they are equal
 * @to: memory for its elements
 *
 * Fills in LigKernel.numbers.
 *
 * Returns: false, with nothing filled in, if the kernel has none
 */
LIG_API bool lig_kernel_fill_numbers (const LigKernel *kernel,
                                      const LigOperand *operands,
                                      const void *params,
                                      int index,
                                      double exponent,
                                      int32_t *to);

/**
 * lig_kernel_bytes: (skip)
 * @kernel: a kernel
 * @operands: its operands, of which only sizes and types are read
 * @read: (out): location for the bytes of all inputs
 * @written: (out): location for the bytes of all outputs
 *
 * Computes the minimal memory traffic of a launch: each operand crosses the memory bus once.
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
