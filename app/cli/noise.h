/* SPDX-License-Identifier: MIT */
/* Separates the messages of mpirun and its libraries from those of the ranks. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  GString *line;     /* the line that has not ended yet */
  gboolean in_block; /* between two lines of hyphens */
  GString *swallowed;
} LigCliNoise;

void lig_cli_noise_init (LigCliNoise *self);
void lig_cli_noise_clear (LigCliNoise *self);

/* Receives the lines of ranks, without their newlines. */
typedef void (*LigCliNoiseLine) (const char *line, gpointer data);

/* Takes bytes, or with none the end of the stream, and passes on the lines of ranks. Those of
 * mpirun are kept. */
void lig_cli_noise_add (
  LigCliNoise *self, const char *bytes, gsize count, LigCliNoiseLine pass, gpointer data);

G_END_DECLS
