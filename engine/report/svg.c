/* SPDX-License-Identifier: MIT */
/* Pictures of plans and runs as SVG: text that can be searched, a tooltip for each mark. */
#include "engine/report/picture.h"

static gboolean
write_plan (GString *to, LigPlan *plan, const char *command, GError **error)
{
  g_auto (LigPicture) picture;
  lig_picture_init_plan (&picture, plan);
  return lig_picture_write (&picture, "svg", to, error);
}

static gboolean
write_run (GString *to, const LigReportRun *run, GError **error)
{
  g_auto (LigPicture) picture;
  lig_picture_init_run (&picture, run);
  return lig_picture_write (&picture, "svg", to, error);
}

static gboolean
write_pair (GString *to, const LigReportPair *pair, GError **error)
{
  g_auto (LigPicture) picture;
  lig_picture_init_pair (&picture, pair);
  return lig_picture_write (&picture, "svg", to, error);
}

LIG_REPORT_FORMAT (svg) = {
  .name = "svg",
  .title = N_ ("SVG picture"),
  .help = N_ ("Both rails, sharp at every size"),
  .plan = write_plan,
  .run = write_run,
  .pair = write_pair,
};
