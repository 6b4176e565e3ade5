/* SPDX-License-Identifier: MIT */
/* What a compilation measures on a device, told to whoever began it: the engine has one monitor for
 * all threads, this has one for each. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Called on the thread that compiles, with a few words on what is measured next. */
typedef void (*LigMeasuringFunc) (gpointer data, const char *what);

/* For compilations of this thread from now on; null: nobody listens. */
void lig_measuring_listen (LigMeasuringFunc func, gpointer data);

G_END_DECLS
