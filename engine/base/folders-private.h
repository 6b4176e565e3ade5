/* SPDX-License-Identifier: MIT */
/* The folders of backend modules. */
#pragma once

#include <ligature/error.h>

/* Returns the build folder of the library or program that contains this code (static), or null if
 * it is not in one, for example when installed. */
const char *lig_build_folder (void);

/* Returns the folder in which backend modules are installed (static). */
const char *lig_module_folder (void);

/* Returns (transfer full) the folders of shipped files in search order: `$LIGATURE_DATA` if it is
 * set, the source tree's if the library is in its build folder, and the installed one. */
GStrv lig_data_folders (void);
