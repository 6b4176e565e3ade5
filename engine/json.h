/* SPDX-License-Identifier: MIT */
/* Writing JSON: json-glib 1.6 writes 1e-08 as 1e-08.0, so what goes outside passes here. */
#pragma once

#include "engine/error.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/**
 * lig_json_append:
 *
 * Appends the value on one line, `{"a": 1, "b": [2, 3]}`, the fewest digits for each number; what
 * is infinite or not a number becomes null.
 */
LIG_API void lig_json_append (GString *text, JsonNode *value);

G_END_DECLS
