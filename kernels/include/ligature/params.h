/* SPDX-License-Identifier: MIT */
/* Parameters of the built-in kernels: plain structs of at most LIG_MOST_PARAMS bytes that the plan
 * copies into each step and passes to the kernel as LigLaunch.params. A kernel that is launched
 * without them uses the defaults given in the families' headers. A kernel of another program uses
 * any such struct of its own.
 *
 * This header includes all families, for the convenience of other programs. The library itself
 * includes only the families that it needs, so that a changed struct rebuilds few files. */
#pragma once

#include <ligature/groups.h>
#include <ligature/loss-scaling.h>
#include <ligature/params-attention.h>
#include <ligature/params-collective.h>
#include <ligature/params-experts.h>
#include <ligature/params-gated.h>
#include <ligature/params-grouped.h>
#include <ligature/params-loss.h>
#include <ligature/params-matmul.h>
#include <ligature/params-norm.h>
#include <ligature/params-optimizer.h>
#include <ligature/params-positions.h>
#include <ligature/params-quantize.h>
#include <ligature/params-random.h>
#include <ligature/params-sinks.h>
#include <ligature/scales.h>
