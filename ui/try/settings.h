/* SPDX-License-Identifier: MIT */
/* The settings of sampling: members of requests of `lig generate --lines`, options of the command.
 */
#pragma once

#include <gtk/gtk.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define LIG_TYPE_TRY_SETTINGS (lig_try_settings_get_type ())
G_DECLARE_FINAL_TYPE (LigTrySettings, lig_try_settings, LIG, TRY_SETTINGS, GtkBox)

/* Signal: `changed`. */
GtkWidget *lig_try_settings_new (void);

/* Returns how many continuations are wanted. */
guint lig_try_settings_get_copies (LigTrySettings *self);

/* Sets a setting by the name of its option, within its range. */
void lig_try_settings_set (LigTrySettings *self, const char *name, double value);
double lig_try_settings_get (LigTrySettings *self, const char *name);

/* Adds the members of a request. @copy: the number of the continuation, which draws from a seed of
 * its own */
void lig_try_settings_add_request (LigTrySettings *self, JsonBuilder *to, guint copy);

/* Appends the options that differ from the command's defaults. */
void lig_try_settings_append_options (LigTrySettings *self, GString *to);

G_END_DECLS
