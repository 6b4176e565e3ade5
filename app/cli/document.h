/* SPDX-License-Identifier: MIT */
/* Shapes and tensors in the JSON documents and the lines that commands print. */
#pragma once

#include <ligature/json-members.h>
#include <ligature/tensor.h>

G_BEGIN_DECLS

/* Add an array of lengths or an object {"shape","dtype"}, as a member or, without a name, as an
 * element of an array. */
void lig_cli_add_shape (JsonBuilder *to, const char *name, const LigShape *shape);
void lig_cli_add_tensor (JsonBuilder *to, const char *name, const LigShape *shape, LigDtype dtype);

/* Returns `5x12:fp32`; (transfer full). */
char *lig_cli_format_tensor (const LigShape *shape, LigDtype dtype);

G_END_DECLS
