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

/* For at most `rows` draws at once. The error is LIG_ERROR_MEMORY. */
LigSampler *lig_sampler_new (LigDevice *device, guint rows, gint64 vocabulary, GError **error);
void lig_sampler_free (LigSampler *self);

/* Draws `n` tokens from as many rows of logits on the device, and waits for them. */
gboolean lig_sampler_draw (LigSampler *self,
                           const void *logits,
                           LigDtype dtype,
                           const LigDraw *draws,
                           guint n,
                           LigSampled *sampled,
                           GError **error);

G_END_DECLS
