/* SPDX-License-Identifier: MIT */
/* The insides of a state, for the files that implement it. */
#pragma once

#include "engine/device/device-private.h"
#include "engine/plan/state-private.h"

/* A parameter, in op order. */
typedef struct {
  char *path;
  LigShape shape, whole; /* of this rank's part, and of all ranks' */
  LigParameterSharding sharding;
  gint64 offset, size;
  gint64 stored; /* offset into the array of parameters; -1: only its fp32 master is kept */
  gboolean trained;
} LigStateParameter;

struct _LigState {
  GObject parent_instance;
  LigDevice *device;
  guint64 seed, micro_step, step;
  LigDtype dtype, gradient_dtype;
  GArray *parameters;                 /* of LigStateParameter, in op order */
  GPtrArray *paths;                   /* null-terminated */
  gint64 elements, trained;           /* of all parameters, and of the trained ones */
  gint64 stored;                      /* of the array of parameters */
  gint64 kept;                        /* of the optimizer's arrays */
  GArray *shares;                     /* of LigShare: the elements that those have; empty: all */
  gboolean updated;                   /* a plan updates the masters, or they were set */
  guint64 version;                    /* of the parameters */
  gint64 vocabulary;                  /* rows that loaded weights had of a longer one; 0: all */
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

/* Returns whether weights are kept in fp8 alone; the state then has masters from the beginning. */
gboolean lig_state_hides (const LigState *self);

/* Allocates an array, unless it exists. */
gboolean lig_state_ensure_array (LigState *self, LigStateArray array, GError **error);

/* Returns the parameter with a path; null with LIG_ERROR_INDEX set. */
const LigStateParameter *lig_state_find (LigState *self, const char *path, GError **error);
