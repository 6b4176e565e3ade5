/* SPDX-License-Identifier: MIT */
/* The element types of a safetensors file. */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

typedef struct {
  const char *name; /* name in the header */
  gsize size;       /* bytes per element in the file */
  LigDtype dtype;   /* type in memory */
} LigFileType;

/* Return the file type in which a dtype is written, and the one that a header names; null for an
 * unknown name. */
const LigFileType *lig_file_type_of (LigDtype dtype);
const LigFileType *lig_file_type_find (const char *name);

/* Returns the names of all types as `F32, BF16 or I32`; (transfer full). */
char *lig_file_types_join (void);

G_END_DECLS
