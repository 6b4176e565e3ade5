/* SPDX-License-Identifier: MIT */
/* The request for a compilation; immutable once created. */
#pragma once

#include "engine/graph/options.h"
#include <ligature/device.h>
#include <ligature/plan-options.h>
#include <ligature/recipe.h>
#include <ligature/sequence.h>
#include <ligature/tuning.h>

typedef enum {
  LIG_REQUEST_APART = 1 << 0,     /* every op is unfused; no fusion is tried or forced */
  LIG_REQUEST_COMPARED = 1 << 1,  /* only its figures are used: values get no memory */
  LIG_REQUEST_UNCERTAIN = 1 << 2, /* the input's shape is a guess */
} LigRequestFlags;

typedef struct {
  LigSequence *sequence;   /* a copy that is not edited */
  guint64 serial, version; /* of the sequence that was given */
  LigDevice *device;
  LigPlanOptions options;
  LigTuning tuning;        /* the tuning table that the options point to */
  LigOptimizer *optimizer; /* the copy that the options point to; null: none */
  LigPolicy policy;
  LigShape input;
  LigDtype input_dtype, compute, parameter_dtype;
  LigDtype gradient_dtype; /* of parameters */
  gboolean fp8_parameters; /* weights of quantized matmuls are kept only in fp32 and fp8 */
  LigRecipe recipe;        /* of the sequence */
  gboolean apart, compared, uncertain_input; /* see LigRequestFlags */
  GStringChunk *strings;                     /* of the options */
} LigRequest;

/* Returns the type of an array of the state, a LigStateArray. */
LigDtype lig_request_array_dtype (const LigRequest *self, int array);

void lig_request_free (LigRequest *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRequest, lig_request_free)

/* Replaces LIG_RECOMPUTE_DEFAULT with the actual level. */
gboolean lig_recompute_resolve (LigSequence *sequence, LigRecompute *level, GError **error);

/* Returns whether the device supports the recipe. `own`: it is that of an op or a block. */
gboolean lig_recipe_check_on (LigDevice *on, const LigRecipe *recipe, gboolean own, GError **error);
