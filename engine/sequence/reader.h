/* SPDX-License-Identifier: MIT */
/* Reads JSON values and tracks their path for messages; private to the engine. A function that
 * fails sets an error that begins with the path and does not restore the path. */
#pragma once

#include "engine/base/json-private.h"
#include <ligature/op.h>

typedef struct {
  GString *path; /* of the value being read: `$.ops[2]` */
  GPtrArray *warnings;
  guint n_silent;      /* warnings beyond the limit, only counted */
  JsonObject *unknown; /* unknown keys of the whole file */
  GError **error;
} LigReader;

/* Appends a member or an element to the path; returns the value to pass to lig_reader_leave(). */
gsize lig_reader_enter (LigReader *self, const char *key);
gsize lig_reader_enter_element (LigReader *self, guint index);
void lig_reader_leave (LigReader *self, gsize outside);

/* Set an error and return false. */
gboolean lig_reader_reject (LigReader *self, int code, const char *format, ...)
  G_GNUC_PRINTF (3, 4);
gboolean lig_reader_expected (LigReader *self, const char *what, JsonNode *value);

/* Prefixes an error that another function has set with the path. Returns false. */
gboolean lig_reader_place (LigReader *self);

/* Return the content of a value (null: a missing one); null, with an error, for another type. */
JsonObject *lig_reader_object (LigReader *self, JsonNode *value);
JsonArray *lig_reader_array (LigReader *self, JsonNode *value);
const char *lig_reader_string (LigReader *self, JsonNode *value);

/* Returns the string in the member `key`. */
const char *lig_reader_member (LigReader *self, JsonObject *object, const char *key);

/* Returns the members of `object` that are neither among `keys` nor parameters of `op`, and adds a
 * warning for each; null if there are none. */
JsonObject *
lig_reader_gather_unknown (LigReader *self, JsonObject *object, const char *const *keys, LigOp *op);

/* Returns the object's text on one line. */
char *lig_reader_text (JsonObject *object);
