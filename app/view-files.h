/* SPDX-License-Identifier: MIT */
/* A view's file: opening, the page that explains why a file cannot be opened, and saving. Files
 * are read and written on threads. */
#pragma once

#include "app/view-shared.h"

G_BEGIN_DECLS

typedef struct _LigViewFiles LigViewFiles;

/* @page and @place show an error: a page of the stack, and a label on it for line and path. */
LigViewFiles *
lig_view_files_new (const LigViewShared *shared, AdwStatusPage *page, GtkLabel *place);
void lig_view_files_free (LigViewFiles *self);

/* Returns whether a file is being read or written. */
gboolean lig_view_files_is_busy (LigViewFiles *self);

/* Returns whether the document belongs to this file, or is being read from it. */
gboolean lig_view_files_has (LigViewFiles *self, const char *path);

void lig_view_files_open (LigViewFiles *self, GFile *file);

/* Saves under the document's path, or asks for one. @saved: (nullable): called once the file is
 * written. */
typedef void (*LigSavedCallback) (gpointer data);
void lig_view_files_save (LigViewFiles *self, LigSavedCallback saved, gpointer data);

G_END_DECLS
