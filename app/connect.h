/* SPDX-License-Identifier: MIT */
/* Signals for parts that are not GObjects. */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/* Calls @callback with @part as its first argument, for as long as @owner exists. */
void lig_connect_part (
  gpointer owner, gpointer instance, const char *signal, GCallback callback, gpointer part);

G_END_DECLS
