/* SPDX-License-Identifier: MIT */
/* Passes the engine's monitor calls to the listener of their thread. */
#include "ui/session/measuring.h"

#include <ligature/tuning.h>

typedef struct {
  LigMeasuringFunc func;
  gpointer data;
} Listener;

static GPrivate listener = G_PRIVATE_INIT (g_free);

static void
hand_on (const char *what, double seconds, double share)
{
  const Listener *mine = g_private_get (&listener);
  if (!mine)
    return;
  g_autofree char *text =
    share < 0 ? g_strdup (what) : g_strdup_printf ("%s · %.0f %%", what, 100 * share);
  mine->func (mine->data, text);
}

void
lig_measuring_listen (LigMeasuringFunc func, gpointer data)
{
  static gsize begun;
  if (g_once_init_enter (&begun)) {
    lig_tuning_set_monitor (hand_on);
    g_once_init_leave (&begun, 1);
  }
  Listener *mine = func ? g_new (Listener, 1) : NULL;
  if (mine)
    *mine = (Listener){func, data};
  g_private_replace (&listener, mine);
}
