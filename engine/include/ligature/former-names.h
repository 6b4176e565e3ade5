/* SPDX-License-Identifier: MIT */
/* Names that things had in earlier versions. Files, stores, command lines and plugins may have
 * them; all that is written has the current ones. The functions may be called from any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * LigFormerKind:
 * @LIG_FORMER_OP: an op, in sequences and in the patterns of fusions
 * @LIG_FORMER_DATA: an option of a dataset, or with `=` a value of one: `missing=reject`
 * @LIG_FORMER_OPTION: an option of `lig`, without its hyphens
 * @LIG_FORMER_MEMBER: a member of JSON that programs write: of device descriptions, and of what
 *   stores keep of runs
 *
 * The kinds of things that were renamed.
 */
typedef enum {
  LIG_FORMER_OP,
  LIG_FORMER_DATA,
  LIG_FORMER_OPTION,
  LIG_FORMER_MEMBER,
} LigFormerKind;

/**
 * lig_former_name_replace:
 * @kind: the kind of thing that is named
 * @name: a name, which may be a former one
 *
 * Finds the current name of a thing. A former name is kept for lig_former_names_take_remarks(), but
 * for members of descriptions, which programs write.
 *
 * Returns: (transfer none): the current name, or @name itself if it is no former one
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
