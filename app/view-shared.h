/* SPDX-License-Identifier: MIT */
/* The objects that the parts of a document's view share. Each part, view-*.c, gets these and the
 * callbacks that it needs; it does not include the view or other parts that use it. Only
 * document-view.c knows all parts. */
#pragma once

#include "ui/page.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Valid until the view is finalized: a task that holds a reference to the view may use it. */
typedef struct {
  GtkWidget *view;     /* moves from window to window with its tab */
  GActionMap *actions; /* `win.…` of the view, and of the window while the view is selected */
  LigSession *session;
  LigDocument *document; /* null once the view is disposed of */
  AdwViewStack *stack;
  GtkWidget *toasts;
  GCancellable *cancellable; /* for tasks that end with the view */
} LigViewShared;

/* Returns: (nullable): the window that the view is in, the parent of dialogs. */
GtkWindow *lig_view_shared_get_window (const LigViewShared *self);

/* Returns: (nullable): the page that is shown; null while an error is shown, or before the page is
 * created. */
LigPage *lig_view_shared_get_page (const LigViewShared *self);

void lig_view_shared_set_enabled (const LigViewShared *self, const char *action, gboolean enabled);

/* Calls @callback with @part as its first argument, for as long as the view exists. */
void lig_view_shared_connect (const LigViewShared *self,
                              gpointer instance,
                              const char *signal,
                              GCallback callback,
                              gpointer part);

/* Emits the view's signal `answered`: whether the user allows closing the view. */
void lig_view_shared_answer (const LigViewShared *self, gboolean may_close);

/* Shows a chooser, which it takes ownership of, and calls back with the path of each chosen file.
 */
typedef void (*LigPathCallback) (gpointer part, const char *path);
void lig_view_shared_choose_file (const LigViewShared *self,
                                  GtkNativeDialog *chooser,
                                  LigPathCallback callback,
                                  gpointer part);

/* Names the buttons inside a widget that GTK does not name. */
void lig_name_buttons (GtkWidget *widget);

G_END_DECLS
