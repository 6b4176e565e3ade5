/* SPDX-License-Identifier: MIT */
/* The documents of `lig generate`: of --json, and the lines of --lines. */
#pragma once

#include "app/cli/generate-text.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* A model, and what names it. */
typedef struct {
  const char *name, *weights, *device; /* names may be null */
  LigGenerator *generator;
  LigTokenizer *tokenizer; /* (nullable) */
} LigGenerateModel;

/* Adds the members model, weights, device, vocabulary, tokenizer and cache. */
void lig_generate_add_model (JsonBuilder *to, const LigGenerateModel *model);

/* Adds an object: prompt, tokens, text, generated and ended. */
void lig_generate_add_text (JsonBuilder *to, LigTokenizer *tokenizer, const LigCliText *text);

/* Adds the member figures. */
void lig_generate_add_figures (JsonBuilder *to, LigGenerator *generator);

/* Serves requests until the input ends. A request is a line such as `{"id": "a", "prompt": "The ",
 * "max": 64, "temperature": 0.8, "top-k": 0, "top-p": 1, "min-p": 0, "repetition": 1, "seed": 0,
 * "stops": ["\n"]}`, or with `tokens` in place of `prompt`; what it omits is as the options say.
 * `{"cancel": "a"}` ends a text. The first line that is written describes the model; then each
 * token is `{"id", "token", "text", "probability", "shown", "alternatives"}`, the end of a text
 * `{"id", "ended", "shown", "figures"}`, and a rejected request `{"id", "error"}`. */
gboolean
lig_generate_lines (const LigGenerateModel *model, const LigSampling *sampling, GError **error);

G_END_DECLS
