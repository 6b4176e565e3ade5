/* SPDX-License-Identifier: MIT */
/* The inside of a sweep, shared by its files. */
#pragma once

#include <ligature/sweep.h>

struct _LigSweep {
  GObject parent_instance;
  LigSequence *sequence;
  LigRunSettings settings;
  LigStore *store;
  char *uuid, *name, *device, *init;
  int ranks;
  char *parallel; /* (nullable): the layout of several ranks */
  GArray *axes;   /* LigSweepAxis */
  GArray *points; /* LigSweepPoint; empty until the sweep begins */
};

/* Sets the value of one axis in settings or in a sequence. */
gboolean lig_sweep_apply (const char *key,
                          const char *value,
                          LigSequence *sequence,
                          LigRunSettings *settings,
                          GError **error);

/* Returns the sequence of a point, (transfer full), and fills in its settings, which the caller
 * clears in either case; NULL with an error set. */
LigSequence *
lig_sweep_resolve (LigSweep *self, GStrv values, LigRunSettings *settings, GError **error);

/* Makes all points from the axes and checks them. */
gboolean lig_sweep_expand (LigSweep *self, GError **error);

/* Appends an axis; takes the values. */
gboolean
lig_sweep_take_axis (LigSweep *self, const char *key, GStrv values, guint with, GError **error);

/* Returns whether two points differ in nothing but the seed. */
gboolean lig_sweep_is_alike (LigSweep *self, const LigSweepPoint *a, const LigSweepPoint *b);

/* Returns the loss by which points are compared, NaN without a result; sets whether it is that of
 * the validation data. */
double lig_sweep_get_score (const LigSweepPoint *point, gboolean *validation);
