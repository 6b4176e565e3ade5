/* SPDX-License-Identifier: MIT */
/* An op in `lig ops`. */
#pragma once

#include <json-glib/json-glib.h>
#include <ligature/op.h>

G_BEGIN_DECLS

/* Adds an op as an object. */
void lig_ops_add (JsonBuilder *to, const LigOpInfo *info);

/* Prints an op: its ports, parameters and kernels, and the fusions that contain it. */
void lig_ops_show (const LigOpInfo *info);

G_END_DECLS
