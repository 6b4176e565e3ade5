/* SPDX-License-Identifier: MIT */
/* Who made it, under which licence, and what to tell when something goes wrong. */
#pragma once

#include "ui/session/session.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* @parent: (nullable) */
void lig_about_show (GtkWindow *parent, LigSession *session);

G_END_DECLS
