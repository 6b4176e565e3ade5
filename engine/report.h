/* SPDX-License-Identifier: MIT */
/* Plans and runs as documents: the same text in the window, on the command line and in files. */
#pragma once

#include "engine/plan.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/**
 * lig_plan_to_json:
 *
 * Returns: (transfer full): the document of `lig fuse --json`: ops, forward, backward, verdicts
 */
LIG_API JsonNode *lig_plan_to_json (LigPlan *self);

/**
 * lig_plan_to_rails:
 * @colour: with escape sequences of a terminal
 *
 * Returns: (transfer full): forward rail, ops and backward rail side by side, then what could be
 *   fused and why it is not
 */
LIG_API char *lig_plan_to_rails (LigPlan *self, gboolean colour);

G_END_DECLS
