/* SPDX-License-Identifier: MIT */
/* The colours of pictures in the style of the window. */
#pragma once

#include <ligature/canvas.h>

/* Returns the colours for the current style: light or dark, with high contrast if the user wants
 * it. */
const LigColours *lig_style_colours (void);
