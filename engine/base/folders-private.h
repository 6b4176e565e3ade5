/* SPDX-License-Identifier: MIT */
/* Where backends are installed that are opened at run time. */
#pragma once

#include <ligature/error.h>

const char *lig_module_folder (void);
