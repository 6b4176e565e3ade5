/* SPDX-License-Identifier: MIT */
/* What measuring tells those who watch and listen. */
#pragma once

#include <ligature/tuning.h>

G_BEGIN_DECLS

/* Tells whoever watches what is measured next. */
void lig_tuning_tell (const char *what);

/* Tells whoever listens a sentence about the measuring. */
void lig_tuning_say (const char *text);

G_END_DECLS
