/* SPDX-License-Identifier: MIT */
/* The private struct of a state, for the files that implement it. */
#pragma once

#include "engine/device/device-private.h"
#include "engine/state/state.h"

struct _LigState {
  GObject parent_instance;
  LigDevice *device;
  guint64 seed, micro_step, step;
  LigStateLayout *layout;
  LigDtype gradient_dtype; /* that of the first plan with gradients */
  GPtrArray *paths;        /* null-terminated */
  gboolean updated;        /* a plan updates the masters, or they were set */
  guint64 version;         /* of the parameters */
  gint64
    vocabulary; /* rows of the loaded weights if they had fewer than a longer parameter; 0: all */
  char *arrays[LIG_MAX_STATE_ARRAYS]; /* device memory */
  LigScaling *scaling;                /* in device memory */
  gboolean scaled;                    /* the gradients carry a loss scale */
  LigStateQuantizers *quantizers;     /* null: no recipe keeps scales */
  GArray *traits;                     /* of LigTrait: what config.json of other programs names */
  GHashTable *plans;                  /* key -> LigPlan */
  guint compiled;
};

/* Returns the type of an array. */
LigDtype lig_state_array_dtype (const LigState *self, LigStateArray array);

/* Returns whether weights are kept only in fp8; the state then always has masters. */
gboolean lig_state_hides (const LigState *self);

/* Allocates an array, unless it exists. */
gboolean lig_state_ensure_array (LigState *self, LigStateArray array, GError **error);

/* Returns the parameter with a path; null with LIG_ERROR_INDEX set. */
const LigParameter *lig_state_find (LigState *self, const char *path, GError **error);
