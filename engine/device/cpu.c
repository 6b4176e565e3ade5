/* SPDX-License-Identifier: MIT */
/* The CPU as a device, and its facts that are known without measuring. */
#include "engine/device/backend.h"
#include "kernels/threads.h"
#include <ligature/kernels.h>

#include <string.h>
#include <unistd.h>

/* Reads the CPU's name from the system. */
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

static void
write_libraries (char *text, gsize size)
{
  int threads = omp_get_max_threads ();
  g_snprintf (text, size, "ligature %s, %s, %d thread%s", LIG_VERSION, lig_cpu_level (), threads,
              LIG_ENDING (threads));
}

static void
read_facts (LigDeviceFacts *facts)
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
  write_libraries (facts->libraries, sizeof facts->libraries);
}

static gboolean
open_cpu (LigDevice *self, const char *rest, GError **error)
{
  self->calls = lig_host_backend ();
  read_facts (&self->facts);
  return TRUE;
}

static void
list (GPtrArray *names)
{
  g_ptr_array_add (names, g_strdup ("cpu"));
}

LIG_BACKEND_TABLE (cpu) = {
  .info = {.name = "cpu", .form = "cpu", .title = "CPU"},
  .kind = LIG_BACKEND_CPU,
  .takes = LIG_TAKES_NOTHING,
  .open = open_cpu,
  .list = list,
  .libraries = write_libraries,
};
