/* SPDX-License-Identifier: MIT */
/* The errors of the engine. A message is one lower-case sentence without a full stop that names the
 * thing by its path and gives both numbers: `linear at 3: input has 4096 features, expected 4095`.
 * A function reports only the errors that it detects, and passes on others unchanged. */
#pragma once

#include <ligature/dtype.h>

#include <glib-object.h>

G_BEGIN_DECLS

/* The ending of a counted English noun, "%d step%s", for messages that are not translated;
 * translated ones use ngettext(). */
#define LIG_ENDING(count) ((count) == 1 ? "" : "s")

#define LIG_ERROR (lig_error_quark ())

/**
 * LigError:
 * @LIG_ERROR_SHAPE: a shape, size or number of features does not match
 * @LIG_ERROR_DTYPE: an element type does not match or is not supported
 * @LIG_ERROR_MEMORY: memory of the host or of a device ran out, or a size overflows
 * @LIG_ERROR_DEVICE: a device is missing or failed
 * @LIG_ERROR_FORMAT: a file, an expression or a dataset cannot be parsed
 * @LIG_ERROR_FILE: a file cannot be opened, read or written
 * @LIG_ERROR_STORE: the database rejected a request
 * @LIG_ERROR_RANKS: the ranks of a run disagree
 * @LIG_ERROR_CANCELLED: the user stopped the work
 * @LIG_ERROR_OP: an op or parameter does not exist
 * @LIG_ERROR_VALUE: a parameter is out of range
 * @LIG_ERROR_CHANNEL: a channel lacks its producer, has two, or runs backward
 * @LIG_ERROR_FUSION: a forced fusion is not legal, or no fusion has that name
 * @LIG_ERROR_INDEX: nothing has that index or path
 * @LIG_ERROR_ORDER: a function was called too early, or requests a pass that the plan does not have
 */
typedef enum {
  LIG_ERROR_SHAPE,
  LIG_ERROR_DTYPE,
  LIG_ERROR_MEMORY,
  LIG_ERROR_DEVICE,
  LIG_ERROR_FORMAT,
  LIG_ERROR_FILE,
  LIG_ERROR_STORE,
  LIG_ERROR_RANKS,
  LIG_ERROR_CANCELLED,
  LIG_ERROR_OP,
  LIG_ERROR_VALUE,
  LIG_ERROR_CHANNEL,
  LIG_ERROR_FUSION,
  LIG_ERROR_INDEX,
  LIG_ERROR_ORDER,
} LigError;

/**
 * lig_error_quark:
 *
 * Returns: the domain of this library's errors, %LIG_ERROR
 */
LIG_API GQuark lig_error_quark (void);

/**
 * lig_error_code_name:
 * @error: an error of any domain
 *
 * Returns: the name of its code in JSON output, `shape` for %LIG_ERROR_SHAPE; `failed` for errors
 *   of other domains.
 */
LIG_API const char *lig_error_code_name (const GError *error);

/**
 * lig_error_get_path:
 * @error: (nullable): an error of any domain
 *
 * Returns: (transfer none) (nullable): the path of the op that the error is about, `3` or `3.0.2`,
 *   or the place in a JSON file, `$.ops[0].op`; %NULL otherwise. The string belongs to the error;
 *   copies of the error have their own.
 */
LIG_API const char *lig_error_get_path (const GError *error);

/**
 * lig_error_set_path:
 * @error: (inout) (nullable): the location of an error, which may be empty
 * @path: the path, copied; it replaces the error's current path
 *
 * Attaches the path of an op to an error of the domain %LIG_ERROR; errors of other domains are left
 * unchanged.
 *
 * Returns: %FALSE, so that a failing function can return it directly
 */
LIG_API gboolean lig_error_set_path (GError **error, const char *path);

/**
 * lig_error_get_setting:
 * @error: (nullable): an error of any domain
 *
 * Returns: (transfer none) (nullable): the missing setting that would avoid the error, such as
 *   `batch`, so that a program can name its own option for it; %NULL for other errors. The string
 *   belongs to the error; copies of the error have their own.
 */
LIG_API const char *lig_error_get_setting (const GError *error);

/**
 * lig_error_set_setting:
 * @error: (inout) (nullable): the location of an error, which may be empty
 * @setting: the name of a setting of <ligature/run.h>, or `input`, copied
 *
 * Attaches the name of a missing setting to an error of the domain %LIG_ERROR; errors of other
 * domains are left unchanged.
 *
 * Returns: %FALSE, so that a failing function can return it directly
 */
LIG_API gboolean lig_error_set_setting (GError **error, const char *setting);

G_END_DECLS
