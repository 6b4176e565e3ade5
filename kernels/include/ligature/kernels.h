/* SPDX-License-Identifier: MIT */
/* What a kernel is, what it is given, and what a backend offers. Plain C: nothing of GLib here.
 *
 * A kernel computes on operands that the plan laid out beforehand. It never allocates, never
 * waits for the device, and touches nothing but its operands, its parameters, the tick, and the
 * stream and the workspace of its launch. Its problem size follows from its operands.
 *
 * The operands of a kernel stand in its signature, inputs first: `x weight bias -> y mean rstd`.
 * Names are shared with the ports of ops: `x` the main input, `y` the main output, `dNAME` the
 * gradient of NAME. No operand is without elements: a step over no rows is not launched, its
 * other outputs become zero, as sums over nothing are. A fused or a plain op binds values to
 * operands by these names. An operand with a null `data` is absent: an optional input is left out
 * of the sum, an unwanted output is not computed. Signatures mark the inputs that may be absent
 * with `?`; every output may be, unless all are.
 *
 * An output marked `dx=dy|x` may lie where dy or x does: the kernel reads each element of these for
 * the last time before it writes that element. Other operands never overlap, and two outputs never
 * take one place. */
#pragma once

#include <ligature/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  LIG_OK,
  LIG_FAILED,        /* the kernel or a library it calls refused; `where` says */
  LIG_OUT_OF_MEMORY, /* of the device */
  LIG_UNSUPPORTED,   /* a type or size this kernel has no code for */
  LIG_DEVICE_LOST    /* nothing more can run on this device */
} LigStatus;

typedef enum { LIG_BACKEND_CPU, LIG_BACKEND_CUDA, LIG_BACKEND_NULL, LIG_N_BACKENDS } LigBackendKind;

/* Every launch has this much scratch memory, 256-byte aligned, whose content nobody keeps.
 * A kernel that needs more divides its work, by a rule that knows only this size and its
 * operands, never the number of threads: results must not depend on it. */
#define LIG_WORKSPACE_SIZE ((size_t) 32 << 20)

/* The most operands a kernel may have. */
#define LIG_MAX_OPERANDS 12

typedef struct {
  void *data;      /* aligned for its type; null where absent */
  int64_t size;    /* elements in all */
  int64_t columns; /* length of the last axis, 1 for a scalar; rows = size / columns */
  LigDtype dtype;
} LigOperand;

/* What changes from step to step. It lies in the device's memory, so a captured graph sees it. */
typedef struct {
  uint64_t seed;       /* of the run: the Philox key */
  uint64_t micro_step; /* forward passes of the run before this one */
  uint64_t step;       /* optimizer step, from 1 */
  float learning_rate; /* of this step */
  float clip_norm;     /* gradients are scaled down to this global norm; 0: never */
} LigTick;

/* One opened device, as its backend keeps it (backend.h). */
typedef struct LigBackendDevice LigBackendDevice;

typedef struct {
  const LigOperand *operands; /* in the order of the kernel's signature */
  const void *params;         /* of the kernel's own struct in params.h, or null for its defaults */
  const LigTick *tick;        /* in the device's memory */
  void *workspace;            /* LIG_WORKSPACE_SIZE bytes */
  void *stream;               /* the backend's stream; null on the CPU */
  LigBackendDevice *device;   /* what it runs on; null on the CPU */
  bool accumulate;            /* parameter gradients are added to what is there, not replaced */
  bool tf32;                  /* fp32 products may round their operands to 10 bits */
  bool rehearse;              /* not captured: choices among algorithms are made now, by timing */
  const char *where;          /* set on failure: "file:line: what", a string that stays valid */
} LigLaunch;

typedef LigStatus (*LigKernelFunc) (LigLaunch *launch);

/* How much a kernel computes, for predictions: a positive number is floating-point operations per
 * element of its largest operand, the others are matrix products of the first two operands. */
enum {
  LIG_PRODUCT_OVER_COLUMNS = -1,   /* a[M,K] b[N,K]: 2 M N K, K = columns of a */
  LIG_PRODUCT_OVER_ROWS = -2,      /* a[M,N] b[M,K]: 2 M N K, M = rows of a */
  LIG_PRODUCT_COLUMNS_BY_ROWS = -3 /* a[M,N] b[N,K]: 2 M N K, N = columns of a */
};

/* A set of types, one bit each: room for 32. */
#define LIG_TYPES(dtype) (1u << (dtype))
#define LIG_FLOATING_TYPES (LIG_TYPES (LIG_FP32) | LIG_TYPES (LIG_FP16) | LIG_TYPES (LIG_BF16))

/* Backends there will be at most: kernels have room for so many functions. */
#define LIG_MAX_BACKENDS 8

/* Begins with its size as the program knows it, so that a library in which fields were added since
 * reads no further. A kernel stays valid and unchanged for ever. */
typedef struct LigKernel {
  size_t size;      /* sizeof (LigKernel) */
  const char *name; /* unlike that of any built-in kernel */
  const char *signature;
  int work;       /* see above */
  unsigned types; /* LIG_TYPES of its first floating operand that it serves, on every backend */
  LigKernelFunc functions[LIG_MAX_BACKENDS]; /* null where the backend has none loaded */
} LigKernel;

/* The built-in kernel of that name (underscores, as in kernel-list.h), or null. The functions of
 * the CPU are those for this machine's vector instructions, chosen at the first call. */
LIG_API const LigKernel *lig_kernel_find (const char *name);

/* The built-in kernels one by one; null after the last. */
LIG_API const LigKernel *lig_kernel_nth (int n);

/* Operands of a signature, and how many of them come before the arrow. */
LIG_API int lig_signature_count (const char *signature, int *inputs);

/* Copies the name of operand `index` into `name` (at least 32 bytes), without its marks; returns
 * true if it may be absent. */
LIG_API bool lig_signature_name (const char *signature, int index, char *name);

/* The inputs, by bit, whose place output `index` may take. */
LIG_API unsigned lig_signature_places (const char *signature, int index);

/* Floating-point operations of a kernel on these operands. */
LIG_API double lig_kernel_flops (const LigKernel *kernel, const LigOperand *operands);

/* Bytes a kernel reads, and writes, if each operand crosses the memory bus once. */
LIG_API void lig_kernel_bytes (const LigKernel *kernel,
                               const LigOperand *operands,
                               double *read,
                               double *written);

/* The CPU instruction level in use: `baseline`, `v3` (AVX2, FMA) or `v4` (AVX-512). It is the
 * machine's best, or what LIGATURE_CPU names if the machine has it. */
LIG_API const char *lig_cpu_level (void);

#ifdef __cplusplus
}
#endif
