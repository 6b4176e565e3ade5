/* SPDX-License-Identifier: MIT */
/* Who runs a run: a process that cannot be mistaken for a later one with the same number. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  const char *host;
  const char *boot; /* the boot id and the namespace of process numbers */
  gint64 pid;
  gint64 start; /* clock ticks since the boot */
} LigProcess;

/* This process; never freed. */
const LigProcess *lig_process_get_self (void);

/* Whether the process with this identity, which gave its last sign of life at `heartbeat`
 * (microseconds since 1970), no longer runs anything. */
gboolean lig_process_is_gone (const char *boot, gint64 pid, gint64 start, gint64 heartbeat);

G_END_DECLS
