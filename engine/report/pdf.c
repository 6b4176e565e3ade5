/* SPDX-License-Identifier: MIT */
/* Pictures of plans and runs as PDF, on one page of the size of the picture. */
#include "engine/report/picture.h"

static gboolean
write_plan (GString *to, LigPlan *plan, const char *command, GError **error)
{
  g_auto (LigPicture) picture;
  lig_picture_init_plan (&picture, plan);
  return lig_picture_write (&picture, "pdf", to, error);
}

static gboolean
write_run (GString *to, const LigReportRun *run, GError **error)
{
  g_auto (LigPicture) picture;
  lig_picture_init_run (&picture, run);
  return lig_picture_write (&picture, "pdf", to, error);
}

static gboolean
write_pair (GString *to, const LigReportPair *pair, GError **error)
{
  g_auto (LigPicture) picture;
  lig_picture_init_pair (&picture, pair);
  return lig_picture_write (&picture, "pdf", to, error);
}

LIG_REPORT_FORMAT (pdf) = {
  .name = "pdf",
  .title = N_ ("PDF document"),
  .help = N_ ("The pictures on pages to print or send"),
  .plan = write_plan,
  .run = write_run,
  .pair = write_pair,
};
