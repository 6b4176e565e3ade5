/* SPDX-License-Identifier: MIT */
/* Notices: bars above the pages with information that the user may act upon, until they are
 * dismissed. Three notices are shown at a time, the others wait. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef void (*LigNoticeCallback) (gpointer data);

/**
 * LigNotice:
 * @text: copied
 * @labels: static texts of up to two buttons, null after the last
 * @keep: a pressed button leaves the notice shown; the callback removes it once its work is done
 * @data: of the callbacks, freed with @free_data
 */
typedef struct {
  GtkMessageType type;
  const char *text;
  const char *labels[2];
  LigNoticeCallback callbacks[2];
  gboolean keep;
  gpointer data;
  GDestroyNotify free_data;
} LigNotice;

typedef struct _LigNoticeBar LigNoticeBar;

/* The widgets belong to the window, which frees the bar before them. @box: the content of
 * @revealer, to which the bars are added */
LigNoticeBar *lig_notice_bar_new (GtkRevealer *revealer, GtkBox *box);
void lig_notice_bar_free (LigNoticeBar *self);

void lig_notice_bar_add (LigNoticeBar *self, const LigNotice *notice);

/* Removes the notices, shown or waiting, whose first button has that callback. Returns their
 * number. */
guint lig_notice_bar_remove (LigNoticeBar *self, LigNoticeCallback callback);

G_END_DECLS
