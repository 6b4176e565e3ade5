/* SPDX-License-Identifier: MIT */
/* The export actions of a view: a report, and the equivalent command. */
#pragma once

#include "app/view-shared.h"

G_BEGIN_DECLS

void lig_view_export_add_actions (const LigViewShared *shared);

G_END_DECLS
