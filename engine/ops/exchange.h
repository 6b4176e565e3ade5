/* SPDX-License-Identifier: MIT */
/* The exchange of rows between ranks that share the experts: dispatch and combine, each the other's
 * gradient. */
#pragma once

#include "engine/ops/experts.h"
/* Emits the all-to-all of pieces of equal size between the ranks of the params. */
void
lig_lower_all_to_all (LigLowering *lowering, const LigExchangeParams *params, const char *bindings);

/* Emits the kernels that copy rows of `from` to the pieces for other ranks, at the places of the
 * port `sent`, exchange the pieces, and copy the rows that arrive to `to`, from the places of the
 * port `received`; in combine and in gradients these ports are the other way round. */
void lig_lower_exchange (LigLowering *lowering,
                         const LigExchangeParams *params,
                         const char *from,
                         const char *sent,
                         const char *received,
                         const char *to);
