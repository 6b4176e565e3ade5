/* SPDX-License-Identifier: MIT */
/* Reports of plans and runs, with the same text in the window, on the command line and in files.
 *
 * Threads: plans and profiles may be read by any thread; a store is used as <ligature/store.h>
 * describes. */
#pragma once

#include <ligature/json.h>
#include <ligature/store-rows.h>

G_BEGIN_DECLS

typedef struct _LigDevice LigDevice;
typedef struct _LigPlan LigPlan;
typedef struct _LigPlanComparison LigPlanComparison;
typedef struct _LigProfile LigProfile;
typedef struct _LigStore LigStore;
typedef struct _LigSweep LigSweep;

/**
 * lig_plan_to_json:
 * @self: a plan
 *
 * Returns: (transfer full): the document of `lig fuse --json` without its member `fixes`: ops,
 *   forward, backward, verdicts
 */
LIG_API JsonNode *lig_plan_to_json (LigPlan *self);

/**
 * lig_plan_add_steps: (skip)
 * @self: a plan
 * @to: a builder in an object
 *
 * Adds the array `steps`, each with the numbers of the values that it reads and writes.
 */
LIG_API void lig_plan_add_steps (LigPlan *self, JsonBuilder *to);

/**
 * lig_plan_add_values: (skip)
 * @self: a plan
 * @to: a builder in an object
 *
 * Adds the array `values`, each with the numbers of the steps that write and read it.
 */
LIG_API void lig_plan_add_values (LigPlan *self, JsonBuilder *to);

/**
 * lig_plan_add_ports: (skip)
 * @self: a plan
 * @op: the number of an op
 * @to: a builder in an object
 *
 * Adds the array `ports` of the op: their values, and where these come from.
 */
LIG_API void lig_plan_add_ports (LigPlan *self, guint op, JsonBuilder *to);

/**
 * lig_plan_to_dot:
 * @self: a plan
 *
 * Draws the graph of the steps in Graphviz' language: a box `sN` for each step N, and for each
 * value an edge with name, shape and type from the step that writes it to each that reads it.
 * Values of the state are cylinders and values of the caller ovals: `vNf`, `vNb` and `vNu` are
 * value N in the forward pass, the backward pass and the update.
 *
 * Returns: (transfer full): the text, which ends with a line feed
 */
LIG_API char *lig_plan_to_dot (LigPlan *self);

/**
 * lig_plan_write_json: (skip)
 * @self: a plan
 * @sink: takes the parts of the text
 * @data: passed to @sink
 *
 * Writes the text of `lig fuse --json` piece by piece, because a plan has several verdicts for each
 * op and the whole document would take a hundred times the memory of the plan.
 */
LIG_API void lig_plan_write_json (LigPlan *self, LigJsonSink sink, gpointer data);

/**
 * lig_plan_comparison_to_json:
 * @self: a comparison
 * @before: a short title of the first plan
 * @after: a short title of the second plan
 *
 * Returns: (transfer full): both plans' titles, devices and policies, the total of a step, and the
 *   ranges of `forward` and `backward` with their groups, times and bytes on both sides
 */
LIG_API JsonNode *
lig_plan_comparison_to_json (LigPlanComparison *self, const char *before, const char *after);

/**
 * lig_plan_comparison_to_text:
 * @self: a comparison
 * @before: a short title of the first plan
 * @after: a short title of the second plan
 * @colour: whether to use the colour sequences of terminals
 * @width: the line width in characters, 60 to 200
 *
 * Returns: (transfer full): both plans next to each other: the totals, the places where the groups
 *   differ, for each pass the ops with the groups, times and bounds of both, and the rejections
 *   that only one plan has. Repetitions of a block with the same groups are shown once
 */
LIG_API char *lig_plan_comparison_to_text (
  LigPlanComparison *self, const char *before, const char *after, gboolean colour, int width);

/**
 * lig_plans_to_totals:
 * @plans: (array length=count): plans of one sequence
 * @titles: (array length=count): a short title of each plan
 * @count: the number of plans, at least one
 * @colour: whether to use the colour sequences of terminals
 * @width: the line width in characters, 60 to 200
 *
 * Returns: (transfer full): a table with a column for each plan: device, times with their bounds,
 *   speed compared with the first plan, bytes, kernels, memory
 */
LIG_API char *lig_plans_to_totals (
  LigPlan *const *plans, const char *const *titles, guint count, gboolean colour, int width);

/**
 * lig_plans_totals_to_json:
 * @plans: (array length=count): plans of one sequence
 * @titles: (array length=count): a short title of each plan
 * @count: the number of plans, at least one
 *
 * Returns: (transfer full): the figures of lig_plans_to_totals() as a document with an object for
 *   each plan in `plans`
 */
