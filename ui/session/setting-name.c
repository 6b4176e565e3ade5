/* SPDX-License-Identifier: MIT */
#include "ui/session/setting-name.h"

#include <glib/gi18n.h>

char *
lig_setting_get_title (const LigSetting *setting)
{
  if (setting->label)
    return g_strdup (_ (setting->label));
  char *label = g_strdelimit (g_strdup (setting->name), "-", ' ');
  if (g_str_equal (setting->name, "lr")) {
    g_free (label);
    return g_strdup (_ ("Learning rate"));
  }
  label[0] = g_ascii_toupper (label[0]);
  return label;
}
