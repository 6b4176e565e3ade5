/* SPDX-License-Identifier: MIT */
/* With LIGATURE_TIMES=1 in the environment, a line to standard error for each stage of a program's
 * start that is over: seconds of processor time and of the clock since the process began, then
 * which stage. tests/bench/start.py makes a table of them. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void
lig_times_mark (const char *stage)
{
  struct timespec busy, now;
  if (!getenv ("LIGATURE_TIMES"))
    return;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &busy);
  clock_gettime (CLOCK_MONOTONIC, &now);
  fprintf (stderr, "times: %ld.%06ld %ld.%06ld %s\n", (long) busy.tv_sec, busy.tv_nsec / 1000,
           (long) now.tv_sec, now.tv_nsec / 1000, stage);
}
