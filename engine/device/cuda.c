/* SPDX-License-Identifier: MIT */
/* NVIDIA GPUs; the module in kernels/cuda contains everything except this table. */
#include "engine/device/backend.h"

LIG_BACKEND_TABLE (cuda) = {
  .info = {.name = "cuda",
           .form = "cuda:N",
           .title = "CUDA",
           .traits = LIG_DEVICE_ACCELERATOR | LIG_DEVICE_ASYNCHRONOUS | LIG_DEVICE_STAGES |
                     LIG_DEVICE_CHOOSES | LIG_DEVICE_MEASURES},
  .kind = LIG_BACKEND_CUDA,
  .takes = LIG_TAKES_NUMBER,
  .driver = "libcuda.so.1",
  .maker = "NVIDIA",
};
