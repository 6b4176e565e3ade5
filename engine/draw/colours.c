/* SPDX-License-Identifier: MIT */
/* The colours of pictures. Texts have a contrast of at least 4.5 to 1 with every background they
 * are drawn on. No two colours of a set are equal, so that SVG can name them. */
#include <ligature/canvas.h>

static const LigColours sets[] = {
  [LIG_COLOURS_LIGHT] =
    {
      .ground = 0xfafafaff,
      .card = 0xffffffff,
      .ink = 0x1e1e20ff,
      .dim = 0x5a5860ff,
      .line = 0xd6d5daff,
      .forward = 0x1a5fb4ff,
      .forward_fill = 0xe4eefbff,
      .backward = 0x17694aff,
      .backward_fill = 0xe3f4eaff,
      .channel = 0x813d9cff,
      .warning = 0x8f4700ff,
      .error = 0xb5121fff,
      .series = {0x0067a5ff, 0xb84300ff, 0x00745aff, 0xa8447fff, 0x7a5c00ff, 0x4a5fd0ff, 0x6b4a3aff,
                 0x66646cff},
    },
  [LIG_COLOURS_DARK] =
    {
      .ground = 0x242426ff,
      .card = 0x303034ff,
      .ink = 0xf4f4f5ff,
      .dim = 0xbcbac2ff,
      .line = 0x515157ff,
      .forward = 0x8fc2ffff,
      .forward_fill = 0x1e3450ff,
      .backward = 0x86dcaeff,
      .backward_fill = 0x1d3d2eff,
      .channel = 0xdda4eeff,
      .warning = 0xf9c35cff,
      .error = 0xff9e97ff,
      .series = {0x62bdf0ff, 0xff9352ff, 0x35cfa0ff, 0xec9ccbff, 0xefdf4aff, 0xa9aeffff, 0xcfa78eff,
                 0xc4c2c9ff},
    },
  [LIG_COLOURS_LIGHT_CONTRAST] =
    {
      .ground = 0xffffffff,
      .card = 0xfefefeff,
      .ink = 0x000000ff,
      .dim = 0x3a383fff,
      .line = 0x6e6c75ff,
      .forward = 0x0b418aff,
      .forward_fill = 0xdce9fbff,
      .backward = 0x074d32ff,
      .backward_fill = 0xdaf1e3ff,
      .channel = 0x5f2278ff,
      .warning = 0x6b3500ff,
      .error = 0x8c0011ff,
      .series = {0x004f80ff, 0x8f3300ff, 0x005a45ff, 0x832d60ff, 0x5c4500ff, 0x3140a8ff, 0x503327ff,
                 0x4b4950ff},
    },
  [LIG_COLOURS_DARK_CONTRAST] =
    {
      .ground = 0x121213ff,
      .card = 0x000000ff,
      .ink = 0xffffffff,
      .dim = 0xdedce3ff,
      .line = 0x9a98a2ff,
      .forward = 0xadd3ffff,
      .forward_fill = 0x10263fff,
      .backward = 0xa5ecc6ff,
      .backward_fill = 0x0f2d20ff,
      .channel = 0xecc4f8ff,
      .warning = 0xffd98aff,
      .error = 0xffbdb8ff,
      .series = {0x8ed2faff, 0xffb184ff, 0x6fe8c2ff, 0xf7bfe0ff, 0xf7ec82ff, 0xc9ccffff, 0xe4c6b2ff,
                 0xe0dee5ff},
    },
};

const LigColours *
lig_colours (LigColoursKind kind)
{
  g_return_val_if_fail ((guint) kind < G_N_ELEMENTS (sets), &sets[LIG_COLOURS_LIGHT]);
  return &sets[kind];
}
