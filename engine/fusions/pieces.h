/* SPDX-License-Identifier: MIT */
/* Parts shared by the fusions of a matmul and the collective of its rows. */
#pragma once

#include "engine/fusions/define.h"
#include <ligature/params-collective.h>

/* Each rank of a group has a piece of the rows; one piece is communicated while another one is
 * multiplied (Wang and others, 2022, Overlap Communication with Dependent Computation via
 * Decomposition). */
typedef struct {
  LigCollectiveParams params;
  int count, rank; /* of the ranks that exchange rows */
  int each;        /* the parts in which a piece is communicated and multiplied */
} LigPieces;

/* Returns the pieces of the collective at this element of the pattern. */
static inline LigPieces
lig_pieces_of (LigLowering *match, int element)
{
  const LigCollectiveParams *params = lig_lower_params (match, element);
  return (LigPieces){*params, params->peers, lig_lower_get_place (match, element),
                     lig_lower_get_pieces (match)};
}

/* Returns the name of a part of a rank's piece of all rows, or, with the rank -1, of one rank's
 * rows: `0.x@5/8`. */
static inline char *
lig_piece_name (const LigPieces *self, const char *port, int rank, int part)
{
  int before = MAX (rank, 0) * self->each, all = rank < 0 ? self->each : self->count * self->each;
  return g_strdup_printf ("%s@%d/%d", port, before + part, all);
}

/* Returns the piece of the rank that is `step` before this one, which sends to this one in step
 * `step`. */
static inline int
lig_piece_before (const LigPieces *self, int step)
{
  return (self->rank + self->count - step) % self->count;
}

/* Rejects a group of one rank. */
static inline gboolean
lig_pieces_allow (LigLowering *match, int element, LigRejection *rejection)
{
  const LigPieces pieces = lig_pieces_of (match, element);
  if (pieces.count > 1)
    return TRUE;
  rejection->reason = LIG_REASON_PARALLEL;
  rejection->observed_value = pieces.count;
  rejection->required_value = 2;
  rejection->unit = "ranks";
  rejection->observed = g_strdup ("a group of one rank");
  rejection->required = g_strdup ("at least 2 ranks");
  return FALSE;
}

/* Rejects an all-reduce of the other value: the output or the gradient. */
static inline gboolean
lig_pieces_allow_of (LigLowering *match, int element, const char *of, LigRejection *rejection)
{
  if (lig_lower_has_choice (match, element, "of", of))
    return TRUE;
  rejection->reason = LIG_REASON_PARALLEL;
  rejection->observed = g_strdup_printf ("an all-reduce that does not sum the %s", of);
  rejection->required = g_strdup_printf ("of=%s", of);
  return FALSE;
}

/* Rejects an odd number of rows. */
static inline gboolean
lig_pieces_allow_rows (LigLowering *match, const char *port, LigRejection *rejection)
{
  if (lig_lower_can_divide (match, port, 2))
    return TRUE;
  rejection->reason = LIG_REASON_SHAPE;
  rejection->observed = g_strdup ("an odd number of rows");
  rejection->required = g_strdup ("a multiple of 2");
  return FALSE;
}

/* Returns bindings in which each `@` is the place of a part, like `@1/2`. */
static inline char *
lig_piece_bind (const char *bindings, const char *place)
{
  g_auto (GStrv) words = g_strsplit (bindings, "@", -1);
  return g_strjoinv (place, words);
}

/* Multiplies the parts of the rows, and all-reduces each while the next one is multiplied. The
 * bindings have `@` for the place of a part. */
static inline void
lig_pieces_sum (LigLowering *lowering,
                const LigPieces *self,
                const char *kernel,
                const char *matmul,
                const char *sum)
{
  for (int i = 0; i < self->each; i++) {
    g_autofree char *place = lig_piece_name (self, "", -1, i);
    g_autofree char *multiplied = lig_piece_bind (matmul, place);
    g_autofree char *added = lig_piece_bind (sum, place);
    lig_lower_kernel (lowering, kernel, multiplied, NULL, 0);
    lig_lower_beside (lowering, "all_reduce", added, &self->params, sizeof self->params);
  }
}

/* Sends a value to the rank `step` after this one and receives one from the rank `step` before it,
 * while other kernels run. */
static inline void
lig_pieces_pass (LigLowering *lowering, const LigPieces *self, int step, const char *bindings)
{
  const LigRingParams params = {self->params, step - 1};
  lig_lower_beside (lowering, "ring_exchange", bindings, &params, sizeof params);
}

/* Starts to gather the rows `x` of all ranks in `y`, and copies this rank's own. Then calls
 * `multiply`, unless it is null, for its own rows and for each part as it arrives, with their place
 * among all rows. */
static inline void
lig_pieces_gather (LigLowering *lowering,
                   const LigPieces *self,
                   const char *x,
                   const char *y,
                   void (*multiply) (LigLowering *lowering, const char *rows, const char *place))
{
  const int all = self->count * self->each;
  for (int i = self->each; i < all; i++) {
    int step = i / self->each, part = i % self->each;
    g_autofree char *from = lig_piece_name (self, x, -1, part);
    g_autofree char *to = lig_piece_name (self, y, lig_piece_before (self, step), part);
    g_autofree char *bindings = g_strdup_printf ("x=%s y=%s", from, to);
    lig_pieces_pass (lowering, self, step, bindings);
  }
  g_autofree char *place = g_strdup_printf ("@%d/%d", self->rank, self->count);
  g_autofree char *own = g_strdup_printf ("x=%s y=%s%s", x, y, place);
  lig_lower_kernel (lowering, "convert", own, NULL, 0);
  if (multiply)
    multiply (lowering, x, place);
  for (int i = self->each; i < all && multiply; i++) {
    int rank = lig_piece_before (self, i / self->each);
    g_autofree char *arrived = lig_piece_name (self, "", rank, i % self->each);
    g_autofree char *rows = g_strconcat (y, arrived, NULL);
    multiply (lowering, rows, arrived);
  }
}
