/* SPDX-License-Identifier: MIT */
/* What op.c and registry.c share, and reading lists of port names. */
#pragma once

#include "engine/op.h"

/* Makes the GObject class of a table. */
GType lig_op_register_type (const LigOpInfo *info);

/* Names in a space-separated list; 0 for null. */
int lig_port_count (const char *names);

/* Position of `name` in the list, or -1. */
int lig_port_find (const char *names, const char *name);

/* Copies name `index` into `name` (at least 32 bytes). */
void lig_port_name (const char *names, int index, char *name);
