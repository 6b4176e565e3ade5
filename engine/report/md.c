/* SPDX-License-Identifier: MIT */
/* Reports in Markdown. */
#include "engine/report/paper.h"

static gboolean
write_plan (GString *to, LigPlan *plan, const char *command, GError **error)
{
  LigPaper paper = {.text = to};
  lig_paper_plan (&paper, plan, command);
  lig_paper_clear (&paper);
  return TRUE;
}

static gboolean
write_run (GString *to, const LigReportRun *run, GError **error)
{
  LigPaper paper = {.text = to};
  lig_paper_run (&paper, run);
  lig_paper_clear (&paper);
  return TRUE;
}

static gboolean
write_pair (GString *to, const LigReportPair *pair, GError **error)
{
  LigPaper paper = {.text = to};
  lig_paper_pair (&paper, pair);
  lig_paper_clear (&paper);
  return TRUE;
}

LIG_REPORT_FORMAT (md) = {
  .name = "md",
  .title = N_ ("Markdown"),
  .help = N_ ("Text and tables for a repository or an issue"),
  .plan = write_plan,
  .run = write_run,
  .pair = write_pair,
};
