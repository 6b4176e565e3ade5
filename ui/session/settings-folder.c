/* SPDX-License-Identifier: MIT */
/* The only file of the window that is compiled with the installation folders. */
#include "ui/session/settings.h"

const char *const *
lig_settings_folders (void)
{
  static const char *const folders[] = {LIG_SCHEMA_DIR, LIG_BUILT_SCHEMA_DIR, NULL};
  return folders;
}
