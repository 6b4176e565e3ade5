/* SPDX-License-Identifier: MIT */
/* The inside of pictures, shared by the files picture-*.c. */
#pragma once

#include "ui/widgets/picture-view.h"

G_BEGIN_DECLS

/* Returns the name of the picture's files, without an ending. */
const char *lig_picture_view_get_name (LigPictureView *self);

/* Returns the picture as it is shown, in a format of lig_draw_to_file(). */
GBytes *lig_picture_view_to_file (LigPictureView *self, const char *format, GError **error);

/* picture-file.c */
void lig_picture_view_install_files (GtkWidgetClass *class);

G_END_DECLS
