/* SPDX-License-Identifier: MIT */
/* The CPU as a device: what is known of it without measuring. */
#include "engine/device/device-private.h"
#include "kernels/threads.h"

#include <string.h>
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

void
lig_cpu_libraries (char *text, gsize size)
{
  int threads = omp_get_max_threads ();
  g_snprintf (text, size, "ligature %s, %s, %d thread%s", LIG_VERSION, lig_cpu_level (), threads,
              LIG_ENDING (threads));
}

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
  };
  read_name (facts->name, sizeof facts->name);
  lig_cpu_libraries (facts->libraries, sizeof facts->libraries);
}
