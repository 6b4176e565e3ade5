/* SPDX-License-Identifier: MIT */
/* Previews by pointer and keyboard: resting the pointer on a widget, or pressing Space on it,
 * previews the widget's effect. */
#pragma once

#include "ui/document/preview.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * LigPreviewTrial: filled in by a #LigPreviewTrialFunc, as lig_document_preview() takes it.
 *
 * @sequence: (transfer full) (nullable): an edited copy
 * @device: (nullable): the name of another device
 * @policy: the document's own at first
 * @label: (transfer full): of the edit, translated
 */
typedef struct {
  LigSequence *sequence;
  char *device;
  LigPolicy policy;
  char *label;
} LigPreviewTrial;

/* Returns FALSE if there is nothing to preview now. */
typedef gboolean (*LigPreviewTrialFunc) (GtkWidget *widget,
                                         LigDocument *document,
                                         LigPreviewTrial *trial,
                                         gpointer data);

/**
 * lig_preview_hook:
 * @document: kept by the widget
 * @make: called when the pointer has rested, or on Space
 * @data: for @make, freed with the widget
 *
 * The preview ends when the pointer or the focus leaves, when the widget is hidden, and on Escape.
 * Space reaches the widget only if there is nothing to preview; Enter always does.
 */
void lig_preview_hook (GtkWidget *widget,
                       LigDocument *document,
                       LigPreviewTrialFunc make,
                       gpointer data,
                       GDestroyNotify free);

/* Removes the hook, so that the widget no longer keeps the document alive; does nothing without
 * one. */
void lig_preview_unhook (GtkWidget *widget);

/* Returns whether the widget has a hook. */
gboolean lig_preview_is_hooked (GtkWidget *widget);

G_END_DECLS
