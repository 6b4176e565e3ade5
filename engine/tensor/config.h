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

/* Returns the nth trait of that name, null after the last. */
const LigTrait *lig_traits_find (const GArray *traits, const char *name, guint n);

/* A model whose config.json is read or written. */
typedef struct {
  const LigNames *names;
  const GArray *traits, *roles;
  const LigImport *import;   /* (nullable): the file that is read, which may have fewer rows */
  gint64 length, vocabulary; /* when written: positions of the input; rows to write, 0 for all */
} LigModel;

/* Reads the members of a table of names. */
gboolean lig_config_parse (LigNames *names, JsonObject *table, GError **error);

/* Checks that the ops compute what the weights were made for: what `requires` says of files, and
 * if a config.json is beside the file all that `requires` and it say. Members of it that nobody
 * knows are named in the notes. */
gboolean lig_config_check (LigImport *import, const GArray *traits, GError **error);

/* Compares a model with `requires` and with config.json, the same way when it was read and when it
 * is to be written. Without `config` only with what `requires` says of files. */
gboolean lig_config_compare (const LigModel *model, JsonObject *config, GError **error);

/* Checks what `requires` says of all models of the names. */
gboolean lig_config_check_required (const LigModel *model, GError **error);

/* Returns whether the ops at a path have the trait that the rule excepts by `unless`. Without a
 * path the first ops that have such a trait count. */
gboolean lig_config_is_exception (const GArray *traits, JsonObject *rule, const char *path);

/* Returns whether a rule applies to a model: by the roles that it has, and by a trait. */
gboolean lig_config_applies (const LigModel *model, JsonObject *rule);

/* Returns the size that a rule names, 0 if the model has none. */
gint64 lig_config_size (const LigModel *model, JsonObject *rule);

gboolean lig_config_is_text (JsonNode *node);

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
