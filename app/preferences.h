/* SPDX-License-Identifier: MIT */
/* The preferences: theme, store, and the device and policy of new documents. */
#pragma once

#include "ui/session/session.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_PREFERENCES (lig_preferences_get_type ())
G_DECLARE_FINAL_TYPE (LigPreferences, lig_preferences, LIG, PREFERENCES, AdwPreferencesWindow)

GtkWidget *lig_preferences_new (LigSession *session);

G_END_DECLS
