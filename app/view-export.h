/* SPDX-License-Identifier: MIT */
/* The actions of a view that give its document away: a report, and the same as a command. */
#pragma once

#include "app/view-shared.h"

G_BEGIN_DECLS

void lig_view_export_add_actions (const LigViewShared *shared);

G_END_DECLS
