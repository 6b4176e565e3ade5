/* SPDX-License-Identifier: MIT */
/* The objects that the parts of a window share. Each part, window-*.c, is given this and the
 * callbacks that it needs; it includes neither the window nor another part that uses it. Only
 * window.c knows all of them. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Valid until the window is finalized: a task that holds a reference to the window may use it. */
typedef struct {
  GtkWindow *window; /* the parent of dialogs; it has the actions `win.…` */
  LigSession *session;
  LigDocument *document; /* null once the window is disposed of */
  AdwViewStack *stack;
  GtkWidget *toasts;
  GCancellable *cancellable; /* for tasks that end with the window */
} LigWindowShared;

void
lig_window_shared_set_enabled (const LigWindowShared *self, const char *action, gboolean enabled);

/* Calls @callback with @part as its first argument, for as long as the window exists. */
void lig_window_shared_connect (const LigWindowShared *self,
                                gpointer instance,
                                const char *signal,
                                GCallback callback,
                                gpointer part);

/* Emits the window's signal `stayed`: the user chose not to close it. */
void lig_window_shared_stay (const LigWindowShared *self);

/* Shows a chooser, which it takes ownership of, and calls back with the path of each chosen file.
 */
typedef void (*LigPathCallback) (gpointer part, const char *path);
void lig_window_shared_choose_file (const LigWindowShared *self,
                                    GtkNativeDialog *chooser,
                                    LigPathCallback callback,
                                    gpointer part);

G_END_DECLS
