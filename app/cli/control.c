/* SPDX-License-Identifier: MIT */
/* The main loop receives commands; the thread that writes the metrics also writes progress, so that
 * lines never interleave. */
#include "app/cli/control.h"

#include "app/cli/metrics.h"
#include "app/cli/modes.h"
#include "app/cli/print.h"
#include "app/cli/say.h"

#include <ligature/device.h>
#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/ranks.h>
#include <ligature/sequence.h>
#include <ligature/tuning.h>

#include <errno.h>
#include <glib-unix.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The longest line that is read; every command is shorter. */
enum { LONGEST = 256 };

static struct {
  gboolean open;
  LigRun *run;
  guint source;
  char line[LONGEST];
  gsize length; /* of the line that is being read */
} self;

/* --- Commands ------------------------------------------------------------------------------ */

static void
obey (const char *line)
{
  static const struct {
    const char *name;
    void (*obey) (LigRun *run);
  } commands[] = {
    {"pause", lig_run_pause},    {"continue", lig_run_unpause}, {"save", lig_run_save},
    {"stop", lig_run_interrupt}, {"cancel", lig_run_cancel},
  };
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (commands[i].name, line) == 0) {
      commands[i].obey (self.run);
      return;
    }
  lig_cli_warn (
    "--control: command '%s' is unknown, expected pause, continue, save, stop or cancel", line);
}

static void
take (char byte)
{
  if (byte != '\n') {
    self.line[self.length] = byte;
    self.length = MIN (self.length + 1, LONGEST - 1);
    return;
  }
  self.line[self.length] = '\0';
  self.length = 0;
  obey (self.line);
}

static gboolean
read_commands (int input, GIOCondition condition, gpointer data)
{
  char bytes[LONGEST];
  gssize count = read (input, bytes, sizeof bytes);
  for (gssize i = 0; i < count; i++)
    take (bytes[i]);
  if (count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN)))
    return G_SOURCE_CONTINUE;
  /* The controlling program has ended. */
  lig_run_interrupt (self.run);
  self.source = 0;
  return G_SOURCE_REMOVE;
}

/* --- Lines --------------------------------------------------------------------------------- */

static void
append_progress (GString *to, LigRun *run)
{
  LigRunProgress progress;
  lig_run_get_progress (run, &progress);
  g_autofree char *problem = lig_run_dup_problem (run);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_begin_object (builder, "progress");
  lig_json_add_text (builder, "status", lig_run_status_name (progress.status));
  lig_json_add_integer (builder, "step", progress.step);
  lig_json_add_integer (builder, "steps", progress.steps);
  lig_json_add_integer (builder, "first_step", progress.first_step);
  lig_json_add_integer (builder, "skipped_updates", progress.skipped);
  lig_json_add_integer (builder, "slowest_rank", progress.slowest);
  lig_json_add_truth (builder, "searching", progress.searching);
  lig_json_add_truth (builder, "tokens", progress.tokens);
  const struct {
    const char *name;
    double value;
  } numbers[] = {
    {"seconds", progress.seconds},
    {"left", progress.left},
    {"loss", progress.loss},
    {"first_loss", progress.first_loss},
    {"eval_loss", progress.eval_loss},
    {"eval_accuracy", progress.eval_accuracy},
    {"lr", progress.learning_rate},
    {"grad_norm", progress.gradient_norm},
    {"loss_scale", progress.loss_scale},
    {"step_seconds", progress.step_seconds},
    {"samples_per_second", progress.samples_per_second},
    {"rows_per_second", progress.rows_per_second},
    {"mfu", progress.mfu},
    {"exposed_seconds", progress.exposed},
    {"imbalance_seconds", progress.imbalance},
  };
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    lig_json_add_number (builder, numbers[i].name, numbers[i].value);
  lig_json_add_text (builder, "problem", problem);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  lig_json_append (to, root);
  g_string_append_c (to, '\n');
}

static void
print_line (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autoptr (GString) line = g_string_new (NULL);
  lig_json_append (line, root);
  printf ("%s\n", line->str);
  fflush (stdout);
}

static void
print_measuring (const char *what, double seconds, double share)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_begin_object (builder, "measuring");
  lig_json_add_text (builder, "what", what);
  lig_json_add_number (builder, "seconds", seconds);
  lig_json_add_number (builder, "share", share < 0 ? NAN : share);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  print_line (builder);
}

static void
add_remarks (JsonBuilder *builder, const char *const *remarks)
{
  json_builder_set_member_name (builder, "remarks");
  json_builder_begin_array (builder);
  for (; remarks && *remarks; remarks++)
    json_builder_add_string_value (builder, *remarks);
  json_builder_end_array (builder);
}

static void
print_training (LigRun *run)
{
  LigShape shape;
  LigDtype dtype;
  LigSequence *sequence = lig_run_get_sequence (run);
  LigRunProgress progress;
  const LigRunSettings *settings = lig_run_get_settings (run);
  const char *name = lig_sequence_get_name (sequence);
  g_autofree char *expression = lig_sequence_to_expression (sequence);
  g_autofree char *values = lig_run_settings_to_json (settings);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  lig_sequence_get_input (sequence, &shape, &dtype);
  lig_run_get_progress (run, &progress);
  json_builder_begin_object (builder);
  lig_json_begin_object (builder, "training");
  lig_json_add_text (builder, "run", lig_run_get_uuid (run));
  lig_json_add_text (builder, "name", settings->name ? settings->name : name ? name : expression);
  lig_json_add_text (builder, "device", lig_device_get_name (lig_run_get_device (run)));
  lig_json_add_integer (builder, "ranks",
                        lig_device_get_n_ranks (lig_run_get_device (run), LIG_GROUP_ALL));
  lig_json_add_text (builder, "data", lig_run_describe_data (run));
  lig_json_add_integer (builder, "samples", shape.axes[0] * settings->accumulate);
  lig_json_add_integer (builder, "first_step", progress.first_step);
  lig_json_add_text (builder, "checkpoint", lig_run_get_checkpoint (run));
  lig_json_add_document (builder, "settings", values);
  add_remarks (builder, lig_run_get_remarks (run));
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  print_line (builder);
}

/* --- Following a run ----------------------------------------------------------------------- */

void
lig_cli_control_begin (void)
{
  lig_cli_request_json ();
  lig_cli_request_lines ();
}

gboolean
lig_cli_control_open (GError **error)
{
  self.open = lig_cli_metrics_open ("-", FALSE, error);
  lig_cli_metrics_add (append_progress);
  lig_tuning_set_monitor (print_measuring);
  return self.open;
}

void
lig_cli_control_follow (LigRun *run)
{
  if (!self.open)
    return;
  self.run = run;
  /* From here on another thread prints. */
  lig_tuning_set_monitor (NULL);
  print_training (run);
  self.source = g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, read_commands, NULL);
}

void
lig_cli_control_end (void)
{
  g_clear_handle_id (&self.source, g_source_remove);
  self.open = FALSE;
}
