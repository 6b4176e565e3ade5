/* SPDX-License-Identifier: MIT */
/* The errors of the CUDA runtime after which a process has lost its device. Plain C, by number:
 * some of the names are newer than the oldest supported runtime. */
#pragma once

#include <stdbool.h>

/* Returns whether the runtime will return the same error from every later call until the process
 * ends. */
static inline bool
lig_cuda_is_lost (int error)
{
  switch (error) {
  case 46:  /* DevicesUnavailable */
  case 214: /* ECCUncorrectable */
  case 220: /* NvlinkUncorrectable */
  case 226: /* Contained */
  case 700: /* IllegalAddress */
  case 702: /* LaunchTimeout */
  case 709: /* ContextIsDestroyed */
  case 710: /* Assert */
  case 714: /* HardwareStackError */
  case 715: /* IllegalInstruction */
  case 716: /* MisalignedAddress */
  case 717: /* InvalidAddressSpace */
  case 718: /* InvalidPc */
  case 719: /* LaunchFailure */
  case 721: /* TensorMemoryLeak */
  case 810: /* MpsClientTerminated */
  case 911: /* ExternalDevice */
    return true;
  default:
    return false;
  }
}
