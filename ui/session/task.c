/* SPDX-License-Identifier: MIT */
#include "ui/session/task.h"

static gboolean
drop (gpointer object)
{
  g_object_unref (object);
  return G_SOURCE_REMOVE;
}

static void
drop_later (gpointer object)
{
  g_idle_add_full (G_PRIORITY_DEFAULT, drop, object, NULL);
}

void
lig_task_run (GTask *task, GTaskThreadFunc work)
{
  gpointer source = g_task_get_source_object (task);
  /* An object's data are freed after its finalize() has dropped the source. */
  if (source)
    g_object_set_data_full (G_OBJECT (task), "source", g_object_ref (source), drop_later);
  g_task_run_in_thread (task, work);
}
