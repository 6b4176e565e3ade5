/* SPDX-License-Identifier: MIT */
/* The reductions of gradients over ranks. */
#pragma once

#include "engine/graph/graph.h"

/* After the backward pass is scheduled: if the device belongs to several ranks, adds the steps that
 * average the gradients over them. */
void lig_schedule_reductions (LigGraph *graph);

/* Does the same for amaxes: appends the step that gives all ranks the largest amaxes, which differ
 * if each rank quantizes its own rows; scales and histories are equal on all ranks and not
 * changed. */
void lig_reduce_amaxes (LigGraph *graph, int quantizers);

/* Appends the steps of the update that sum gradients of which each rank of a tensor-parallel group
 * has a term, among those that this rank updates. */
void lig_reduce_summed (LigGraph *graph);

/* Appends the step of the update that gives each rank of a group the norms of all. */
void lig_gather_norms (LigGraph *graph, int norm, int norms, LigRankGroup group);

/* Appends the step of the update that gives all replicas the parameters that the others updated; it
 * overlaps the steps after it. */
void lig_gather_parameters (LigGraph *graph, const LigShare *share);
