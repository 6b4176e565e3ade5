/* SPDX-License-Identifier: MIT */
/* Parameters: those of each op, those that ops share, and those that are frozen. */
#pragma once

#include "engine/graph/graph.h"

/* Adds a parameter of a part to the graph and returns its number. */
int lig_add_parameter (LigGraph *graph, const LigTie *needed);

/* Makes tied ops use the parameters of the ops that they name, which may be later ones. */
gboolean lig_tie_parameters (LigGraph *graph, GError **error);

/* Freezes the parameters whose paths match the options' patterns. */
gboolean lig_freeze_parameters (LigGraph *graph, GError **error);
