/* SPDX-License-Identifier: MIT */
/* The command line equivalent of a document's window. */
#include "ui/session/command.h"
#include "ui/document/private.h"
#include "ui/document/ranks.h"

/* An expression contains no types; parameters have the type of the computation unless set. */
static void
append_types (GString *text, LigSequence *sequence)
{
  LigShape shape;
  LigDtype input;
  int compute = lig_sequence_get_compute (sequence);
  int parameters = lig_sequence_get_parameters (sequence);
  lig_sequence_get_input (sequence, &shape, &input);
  if (compute < 0 && parameters < 0)
    return;
  if (compute < 0)
    compute = lig_dtype_is_floating (input) ? (int) input : LIG_FP32;
  g_string_append_printf (text, " --dtype %s", lig_dtype_name ((LigDtype) compute));
  if (parameters >= 0)
    g_string_append_printf (text, ":%s", lig_parameters_name (parameters));
}

/* Returns whether the command plans with ranks, as the window does. */
static gboolean
takes_ranks (const char *command)
{
  static const char *const commands[] = {"fuse", "plan", "report", NULL};
  return g_strv_contains (commands, command);
}

char *
lig_document_to_command (LigDocument *self, const char *command)
{
  if (lig_sequence_get_length (self->sequence) == 0)
    return NULL;
  gboolean saved = self->path && !lig_document_is_modified (self);
  GString *text = g_string_new ("lig ");
  g_string_append (text, command);
  if (saved)
    lig_shell_append (text, self->path);
  else
    lig_command_append_sequence (text, self->sequence);
  lig_shell_append_option (text, "device", self->device);
  if (self->policy != LIG_POLICY_DEFAULT)
    lig_shell_append_option (text, "policy", lig_policy_name (self->policy));
  if (!saved)
    append_types (text, self->sequence);
  LigLayout layout = lig_ranks_choose_layout (self);
  if (takes_ranks (command))
    lig_command_append_ranks (text, &layout);
  lig_command_append_store (text, self->session);
  return g_string_free (text, FALSE);
}
