/* SPDX-License-Identifier: MIT */
/* The headers that nearly each file of the window reads, compiled once for each library. Files
 * include what they use nevertheless: a compiler may do without this one. */
#include <adwaita.h>
#include <glib/gi18n.h>