LIG_API JsonNode *
lig_plans_totals_to_json (LigPlan *const *plans, const char *const *titles, guint count);

/**
 * lig_profile_to_json:
 * @self: a profile
 *
 * Returns: (transfer full): the document of `lig profile --json`
 */
LIG_API JsonNode *lig_profile_to_json (const LigProfile *self);

/* The range of widths for which rails are laid out; other widths are clamped to it. */
#define LIG_RAILS_NARROWEST 60
#define LIG_RAILS_WIDEST 200

/**
 * LigRailsOptions:
 * @size: the size of the struct that the program was compiled with, set by %LIG_RAILS_OPTIONS_INIT
 * @width: the maximum number of columns of a line, clamped to %LIG_RAILS_NARROWEST and
 *   %LIG_RAILS_WIDEST
 * @colour: whether to use the colour sequences of terminals, which take no columns
 * @all: whether to list all verdicts below the rails
 *
 * The form of a plan as text.
 */
typedef struct {
  gsize size;
  int width;
  gboolean colour;
  gboolean all;
} LigRailsOptions;

/* Initializes a #LigRailsOptions: 80 columns, no colour, no verdicts. */
#define LIG_RAILS_OPTIONS_INIT \
  { \
    .size = sizeof (LigRailsOptions), .width = 80 \
  }

/**
 * lig_plan_to_rails:
 * @self: a plan
 * @options: (nullable): the form of the text; %NULL: %LIG_RAILS_OPTIONS_INIT
 *
 * Writes a plan as text. It begins with a summary: the time of each pass, its saving compared with
 * the unfused plan, and the three fixes that together would save most. Below are the forward rail,
 * the ops and the backward rail in three columns, with the time, the bytes and the saving of each
 * group; then, if requested, the verdicts, near misses first.
 *
 * No line is wider than the width, counted as lig_columns_width() does. Narrow rails omit the
 * savings, then the bytes, then the middle of names. Repetitions of a block that have equal groups
 * are drawn once, with the sum of their figures; verdicts that they have in common are listed once,
 * at the first repetition, with their count.
 *
 * Returns: (transfer full): lines of text
 */
LIG_API char *lig_plan_to_rails (LigPlan *self, const LigRailsOptions *options);

/**
 * lig_plan_explain_place:
 * @self: a plan
 * @place: the path of an op, `3` or `3.0.2`; with the prefix `|`, as in `|3`, the gap before it. A
 *   block's path means all of its ops
 *
 * Returns: (transfer full): the verdicts about the place as text: forward and backward separately,
 *   near misses first, then by decreasing gain, each with its fix; %NULL with %LIG_ERROR_INDEX set
 *   if the plan has no such place
 */
LIG_API char *lig_plan_explain_place (LigPlan *self, const char *place, GError **error);

/**
 * lig_plan_explain_place_to_json:
 * @self: a plan
 * @place: as for lig_plan_explain_place()
 *
 * Returns: (transfer full): the verdicts about the place as a document: `place`, `ops`, and
 *   verdicts under `forward`, `backward` and `joint`; %NULL with %LIG_ERROR_INDEX set
 */
LIG_API JsonNode *lig_plan_explain_place_to_json (LigPlan *self, const char *place, GError **error);

/**
 * lig_plan_explain_recipe:
 * @self: a plan
 *
 * Returns: (transfer full) (nullable): a translated sentence, without capital and full stop, about
 *   the quantized matmuls, the first one that has a recipe but is not quantized, the first one
 * whose weight gradient is not, and overflows that are not detected; %NULL if there is no recipe
 */
LIG_API char *lig_plan_explain_recipe (LigPlan *self);

/**
 * lig_plan_remark_recipe:
 * @self: a plan
 *
 * Returns: (transfer full) (nullable): like lig_plan_explain_recipe(), but also %NULL if all
 * matmuls follow their recipes and all overflows are detected
 */
LIG_API char *lig_plan_remark_recipe (LigPlan *self);

/**
 * lig_plan_add_ranks: (skip)
 * @self: a plan
 * @builder: a builder in an object
 *
 * Adds the member `ranks` with the figures of one of several ranks; does nothing with one rank.
 */
LIG_API void lig_plan_add_ranks (LigPlan *self, JsonBuilder *builder);

/**
 * lig_plan_add_memory: (skip)
 * @self: a plan
 * @device: (nullable): the device whose memory is compared; %NULL: the plan's own
 * @builder: a builder in an object
 *
 * Adds the members `memory`, the numbers of lig_plan_get_memory(), and `problem`, the sentence of
 * lig_plan_explain_memory() or null.
 */
