/* SPDX-License-Identifier: MIT */
/* A window's files: opening, the page that explains why a file cannot be opened, and saving. Files
 * are read and written on threads. */
#pragma once

#include "app/window-shared.h"

G_BEGIN_DECLS

typedef struct _LigWindowFiles LigWindowFiles;

/* @page and @place show an error: a page of the stack, and a label on it for line and path. */
LigWindowFiles *
lig_window_files_new (const LigWindowShared *shared, AdwStatusPage *page, GtkLabel *place);
void lig_window_files_free (LigWindowFiles *self);

/* Returns whether a file is being read or written. */
gboolean lig_window_files_is_busy (LigWindowFiles *self);

void lig_window_files_open (LigWindowFiles *self, GFile *file);

/* Saves under the document's path, or asks for one. @saved: (nullable): called once the file is
 * written. */
typedef void (*LigSavedCallback) (gpointer data);
void lig_window_files_save (LigWindowFiles *self, LigSavedCallback saved, gpointer data);

G_END_DECLS
