/* SPDX-License-Identifier: MIT */
#include "app/connect.h"

void
lig_connect_part (
  gpointer owner, gpointer instance, const char *signal, GCallback callback, gpointer part)
{
  GClosure *closure = g_cclosure_new_swap (callback, part, NULL);
  g_object_watch_closure (G_OBJECT (owner), closure);
  g_signal_connect_closure (instance, signal, closure, FALSE);
}
