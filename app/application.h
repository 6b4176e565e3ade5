/* SPDX-License-Identifier: MIT */
/* The application: one process, any number of windows, one session. */
#pragma once

#include "ui/session/session.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_APPLICATION_ID "org.ligature.Ligature"

#define LIG_TYPE_APPLICATION (lig_application_get_type ())
G_DECLARE_FINAL_TYPE (LigApplication, lig_application, LIG, APPLICATION, AdwApplication)

LigApplication *lig_application_new (void);

/* Shows the tab that has this .lig file open; otherwise opens it in a tab of the current window, or
 * of a new one. */
void lig_application_open_file (LigApplication *self, GFile *file);

G_END_DECLS
