/* SPDX-License-Identifier: MIT */
/* The parameters of ops and recipes, as `lig ops` shows them. */
#pragma once

#include "app/cli/command.h"
#include <ligature/op.h>

/* A parameter and the heading that it is shown under, or NULL. */
typedef struct {
  const LigParam *param;
  const char *group;
} LigOpsParam;

/* Adds a parameter as an object. */
void lig_ops_add_param (JsonBuilder *to, const LigParam *param, const char *group);

/* Prints a table of parameters, grouped under their headings; nothing if there are none. */
void lig_ops_print_params (const LigOpsParam *params, guint count);
