/* SPDX-License-Identifier: MIT */
/* Pictures of plans and runs as PNG, at twice their size. */
#include "engine/report/picture.h"

LIG_PICTURE_WRITERS ("png")

LIG_REPORT_FORMAT (png) = {
  .name = "png",
  .title = N_ ("PNG picture"),
  .help = N_ ("Pixel image of the forward and backward groups"),
  .plan = write_plan,
  .run = write_run,
  .pair = write_pair,
};
