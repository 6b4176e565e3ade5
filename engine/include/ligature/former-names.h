/* SPDX-License-Identifier: MIT */
/* Names from earlier versions. They are accepted in files, stores, command lines and plugins; only
 * current names are written. The functions may be called from any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * LigFormerKind:
 * @LIG_FORMER_OP: an op, in sequences and in the patterns of fusions
 * @LIG_FORMER_DATA: an option of a dataset, or with `=` a value of one: `missing=reject`
 * @LIG_FORMER_OPTION: an option of `lig`, without its hyphens
 * @LIG_FORMER_MEMBER: a member of JSON that programs write: device descriptions, and run data in
 *   stores
 *
 * The kinds of renamed things.
 */
typedef enum {
  LIG_FORMER_OP,
  LIG_FORMER_DATA,
  LIG_FORMER_OPTION,
  LIG_FORMER_MEMBER,
} LigFormerKind;

/**
 * lig_former_name_replace:
 * @kind: the kind of the named thing
 * @name: a name, which may be a former one
 *
 * Finds the current name of a thing. A former name is remembered for
 * lig_former_names_take_remarks(), except for members of JSON, which users don't write.
 *
 * Returns: (transfer none): the current name, or @name itself if it is not a former one
 */
LIG_API const char *lig_former_name_replace (LigFormerKind kind, const char *name);

/**
 * lig_former_names_take_remarks:
 *
 * Takes the remarks on the former names that were met since the last call, each once:
 * `recall is now called load-branch`.
 *
 * Returns: (transfer full): the translated sentences; empty without former names
 */
LIG_API char **lig_former_names_take_remarks (void);

G_END_DECLS
