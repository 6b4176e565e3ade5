/* SPDX-License-Identifier: MIT */
/* Exports the weights of a run to a file that other programs read. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct _LigSession LigSession;

/* Asks for a file and writes the parameters of the run's last checkpoint, with `lig
 * export-weights`. A toast announces the result. @name: (nullable): of the run, for the name of the
 * file */
void lig_export_weights_choose (GtkWidget *widget,
                                LigSession *session,
                                const char *uuid,
                                const char *name);

/* Writes them to a path. */
void
lig_export_weights_to (GtkWidget *widget, LigSession *session, const char *uuid, const char *path);

G_END_DECLS
