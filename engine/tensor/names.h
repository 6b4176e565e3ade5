/* SPDX-License-Identifier: MIT */
/* Tensor names in the weight files of other programs: the tensors, and their layout, that make up a
 * parameter of a sequence. A parameter is found by its role, which follows from its path and those
 * of its neighbours: `embedding.weight`, `layer.qkv.bias`, `head.weight`. data/names/NAME.json maps
 * roles to names. */
#pragma once

#include <ligature/tensor-file.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The tensors of a role. */
typedef struct LigNameRule {
  char *role;
  GStrv names;          /* stacked along axis 0; {layer} is the layer index */
  gboolean by_expert;   /* names have {expert}, the index along axis 0; their rows are of axis 1 */
  gboolean merged;      /* one tensor with all axes of the parameter */
  gboolean interleaved; /* the rows of both halves, of a gate and a projection, alternate */
  gboolean transposed;  /* matrices have their axes swapped */
  gboolean padded;      /* the parameter may have more rows; these are zeros */
  gboolean prefixed;    /* the names have the prefix of the file */
  gboolean needed;      /* every file has it */
  char *first;          /* (nullable): the role whose columns are the rows of the first tensor */
  char *tied;           /* (nullable): the role that replaces this one if it is missing */
  char *unless;         /* (nullable): the role of a layer that has it instead of this one */
  char *scales;         /* (nullable): the name of the scales of a tensor in MXFP4 */
  struct LigNameRule *alternative; /* (nullable): the tensors of files that lack these names */
} LigNameRule;

typedef struct {
  char *name;     /* gpt2 */
  char *title;    /* display name */
  char *known_by; /* a name that occurs only in such files */
  GStrv prefixes; /* of all prefixed names; the first is written */
  GStrv ignored;  /* patterns of names without a prefix */
  GStrv harmless; /* members of config.json that do not affect the computation */
  GPtrArray *rules;
  JsonArray *config, *requires; /* of rules for config.json, see engine/tensor/config.h */
} LigNames;

void lig_names_free (LigNames *self);

/* Returns the name of the nth compiled-in table; null after the last. */
const char *lig_names_nth (guint n);

/* Returns the table of that name. One in a data folder replaces the compiled one. */
LigNames *lig_names_find (const char *name, GError **error);

/* Reads the text of a table; `name` is used in messages. */
LigNames *lig_names_parse (const char *name, const char *text, GError **error);

/* Returns the rule of a role, or null. */
const LigNameRule *lig_names_rule (const LigNames *self, const char *role);

/* Finds the table that matches the file's names, and the prefix, which the table owns. Returns
 * FALSE only on failure; `names` is null if no table matches. */
gboolean
lig_names_detect (LigTensorFile *file, LigNames **names, const char **prefix, GError **error);

/* A parameter of a sequence. */
typedef struct {
  char *path;
  LigShape shape;
  char *role; /* (nullable): its role, which no other parameter of its layer has */
  int depth;  /* its layer index, -1 outside of layers */
} LigRole;

/* Returns a LigRole for each of the paths, sorted by the order of ops in a sequence. */
GArray *lig_roles_new (const char *const *paths, const LigShape *shapes);

/* Tensors of a checkpoint with these prefixes are not parameters, but optimizer state, and the
 * scales and amax histories of quantizers. */
#define LIG_OPTIMIZER_PREFIX "optimizer."
#define LIG_QUANTIZER_PREFIX "quantizer."

/* Returns whether a tensor of a checkpoint is a parameter. */
gboolean lig_names_is_parameter (const char *name);

/* Returns the same of a file's parameters. */
GArray *lig_roles_of_file (LigTensorFile *file);

/* Returns the parameter with a role in a layer, or null. */
const LigRole *lig_roles_find (const GArray *roles, const char *role, int depth);

/* Returns the first parameter with a role in any layer, or null. */
const LigRole *lig_roles_find_first (const GArray *roles, const char *role);

/* Appends a difference such as `PATH is 3x4, expected 4x3` to a list; all are counted, the first
 * ones are shown. */
typedef struct {
  GString *text;
  guint count;
} LigDifferences;

void lig_differences_add (LigDifferences *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Returns TRUE if there is none; otherwise sets the error `PROBLEM: list`, and clears the list. */
gboolean lig_differences_end (LigDifferences *self, const char *problem, GError **error);

/* Tensors of a file by the paths of parameters. */
typedef struct {
  LigTensorFile *file;
  LigNames *names;
  const char *prefix;
  GArray *roles;
  GString *notes; /* sentences for the user, separated by `; ` */
} LigImport;

/* Checks a file against the parameters and lists the differences. Returns FALSE on failure;
 * `import` is null if the file does not use the names of another program. */
gboolean lig_import_new (LigTensorFile *file,
                         const char *const *paths,
                         const LigShape *shapes,
                         LigImport **import,
                         GError **error);
void lig_import_free (LigImport *self);

/* Adds a sentence to the notes. */
void lig_import_note (LigImport *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Returns the number of rows that the tensors of a parameter have in the file, fewer than its own
 * if it is padded. */
gint64 lig_import_rows (const LigImport *self, const LigRole *role);

/* Returns the file's vocabulary size if a parameter is padded beyond it; 0 otherwise. */
gint64 lig_import_vocabulary (const LigImport *self);

/* Returns (transfer full) the values of a parameter, in the file's type. */
LigTensor *lig_import_read (LigImport *self, const char *path, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigNames, lig_names_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigImport, lig_import_free)

G_END_DECLS
