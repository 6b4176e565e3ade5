/* SPDX-License-Identifier: MIT */
/* Headers that nearly every file of the window includes, precompiled once for each library. Files
 * still include the headers that they use, because a compiler may not support this. */
#include <adwaita.h>
#include <glib/gi18n.h>
