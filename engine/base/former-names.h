/* SPDX-License-Identifier: MIT */
/* Former names, for the readers of what programs wrote. */
#pragma once

#include <ligature/former-names.h>

/* Returns the name that the thing with the current name had before; null if it had no other. */
const char *lig_former_name_get (LigFormerKind kind, const char *name);
