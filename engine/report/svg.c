/* SPDX-License-Identifier: MIT */
/* Pictures of plans and runs as SVG: text that can be searched, a tooltip for each mark. */
#include "engine/report/picture.h"

LIG_PICTURE_WRITERS ("svg")

LIG_REPORT_FORMAT (svg) = {
  .name = "svg",
  .title = N_ ("SVG picture"),
  .help = N_ ("Vector image of the forward and backward groups"),
  .plan = write_plan,
  .run = write_run,
  .pair = write_pair,
};
