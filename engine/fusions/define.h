/* SPDX-License-Identifier: MIT */
/* What the files of engine/fusions include: the fusion's table. */
#pragma once

#include <ligature/fusion.h>
#include <ligature/params.h>

#define N_(text) text

/* The table of a fusion: LIG_DEFINE_FUSION (forward_add_norm) = { … }; the name is the file's. */
#define LIG_DEFINE_FUSION(name) \
  extern const LigFusion lig_fusion_##name; \
  const LigFusion lig_fusion_##name
