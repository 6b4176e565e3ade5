/* SPDX-License-Identifier: MIT */
/* Members of the JSON documents that commands print. A null text becomes null, and so does a number
 * that is not finite. */
#pragma once

#include <ligature/tensor.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

void lig_cli_add_text (JsonBuilder *to, const char *name, const char *value);
void lig_cli_add_integer (JsonBuilder *to, const char *name, gint64 value);
void lig_cli_add_number (JsonBuilder *to, const char *name, double value);
void lig_cli_add_truth (JsonBuilder *to, const char *name, gboolean value);

/* Begins a member that is an object or an array; the caller ends it. */
void lig_cli_begin_object (JsonBuilder *to, const char *name);
void lig_cli_begin_array (JsonBuilder *to, const char *name);

/* An array of lengths, and {"shape","dtype"}; without a name: as an element of an array. */
void lig_cli_add_shape (JsonBuilder *to, const char *name, const LigShape *shape);
void lig_cli_add_tensor (JsonBuilder *to, const char *name, const LigShape *shape, LigDtype dtype);

/* `5x12:fp32`; (transfer full). */
char *lig_cli_format_tensor (const LigShape *shape, LigDtype dtype);

G_END_DECLS
