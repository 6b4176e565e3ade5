/* SPDX-License-Identifier: MIT */
/* Chooses the instruction level of the CPU kernels, once, at their first use. */
#include "kernels/backend.h"
#include <ligature/kernels.h>

#include <stdlib.h>
#include <string.h>

#define LEVEL(level) extern const LigKernelFunc lig_cpu_functions_##level[];
#include "level-list.h"
#undef LEVEL

/* Each returns whether the machine supports a level, which may not have been built. */
static bool
has_baseline (void)
{
  return true;
}

#if defined(__x86_64__)
__attribute__ ((unused)) static bool
has_v3 (void)
{
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma") &&
         __builtin_cpu_supports ("bmi2");
}

__attribute__ ((unused)) static bool
has_v4 (void)
{
  return has_v3 () && __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") &&
         __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vl");
}
#endif

static const struct {
  const char *name;
  const LigKernelFunc *functions;
  bool (*available) (void);
} levels[] = {
#define LEVEL(level) {#level, lig_cpu_functions_##level, has_##level},
#include "level-list.h"
#undef LEVEL
};

/* Returns the index of the highest level that the machine supports, or of the level that
 * LIGATURE_CPU names, if supported. */
static int
choose (void)
{
  const char *setting = getenv ("LIGATURE_CPU");
  int best = 0;
  for (int i = 0; i < (int) (sizeof levels / sizeof *levels); i++) {
    if (!levels[i].available ())
      break;
    best = i;
    if (setting && strcmp (setting, levels[i].name) == 0)
      break;
  }
  return best;
}

/* Returns the chosen level. Threads that call it concurrently get the same level. */
static int
level (void)
{
  static int chosen = -1;
  int known = __atomic_load_n (&chosen, __ATOMIC_ACQUIRE);
  if (known < 0)
    __atomic_store_n (&chosen, known = choose (), __ATOMIC_RELEASE);
  return known;
}

const LigKernelFunc *
lig_cpu_functions (void)
{
  return levels[level ()].functions;
}

const char *
lig_cpu_level (void)
{
  return levels[level ()].name;
}
