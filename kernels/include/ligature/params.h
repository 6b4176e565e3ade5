/* SPDX-License-Identifier: MIT */
/* Parameters of the built-in kernels: plain structs of at most LIG_MOST_PARAMS bytes that the plan
 * copies into each step and hands to the kernel as LigLaunch.params. A kernel that is launched
 * without them uses the defaults named in the families' headers. The struct of a kernel of one's
 * own is any other such struct.
 *
 * This header includes those of all families, for programs that launch kernels of many. The library
 * itself includes the families that it names, so that a changed struct rebuilds few files. */
#pragma once

#include <ligature/groups.h>
#include <ligature/loss-scaling.h>
#include <ligature/params-attention.h>
#include <ligature/params-collective.h>
#include <ligature/params-gated.h>
#include <ligature/params-loss.h>
#include <ligature/params-matmul.h>
#include <ligature/params-norm.h>
#include <ligature/params-optimizer.h>
#include <ligature/params-positions.h>
#include <ligature/params-quantize.h>
#include <ligature/params-random.h>
#include <ligature/scales.h>
