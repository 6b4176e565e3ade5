/* SPDX-License-Identifier: MIT */
/* lig fuse: prints both rails and the verdicts, or the verdicts about one op or gap, or applies the
 * fix that a verdict suggests. */
#include "app/cli/blame.h"
#include "app/cli/fuse-pair.h"
#include "app/cli/fuse-savings.h"
#include "app/cli/output-file.h"
#include "app/cli/sequence-options.h"
#include "app/cli/table.h"
#include <ligature/report.h>

#include <stdio.h>

static int run (int argc, char **argv);
static void append_notes (GString *to);

LIG_COMMAND (fuse) = {
  .name = "fuse",
  .usage = "P [--input I] [--device D] [--dtype T] [--policy none|all|measured] [--why PATH] …",
  .summary = "Prints the chosen fusions, forward and backward, and rejections",
  .example = "lig fuse 'layer-norm ! linear(3072) ! gelu ! linear(768)' --input 2048x768",
  .run = run,
  .notes = append_notes,
  .pages = TRUE,
};

static void
append_notes (GString *to)
{
  g_string_append (to, "--device A,B compares the plans for two devices: times, and the groups and "
                       "rejections that differ; more devices give a table of totals.\n\n");
}

typedef struct {
  gboolean all, savings;
  char *why, *fix, *output;
} Settings;

static void
clear_settings (Settings *self)
{
  g_free (self->why);
  g_free (self->fix);
  g_free (self->output);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Settings, clear_settings)

static void
print_edit (const LigFix *fix, const char *file, const char *edit)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "file", file);
  lig_json_add_integer (builder, "number", fix->number);
  lig_json_add_text (builder, "kind", lig_fix_kind_name (fix->kind));
  lig_json_add_text (builder, "text", edit);
  json_builder_end_object (builder);
  lig_cli_print_document ("fuse-fix", json_builder_get_root (builder));
}

/* Applies the fix and writes the sequence, including the command line's fusion constraints. On
 * standard output the sequence is the JSON document itself. */
static gboolean
apply_fix (LigPlan *plan, LigSequence *sequence, const Settings *settings, GError **error)
{
  guint64 number;
  if (!g_ascii_string_to_unsigned (settings->fix, 10, 1, G_MAXUINT, &number, NULL)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--apply-fix is '%s', expected at least 1", settings->fix);
    return FALSE;
  }
  if (!lig_cli_check_output (settings->output, NULL, error) ||
      !lig_cli_check_file (settings->output, error))
    return FALSE;
  const LigFix *fix = lig_plan_find_fix (plan, (guint) number, error);
  if (fix && !lig_fix_is_edit (fix)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "fix %u does not edit the sequence; add --policy %s instead of --apply-fix",
                 fix->number, fix->value);
    return FALSE;
  }
  if (!fix)
    return lig_cli_blame (error, "apply-fix");
  if (!lig_fix_apply (fix, sequence, error))
    return FALSE;
  g_autofree char *edit = lig_fix_describe (fix);
  if (lig_cli_is_standard (settings->output)) {
    g_autofree char *json = lig_sequence_to_json (sequence);
    fputs (json, stdout);
  } else if (!lig_sequence_save (sequence, settings->output, error)) {
    return FALSE;
  } else if (lig_cli_json ()) {
    print_edit (fix, settings->output, edit);
  }
  if (lig_cli_is_standard (settings->output))
    lig_cli_say ("edit: %s", edit);
  else
    lig_cli_say ("wrote %s with the edit: %s", settings->output, edit);
  return TRUE;
}

static gboolean
explain (LigPlan *plan, const char *place, GError **error)
{
  if (lig_cli_json ()) {
    JsonNode *answer = lig_plan_explain_place_to_json (plan, place, error);
    if (answer)
      lig_cli_print_document ("fuse-why", answer);
    return answer || lig_cli_blame (error, "why");
  }
  g_autofree char *answer = lig_plan_explain_place (plan, place, error);
  if (answer)
    lig_cli_print_lines (answer, lig_cli_text_width ());
  return answer || lig_cli_blame (error, "why");
}

static void
show (LigPlan *plan, gboolean all)
{
  if (lig_cli_json ()) {
    lig_plan_write_json (plan, lig_cli_print_part, NULL);
    lig_cli_print_part ("\n", 1, NULL);
    return;
  }
  LigRailsOptions options = LIG_RAILS_OPTIONS_INIT;
  options.width = lig_cli_text_width ();
  options.colour = lig_cli_colour ();
  options.all = all;
  g_autofree char *rails = lig_plan_to_rails (plan, &options);
  fputs (rails, stdout);
}

static int
run (int argc, char **argv)
{
  g_auto (LigSequenceOptions) options = {0};
  g_auto (Settings) settings = {0};
  const GOptionEntry more[] = {
    {"all", 0, 0, G_OPTION_ARG_NONE, &settings.all,
     "Also print all verdicts: why each fusion was rejected", NULL},
    {"why", 0, 0, G_OPTION_ARG_STRING, &settings.why,
     "Only verdicts about this op; '|PATH': about the gap before it", "PATH"},
    {"apply-fix", 0, 0, G_OPTION_ARG_STRING, &settings.fix,
     "Apply 'fix N' and write the edited sequence", "N"},
    {"savings", 0, 0, G_OPTION_ARG_NONE, &settings.savings,
     "Only what would save time or memory: fixes, policies, recipes, recomputation, a larger batch",
     NULL},
    LIG_CLI_OUTPUT_ENTRY (&settings.output),
    {NULL},
  };
  g_autofree GOptionEntry *entries = lig_cli_sequence_entries (
    &options, LIG_OPTION_PLAN | LIG_OPTION_RANKS | LIG_OPTION_SHARD, more);
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_fuse, entries, &argc, &argv, 1, 1))
    return LIG_EXIT_USAGE;
  if (settings.fix && !settings.output)
    return lig_cli_usage ("--apply-fix needs a file for the edited sequence; add -o FILE, or -o - "
                          "for standard output");
  if (settings.output && !settings.fix)
    return lig_cli_usage ("-o is only used with --apply-fix; add --apply-fix N");
  if (settings.savings && (settings.all || settings.why || settings.fix))
    return lig_cli_usage ("--savings lists other plans; omit --%s", settings.all   ? "all"
                                                                    : settings.why ? "why"
                                                                                   : "apply-fix");
  g_auto (GStrv) devices = lig_cli_split_devices (options.device);
  if (devices && (settings.all || settings.savings || settings.why || settings.fix))
    return lig_cli_usage ("--%s is about one plan; give one device instead of %s",
                          settings.all       ? "all"
                          : settings.savings ? "savings"
                          : settings.why     ? "why"
                                             : "apply-fix",
                          options.device);
  g_autoptr (LigSequence) sequence = lig_cli_open_sequence (argv[1], &options, &error);
  if (sequence && devices)
    return lig_fuse_devices (sequence, &options, devices);
  g_autoptr (LigPlan) plan =
    sequence ? lig_cli_compile_sequence (sequence, &options, &error) : NULL;
  if (!plan || (settings.why && !settings.fix && !explain (plan, settings.why, &error)) ||
      (settings.fix && !apply_fix (plan, sequence, &settings, &error)))
    return lig_cli_fail (g_steal_pointer (&error));
  if (settings.why || settings.fix)
    return LIG_EXIT_OK;
  if (settings.savings)
    lig_fuse_savings (plan, &options);
  else
    show (plan, settings.all);
  return lig_cli_fit_code (plan, NULL);
}
