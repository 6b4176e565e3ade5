/* SPDX-License-Identifier: MIT */
/* A module with one device: the CPU under another name. */
#include "kernels/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct LigBackendDevice {
  int number;
};

static int
count (char *why, size_t size)
{
  (void) why;
  (void) size;
  return 1;
}

static LigStatus
open_device (int number, LigBackendDevice **device, char *why, size_t size)
{
  *device = number == 0 ? calloc (1, sizeof **device) : NULL;
  if (!*device)
    snprintf (why, size, "there is 1 GPU, number 0");
  return *device ? LIG_OK : LIG_FAILED;
}

static void
close_device (LigBackendDevice *device)
{
  free (device);
}

static void
describe (LigBackendDevice *device, LigBackendFacts *facts)
{
  (void) device;
  memset (facts, 0, sizeof *facts);
  snprintf (facts->name, sizeof facts->name, "AMD Example");
  facts->capability = 94;
  facts->multiprocessors = 1;
  facts->memory = 1 << 30;
}

LIG_API const LigBackend *lig_backend (void);

const LigBackend *
lig_backend (void)
{
  static LigBackend backend;
  enum {
#define LIG_EACH(name, signature, work) INDEX_##name,
#include "kernels/kernel-list.h"
#undef LIG_EACH
    N_FUNCTIONS
  };
  backend = *lig_host_backend ();
  backend.n_functions = N_FUNCTIONS;
  backend.functions = lig_cpu_functions ();
  backend.count = count;
  backend.open = open_device;
  backend.close = close_device;
  backend.describe = describe;
  return &backend;
}
