/* SPDX-License-Identifier: MIT */
/* `lig ops`: the fusions of an op, and a fusion. */
#pragma once

#include <json-glib/json-glib.h>
#include <ligature/plan.h>

/* Prints the fusions that contain the op, by pass. */
void lig_ops_print_fusions (const LigOpInfo *info);

/* Adds a fusion as an object: its name, pass, summary and pattern. */
void lig_ops_add_fusion (JsonBuilder *to, const LigFusion *fusion);

/* Adds the fusions of the op as the array `fusions`. */
void lig_ops_add_fusions (JsonBuilder *to, const LigOpInfo *info);

/* Prints a fusion: its pattern, its ops, and its kernels next to the unfused ones. */
void lig_ops_show_fusion (const LigFusion *fusion);
