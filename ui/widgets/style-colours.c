/* SPDX-License-Identifier: MIT */
#include "ui/widgets/style-colours.h"

#include <adwaita.h>

const LigColours *
lig_style_colours (void)
{
  AdwStyleManager *style = adw_style_manager_get_default ();
  gboolean dark = adw_style_manager_get_dark (style);
  if (adw_style_manager_get_high_contrast (style))
    return lig_colours (dark ? LIG_COLOURS_DARK_CONTRAST : LIG_COLOURS_LIGHT_CONTRAST);
  return lig_colours (dark ? LIG_COLOURS_DARK : LIG_COLOURS_LIGHT);
}
