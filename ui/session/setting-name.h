/* SPDX-License-Identifier: MIT */
/* The names of training settings. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Returns: (transfer full): the translated name, like `Weight decay`. */
char *lig_setting_get_title (const LigSetting *setting);

G_END_DECLS
