/* SPDX-License-Identifier: MIT */
/* A drop-down list of the names of a parameter that is one of several. */
#pragma once

#include <gtk/gtk.h>
#include <ligature/op.h>

G_BEGIN_DECLS

GtkWidget *lig_choice_new (const LigParam *param);

/* Selects a name; null selects none. */
void lig_choice_set_name (GtkWidget *self, const LigParam *param, const char *name);

/* Returns: (nullable): the selected name */
const char *lig_choice_get_name (GtkWidget *self, const LigParam *param);

/* Returns the readable name. */
const char *lig_choice_describe (const char *name);

G_END_DECLS
