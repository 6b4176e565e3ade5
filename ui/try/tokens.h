/* SPDX-License-Identifier: MIT */
/* Generated tokens as running text. The ground of each one shows its probability; the pointer, or
 * the arrow keys, open a card with the alternatives. */
#pragma once

#include <gtk/gtk.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define LIG_TYPE_TOKENS (lig_tokens_get_type ())
G_DECLARE_FINAL_TYPE (LigTokens, lig_tokens, LIG, TOKENS, GtkWidget)

/* How probable a token is; the steps of the legend. */
typedef enum {
  LIG_TOKEN_LIKELY,
  LIG_TOKEN_POSSIBLE,
  LIG_TOKEN_UNLIKELY,
  LIG_N_TOKEN_STEPS
} LigTokenStep;

GtkWidget *lig_tokens_new (void);
void lig_tokens_clear (LigTokens *self);

/* Adds a token: a line of `lig generate --lines`. */
void lig_tokens_add (LigTokens *self, JsonObject *line);

/* Adds the text that was held back until the end. */
void lig_tokens_end (LigTokens *self, const char *shown);

/* Returns the text and the number of tokens. */
const char *lig_tokens_get_text (LigTokens *self);
guint lig_tokens_get_count (LigTokens *self);

/* Moves the keyboard to a token and shows its card; -1: to none. */
void lig_tokens_set_cursor (LigTokens *self, int n);
int lig_tokens_get_cursor (LigTokens *self);

/* Shows the text without probabilities. */
void lig_tokens_set_plain (LigTokens *self, gboolean plain);

/* Returns the ground of a token, and a sample of it for a legend. */
LigTokenStep lig_token_step (double probability);
GtkWidget *lig_token_sample_new (LigTokenStep step, const char *label);

G_END_DECLS
