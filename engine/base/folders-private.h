/* SPDX-License-Identifier: MIT */
/* The folder of backend modules. */
#pragma once

#include <ligature/error.h>

/* Returns the folder in which backend modules are installed (static). */
const char *lig_module_folder (void);
