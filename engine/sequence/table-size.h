/* SPDX-License-Identifier: MIT */
/* The sizes of structs that embedding programs fill. */
#pragma once

#include <glib.h>

/* Returns whether a struct is large enough to contain the required fields. `remedy` is the name of
 * the macro to set: `LIG_OP_INFO_SIZES`. */
gboolean lig_table_check_size (
  const char *what, const char *remedy, gsize size, gsize min, int code, GError **error);
