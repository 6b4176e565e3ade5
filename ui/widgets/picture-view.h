/* SPDX-License-Identifier: MIT */
/* A widget that shows a picture of engine/include/ligature/draw.h: what lies under the pointer says
 * what it is, the arrow keys walk through its marks, and it can be copied and saved as it is.
 *
 * Actions: picture.export-png, picture.export-svg, picture.export-pdf; picture.export-to with a
 * file; picture.copy; picture.menu.
 */
#pragma once

#include <ligature/draw.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_PICTURE_VIEW (lig_picture_view_get_type ())
G_DECLARE_FINAL_TYPE (LigPictureView, lig_picture_view, LIG, PICTURE_VIEW, GtkWidget)

typedef void (*LigPictureDraw) (
  LigCanvas *canvas, const LigInks *inks, double width, double height, gpointer data);

/* The height that the picture wants. */
typedef double (*LigPictureHeight) (gpointer data);

/**
 * lig_picture_view_new:
 * @label: what it shows, translated: `Time of each group`
 * @name: of a saved file, without its ending: `times`
 *
 * Property `mark-text`: of the mark under the pointer, else of that the keys are at; null: none.
 */
GtkWidget *lig_picture_view_new (const char *label, const char *name);

/**
 * lig_picture_view_set_picture:
 * @draw: (nullable): null: nothing is shown
 * @height: (nullable): null: @least
 * @least: pixels of height at least
 * @data: kept until another picture is set, then freed
 */
void lig_picture_view_set_picture (LigPictureView *self,
                                   LigPictureDraw draw,
                                   LigPictureHeight height,
                                   double least,
                                   gpointer data,
                                   GDestroyNotify free_data);

/* The picture's data changed. */
void lig_picture_view_redraw (LigPictureView *self);

/* Those of the picture as it is, in the order in which the keys go through them. */
const LigMark *lig_picture_view_get_marks (LigPictureView *self, guint *count);

/* -1: none. */
int lig_picture_view_get_mark (LigPictureView *self);
void lig_picture_view_set_mark (LigPictureView *self, int mark);

/* A card around it: heading, a line of what the keys are at, and a menu. */
GtkWidget *lig_picture_view_wrap (LigPictureView *self, const char *title, const char *subtitle);

G_END_DECLS
