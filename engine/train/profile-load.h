/* SPDX-License-Identifier: MIT */
/* The load of experts of a profile. */
#pragma once

#include "engine/program/fill.h"
#include <ligature/profile.h>

G_BEGIN_DECLS

/* Checks that a plan has the routers of the load, and fills in the program. @self: (nullable):
 * null: even */
gboolean lig_profile_load_fill (const LigProfileLoad *self, LigProgram *program, GError **error);

/* Returns (transfer full) (nullable) the name of the load for a plan; null if no op of the plan
 * distributes rows. */
char *lig_profile_load_name (const LigProfileLoad *self, LigPlan *plan);

G_END_DECLS
