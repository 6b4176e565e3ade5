/* SPDX-License-Identifier: MIT */
/* The identity of the process of a run; a later process with the same number has another
 * identity. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  const char *host;
  const char *boot; /* the boot id and the namespace of process numbers */
  gint64 pid;
  gint64 start; /* clock ticks since the boot */
} LigProcess;

/* Returns (transfer none) the identity of this process. */
const LigProcess *lig_process_get_self (void);

/* Returns whether the process with this identity no longer runs, as far as is known: its last
 * heartbeat (microseconds since 1970) is too old, or the process has ended on this machine. */
gboolean lig_process_is_gone (const char *boot, gint64 pid, gint64 start, gint64 heartbeat);

G_END_DECLS
