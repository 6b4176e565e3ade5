/* SPDX-License-Identifier: MIT */
/* The CPU as a device: what is known of it, and measuring its ceilings. */
#include "engine/private/device.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The processor's name as Linux tells it. */
static void
read_name (char *name, gsize size)
{
  g_autofree char *text = NULL;
  g_strlcpy (name, "CPU", size);
  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL))
    return;
  const char *at = strstr (text, "model name");
  at = at ? strchr (at, ':') : NULL;
  if (!at)
    return;
  at += 1 + strspn (at + 1, " ");
  g_autofree char *line = g_strndup (at, strcspn (at, "\n"));
  g_strlcpy (name, g_strchomp (line), size);
}

/* Until the device is measured, a modest core's rates: 5 GB/s and 40 GFLOP/s each. */
void
lig_cpu_facts (LigDeviceFacts *facts)
{
  long pages = sysconf (_SC_PHYS_PAGES), page = sysconf (_SC_PAGESIZE);
  long cache = sysconf (_SC_LEVEL3_CACHE_SIZE);
  int cores = g_get_num_processors () > 0 ? (int) g_get_num_processors () : 1;
  *facts = (LigDeviceFacts){
    .multiprocessors = cores,
    .memory = (gint64) pages * page,
    .l2 = cache > 0 ? cache : 32 << 20,
    .copy = 5e9 * cores,
    .launch = 5e-7,
  };
  read_name (facts->name, sizeof facts->name);
  for (int i = 0; i < LIG_N_DTYPES; i++)
    if (lig_dtype_is_floating ((LigDtype) i))
      facts->product[i] = 4e10 * cores;
  g_snprintf (facts->libraries, sizeof facts->libraries, "ligature %s, %s, %d threads", LIG_VERSION,
              lig_cpu_level (), cores);
}

static double
now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* Best of several runs of one kernel, in seconds; negative where it failed. */
static double
time_kernel (const char *name, const LigOperand *operands, void *workspace)
{
  const LigKernel *kernel = lig_kernel_find (name);
  double best = G_MAXDOUBLE;
  for (int i = 0; i < 6; i++) {
    LigLaunch launch = {.operands = operands, .workspace = workspace};
    double begin = now ();
    if (kernel->functions[LIG_BACKEND_CPU](&launch) != LIG_OK)
      return -1;
    if (i > 0)
      best = MIN (best, now () - begin);
  }
  return best;
}

static void
fill (float *values, gsize count)
{
  guint32 state = 1;
  for (gsize i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    values[i] = (float) (gint32) state * 0x1p-31f;
  }
}

/* A copy of twice 128 MiB that no cache holds, and products of 1024 x 1024 matrices per type. */
gboolean
lig_cpu_measure (LigDeviceFacts *facts, GError **error)
{
  enum { COPY = 32 << 20, SIDE = 1024 };
  gsize bytes = COPY * sizeof (float);
  float *source = malloc (bytes), *target = malloc (bytes);
  void *workspace = NULL;
  gboolean fine = source && target && posix_memalign (&workspace, 256, LIG_WORKSPACE_SIZE) == 0;
  if (fine) {
    fill (source, COPY);
    LigOperand copy[] = {{source, COPY, COPY, LIG_FP32}, {target, COPY, COPY, LIG_FP32}};
    facts->copy = 2.0 * (double) bytes / time_kernel ("convert", copy, workspace);
    for (int i = 0; i < LIG_N_DTYPES; i++) {
      LigDtype dtype = (LigDtype) i;
      if (!lig_dtype_is_floating (dtype))
        continue;
      gint64 size = SIDE * SIDE;
      lig_narrow (dtype, source, target, (gsize) size * 2);
      char *at = (char *) target;
      gsize step = (gsize) size * lig_dtype_size (dtype);
      LigOperand product[] = {{at, size, SIDE, dtype},
                              {at + step, size, SIDE, dtype},
                              {at + 2 * step, size, SIDE, dtype}};
      facts->product[i] = 2.0 * SIDE * SIDE * SIDE / time_kernel ("linear", product, workspace);
    }
    facts->measured = TRUE;
  } else {
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                 "no memory for measuring: %" G_GSIZE_FORMAT " bytes", 2 * bytes);
  }
  free (source);
  free (target);
  free (workspace);
  return fine;
}
