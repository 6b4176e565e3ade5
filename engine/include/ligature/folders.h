/* SPDX-License-Identifier: MIT */
/* The folders of the files that are shipped with Ligature: device profiles, examples, translations,
 * schemas.
 * The functions may be called from any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * lig_data_find:
 * @name: the file's name relative to a data folder, `examples/residual-mlp.lig`
 *
 * Searches `$LIGATURE_DATA` if it is set, the source tree if the library is in its build folder,
 * and the installed folder.
 *
 * Returns: (transfer full) (nullable): the path of the first regular file of that name; %NULL if no
 *   folder has it
 */
LIG_API char *lig_data_find (const char *name);

/**
 * lig_schema_folders:
 *
 * Returns: (transfer full): the folders of the window's compiled settings schemas, in search order:
 *   that of the build folder if the library is in it, and the installed one
 */
LIG_API GStrv lig_schema_folders (void);

/**
 * lig_locale_folder:
 *
 * Returns: (transfer none): the folder of the translations, for bindtextdomain(): that of the build
 *   folder if the library is in it and translations have been built, otherwise the installed one
 */
LIG_API const char *lig_locale_folder (void);

G_END_DECLS
