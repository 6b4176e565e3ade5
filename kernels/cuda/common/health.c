/* SPDX-License-Identifier: MIT */
/* Clocks, power and throttling, from the driver's management library (NVML) if that is
 * available. */
#include "kernels/cuda/common/health.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The NVML functions in use; their names are a stable interface. */
typedef struct {
  int (*init) (void);
  int (*by_bus) (const char *bus, void **device);
  int (*clock) (void *device, unsigned kind, unsigned *megahertz);
  int (*power) (void *device, unsigned *milliwatts);
  int (*limit) (void *device, unsigned *milliwatts);
  int (*temperature) (void *device, unsigned sensor, unsigned *degrees);
  int (*reasons) (void *device, unsigned long long *bits);
  int (*utilization) (void *device, unsigned percent[2]); /* of kernels, of memory; may be null */
  int usable;
} Management;

static Management management;

/* Opens NVML; `usable` remains 0 if it is missing. */
static void
load (void)
{
  Management *m = &management;
  void *library = dlopen ("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return;
  *(void **) &m->init = dlsym (library, "nvmlInit_v2");
  *(void **) &m->by_bus = dlsym (library, "nvmlDeviceGetHandleByPciBusId_v2");
  *(void **) &m->clock = dlsym (library, "nvmlDeviceGetClockInfo");
  *(void **) &m->power = dlsym (library, "nvmlDeviceGetPowerUsage");
  *(void **) &m->limit = dlsym (library, "nvmlDeviceGetEnforcedPowerLimit");
  *(void **) &m->temperature = dlsym (library, "nvmlDeviceGetTemperature");
  *(void **) &m->reasons = dlsym (library, "nvmlDeviceGetCurrentClocksThrottleReasons");
  *(void **) &m->utilization = dlsym (library, "nvmlDeviceGetUtilizationRates");
  m->usable = m->init && m->by_bus && m->clock && m->power && m->limit && m->temperature &&
              m->reasons && m->init () == 0;
}

/* Names the reasons for reduced clocks, except for idle clocks and clocks set by an application. */
static void
name_reasons (unsigned long long bits, char *text, size_t size)
{
  static const struct {
    unsigned long long bit;
    const char *name;
  } names[] = {
    {0x04, "power cap"},        {0x08, "hardware slowdown"}, {0x20, "thermal"},
    {0x40, "hardware thermal"}, {0x80, "power brake"},
  };
  text[0] = '\0';
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (bits & names[i].bit)
      snprintf (text + strlen (text), size - strlen (text), "%s%s", *text ? ", " : "",
                names[i].name);
}

void
lig_cuda_health (LigBackendDevice *device, LigBackendHealth *health)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const Management *m = &management;
  char bus[32];
  void *handle;
  unsigned value, percent[2];
  unsigned long long bits;
  *health = (LigBackendHealth){-1, -1, -1, -1, -1, "", -1};
  pthread_once (&once, load);
  if (!m->usable || cudaDeviceGetPCIBusId (bus, sizeof bus, device->number) != cudaSuccess ||
      m->by_bus (bus, &handle) != 0)
    return;
  if (m->clock (handle, 1, &value) == 0)
    health->clock = value;
  if (m->clock (handle, 2, &value) == 0)
    health->memory_clock = value;
  if (m->power (handle, &value) == 0)
    health->power = value * 1e-3;
  if (m->limit (handle, &value) == 0)
    health->power_limit = value * 1e-3;
  if (m->temperature (handle, 0, &value) == 0)
    health->temperature = value;
  if (m->utilization && m->utilization (handle, percent) == 0)
    health->utilization = percent[0] * 1e-2;
  if (m->reasons (handle, &bits) == 0)
    name_reasons (bits, health->throttling, sizeof health->throttling);
}
