/* SPDX-License-Identifier: MIT */
/* The table of a backend for AMD GPUs; the other code is in the module, kernels/rocm. */
#include "engine/device/backend.h"

LIG_BACKEND_TABLE (rocm) = {
  .info = {.name = "rocm", .form = "rocm:N", .title = "ROCm", .traits = LIG_DEVICE_ACCELERATOR},
  .kind = LIG_BACKEND_ROCM,
  .takes = LIG_TAKES_NUMBER,
  .driver = "libc.so.6", /* available on every machine, so that the module is opened */
  .maker = "AMD",
};
