/* SPDX-License-Identifier: MIT */
/* config.json of other programs: the description of a model next to its weights, which is compared
 * with the ops of a sequence or generated from them. The rules are `config` and `requires` of
 * data/names/NAME.json. */
#pragma once

#include "engine/tensor/names.h"

G_BEGIN_DECLS

/* A trait of an op of a sequence: a parameter, such as `attention.heads`, or `activation`, the op's
 * name. */
typedef struct {
  char *name, *title, *path;
  char *text; /* of a choice or a name; null for a number */
  double number;
  gboolean floating; /* whether the number may have a fraction */
} LigTrait;

/* Returns an empty list of LigTrait. */
GArray *lig_traits_new (void);
void lig_traits_add (GArray *traits,
                     char *name,
                     const char *title,
                     const char *path,
                     char *text,
                     double number,
                     gboolean floating);

/* Returns the nth trait of that name, null after the last. */
const LigTrait *lig_traits_find (const GArray *traits, const char *name, guint n);

/* A model whose config.json is read or written. */
typedef struct {
  const LigNames *names;
  const GArray *traits, *roles;
  const LigImport *import; /* (nullable): the source file, which may have fewer rows */
  gint64 length,
    vocabulary; /* for writing: sequence length of the input; rows to write, 0 for all */
} LigModel;

/* Reads the members of a name table. */
gboolean lig_config_parse (LigNames *names, JsonObject *table, GError **error);

/* Checks that the ops are those that the weights were trained for: by the rules of `requires` about
 * files and, if a config.json is next to the file, by all of `requires` and the config.json. The
 * notes list its unknown members. */
gboolean lig_config_check (LigImport *import, const GArray *traits, GError **error);

/* Compares a model with `requires` and with config.json, both after reading and before writing it.
 * Without `config` only with the rules of `requires` about files. */
gboolean lig_config_compare (const LigModel *model, JsonObject *config, GError **error);

/* Checks the rules of `requires` about all models with these names. */
gboolean lig_config_check_required (const LigModel *model, GError **error);

/* Returns whether the ops at a path are exempt from the rule, by its members `unless` and `if`.
 * Without a path the first ops with such a trait count. */
gboolean lig_config_is_exception (const GArray *traits, JsonObject *rule, const char *path);

/* Returns whether a rule applies to a model, by its roles, and also by a trait of the
 * first ops with it. */
gboolean lig_config_has_roles (const LigModel *model, JsonObject *rule);
gboolean lig_config_applies (const LigModel *model, JsonObject *rule);

/* Returns the size that a rule names; 0 if the model lacks it. */
gint64 lig_config_size (const LigModel *model, JsonObject *rule);

gboolean lig_config_is_string (JsonNode *node);

/* Returns whether a value of the other program equals that of the trait. */
gboolean lig_config_is_equal (JsonObject *rule, const LigTrait *trait, JsonNode *value);

/* Returns the part of a rule about layers that may differ, or null. */
JsonObject *lig_config_blocks (JsonObject *rule);

/* Returns the string that the other program uses for one of ours; null if it has none. */
const char *lig_config_their_text (JsonObject *rule, const char *text);

/* Returns whether a text is a truth value in JSON. */
gboolean lig_config_is_truth (const char *text);

/* Returns a number with as few digits as an fp32 needs. */
char *lig_config_format (double number);

/* Returns the value of a trait as the other program writes it. */
char *lig_config_describe (JsonObject *rule, const LigTrait *trait);

/* Returns the text of the config.json of exported parameters, `file`, under their paths. `length`:
 * the sequence length of the input; `vocabulary`: the number of rows that were written, 0 for
 * all. */
char *lig_config_make (const LigNames *names,
                       LigTensorFile *file,
                       const GArray *traits,
                       gint64 length,
                       gint64 vocabulary,
                       GError **error);

G_END_DECLS
