/* SPDX-License-Identifier: MIT */
/* The value of a parameter that would remove an error. */
#pragma once

#include <ligature/error.h>

/* Returns (nullable) the parameter of the op at the error's path, and the value that would remove
 * the error; null if none is known. */
const char *lig_error_get_remedy (const GError *error, gint64 *value);

/* Sets it. Does nothing for an error of another domain. */
void lig_error_set_remedy (GError **error, const char *param, gint64 value);
