/* SPDX-License-Identifier: MIT */
/* The program's GSettings, read from the installed schema or from the build folder. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Returns: (transfer full): the settings, or %NULL with an error if no folder has the schema. */
GSettings *lig_settings_open (GError **error);

G_END_DECLS
