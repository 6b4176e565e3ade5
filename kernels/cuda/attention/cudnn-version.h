/* SPDX-License-Identifier: MIT */
/* The cuDNN library that is used. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the opened library's version, 91900 for 9.19.0; 0, with the reason in `why`, if it is not
 * used. The path is empty if it is missing. */
size_t lig_cudnn_version (const char **why);
const char *lig_cudnn_path (void);

#ifdef __cplusplus
}
#endif
