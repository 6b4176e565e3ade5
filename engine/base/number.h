/* SPDX-License-Identifier: MIT */
/* Numbers as text that reads back as the same number. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends the fewest digits that read back as the same double or, with `single`, float. */
void lig_number_append (GString *text, double number, gboolean single);

G_END_DECLS
