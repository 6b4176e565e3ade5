/* SPDX-License-Identifier: MIT */
/* The inside of a window, shared by the files window*.c. */
#pragma once

#include "app/window.h"
#include "ui/page.h"

struct _LigWindow {
  AdwApplicationWindow parent_instance;
  LigSession *session;
  LigDocument *document;
  GCancellable *cancellable; /* of what still reads or writes when the window goes */

  AdwViewStack *stack;
  AdwWindowTitle *title;
  GMenu *history_section;
  GtkWidget *toasts;

  GtkRevealer *notice_revealer;
  GtkInfoBar *notice;
  GtkLabel *notice_label;
  GtkWidget *notice_buttons[2];
  GQueue *notices; /* of LigNotice; the first is shown */

  AdwStatusPage *error_page;
  GtkLabel *error_place;
  char *error_path, *error_text;

  AdwToast *undo_toast;
  gboolean reading, saving;
  gboolean close_after_saving;
  gboolean may_close; /* everything has been asked */
  guint pages_source;
};

/* --- Notices (window-notice.c) ------------------------------------------------------------- */

typedef void (*LigNoticeCallback) (LigWindow *self, gpointer data);

/* Up to two buttons; a label that is null ends them. @keep: the buttons leave the notice where it
 * is; the callback removes it when its work is done. */
typedef struct {
  GtkMessageType type;
  const char *text;      /* copied */
  const char *labels[2]; /* static */
  LigNoticeCallback callbacks[2];
  gboolean keep;
  gpointer data;
  GDestroyNotify free_data;
} LigNotice;

void lig_window_init_notices (LigWindow *self);
void lig_window_add_notice (LigWindow *self, const LigNotice *notice);
void lig_window_remove_notice (LigWindow *self);
void lig_window_clear_notices (LigWindow *self);

/* --- Files (window-files.c) ---------------------------------------------------------------- */

void lig_window_init_files (LigWindow *self);
void lig_window_init_recover (LigWindow *self);

/* Shows a chooser and calls back with a path, if one was chosen. @name: (nullable): to begin with,
 * of a file to be written. */
typedef void (*LigPathCallback) (LigWindow *self, const char *path, gpointer data);
void lig_window_choose_file (LigWindow *self,
                             GtkNativeDialog *chooser,
                             LigPathCallback callback,
                             gpointer data);

/* --- Closing (window-close.c) -------------------------------------------------------------- */

/* Goes on with closing once the document is saved or given up. */
void lig_window_go_on_closing (LigWindow *self);
gboolean lig_window_ask_to_close (GtkWindow *window);

/* `and_close`: once it is written. */
void lig_window_save (LigWindow *self, gboolean as, gboolean and_close);

/* --- Editing, exporting -------------------------------------------------------------------- */

void lig_window_init_edit (LigWindow *self);
void lig_window_update_edit (LigWindow *self);
void lig_window_init_export (LigWindow *self);
void lig_window_set_enabled (LigWindow *self, const char *action, gboolean enabled);
