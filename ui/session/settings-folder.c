/* SPDX-License-Identifier: MIT */
/* The only place of the window that is told, when it is built, where things get installed. */
#include "ui/session/settings.h"

const char *const *
lig_settings_folders (void)
{
  static const char *const folders[] = {LIG_SCHEMA_DIR, LIG_BUILT_SCHEMA_DIR, NULL};
  return folders;
}
