/* SPDX-License-Identifier: MIT */
/* Checks texts. */
#pragma once

#include <glib.h>
#include <string.h>

static inline void
assert_contains (const char *text, const char *part)
{
  if (!strstr (text, part))
    g_error ("'%s' does not contain '%s'", text, part);
}
