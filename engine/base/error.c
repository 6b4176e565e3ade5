/* SPDX-License-Identifier: MIT */
/* The error domain of the engine and the words for its codes. */
#include <ligature/error.h>

G_DEFINE_QUARK (lig - error - quark, lig_error)

static const char *const names[] = {
  [LIG_ERROR_SHAPE] = "shape",   [LIG_ERROR_DTYPE] = "dtype",   [LIG_ERROR_MEMORY] = "memory",
  [LIG_ERROR_DEVICE] = "device", [LIG_ERROR_FORMAT] = "format", [LIG_ERROR_FILE] = "file",
  [LIG_ERROR_STORE] = "store",   [LIG_ERROR_RANKS] = "ranks",   [LIG_ERROR_CANCELLED] = "cancelled",
  [LIG_ERROR_OP] = "op",         [LIG_ERROR_VALUE] = "value",   [LIG_ERROR_CHANNEL] = "channel",
  [LIG_ERROR_FUSION] = "fusion", [LIG_ERROR_INDEX] = "index",   [LIG_ERROR_ORDER] = "order",
};

const char *
lig_error_code_name (const GError *error)
{
  if (error->domain == LIG_ERROR && error->code >= 0 && error->code < (int) G_N_ELEMENTS (names))
    return names[error->code];
  return "failed";
}
