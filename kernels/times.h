/* SPDX-License-Identifier: MIT */
/* Startup times. tests/bench/start.py makes a table of them. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* With LIGATURE_TIMES=1 in the environment, writes a line to standard error at the end of each
 * stage of startup: seconds of CPU time, wall-clock seconds, and the stage's name. */
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
