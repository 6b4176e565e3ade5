/* SPDX-License-Identifier: MIT */
/* Checks before `main` whether this process can start the threads that the program needs (ulimit
 * -u): if a thread cannot be started, libraries end the process without a helpful message. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* The threads in addition to those that compute: of a run, of the store and of GLib. */
#define OTHERS 3
/* Higher limits are never reached in practice: skips the check, because starting threads is slow on
 * large machines. */
#define AMPLE 4096
#define MAX_THREADS 1024

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int ended;
} Gate;

static void *
wait_at (void *data)
{
  Gate *gate = data;
  pthread_mutex_lock (&gate->lock);
  while (!gate->ended)
    pthread_cond_wait (&gate->changed, &gate->lock);
  pthread_mutex_unlock (&gate->lock);
  return NULL;
}

/* Counts like OpenMP: the CPUs, unless the environment has a number. */
static int
count_computing (void)
{
  cpu_set_t set;
  const char *text = getenv ("OMP_NUM_THREADS");
  int requested = text ? atoi (text) : 0;
  if (requested > 0)
    return requested;
  return sched_getaffinity (0, sizeof set, &set) == 0 ? CPU_COUNT (&set) : 1;
}

/* Starts threads that all wait until the last has been started, and returns how many could be
 * started. */
static int
start (int count)
{
  Gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
  pthread_t threads[MAX_THREADS];
  int started = 0;
  while (started < count && pthread_create (&threads[started], NULL, wait_at, &gate) == 0)
    started++;
  pthread_mutex_lock (&gate.lock);
  gate.ended = 1;
  pthread_cond_broadcast (&gate.changed);
  pthread_mutex_unlock (&gate.lock);
  for (int i = 0; i < started; i++)
    pthread_join (threads[i], NULL);
  return started;
}

__attribute__ ((constructor)) static void
check (void)
{
  struct rlimit limit;
  if (getrlimit (RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur >= AMPLE)
    return;
  int needed = count_computing () - 1 + OTHERS;
  needed = needed < MAX_THREADS ? needed : MAX_THREADS;
  int started = start (needed);
  if (started == needed)
    return;
  fprintf (stderr,
           "%s: this process can start only %d thread%s and needs %d: the user's limit is %lu "
           "(ulimit -u); raise it, or set OMP_NUM_THREADS=1 to need only %d\n",
           program_invocation_short_name, started, started == 1 ? "" : "s", needed,
           (unsigned long) limit.rlim_cur, OTHERS);
  _exit (1);
}