LIG_API void lig_plan_add_memory (LigPlan *self, LigDevice *device, JsonBuilder *builder);

/**
 * lig_plan_explain_upload:
 * @self: a plan
 *
 * Returns: (transfer full) (nullable): a translated sentence if the copy of a batch to the device
 * is predicted to take longer than a step, which then waits for it; otherwise %NULL
 */
LIG_API char *lig_plan_explain_upload (LigPlan *self);

/**
 * lig_plan_explain_ranks:
 * @self: a plan
 *
 * Returns: (transfer full) (nullable): for one of several ranks: the predicted time of a step, its
 *   communication with the other ranks and the memory of a rank, translated; %NULL with one rank
 */
LIG_API char *lig_plan_explain_ranks (LigPlan *self);

/**
 * lig_plan_explain_recompute:
 * @self: a plan
 *
 * Returns: (transfer full) (nullable): a translated sentence, without capital and full stop, about
 *   recomputation: the number of its steps, their predicted time if known, and the bytes that it
 *   saves; %NULL if there is none
 */
LIG_API char *lig_plan_explain_recompute (LigPlan *self);

/**
 * lig_run_describe_use:
 * @store: a store
 * @row: one of its runs
 *
 * Describes how well the median step of a run used its device. The plan is recompiled, for the
 * device or a description of it.
 *
 * Returns: (transfer full) (nullable): `2.34 M tokens/s, 48 % MFU` by lig_figures_use_text();
 *   %NULL if the time or the plan is unknown
 */
LIG_API char *lig_run_describe_use (LigStore *store, const LigRunRow *row);

/**
 * lig_run_row_to_json:
 * @row: a row of lig_store_list_runs()
 *
 * Returns: (transfer full): an object with the members of a run in `lig runs list --json`
 */
LIG_API JsonNode *lig_run_row_to_json (const LigRunRow *row);

/**
 * lig_run_to_json:
 * @store: a store
 * @run: a selector as for lig_store_find_run()
 * @error: (out) (optional): set if there is no such run, or the store cannot be read
 *
 * Returns: (transfer full): the document of `lig runs show --json`: the run, its settings, the
 *   first and the last value of each metric, forward, backward, verdicts and artifacts; %NULL with
 *   an error set
 */
LIG_API JsonNode *lig_run_to_json (LigStore *store, const char *run, GError **error);

/**
 * lig_run_histograms_to_json:
 * @store: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer full): the member `histograms` of `lig runs show --histograms --json`, an
 * array with all steps of each weight and gradient; %NULL with an error set
 */
LIG_API JsonNode *lig_run_histograms_to_json (LigStore *store, const char *run, GError **error);

/**
 * lig_run_loads_to_json:
 * @store: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer full): the member `experts` of `lig train --json`, an array with the load of
 *   each router in all recorded steps; %NULL with an error set
 */
LIG_API JsonNode *lig_run_loads_to_json (LigStore *store, const char *run, GError **error);

/* --- Reports ------------------------------------------------------------------------------- */

/**
 * lig_report_format_nth:
 * @n: the format's number, from 0
 *
 * Returns: (nullable): the name of the @n-th format, which is the ending of its files: `md`,
 *   `json`, `csv`; %NULL after the last
 */
LIG_API const char *lig_report_format_nth (guint n);

/**
 * lig_report_format_title:
 * @format: the name of a format, see lig_report_format_nth()
 *
 * Returns: (nullable) (transfer none): the format's displayed title, translatable; %NULL if no
 *   format has that name
 */
LIG_API const char *lig_report_format_title (const char *format);

/**
 * lig_report_format_help:
 * @format: the name of a format, see lig_report_format_nth()
 *
 * Returns: (nullable) (transfer none): the format's description, a sentence without a full stop,
 *   translatable; %NULL if no format has that name
 */
LIG_API const char *lig_report_format_help (const char *format);

/**
 * lig_report_choose_format:
 * @path: the path of a file
 *
 * Returns: (transfer none): the format for the file's ending, or %NULL with %LIG_ERROR_FORMAT set,
 *   which lists the formats
 */
LIG_API const char *lig_report_choose_format (const char *path, GError **error);

/**
 * lig_report_plan:
 * @plan: a plan
 * @command: (nullable): the command line that reproduces the report
 * @format: the name of a format, see lig_report_format_nth()
 *
 * Makes a report of a plan. `md` is readable text; `json` is the document of lig_plan_to_json()
 * with `command`, `types`, `steps`, `values` and `memory`; `csv` has a line for each step.
 *
 * In `csv`, texts are written by lig_csv_append_text(), so that no spreadsheet interprets them as
 * formulas, unknown values are empty, and lines end with a line feed.
 *
 * Returns: (transfer full): the contents of the file, or %NULL with %LIG_ERROR_FORMAT set
 */
