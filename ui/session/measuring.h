/* SPDX-License-Identifier: MIT */
/* Reports a compilation's measurements to the thread that started it: the engine has one monitor
 * for all threads, this has one per thread. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Called on the thread that compiles, with a few words on the next measurement. */
typedef void (*LigMeasuringFunc) (gpointer data, const char *what);

/* Sets the listener for compilations of this thread; null for none. */
void lig_measuring_listen (LigMeasuringFunc func, gpointer data);

G_END_DECLS
