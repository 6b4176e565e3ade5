/* SPDX-License-Identifier: MIT */
/* Error reporting for kernels. */
#pragma once

#include <ligature/launch.h>

#define LIG_AT_(line) #line
#define LIG_AT(line) LIG_AT_ (line)

/* Sets the launch's `where` to this file, this line and `text`, which is a literal, and returns
 * `status`. */
#define LIG_FAIL(launch, status, text) \
  ((launch)->where = __FILE__ ":" LIG_AT (__LINE__) ": " text, (status))
