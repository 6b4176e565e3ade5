/* SPDX-License-Identifier: MIT */
/* The conditions of a measurement, from /proc/stat and the state of the device. */
#include "engine/measure/conditions.h"

#include <ligature/conditions.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A shorter time says nothing about other programs: the system counts in hundredths of a second. */
#define MIN_SECONDS 0.2

#define MAX_OTHERS 0.5
#define MAX_SHARED 0.05
#define MAX_WIDTH 0.1

enum { CLOCK, ALL, OWN };

/* Returns the total busy seconds of all CPUs since the boot; negative if unknown. */
static double
read_busy (void)
{
  g_autofree char *text = NULL;
  double user, nice, system, idle, wait, hard, soft, stolen;
  if (!g_file_get_contents ("/proc/stat", &text, NULL, NULL) ||
      sscanf (text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait,
              &hard, &soft, &stolen) != 8)
    return -1;
  return (user + nice + system + hard + soft + stolen) / (double) sysconf (_SC_CLK_TCK);
}

static double
read_own (void)
{
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void
read_clocks (double clocks[3])
{
  clocks[CLOCK] = 1e-6 * (double) g_get_monotonic_time ();
  clocks[ALL] = read_busy ();
  clocks[OWN] = read_own ();
}

void
lig_conditions_begin (LigConditions *self, LigDevice *device)
{
  LigDeviceHealth health;
  g_return_if_fail (self && LIG_IS_DEVICE (device));
  *self = (LigConditions){.cpus = (int) g_get_num_processors (), .others = -1, .shared = -1};
  self->synchronous = !lig_device_has (device, LIG_DEVICE_ASYNCHRONOUS);
  if (getloadavg (&self->load, 1) != 1)
    self->load = -1;
  if (lig_device_get_health (device, &health))
    self->shared = health.utilization;
  read_clocks (self->began);
}

void
lig_conditions_end (LigConditions *self, const LigSpread *step, const LigDeviceHealth *health)
{
  double now[3];
  g_return_if_fail (self && step && health);
  double missing = self->began[CLOCK] + MIN_SECONDS - 1e-6 * (double) g_get_monotonic_time ();
  if (missing > 0)
    g_usleep ((gulong) (missing * 1e6) + 1);
  read_clocks (now);
  double seconds = now[CLOCK] - self->began[CLOCK];
  if (now[ALL] >= 0 && self->began[ALL] >= 0)
    self->others = fmax (now[ALL] - self->began[ALL] - (now[OWN] - self->began[OWN]), 0) / seconds;
  self->step = *step;
  g_strlcpy (self->clocks, health->throttling, sizeof self->clocks);
  lig_conditions_judge (self);
}

static gboolean
is_loaded (const LigConditions *self)
{
  if (self->others >= 0)
    return self->others >= (self->synchronous ? MAX_OTHERS : fmax (self->cpus - 1, 1));
  return self->load >= (self->synchronous ? fmax (self->cpus / 2., 1) : self->cpus);
}

unsigned
lig_conditions_judge (LigConditions *self)
{
  g_return_val_if_fail (self, 0);
  self->disturbances = 0;
  if (is_loaded (self))
    self->disturbances |= LIG_DISTURBANCE_LOAD;
  if (self->shared > MAX_SHARED)
    self->disturbances |= LIG_DISTURBANCE_SHARED;
  if (*self->clocks)
    self->disturbances |= LIG_DISTURBANCE_CLOCKS;
  if (lig_spread_get_width (&self->step) > MAX_WIDTH)
    self->disturbances |= LIG_DISTURBANCE_SPREAD;
  return self->disturbances;
}

static char *
describe (const LigConditions *self, LigDisturbance disturbance)
{
  gulong count = (gulong) self->cpus;
  switch (disturbance) {
  case LIG_DISTURBANCE_LOAD:
    if (self->others < 0)
      return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "the load was %.1f on %d CPU",
                                           "the load was %.1f on %d CPUs", count),
                              self->load, self->cpus);
    return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "other programs kept %.1f of %d CPU busy",
                                         "other programs kept %.1f of %d CPUs busy", count),
                            self->others, self->cpus);
  case LIG_DISTURBANCE_SHARED:
    return g_strdup_printf (_ ("other programs used the GPU for %.0f %% of the time"),
                            100 * self->shared);
  case LIG_DISTURBANCE_CLOCKS:
    return g_strdup_printf (_ ("the device reduced its clocks: %s"), self->clocks);
  case LIG_DISTURBANCE_SPREAD:
    return g_strdup_printf (_ ("the interquartile range of the steps is %.0f %% of their median"),
                            100 * lig_spread_get_width (&self->step));
  default:
    return NULL;
  }
}

char *
lig_conditions_to_text (const LigConditions *self)
{
  g_return_val_if_fail (self, NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  for (unsigned flag = 1; flag <= LIG_DISTURBANCE_SPREAD; flag <<= 1) {
    g_autofree char *clause =
      self->disturbances & flag ? describe (self, (LigDisturbance) flag) : NULL;
    if (clause)
      g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "", clause);
  }
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}
