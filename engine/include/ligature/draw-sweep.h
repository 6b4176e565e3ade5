/* SPDX-License-Identifier: MIT */
/* Pictures of sweeps. Threads: as <ligature/draw.h>. */
#pragma once

#include <ligature/draw.h>
#include <ligature/sweep.h>

G_BEGIN_DECLS

/**
 * LigSweepPicture:
 * @sweep: the sweep
 * @axis: the index of the setting on the x axis of a scatter plot of losses; -1: parallel
 *   coordinates
 * @chosen: the index of a point whose settings are emphasized, -1 for none
 *
 * The contents of the picture of a sweep.
 */
typedef struct {
  LigSweep *sweep;
  int axis, chosen;
} LigSweepPicture;

/**
 * lig_draw_sweep:
 * @canvas: the canvas
 * @colours: the colours
 * @picture: the contents
 * @width: the width in pixels
 * @height: the height in pixels
 *
 * Draws, for each run, a line through the values of its settings to its loss, or a dot over one
 * setting. The runs with the best settings, those of lig_sweep_find_best(), are blue and drawn
 * last. Each run with a result has a mark with its settings, its loss, and the mean loss of several
 * runs with these settings.
 */
LIG_API void lig_draw_sweep (LigCanvas *canvas,
                             const LigColours *colours,
                             const LigSweepPicture *picture,
                             double width,
                             double height);

G_END_DECLS
