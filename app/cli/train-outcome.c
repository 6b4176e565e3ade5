/* SPDX-License-Identifier: MIT */
/* The result of a training run in a few lines. */
#include "app/cli/duration.h"
#include "app/cli/train-progress.h"

#include <ligature/device.h>
#include <ligature/printable.h>
#include <ligature/shell.h>

#include <math.h>

static void
append_scaling (GString *to, const LigRunProgress *progress)
{
  gboolean scaled = !isnan (progress->loss_scale), skipped = progress->skipped > 0;
  if (scaled)
    g_string_append_printf (to, "loss scale %.6g%s", progress->loss_scale, skipped ? "; " : "\n");
  if (skipped)
    g_string_append_printf (
      to, "%" G_GINT64_FORMAT " update%s skipped, because gradients were not finite\n",
      progress->skipped, LIG_ENDING (progress->skipped));
}

static void
append_waits (GString *to, const LigRunProgress *progress)
{
  g_autofree char *waits = lig_run_explain_waits (progress);
  if (waits)
    g_string_append_printf (to, "%s\n", waits);
}

/* Returns a loss with the digits of the progress, more if it is small. */
static char *
format_loss (double loss)
{
  return g_strdup_printf (fabs (loss) < 1e-3 ? "%.3g" : "%.4f", loss);
}

static void
append_result (GString *to, const LigRunProgress *progress)
{
  g_autofree char *step = lig_cli_format_time (progress->step_seconds);
  g_autofree char *seconds = lig_cli_format_time (progress->seconds);
  g_autofree char *first = format_loss (progress->first_loss);
  g_autofree char *last = format_loss (progress->loss);
  g_autofree char *validation = format_loss (progress->eval_loss);
  g_autofree char *rate = lig_run_describe_rate (progress);
  const char *status = lig_run_status_name (progress->status);
  /* The time is that of the steps after the resumed one. */
  if (progress->first_step > 0 && progress->step > progress->first_step)
    g_string_append_printf (to, "%s: steps %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " in %s",
                            status, progress->first_step + 1, progress->step, seconds);
  else
    g_string_append_printf (to, "%s after %" G_GINT64_FORMAT " step%s in %s", status,
                            progress->step, LIG_ENDING (progress->step), seconds);
  if (!isnan (progress->loss))
    g_string_append_printf (to, ": loss %s → %s", first, last);
  if (!isnan (progress->eval_loss))
    g_string_append_printf (to, ", validation loss %s", validation);
  if (!isnan (progress->eval_accuracy))
    g_string_append_printf (to, " (accuracy %.1f %%)", 100 * progress->eval_accuracy);
  if (!isnan (progress->step_seconds))
    g_string_append_printf (to, "; %s a step%s%s", step, rate ? ", " : "", rate ? rate : "");
  g_string_append_c (to, '\n');
  append_scaling (to, progress);
  append_waits (to, progress);
}

/* Appends the ranks of the run, because it may be slower to continue it with a different number. */
static void
append_ranks (GString *to, LigDevice *device)
{
  int ranks = lig_device_get_n_ranks (device, LIG_GROUP_ALL);
  if (ranks == 1)
    return;
  const LigLayout *used = lig_device_get_layout (device);
  g_autofree char *layout = lig_layout_to_string (used);
  g_string_append_printf (to, " --ranks %d", ranks);
  if (!lig_layout_is_default (used))
    lig_shell_append_option (to, "parallel", layout);
}

/* Appends the commands that show and continue the run. A new run is the last one; a resumed run may
 * not be. */
static void
append_commands (GString *to, LigRun *run, const LigRunProgress *progress, const char *store)
{
  const char *uuid = lig_run_get_uuid (run), *checkpoint = lig_run_get_checkpoint (run);
  g_autoptr (GString) show = g_string_new ("lig runs show");
  g_autoptr (GString) next = g_string_new ("lig train");
  if (!uuid)
    return;
  g_autofree char *selector = g_strndup (uuid, 8);
  lig_shell_append (show, progress->first_step > 0 ? selector : "last");
  lig_shell_append_option (next, "resume", selector);
  append_ranks (next, lig_run_get_device (run));
  if (progress->status == LIG_RUN_DONE)
    g_string_append_printf (next, " --steps %" G_GINT64_FORMAT, 2 * progress->steps);
  if (store) {
    lig_shell_append_option (show, "store", store);
    lig_shell_append_option (next, "store", store);
  }
  g_string_append_printf (to, "run %s: %s\n", uuid, show->str);
  if (checkpoint)
    g_string_append_printf (to, "checkpoint %s\ncontinue with: %s\n", checkpoint, next->str);
}

void
lig_cli_print_outcome (LigRun *run, const char *store, gboolean to_stderr)
{
  LigRunProgress progress;
  g_autoptr (GString) text = g_string_new (NULL);
  lig_run_get_progress (run, &progress);
  if (lig_cli_quiet ()) {
    if (!to_stderr && lig_run_get_uuid (run))
      lig_cli_print ("%s", lig_run_get_uuid (run));
    return;
  }
  append_result (text, &progress);
  append_commands (text, run, &progress, store);
  g_auto (GStrv) lines = g_strsplit (g_strchomp (text->str), "\n", -1);
  for (char **line = lines; *line; line++) {
    g_autofree char *printable = lig_printable (*line);
    if (to_stderr)
      g_printerr ("%s\n", printable);
    else
      lig_cli_print ("%s", *line);
  }
}
