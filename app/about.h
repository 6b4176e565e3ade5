/* SPDX-License-Identifier: MIT */
/* The About window: authors, licence, and debugging information. */
#pragma once

#include "ui/session/session.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* @parent: (nullable) */
void lig_about_show (GtkWindow *parent, LigSession *session);

G_END_DECLS
