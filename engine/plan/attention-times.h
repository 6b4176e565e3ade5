/* SPDX-License-Identifier: MIT */
/* Choices between cuDNN and the built-in attention kernels, in the format of stores and
 * documents. */
#pragma once

#include <ligature/attention.h>

G_BEGIN_DECLS

/* Returns (transfer full) (nullable) the choice in a line, which is the key and the text of a
 * stored choice separated by a tab; NULL if the line is about another kernel. */
LigAttentionTimes *lig_attention_times_parse (const char *line);

/* Adds a choice to a document as an object. */
void lig_attention_times_to_json (const LigAttentionTimes *self, JsonBuilder *builder);

G_END_DECLS
