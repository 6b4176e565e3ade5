/* SPDX-License-Identifier: MIT */
/* The identity of the process of a run, from /proc. */
#include "engine/store/process.h"

#include <string.h>
#include <unistd.h>

#define SILENCE (60 * G_USEC_PER_SEC)

/* Returns the start of a process in clock ticks since the boot, -1 if it does not run. */
static gint64
get_start (gint64 pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%" G_GINT64_FORMAT "/stat", pid);
  g_autofree char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return -1;
  /* The second field is the program's name in parentheses and may contain any characters, so count
   * from its end: field 3, the state, follows it, and the start is field 22. */
  const char *field = strrchr (text, ')');
  for (int i = 2; field && i < 22; i++)
    field = strchr (field + 1, ' ');
  /* A zombie has ended although its entry still exists. */
  const char *state = strrchr (text, ')');
  if (!field || !state || strncmp (state, ") Z", 3) == 0)
    return -1;
  return g_ascii_strtoll (field + 1, NULL, 10);
}

static gpointer
find_self (gpointer unused)
{
  static LigProcess self;
  g_autofree char *boot = NULL;
  g_autofree char *namespace = g_file_read_link ("/proc/self/ns/pid", NULL);
  if (g_file_get_contents ("/proc/sys/kernel/random/boot_id", &boot, NULL, NULL))
    g_strstrip (boot);
  self.host = g_strdup (g_get_host_name ());
  self.boot = g_strdup_printf ("%s %s", boot ? boot : "", namespace ? namespace : "");
  self.pid = getpid ();
  self.start = get_start (self.pid);
  return &self;
}

const LigProcess *
lig_process_get_self (void)
{
  static GOnce once = G_ONCE_INIT;
  return g_once (&once, find_self, NULL);
}

gboolean
lig_process_is_gone (const char *boot, gint64 pid, gint64 start, gint64 heartbeat)
{
  if (heartbeat < g_get_real_time () - SILENCE)
    return TRUE;
  return strcmp (boot, lig_process_get_self ()->boot) == 0 && get_start (pid) != start;
}
