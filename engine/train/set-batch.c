/* SPDX-License-Identifier: MIT */
/* Passes a batch to a program: the inputs, the targets of the loss, and the documents in each
 * row. */
#include "engine/data/training.h"
#include "engine/train/data.h"
#include "engine/train/run-private.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>

/* Returns whether attention reads an extra input of the caller as documents. */
static gboolean
is_documents (LigPlan *plan, guint n)
{
  return g_str_has_suffix (lig_plan_get_extra_input_name (plan, n), ".documents");
}

/* The loss is the last op, so that its targets are the last extra input. */
guint
lig_run_count_documents (LigPlan *plan)
{
  guint count = lig_plan_get_n_extra_inputs (plan), n = 0;
  while (n + 1 < count && is_documents (plan, n))
    n++;
  return n;
}

/* Returns the caller's inputs that data sets cannot provide, by the paths of their readers:
 * `0.lengths, 1.memory`. @first: (out): the path of the first reader */
static char *
name_extras (LigPlan *plan, const char **first)
{
  GString *names = g_string_new (NULL);
  for (guint n = 0; n + 1 < lig_plan_get_n_extra_inputs (plan); n++) {
    const LigPlanOp *reader = lig_plan_find_extra_input_reader (plan, n);
    g_autofree char *name = lig_plan_describe_extra_input (plan, n);
    if (is_documents (plan, n))
      continue;
    g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", name);
    *first = *first ? *first : reader->path;
  }
  return g_string_free (names, FALSE);
}

gboolean
lig_run_check_extras (LigRun *self, LigPlan *plan, GError **error)
{
  guint extra = lig_plan_get_n_extra_inputs (plan), documents = lig_run_count_documents (plan);
  gint64 separator = lig_dataset_get_separator (self->data);
  const char *path = NULL;
  g_autofree char *names = name_extras (plan, &path);
  if (extra != documents + 1) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_CHANNEL,
      g_dngettext (GETTEXT_PACKAGE,
                   "the sequence takes %u extra input from the caller, but a data set "
                   "provides only 1, the targets; connect or omit %s, or train it from a "
                   "program",
                   "the sequence takes %u extra inputs from the caller, but a data set "
                   "provides only 1, the targets; connect or omit %s, or train it from a "
                   "program",
                   (gulong) extra),
      extra, names);
    lig_error_set_path (error, path);
  } else if (documents > 0 && separator < 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("attention reads documents, but the data is not divided into any; add "
                    "?separator=TOKEN to text or tokens, the token that ends a document"));
  else if (documents == 0 && separator >= 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("the data has separator %" PRId64
                    ", but no op reads documents; set documents=caller of attention, or omit it"),
                 separator);
  else
    return TRUE;
  return FALSE;
}

gboolean
lig_run_set_batch (
  LigRun *self, LigProgram *program, LigTensor *input, LigTensor *targets, GError **error)
{
  guint count = lig_run_count_documents (lig_program_get_plan (program));
  if (!lig_program_set_input (program, input, error) ||
      !lig_program_set_extra_input (program, count, targets, error))
    return FALSE;
  if (count == 0)
    return TRUE;
  g_autoptr (LigTensor) documents = lig_tensor_new (LIG_INT32, &input->shape, error);
  if (!documents)
    return FALSE;
  lig_dataset_number_documents (self->data, input, documents);
  for (guint i = 0; i < count; i++)
    if (!lig_program_set_extra_input (program, i, documents, error))
      return FALSE;
  return TRUE;
}
