/* SPDX-License-Identifier: MIT */
/* Plans and runs as documents: the same text in the window, on the command line and in files. */
#pragma once

#include <ligature/json.h>
#include <ligature/plan.h>
#include <ligature/profile.h>
#include <ligature/store.h>

G_BEGIN_DECLS

/**
 * lig_plan_to_json:
 * @self: a plan
 *
 * Returns: (transfer full): the document of `lig fuse --json`: ops, forward, backward, verdicts
 */
LIG_API JsonNode *lig_plan_to_json (LigPlan *self);

/**
 * lig_profile_to_json:
 * @self: a profile
 *
 * Returns: (transfer full): the document of `lig profile --json`
 */
LIG_API JsonNode *lig_profile_to_json (const LigProfile *self);

/**
 * lig_plan_to_rails:
 * @self: a plan
 * @colour: with escape sequences of a terminal
 * @all: also the fusions whose pattern does not fit, which are many
 *
 * Returns: (transfer full): forward rail, ops and backward rail side by side, then what could be
 *   fused and why it is not: near misses first; what the repetitions of a block say alike stands
 *   once, at the first of them, with how often it is said
 */
LIG_API char *lig_plan_to_rails (LigPlan *self, gboolean colour, gboolean all);

/**
 * lig_plan_explain_place:
 * @self: a plan
 * @place: the path of an op, `3` or `3.0.2`; with `|` in front, `|3`, the gap before it. A block's
 *   path stands for all its ops
 *
 * Returns: (transfer full): the verdicts about the place as `lig fuse --why` prints them: forward
 *   and backward apart, near misses first, the largest gain first, each with its mend; %NULL with
 *   %LIG_ERROR_INDEX set where the plan has no such place
 */
LIG_API char *lig_plan_explain_place (LigPlan *self, const char *place, GError **error);

/**
 * lig_plan_explain_place_to_json:
 * @self: a plan
 * @place: as for lig_plan_explain_place()
 *
 * Returns: (transfer full): the same as a document: `place`, `ops`, and verdicts under
 *   `forward`, `backward` and `joint`; %NULL with %LIG_ERROR_INDEX set
 */
LIG_API JsonNode *lig_plan_explain_place_to_json (LigPlan *self, const char *place, GError **error);

/**
 * lig_plan_explain_memory:
 * @self: a plan
 * @device: (nullable): the device whose memory is meant; null: the plan's own
 *
 * Compares what the plan takes of a device (its arena, the state, workspaces) with the memory that
 * the device has in all, be it there or described. Nothing is allocated.
 *
 * Returns: (transfer full) (nullable): a translated sentence without capital and full stop that
 * says both and the largest values; null where the plan fits or the memory is not known
 */
LIG_API char *lig_plan_explain_memory (LigPlan *self, LigDevice *device);

/**
 * lig_run_row_to_json:
 * @row: a run of the store
 *
 * Returns: (transfer full): an object with the members that `lig runs list --json` prints of a run
 */
LIG_API JsonNode *lig_run_row_to_json (const LigRunRow *row);

/**
 * lig_run_to_json:
 * @store: a store
 * @run: as lig_store_find_run() takes it
 * @error: (out) (optional): no such run, or the store cannot be read
 *
 * Returns: (transfer full): the document of `lig runs show --json`: the run, its settings, the
 *   first and the last value of each metric, forward, backward, verdicts and artifacts; %NULL with
 *   an error
 */
LIG_API JsonNode *lig_run_to_json (LigStore *store, const char *run, GError **error);

/* --- Reports ------------------------------------------------------------------------------- */

/**
 * lig_report_format_nth:
 * @n: from 0
 *
 * Returns: (nullable): the name of a format, which is the ending of its files: `md`, `json`, `csv`;
 *   null after the last
 */
LIG_API const char *lig_report_format_nth (guint n);

/**
 * lig_report_format_title:
 * @format: as lig_report_format_nth() names it
 *
 * Returns: (nullable) (transfer none): its name for people, translatable; %NULL without a format
 */
LIG_API const char *lig_report_format_title (const char *format);

/**
 * lig_report_format_help:
 * @format: as lig_report_format_nth() names it
 *
 * Returns: (nullable) (transfer none): a sentence without a full stop, translatable; %NULL without
 *   a format
 */
LIG_API const char *lig_report_format_help (const char *format);

/**
 * lig_report_choose_format:
 * @path: a file
 *
 * Returns: (transfer none): the format that the file's ending asks for, or %NULL with
 *   %LIG_ERROR_FORMAT set, saying which formats there are
 */
LIG_API const char *lig_report_choose_format (const char *path, GError **error);

/**
 * lig_report_plan:
 * @plan: a plan
 * @command: (nullable): the command line that makes the same report again
 * @format: as lig_report_format_nth() names it
 *
 * md: for people. json: the document of lig_plan_to_json() and `command`, `types`, `steps`,
 * `values` and `memory`. csv: a line for each step.
 *
 * In csv, a text that begins with = + - @ or a tab gets an apostrophe before it, so that no
 * spreadsheet takes it for a formula; numbers stay numbers, and what is not known is empty. Lines
 * end with a line feed.
 *
 * Returns: (transfer full): the contents of the file, or %NULL with %LIG_ERROR_FORMAT set
 */
LIG_API GBytes *
lig_report_plan (LigPlan *plan, const char *command, const char *format, GError **error);

/**
 * lig_report_run:
 * @store: a store
 * @run: as lig_store_find_run() takes it
 * @format: as lig_report_format_nth() names it
 *
 * md: for people. json: all that the store has of the run; what is no finite number is null.
 * csv: a line for each value of each metric, `nan`, `inf` and `-inf` included.
 *
 * Returns: (transfer full): the contents of the file, or %NULL with an error
 */
LIG_API GBytes *
lig_report_run (LigStore *store, const char *run, const char *format, GError **error);

/**
 * lig_report_save:
 * @report: the contents
 * @path: (type filename): where to
 *
 * Writes to a temporary name, syncs and renames: a file that was there stays whole until the new
 * one is. What is no regular file (/dev/stdout, a pipe) is written to as it is.
 *
 * Returns: %FALSE with %LIG_ERROR_FILE set
 */
LIG_API gboolean lig_report_save (GBytes *report, const char *path, GError **error);

/**
 * lig_report_write_plan:
 * @plan: a plan
 * @command: (nullable): the command line that makes the same report again
 * @path: (type filename): where to
 *
 * Writes lig_report_plan()'s report; the format is chosen by the file's ending. Nothing is
 * written on failure.
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
 * @path: (type filename): where to
 *
 * Writes lig_report_run()'s report; the format is chosen by the file's ending. Nothing is
 * written on failure.
 *
 * Returns: %FALSE with an error set
 */
LIG_API gboolean lig_report_write_run (LigStore *store,
                                       const char *run,
                                       const char *path,
                                       GError **error);

G_END_DECLS
