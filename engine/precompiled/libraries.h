/* SPDX-License-Identifier: MIT */
/* The headers of other libraries that most files of the engine read, compiled once for each
 * library. Files include what they use nevertheless: a compiler may do without this one. */
#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>
