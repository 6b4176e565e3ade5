/* SPDX-License-Identifier: MIT */
/* Declarations for the files of engine/fusions: the fusion's table. */
#pragma once

#include <ligature/fusion.h>
#include <ligature/params.h>

#define N_(text) text

/* Defines the table of a fusion: LIG_DEFINE_FUSION (forward_add_norm) = { … }; the name is that of
 * the file, with `_` for `-`. */
#define LIG_DEFINE_FUSION(name) \
  extern const LigFusion lig_fusion_##name; \
  const LigFusion lig_fusion_##name
