/* SPDX-License-Identifier: MIT */
/* Writes numbers as text that reads back as the same number. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends the fewest digits that read back as the same double or, if `single`, as the same float.
 */
void lig_number_append (GString *text, double number, gboolean single);

G_END_DECLS
