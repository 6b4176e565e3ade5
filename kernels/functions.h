/* SPDX-License-Identifier: MIT */
/* The numbers of the activations and gated units of kernels/activations.h, with which kernels that
 * serve all of them select one. */
#pragma once

#include "kernels/activations.h"

typedef enum {
#define LIG_NUMBER(name, ...) LIG_FUNCTION_##name,
  LIG_EACH_ACTIVATION (LIG_NUMBER)
#undef LIG_NUMBER
    LIG_N_ACTIVATIONS
} LigActivationNumber;

typedef enum {
#define LIG_NUMBER(name, ...) LIG_FUNCTION_##name,
  LIG_EACH_GATED (LIG_NUMBER) LIG_EACH_GATED_WITH_PARAMS (LIG_NUMBER)
#undef LIG_NUMBER
    LIG_N_GATED
} LigGatedNumber;

/* The names of the unfused kernels that compute them. */
#define LIG_NAME(name, ...) #name,
#define LIG_ACTIVATION_NAMES \
  { \
    LIG_EACH_ACTIVATION (LIG_NAME) \
  }
#define LIG_GATED_NAMES \
  { \
    LIG_EACH_GATED (LIG_NAME) LIG_EACH_GATED_WITH_PARAMS (LIG_NAME) \
  }
