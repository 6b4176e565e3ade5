/* SPDX-License-Identifier: MIT */
/* The files that were open when the program last ended, which the next start opens again. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct _LigOpenFiles LigOpenFiles;

/* @settings: with the keys `open-files`, `shown-file` and `reopen`; both objects outlive it */
LigOpenFiles *lig_open_files_new (GtkApplication *application, GSettings *settings);
void lig_open_files_free (LigOpenFiles *self);

/* Notes soon which files the windows show. Without a window, the last note stays. */
void lig_open_files_note (LigOpenFiles *self);

/* Stops noting while all windows are being closed, so that the next start finds all of them. */
void lig_open_files_set_quitting (LigOpenFiles *self, gboolean quitting);

/* Returns: (transfer full): the noted files that still exist, the one that was shown last in the
 *   end; empty if the user does not want them. */
GPtrArray *lig_open_files_list (LigOpenFiles *self);

G_END_DECLS
