/* SPDX-License-Identifier: MIT */
/* The private parts of a program: the memory, launches and events of a running plan. */
#pragma once

#include "engine/plan/plan-private.h"
#include "engine/program/feed.h"
#include "engine/program/results.h"
#include "engine/state/state.h"
#include "engine/steps/steps.h"
#include <ligature/cache.h>
#include <ligature/program.h>

/* Called after each step of a run, when all lanes have ended. Returns FALSE with the error set to
 * end the run. */
typedef gboolean (*LigProgramObserver) (LigProgram *self, int step, gpointer data, GError **error);

/* The gradient of an output, which the caller provides. */
typedef struct {
  int value;
  gboolean fresh; /* set, and not yet read by a backward pass */
  gboolean stale; /* read by a backward pass, to be cleared before the next */
} LigOutputGradient;

/* A range of steps between opaque ones, captured for one combination of accumulate and partial. */
typedef struct {
  int first, end;
  gboolean accumulate, partial;
  void *graph; /* null: launched only once so far */
} LigCapture;

struct _LigProgram {
  int count; /* of references, atomic */
  LigPlan *plan;
  LigState *state;
  LigDevice *device; /* (unowned) the state's; the plan's may be another object for it */

  LigCache *cache; /* (nullable): of a plan with one */
  char *arena;
  LigTick *tick;     /* in device memory */
  LigTimer *waiting; /* in device memory: how long the main lane waited for other ranks; or null */
  LigTimer *waits;   /* in device memory: the same for each step; null unless waits are itemized */
  LigTick sent, now; /* the tick in device memory, and the one that the next step needs */
  GPtrArray *replaced;           /* (nullable): device memory that steps read instead of values */
  void *workspaces[LIG_N_LANES]; /* null for a lane without steps */
  LigSteps *run;                 /* launches with their pointers */
  GHashTable *feeds;             /* value -> LigFeed */
  GArray *captures;              /* of LigCapture */
  LigProgramResult *results;     /* LIG_PROGRAM_RESULT_SLOTS in host memory */
  void *arrived[LIG_PROGRAM_RESULT_SLOTS]; /* events */
  GArray *watched;                         /* (nullable): of int: values that results contain */
  float *numbers;                          /* in host memory, of each slot those of all of them */

  GArray *output_gradients; /* of LigOutputGradient */
  gboolean keeps_gradients; /* they remain set for all backward passes */
  GHashTable *awaited;      /* inputs that were not set yet */
  gboolean has_rate;
  guint64 converted; /* version of the parameters that are converted; 0: none */
  unsigned done;     /* passes whose results are available, as LigRunFlags */
  LigProgramInterrupt interrupt;
  gpointer interrupt_data;
  gboolean interrupted; /* the current run was; only its collectives continue, if there are ranks */
  LigProgramObserver observer;
  gpointer observer_data;
};

/* Gives the program memory and pointers into the state; lig_program_unbind() frees them. */
gboolean lig_program_bind (LigProgram *self, GError **error);
void lig_program_unbind (LigProgram *self);

/* Returns the address of a value, or null if it has no memory. */
void *lig_program_address (LigProgram *self, int value);

/* Makes all steps read other data than a value, which is still computed. Called before the program
 * runs. */
gboolean
lig_program_replace (LigProgram *self, int value, const void *data, gsize bytes, GError **error);

/* Returns whether all ops that read an input of the caller accept its integers. */
gboolean
lig_program_check_range (LigProgram *self, int value, const LigTensor *tensor, GError **error);

/* Sets a gradient to zero, or to 1 for a loss. */
gboolean lig_program_preset_gradient (LigProgram *self, int value, GError **error);

/* Returns whether all inputs were set. */
gboolean lig_program_check_inputs (LigProgram *self, GError **error);

/* Makes runs go step by step, so that an observer can read the output of each step before its
 * memory is reused; null: no observer. Run the program once first: GPU kernels choose their
 * algorithms in the first run. */
void lig_program_observe (LigProgram *self, LigProgramObserver observer, gpointer data);

/* Launches one step by itself. */
gboolean lig_program_run_step (LigProgram *self, int index, GError **error);

/* Returns the address of bytes of a cache. */
void *lig_cache_address (LigCache *self, gint64 offset);

/* Checks that the cache has the arrays that the plan expects. */
gboolean lig_cache_check (LigCache *self, LigPlan *plan, GError **error);
