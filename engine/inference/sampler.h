/* SPDX-License-Identifier: MIT */
/* Draws tokens from logits on a device. */
#pragma once

#include <ligature/sampling.h>

G_BEGIN_DECLS

typedef struct _LigDevice LigDevice;
typedef struct _LigSampler LigSampler;

/* A draw for one row of logits. */
typedef struct {
  const LigSampling *sampling;
  const guint8 *seen; /* (nullable): whether the text has each token */
  guint64 position;   /* the number of tokens before the drawn one */
} LigDraw;

/* The draws of a run can begin before those of the run before have been read: each has a place. */
enum { LIG_SAMPLER_PLACES = 2 };

/* For at most `rows` draws at once. The error is LIG_ERROR_MEMORY. */
LigSampler *lig_sampler_new (LigDevice *device, guint rows, gint64 vocabulary, GError **error);
void lig_sampler_free (LigSampler *self);

/* Begins to draw `n` tokens from as many rows of logits on the device. */
gboolean lig_sampler_begin (LigSampler *self,
                            guint place,
                            const void *logits,
                            LigDtype dtype,
                            const LigDraw *draws,
                            guint n,
                            GError **error);

/* Waits for the tokens of a place. */
gboolean
lig_sampler_end (LigSampler *self, guint place, guint n, LigSampled *sampled, GError **error);

/* Returns the address on the device of the tokens, int32, that were drawn last or are being
 * drawn. */
const void *lig_sampler_get_tokens (const LigSampler *self);

G_END_DECLS
