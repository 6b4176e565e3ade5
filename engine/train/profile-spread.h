/* SPDX-License-Identifier: MIT */
/* Records the spreads of a profile. */
#pragma once

#include <ligature/profile.h>

G_BEGIN_DECLS

/* Records the spread of each pass of the plan, and of the step, with the profile's run. */
gboolean lig_profile_record_spreads (const LigProfile *self, LigStore *store, GError **error);

G_END_DECLS
