/* SPDX-License-Identifier: MIT */
/* The actions of a window that give its document away: a report, and the same as a command. */
#pragma once

#include "app/window-shared.h"

G_BEGIN_DECLS

void lig_window_export_add_actions (const LigWindowShared *shared);

G_END_DECLS
