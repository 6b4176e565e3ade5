/* SPDX-License-Identifier: MIT */
/* The actions of a window that give its document away: a report, and the same as a command. */
#pragma once

#include "app/window-context.h"

G_BEGIN_DECLS

void lig_window_export_add_actions (const LigWindowContext *context);

G_END_DECLS
