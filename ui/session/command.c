/* SPDX-License-Identifier: MIT */
/* Parts of command lines that are equivalent to the window's state. */
#include "ui/session/command.h"
#include <ligature/store.h>

static void
append_overrides (GString *to, const char *option, const char *const *fusions, const char *path)
{
  for (; fusions && *fusions; fusions++) {
    g_autofree char *override =
      path ? g_strconcat (*fusions, "@", path, NULL) : g_strdup (*fusions);
    lig_shell_append_option (to, option, override);
  }
}

/* The repetitions of a block share their ops, so only the first is written. */
static void
append_ops (GString *to, LigSequence *sequence, const char *prefix)
{
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    g_autofree char *path = g_strdup_printf ("%s%u", prefix, i);
    g_autofree char *inner = g_strconcat (path, ".0.", NULL);
    append_overrides (to, "forbid", lig_op_get_forbidden (op), path);
    append_overrides (to, "force", lig_op_get_forced (op), path);
    if (i == 0 && lig_op_get_fence (op))
      lig_shell_append_option (to, "fence", path);
    if (lig_op_get_body (op))
      append_ops (to, lig_op_get_body (op), inner);
  }
}

void
lig_command_append_sequence (GString *to, LigSequence *sequence)
{
  LigShape shape;
  LigDtype dtype;
  lig_sequence_get_input (sequence, &shape, &dtype);
  g_autofree char *expression = lig_sequence_to_expression (sequence);
  g_autofree char *axes = lig_shape_to_string (&shape);
  g_autofree char *input = g_strdup_printf ("%s:%s", axes, lig_dtype_name (dtype));
  lig_shell_append (to, expression);
  lig_shell_append_option (to, "input", input);
  append_overrides (to, "forbid", lig_sequence_get_forbidden (sequence), NULL);
  append_ops (to, sequence, "");
}

void
lig_command_append_store (GString *to, LigSession *session)
{
  LigStore *store = lig_session_get_store (session);
  g_autofree char *set = g_settings_get_string (lig_session_get_settings (session), "store");
  if (store && *set && !g_getenv ("LIGATURE_STORE"))
    lig_shell_append_option (to, "store", lig_store_get_path (store));
}

void
lig_command_append_ranks (GString *to, const LigLayout *layout)
{
  int ranks = lig_layout_size (layout, LIG_GROUP_ALL);
  g_autofree char *parallel = lig_layout_to_string (layout);
  if (ranks > 1)
    g_string_append_printf (to, " --ranks %d", ranks);
  if (!lig_layout_is_default (layout))
    lig_shell_append_option (to, "parallel", parallel);
}
