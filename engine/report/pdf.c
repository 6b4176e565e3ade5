/* SPDX-License-Identifier: MIT */
/* Pictures of plans and runs as PDF, on one page of the size of the picture. */
#include "engine/report/picture.h"

LIG_PICTURE_WRITERS ("pdf")

LIG_REPORT_FORMAT (pdf) = {
  .name = "pdf",
  .title = N_ ("PDF document"),
  .help = N_ ("The pictures on pages to print or send"),
  .plan = write_plan,
  .run = write_run,
  .pair = write_pair,
};
