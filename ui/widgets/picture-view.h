/* SPDX-License-Identifier: MIT */
/* A widget that shows a picture of engine/include/ligature/canvas.h: marks have tooltips, the arrow
 * keys move through the marks, and the picture can be copied and saved.
 *
 * Actions: picture.export-png, picture.export-svg, picture.export-pdf; picture.export-to with a
 * file; picture.copy; picture.menu. */
#pragma once

#include <ligature/canvas.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_PICTURE_VIEW (lig_picture_view_get_type ())
G_DECLARE_FINAL_TYPE (LigPictureView, lig_picture_view, LIG, PICTURE_VIEW, GtkWidget)

typedef void (*LigPictureDraw) (
  LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data);

/* Returns the height that the picture needs. */
typedef double (*LigPictureHeight) (gpointer data);

/**
 * lig_picture_view_new:
 * @label: its description, translated: `Time of each group`
 *
 * Property `mark-text`: of the mark under the pointer, else of the keyboard's mark; null: none.
 * Signal `activated` with the number of a mark: Return, or a double click on it.
 */
GtkWidget *lig_picture_view_new (const char *label, const char *name);

/**
 * lig_picture_view_set_picture:
 * @draw: (nullable): null: nothing is shown
 * @height: (nullable): null: @min
 * @min: the minimum height in pixels
 * @data: kept until another picture is set, then freed
 */
void lig_picture_view_set_picture (LigPictureView *self,
                                   LigPictureDraw draw,
                                   LigPictureHeight height,
                                   double min,
                                   gpointer data,
                                   GDestroyNotify free_data);

/* Draws the picture again, because its data changed. */
void lig_picture_view_redraw (LigPictureView *self);

/* Returns the picture's marks, in the order of the arrow keys. */
const LigMark *lig_picture_view_get_marks (LigPictureView *self, guint *count);

/* Get or set the keyboard's mark; -1: none. */
int lig_picture_view_get_mark (LigPictureView *self);
void lig_picture_view_set_mark (LigPictureView *self, int mark);

/* Returns a card around the picture: heading, a line for the mark, and a menu. */
GtkWidget *lig_picture_view_wrap (LigPictureView *self, const char *title, const char *subtitle);

G_END_DECLS
