/* SPDX-License-Identifier: MIT */
/* The table of built-in kernels, and the functions that parse signatures. */

#include "kernels/backend.h"
#include "kernels/demands.h"
#include <ligature/groups.h>
#include <ligature/kernels.h>

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The only kernel of the null backend: it does nothing, so that plans can be compiled and priced
 * for devices that this machine does not have. */
static LigStatus
run_null (LigLaunch *launch)
{
  (void) launch;
  return LIG_OK;
}

static LigKernel kernels[] = {
#define LIG_EACH_WITH(id, operands, cost, ...) \
  {.size = sizeof (LigKernel), \
   .name = #id, \
   .signature = operands, \
   .work = cost, \
   .types = LIG_FLOATING_TYPES, \
   .functions = {[LIG_BACKEND_NULL] = run_null}, \
   __VA_ARGS__},
#define LIG_EACH(id, operands, cost) LIG_EACH_WITH (id, operands, cost, .ignores_tick = true)
#include "kernels/kernel-list.h"
#undef LIG_EACH
};

#define N_KERNELS ((int) (sizeof kernels / sizeof *kernels))

/* Sorted by name, because compiling a plan looks up several kernels for each op. */
static const LigKernel *by_name[N_KERNELS];

static int
compare_kernels (const void *a, const void *b)
{
  return strcmp ((*(const LigKernel *const *) a)->name, (*(const LigKernel *const *) b)->name);
}

static int
compare_name (const void *name, const void *kernel)
{
  return strcmp (name, (*(const LigKernel *const *) kernel)->name);
}

/* Registers the CPU's functions before any thread starts. Afterwards only the loading of a module
 * writes to the table, once. */
__attribute__ ((constructor)) static void
fill_table (void)
{
  for (int i = 0; i < N_KERNELS; i++) {
    kernels[i].traits |= LIG_KERNEL_BUILT_IN;
    by_name[i] = &kernels[i];
  }
  qsort (by_name, N_KERNELS, sizeof *by_name, compare_kernels);
  lig_kernels_register (LIG_BACKEND_CPU, lig_cpu_functions ());
}

void
lig_kernels_register (LigBackendKind kind, const LigKernelFunc *functions)
{
  for (int i = 0; i < N_KERNELS; i++)
    kernels[i].functions[kind] = functions[i];
}

const LigKernel *
lig_kernel_nth (int n)
{
  return n >= 0 && n < N_KERNELS ? &kernels[n] : NULL;
}

const LigKernel *
lig_kernel_find (const char *name)
{
  const LigKernel **found = bsearch (name, by_name, N_KERNELS, sizeof *by_name, compare_name);
  return found ? *found : NULL;
}

/* Returns the start of the operand after `at`, or null. Sets the length of its name and of the
 * marks after it, `?` or `=x|y`, and `arrow` if an arrow came before it. */
static const char *
next_operand (const char *at, size_t *length, size_t *marks, bool *arrow)
{
  for (;;) {
    at += strspn (at, " ");
    if (!*at)
      return NULL;
    *length = strcspn (at, " ");
    if (*length != 2 || memcmp (at, "->", 2) != 0)
      break;
    *arrow = true;
    at += 2;
  }
  *marks = *length;
  *length = strcspn (at, " ?=");
  *marks -= *length;
  return at;
}

int
lig_signature_count (const char *signature, int *inputs)
{
  int count = 0;
  size_t length, marks;
  bool arrow = false;
  if (inputs)
    *inputs = 0;
  for (const char *at = signature; (at = next_operand (at, &length, &marks, &arrow));
       at += length + marks) {
    count++;
    if (inputs && !arrow)
      ++*inputs;
  }
  return count;
}

bool
lig_signature_name (const char *signature, int index, char *name)
{
  size_t length, marks;
  bool arrow = false;
  for (const char *at = signature; (at = next_operand (at, &length, &marks, &arrow));
       at += length + marks)
    if (index-- == 0) {
      bool optional = arrow || at[length] == '?';
      if (length > 31)
        length = 31;
      memcpy (name, at, length);
      name[length] = '\0';
      return optional;
    }
  name[0] = '\0';
  return false;
}

/* Returns whether `name` is one of the names between `=`, `|` and the end of the marks. */
static bool
is_marked (const char *marks, size_t size, const char *name, size_t length)
{
  for (const char *at = marks; at < marks + size;) {
    size_t word = strcspn (++at, "| ");
    if (word == length && memcmp (at, name, length) == 0)
      return true;
    at += word;
  }
  return false;
}

unsigned
lig_signature_places (const char *signature, int index)
{
  size_t length, marks, own_size = 0;
  const char *own = NULL, *at = signature;
  bool arrow = false;
  unsigned places = 0;
  for (int i = 0; (at = next_operand (at, &length, &marks, &arrow)); i++, at += length + marks)
    if (i == index && arrow && marks > 1 && at[length] == '=') {
      own = at + length;
      own_size = marks;
      break;
    }
  arrow = false;
  at = signature;
  for (int i = 0; own && (at = next_operand (at, &length, &marks, &arrow)) && !arrow; i++) {
    if (is_marked (own, own_size, at, length))
      places |= 1u << i;
    at += length + marks;
  }
  return places;
}

double
lig_kernel_flops (const LigKernel *kernel, const LigOperand *operands, const void *params)
{
  const LigOperand *a = &operands[0], *b = &operands[1];
  double matmul = 2.0 * (double) a->size;
  if (kernel->flops)
    return params || kernel->work != LIG_WORK_BY_PARAMS ? kernel->flops (operands, params) : 0;
  switch (kernel->work) {
  case LIG_WORK_BY_PARAMS:
    return 0;
  case LIG_MATMUL_OVER_COLUMNS:
    return matmul * (double) (b->size / b->columns);
  case LIG_MATMUL_OVER_ROWS:
  case LIG_MATMUL_COLUMNS_BY_ROWS:
    return matmul * (double) b->columns;
  default: {
    int64_t largest = 0;
    int count = lig_signature_count (kernel->signature, NULL);
    for (int i = 0; i < count; i++)
      if (operands[i].size > largest)
        largest = operands[i].size;
    return (double) kernel->work * (double) largest;
  }
  }
}

int64_t
lig_kernel_scratch (const LigKernel *kernel, const LigLaunch *launch, LigBackendKind backend)
{
  bool declares = kernel->size > offsetof (LigKernel, scratch) && kernel->scratch;
  return declares ? kernel->scratch (launch, backend) : 0;
}

bool
lig_kernel_ignores_tick (const LigKernel *kernel)
{
  return kernel->size > offsetof (LigKernel, ignores_tick) && kernel->ignores_tick;
}

bool
lig_kernel_is_collective (const LigKernel *kernel)
{
  return kernel->size > offsetof (LigKernel, communicates) && kernel->communicates;
}

bool
lig_kernel_fill_numbers (const LigKernel *kernel,
                         const LigOperand *operands,
                         const void *params,
                         int index,
                         double exponent,
                         int32_t *to)
{
  bool declares = kernel->size > offsetof (LigKernel, numbers) && kernel->numbers;
  if (declares)
    kernel->numbers (operands, params, index, exponent, to);
  return declares;
}

void
lig_kernel_bytes (const LigKernel *kernel,
                  const LigOperand *operands,
                  double *read,
                  double *written)
{
  int inputs, count = lig_signature_count (kernel->signature, &inputs);
  *read = *written = 0;
  for (int i = 0; i < count; i++)
    *(i < inputs ? read : written) +=
      (double) operands[i].size * (double) lig_dtype_size (operands[i].dtype);
}
