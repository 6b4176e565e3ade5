/* SPDX-License-Identifier: MIT */
/* Tasks in threads. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* As g_task_run_in_thread(), and its source is only freed by the main loop. GTask drops its source
 * on the thread that releases the last reference: a widget would be freed there while the main loop
 * draws. */
void lig_task_run (GTask *task, GTaskThreadFunc work);

G_END_DECLS
