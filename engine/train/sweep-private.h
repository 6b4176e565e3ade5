/* SPDX-License-Identifier: MIT */
/* The internals of a sweep, shared by its files. */
#pragma once

#include <ligature/sweep.h>

struct _LigSweep {
  GObject parent_instance;
  LigSequence *sequence;
  LigRunSettings settings;
  LigStore *store;
  char *uuid, *name, *device, *init;
  int ranks;
  char *parallel; /* (nullable): the parallelism of several ranks */
  GArray *axes;   /* LigSweepAxis */
  GArray *points; /* LigSweepPoint; empty until the sweep begins */
};

/* Sets the value of one axis in settings or in a sequence. */
gboolean lig_sweep_apply (const char *key,
                          const char *value,
                          LigSequence *sequence,
                          LigRunSettings *settings,
                          GError **error);

/* Returns the sequence of a point (transfer full), or NULL with an error set. Fills in its
 * settings, which the caller clears in either case. */
LigSequence *
lig_sweep_resolve (LigSweep *self, GStrv values, LigRunSettings *settings, GError **error);

/* Makes and checks all points of the axes. */
gboolean lig_sweep_expand (LigSweep *self, GError **error);

/* Appends an axis; takes ownership of the values. */
gboolean
lig_sweep_take_axis (LigSweep *self, const char *key, GStrv values, guint with, GError **error);

/* Returns whether two points differ only in the seed. */
gboolean lig_sweep_is_alike (LigSweep *self, const LigSweepPoint *a, const LigSweepPoint *b);

/* Returns the loss by which points are compared, NaN without a result; sets whether it is the
 * validation loss. */
double lig_sweep_get_score (const LigSweepPoint *point, gboolean *validation);
