/* SPDX-License-Identifier: MIT */
/* Reading JSON values with their path at hand, for messages; private to the engine. A function that
 * fails sets an error that begins with the path and leaves the path where it is. */
#pragma once

#include "engine/base/json-private.h"
#include <ligature/op.h>

typedef struct {
  GString *path; /* of the value being read: `$.ops[2]` */
  GPtrArray *warnings;
  guint n_silent;      /* warnings beyond the most that are told */
  JsonObject *unknown; /* keys of the whole file that nobody knows */
  GError **error;
} LigReader;

/* Goes into a member or an element; returns what lig_reader_leave() needs to come back. */
gsize lig_reader_enter (LigReader *self, const char *key);
gsize lig_reader_enter_element (LigReader *self, guint index);
void lig_reader_leave (LigReader *self, gsize outside);

/* These return false. */
gboolean lig_reader_refuse (LigReader *self, int code, const char *format, ...)
  G_GNUC_PRINTF (3, 4);
gboolean lig_reader_expected (LigReader *self, const char *what, JsonNode *value);

/* Puts the path in front of an error that somebody else has set. Returns false. */
gboolean lig_reader_place (LigReader *self);

/* What a value (null: a missing one) holds; null, with an error, where it holds something else. */
JsonObject *lig_reader_object (LigReader *self, JsonNode *value);
JsonArray *lig_reader_array (LigReader *self, JsonNode *value);
const char *lig_reader_string (LigReader *self, JsonNode *value);

/* The string that is the member `key`. */
const char *lig_reader_member (LigReader *self, JsonObject *object, const char *key);

/* The members of `object` that are neither among `keys` nor parameters of `op`, with a warning for
 * each; null where there are none. */
JsonObject *
lig_reader_gather_unknown (LigReader *self, JsonObject *object, const char *const *keys, LigOp *op);

/* The object's text on one line. */
char *lig_reader_text (JsonObject *object);
