/* SPDX-License-Identifier: MIT */
/* Checks that a limited address space (ulimit -v) has room for the buffers that OpenBLAS allocates
 * when it is loaded, one per thread. Without that room OpenBLAS retries forever before `main` is
 * reached, so this runs before any library is initialized. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* The size of OpenBLAS's buffer for a thread; and that of the other libraries, including the stacks
 * and heaps of their threads, which GLib requires. */
#define BUFFER_MEGABYTES 128
#define LIBRARIES_MEGABYTES 128

static int
number_after (const char *name, const char *entry)
{
  size_t length = strlen (name);
  return strncmp (entry, name, length) == 0 ? atoi (entry + length) : 0;
}

/* Counts like OpenBLAS: the CPUs, unless the environment has a number. */
static int
count_threads (char **environment)
{
  cpu_set_t set;
  int named = 0;
  for (char **entry = environment; *entry; entry++)
    if (named == 0)
      named = number_after ("OMP_NUM_THREADS=", *entry);
  if (named > 0)
    return named;
  return sched_getaffinity (0, sizeof set, &set) == 0 ? CPU_COUNT (&set) : 1;
}

static void
check (int argc, char **argv, char **environment)
{
  struct rlimit limit;
  char text[256];
  if (getrlimit (RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return;
  int threads = count_threads (environment);
  size_t needed = (size_t) threads * BUFFER_MEGABYTES + LIBRARIES_MEGABYTES;
  void *reserved = mmap (NULL, needed << 20, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved != MAP_FAILED) {
    munmap (reserved, needed << 20);
    return;
  }
  int length = snprintf (text, sizeof text,
                         "%s: the address space is limited to %zu MiB (ulimit -v), and matmuls "
                         "need %zu MiB more for %d thread%s; OMP_NUM_THREADS=1 needs less\n",
                         argc > 0 ? argv[0] : "", (size_t) limit.rlim_cur >> 20, needed, threads,
                         threads == 1 ? "" : "s");
  ssize_t written =
    write (STDERR_FILENO, text, (size_t) length < sizeof text ? (size_t) length : sizeof text - 1);
  (void) written;
  _exit (1);
}

__attribute__ ((section (".preinit_array"),
                used)) static void (*const first) (int, char **, char **) = check;
