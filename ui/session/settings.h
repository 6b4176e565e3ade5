/* SPDX-License-Identifier: MIT */
/* The program's GSettings, read from the installed schema or from the build folder. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Returns: (transfer full): the settings, or %NULL with an error if no folder has the schema. */
GSettings *lig_settings_open (GError **error);

/* Returns the folder that the schema is installed in, and the one that it was built in. */
const char *const *lig_settings_folders (void);

G_END_DECLS
