/* SPDX-License-Identifier: MIT */
/* The program's GSettings, found where it is installed and where it was built, too. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* (transfer full), or %NULL with an error where the schema is nowhere. */
GSettings *lig_settings_open (GError **error);

/* Where the schema was installed, and where it was built. */
const char *const *lig_settings_folders (void);

G_END_DECLS