LIG_API GBytes *
lig_report_plan (LigPlan *plan, const char *command, const char *format, GError **error);

/**
 * lig_report_run:
 * @store: a store
 * @run: a selector as for lig_store_find_run()
 * @format: the name of a format, see lig_report_format_nth()
 *
 * Makes a report of a run. `md` is readable text; `json` has all of the store's data on the run,
 * with null for numbers that are not finite; `csv` has a line for each value of each metric, `nan`,
 * `inf` and `-inf` included.
 *
 * Returns: (transfer full): the contents of the file, or %NULL with an error set
 */
LIG_API GBytes *
lig_report_run (LigStore *store, const char *run, const char *format, GError **error);

/**
 * lig_report_comparison:
 * @comparison: a comparison of two plans
 * @before: a short title of the first plan: `before`, `NVIDIA A100`
 * @after: a short title of the second plan
 * @format: the name of a format, see lig_report_format_nth()
 *
 * Makes a report of two plans: their totals, both plans' groups next to each other, and the groups
 * that only one of them has. `json` has `before`, `after`, `total`, and the ranges of `forward` and
 * `backward`; `csv` has a line for each range.
 *
 * Returns: (transfer full): the contents of the file, or %NULL with %LIG_ERROR_FORMAT set
 */
LIG_API GBytes *lig_report_comparison (LigPlanComparison *comparison,
                                       const char *before,
                                       const char *after,
                                       const char *format,
                                       GError **error);

/**
 * lig_report_sweep:
 * @sweep: a sweep that has begun
 * @format: `html`, `md`, `csv`, `json`, `svg`, `png` or `pdf`
 *
 * Makes a report of a sweep: its picture, a row for all runs that differ only in the seed, and a
 * row for each run.
 *
 * Returns: (transfer full): the contents of the file, or %NULL with %LIG_ERROR_FORMAT set
 */
LIG_API GBytes *lig_report_sweep (LigSweep *sweep, const char *format, GError **error);

/**
 * lig_report_shows_sweep:
 * @format: the name of a format, see lig_report_format_nth()
 *
 * Returns: whether a sweep has a report in this format
 */
LIG_API gboolean lig_report_shows_sweep (const char *format);

/**
 * lig_report_save:
 * @report: the contents of the file
 * @path: (type filename): the path of the file to write
 *
 * Writes under a temporary name, syncs and renames, so that an existing file stays complete until
 * it is replaced. Files that are not regular (/dev/stdout, a pipe) are written directly.
 *
 * Returns: %FALSE with %LIG_ERROR_FILE set
 */
LIG_API gboolean lig_report_save (GBytes *report, const char *path, GError **error);

/**
 * lig_report_write_plan:
 * @plan: a plan
 * @command: (nullable): the command line that reproduces the report
 * @path: (type filename): the path of the file to write
 *
 * Writes lig_report_plan()'s report; the file's ending decides the format. Nothing is written on
 * failure.
 *
 * Returns: %FALSE with %LIG_ERROR_FORMAT or %LIG_ERROR_FILE set
 */
LIG_API gboolean lig_report_write_plan (LigPlan *plan,
                                        const char *command,
                                        const char *path,
                                        GError **error);

/**
 * lig_report_write_run:
 * @store: a store
 * @run: the uuid of a run
 * @path: (type filename): the path of the file to write
 *
 * Writes lig_report_run()'s report; the file's ending decides the format. Nothing is written on
 * failure.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_report_write_run (LigStore *store,
                                       const char *run,
                                       const char *path,
                                       GError **error);

/**
 * lig_report_write_sweep:
 * @store: a store
 * @sweep: the uuid of a sweep
 * @path: (type filename): the path of the file to write
 *
 * Writes lig_report_sweep()'s report; the file's ending decides the format. Nothing is written on
 * failure.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_report_write_sweep (LigStore *store,
                                         const char *sweep,
                                         const char *path,
                                         GError **error);

/**
 * lig_report_write_comparison:
 * @comparison: a comparison of two plans
 * @before: a short title of the first plan
 * @after: a short title of the second plan
 * @path: (type filename): the path of the file to write
 *
 * Writes lig_report_comparison()'s report; the file's ending decides the format. Nothing is written
 * on failure.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_report_write_comparison (LigPlanComparison *comparison,
                                              const char *before,
                                              const char *after,
                                              const char *path,
                                              GError **error);

G_END_DECLS
