/* SPDX-License-Identifier: MIT */
/* Traces for chrome://tracing and Perfetto: an event for each step, with its pass as category, and
 * a thread for each lane, so that overlapping steps are below one another. Times are measured,
 * otherwise predicted; each event records which. */
#include "engine/base/json-private.h"
#include "engine/draw/timed.h"
#include "engine/report/picture.h"
#include <ligature/draw.h>
#include <ligature/figures.h>
#include <ligature/json-members.h>

#include <json-glib/json-glib.h>

#include <glib/gi18n-lib.h>
#include <math.h>

static void
add_name (JsonBuilder *to, const char *what, int thread, const char *name)
{
  json_builder_begin_object (to);
  lig_json_add_text (to, "name", what);
  lig_json_add_text (to, "ph", "M");
  lig_json_add_integer (to, "pid", 1);
  lig_json_add_integer (to, "tid", thread);
  lig_json_begin_object (to, "args");
  lig_json_add_text (to, "name", name);
  json_builder_end_object (to);
  json_builder_end_object (to);
}

/* Adds the indexes of the ops that the step computes; a step of the update has none. */
static void
add_ops (JsonBuilder *to, LigPlan *plan, const LigPlanStep *step)
{
  guint count, n_ops;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  lig_json_begin_array (to, "ops");
  if (step->group >= 0 && step->pass <= LIG_PASS_BACKWARD) {
    const LigPlanGroup *group = &lig_plan_get_groups (plan, step->pass, &count)[step->group];
    for (int i = group->first; i < group->first + group->count; i++) {
      g_autofree char *text = g_strdup_printf ("%s %s", ops[i].path, ops[i].info->name);
      json_builder_add_string_value (to, text);
    }
  } else if (step->part >= 0) {
    g_autofree char *text =
      g_strdup_printf ("%s %s", ops[step->part].path, ops[step->part].info->name);
    json_builder_add_string_value (to, text);
  }
  json_builder_end_array (to);
}

static void
add_step (JsonBuilder *to, const LigTimedPlan *timed, const LigTimedSpan *span)
{
  guint count, index = span->step;
  const LigPlanStep *step = &lig_plan_get_steps (timed->plan, &count)[index];
  double predicted = step->predicted * 1e6;
  json_builder_begin_object (to);
  lig_json_add_text (to, "name", lig_report_kernel_name (step));
  lig_json_add_text (to, "cat", lig_pass_name (step->pass));
  lig_json_add_text (to, "ph", "X");
  lig_json_add_integer (to, "pid", 1);
  lig_json_add_integer (to, "tid", (int) span->lane + 1);
  lig_json_add_number (to, "ts", span->start * 1e6);
  lig_json_add_number (to, "dur", span->seconds * 1e6);
  lig_json_begin_object (to, "args");
  lig_json_add_integer (to, "step", index);
  lig_json_add_text (to, "fusion", lig_report_fusion_name (timed->plan, step));
  add_ops (to, timed->plan, step);
  lig_json_begin_array (to, "kernels");
  json_builder_add_string_value (to, lig_report_kernel_name (step));
  json_builder_end_array (to);
  g_autofree char *operands = lig_plan_name_operands (timed->plan, step);
  lig_json_add_text (to, "operands", operands);
  lig_json_add_number (to, "bytes", step->read + step->written);
  lig_json_add_number (to, "flops", step->flops);
  lig_json_add_number (to, "predicted_us", predicted > 0 ? predicted : NAN);
  json_builder_set_member_name (to, "measured_us");
  if (timed->steps)
    json_builder_add_double_value (to, timed->steps[index] * 1e6);
  else
    json_builder_add_null_value (to);
  json_builder_end_object (to);
  json_builder_end_object (to);
}

/* Adds the copy of the next batch, which runs concurrently with this step. */
static void
add_upload (JsonBuilder *to, LigPlan *plan)
{
  LigUpload upload;
  lig_figures_of_upload (plan, &upload);
  if (!(upload.seconds > 0))
    return;
  add_name (to, "thread_name", LIG_LANE_COPY + 1, lig_lane_name (LIG_LANE_COPY));
  json_builder_begin_object (to);
  lig_json_add_text (to, "name", "batch");
  lig_json_add_text (to, "ph", "X");
  lig_json_add_integer (to, "pid", 1);
  lig_json_add_integer (to, "tid", LIG_LANE_COPY + 1);
  lig_json_add_number (to, "ts", 0);
  lig_json_add_number (to, "dur", upload.seconds * 1e6);
  lig_json_begin_object (to, "args");
  lig_json_add_number (to, "bytes", upload.bytes);
  lig_json_add_number (to, "predicted_us", upload.seconds * 1e6);
  json_builder_end_object (to);
  json_builder_end_object (to);
}

/* Adds the steps, and names the lanes that they are in. */
static void
add_steps (JsonBuilder *to, const LigTimedPlan *timed)
{
  gboolean named[LIG_N_LANES] = {FALSE};
  g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (LigTimedSpan));
  lig_timed_place (timed, spans);
  for (guint i = 0; i < spans->len; i++) {
    const LigTimedSpan *span = &g_array_index (spans, LigTimedSpan, i);
    if (!named[span->lane])
      add_name (to, "thread_name", (int) span->lane + 1, lig_lane_name (span->lane));
    named[span->lane] = TRUE;
    add_step (to, timed, span);
  }
  add_upload (to, timed->plan);
}

static void
write_trace (GString *to, const LigPicture *picture, const char *command)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "displayTimeUnit", "ns");
  lig_json_begin_object (builder, "otherData");
  lig_json_add_text (builder, "ligature", LIG_VERSION);
  lig_json_add_text (builder, "device",
                     lig_device_get_name (lig_plan_get_device (picture->timed.plan)));
  lig_json_add_text (builder, "times", picture->timed.steps ? "measured" : "predicted");
  lig_json_add_text (builder, "command", command);
  lig_json_add_text (builder, "note", picture->note);
  json_builder_end_object (builder);
  lig_json_begin_array (builder, "traceEvents");
  add_name (builder, "process_name", 0, picture->title);
  add_steps (builder, &picture->timed);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  lig_json_add_units (root);
  g_autofree char *text = lig_json_to_text (root);
  g_string_append_printf (to, "%s\n", text);
}

static gboolean
write_plan (GString *to, LigPlan *plan, const char *command, GError **error)
{
  g_auto (LigPicture) picture;
  lig_picture_init_plan (&picture, plan);
  write_trace (to, &picture, command);
  return TRUE;
}

static gboolean
write_run (GString *to, const LigReportRun *run, GError **error)
{
  g_auto (LigPicture) picture;
  lig_picture_init_run (&picture, run);
  if (!picture.timed.plan) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("run %s: %s"), run->row->uuid,
                 picture.note);
    return FALSE;
  }
  write_trace (to, &picture, NULL);
  return TRUE;
}

LIG_REPORT_FORMAT (trace) = {
  .name = "trace.json",
  .title = N_ ("Chrome trace"),
  .help = N_ ("The timeline of a step for a trace viewer"),
  .plan = write_plan,
  .run = write_run,
};
