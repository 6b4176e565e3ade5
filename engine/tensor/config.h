/* SPDX-License-Identifier: MIT */
/* config.json of other programs: what it says about a model beside its weights, compared with the
 * ops of a sequence, or made of them. The rules are `config` and `requires` of
 * data/names/NAME.json.
 */
#pragma once

#include "engine/tensor/names.h"

G_BEGIN_DECLS

/* A trait that an op of a sequence shows: a parameter, `attention.heads`, or `activation`, its
 * name. */
typedef struct {
  char *name, *title, *path;
  char *text; /* of a choice or a name; null for a number */
  double number;
} LigTrait;

/* Returns an empty list of LigTrait. */
GArray *lig_traits_new (void);
void lig_traits_add (
  GArray *traits, char *name, const char *title, const char *path, char *text, double number);

/* Reads the members of a table of names. */
gboolean lig_config_parse (LigNames *names, JsonObject *table, GError **error);

/* Checks that the ops compute what the weights were made for: what `requires` says of files, and
 * what the config.json beside the file says, if there is one. */
gboolean lig_config_check (const LigImport *import, const GArray *traits, GError **error);

/* Checks what `requires` says, of weights in files or of all that config.json can say. */
gboolean lig_config_check_required (const GArray *traits,
                                    const LigNames *names,
                                    gboolean of_files,
                                    GError **error);

/* Returns the name that the other program has for a text; null if it has none. */
const char *lig_config_their_text (JsonObject *rule, const char *text);

/* Returns a number with as few digits as an fp32 needs. */
char *lig_config_format (double number);

/* Returns the value of a trait in the other program's words. */
char *lig_config_describe (JsonObject *rule, const LigTrait *trait);

/* Returns the text of the config.json of exported parameters, `file`, under their paths. `length`:
 * the number of positions of the input; `vocabulary`: the rows that were written, 0 for all. */
char *lig_config_make (const LigNames *names,
                       LigTensorFile *file,
                       const GArray *traits,
                       gint64 length,
                       gint64 vocabulary,
                       GError **error);

G_END_DECLS
