/* SPDX-License-Identifier: MIT */
/* Tasks in threads. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Like g_task_run_in_thread(), but only the main loop frees the source. GTask drops its source on
 * the thread that releases the last reference: a widget would be freed there while the main loop
 * draws. */
void lig_task_run (GTask *task, GTaskThreadFunc work);

G_END_DECLS
