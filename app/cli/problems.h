/* SPDX-License-Identifier: MIT */
/* All problems of a sequence, as lines or as JSON. */
#pragma once

#include <ligature/problem.h>

G_BEGIN_DECLS

/* Prints the problems with the edits that fix them; with --json the first one is `error`, and all
 * are in `problems`. Returns the exit code. @problems: (element-type LigPlanProblem): not empty */
int lig_cli_fail_with (const GPtrArray *problems);

G_END_DECLS
