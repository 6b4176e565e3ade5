/* SPDX-License-Identifier: MIT */
/* Where the files lie that come with Ligature: device profiles, examples. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * lig_data_folders:
 *
 * Returns: (transfer full): `$LIGATURE_DATA` where it is set, the installed folder, the tree that
 *   the library was built from: in the order in which files are looked for
 */
LIG_API GStrv lig_data_folders (void);

/**
 * lig_data_find:
 * @name: relative, `examples/residual-mlp.lig`
 *
 * Returns: (transfer full) (nullable): the first such regular file
 */
LIG_API char *lig_data_find (const char *name);

/**
 * lig_locale_folder:
 *
 * Returns: (transfer none): the folder of the translations, as installed, else where they were
 *   built; for bindtextdomain()
 */
LIG_API const char *lig_locale_folder (void);

G_END_DECLS
