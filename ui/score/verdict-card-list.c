/* SPDX-License-Identifier: MIT */
/* Lists the verdicts for the verdict card, and labels and applies mends. */
#include "ui/score/verdict-card-list.h"

#include <glib/gi18n.h>

GPtrArray *
lig_verdict_card_list (LigDocument *document, int first, int last)
{
  guint count, n_ops;
  LigPlan *plan = lig_document_get_plan (document);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  lig_plan_get_ops (plan, &n_ops);
  g_autoptr (GPtrArray) found =
    lig_verdicts_at (verdicts, count, n_ops, first, last, first != last);
  GPtrArray *list = g_ptr_array_new ();
  for (int taken = 1; taken >= 0; taken--)
    for (guint i = 0; i < found->len; i++)
      if (((const LigVerdict *) found->pdata[i])->taken == taken)
        g_ptr_array_add (list, found->pdata[i]);
  return list;
}

LigOp *
lig_verdict_find_op (LigDocument *document, int expanded)
{
  guint count = 0;
  LigPlan *plan = lig_document_get_plan (document);
  const LigPlanOp *ops = plan ? lig_plan_get_ops (plan, &count) : NULL;
  if (expanded < 0 || expanded >= (int) count)
    return NULL;
  return lig_sequence_find (lig_document_get_sequence (document), ops[expanded].path, NULL);
}

char *
lig_verdict_card_label (const LigMend *mend)
{
  const LigOpInfo *info = mend->value ? lig_op_info_find (mend->value) : NULL;
  switch (mend->kind) {
  case LIG_MEND_REMOVE_FENCE:
    return g_strdup (_ ("Remove the fence"));
  case LIG_MEND_UNFORBID:
    return g_strdup (_ ("Allow"));
  case LIG_MEND_FORCE:
    return g_strdup (_ ("Force this instead"));
  case LIG_MEND_MAKE_PRIVATE:
    return g_strdup (_ ("Make the branch private"));
  case LIG_MEND_SET_DTYPE:
    return g_strdup_printf (_ ("Use %s"), mend->value);
  case LIG_MEND_INSERT_OP:
    return g_strdup_printf (_ ("Insert %s"), info ? _ (info->title) : mend->value);
  case LIG_MEND_REMOVE_OP:
    return g_strdup_printf (_ ("Remove %s"), info ? _ (info->title) : mend->value);
  case LIG_MEND_UNFORCE:
    return g_strdup (_ ("Drop the force"));
  case LIG_MEND_CHOOSE_POLICY:
    return g_strdup (_ ("Choose Measured"));
  default:
    return g_strdup_printf (_ ("Replace by %s"), info ? _ (info->title) : mend->value);
  }
}
