/* SPDX-License-Identifier: MIT */
/* Ranks the verdicts of a place, and finds the edits that mend them. A gain is an estimate: the
 * bytes of the values that would stay in the kernel over the bandwidth of a copy, and the launches
 * that go; where times were measured, those. */
#include "ui/score/verdict-card-list.h"

#include "ui/document/edit.h"
#include "ui/score/map.h"
#include "ui/score/text.h"
#include "ui/widgets/figures.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

/* --- Gains --------------------------------------------------------------------------------- */

/* Seconds for values that @first to @last, as one kernel, would not write and read again. */
static double
estimate_saving (LigPlan *plan, int first, int last, gboolean kept)
{
  guint count;
  double bytes = 0;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  const LigDeviceFacts *facts = lig_device_get_facts (lig_plan_get_device (plan));
  for (int i = first; i < last && i < (int) count; i++)
    bytes += (double) lig_shape_size (&ops[i].y) * (double) lig_dtype_size (ops[i].y_dtype);
  /* A value that somebody else reads is still written. */
  return facts->copy > 0 ? bytes * (kept ? 1 : 2) / facts->copy + facts->launch * (last - first)
                         : NAN;
}

/* What the fused groups of the pass already save on those ops. */
static double
estimate_today (LigPlan *plan, LigPass pass, int first, int last)
{
  guint count;
  double seconds = 0;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = 0; i < count; i++) {
    int end = groups[i].first + groups[i].count - 1;
    if (groups[i].fusion && groups[i].first <= last && end >= first)
      seconds += estimate_saving (plan, groups[i].first, end, FALSE);
  }
  return seconds;
}

static double
estimate_gain (LigPlan *plan, const LigVerdict *verdict)
{
  int first, last;
  LigPass pass = verdict->pass == LIG_PASS_JOINT ? LIG_PASS_FORWARD : verdict->pass;
  if (verdict->taken || g_strcmp0 (verdict->observed, "end") == 0)
    return NAN;
  if (verdict->reason == LIG_REASON_SLOWER && verdict->unit)
    return (verdict->required_value - verdict->observed_value) * 1e-6;
  lig_score_verdict_range (verdict, &first, &last);
  if (verdict->reason != LIG_REASON_PATTERN)
    first = verdict->first;
  return estimate_saving (plan, first, last, verdict->reason == LIG_REASON_IN_USE) -
         estimate_today (plan, pass, first, last);
}

static int
compare_entries (gconstpointer a, gconstpointer b)
{
  const LigVerdictEntry *one = a, *two = b;
  if (one->verdict->taken != two->verdict->taken)
    return one->verdict->taken ? -1 : 1;
  if (isnan (one->gain) != isnan (two->gain))
    return isnan (one->gain) ? 1 : -1;
  if (!isnan (one->gain) && one->gain != two->gain)
    return one->gain > two->gain ? -1 : 1;
  if (one->mendable != two->mendable)
    return one->mendable ? -1 : 1;
  return one->verdict->first - two->verdict->first;
}

GArray *
lig_verdict_list (LigDocument *document, int first, int last)
{
  LigPlan *plan = lig_document_get_plan (document);
  guint count, n_ops;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  lig_plan_get_ops (plan, &n_ops);
  GArray *entries = g_array_new (FALSE, FALSE, sizeof (LigVerdictEntry));
  for (guint i = 0; i < count; i++) {
    int from, to;
    lig_score_verdict_range (&verdicts[i], &from, &to);
    /* That the sequence ends is said at its end alone. */
    gboolean touches = first == last ? from <= first && first <= to && to < (int) n_ops
                                     : MAX (first, from) < MIN (last, to);
    LigVerdictEntry entry = {&verdicts[i], NAN, FALSE};
    LigMend mend;
    if (!touches)
      continue;
    entry.gain = estimate_gain (plan, &verdicts[i]);
    lig_mend_find (document, &verdicts[i], &mend);
    entry.mendable = mend.kind != LIG_MEND_NONE;
    lig_mend_clear (&mend);
    g_array_append_val (entries, entry);
  }
  g_array_sort (entries, compare_entries);
  return entries;
}

char *
lig_verdict_gain_text (const LigVerdictEntry *entry)
{
  if (isnan (entry->gain))
    return NULL;
  g_autofree char *time = lig_figure_time (fabs (entry->gain));
  if (fabs (entry->gain) < 5e-8)
    return g_strdup (_ ("would save nothing"));
  return g_strdup_printf (entry->gain > 0 ? _ ("would save about %s") : _ ("would cost about %s"),
                          time);
}

/* --- Mends --------------------------------------------------------------------------------- */

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

/* The first fence that the verdict's ops lie across. */
static LigOp *
find_fence (LigDocument *document, const LigVerdict *verdict)
{
  for (int i = verdict->first + 1; i < verdict->first + verdict->count; i++) {
    LigOp *op = lig_verdict_find_op (document, i);
    if (op && lig_op_get_fence (op))
      return op;
  }
  return NULL;
}

static gboolean
accepts (const LigVerdict *verdict, const char *op)
{
  g_auto (GStrv) names = verdict->required ? g_strsplit (verdict->required, "|", -1) : NULL;
  return names && g_strv_contains ((const char *const *) names, op);
}

static gboolean
does_nothing (LigOp *op)
{
  float p = 1;
  const char *name = lig_op_get_name (op);
  if (g_str_equal (name, "dropout"))
    g_object_get (op, "p", &p, NULL);
  return g_str_equal (name, "identity") || p == 0;
}

static void
mend_pattern (LigDocument *document, const LigVerdict *verdict, LigMend *mend)
{
  static const char *const activations[] = {"gelu", "relu", "swiglu"};
  LigOp *op = lig_verdict_find_op (document, verdict->first + verdict->count - 1);
  if (!op || g_strcmp0 (verdict->observed, lig_op_get_name (op)) != 0)
    return;
  const LigOpInfo *info = lig_op_get_info (op);
  if (does_nothing (op)) {
    *mend = (LigMend){.kind = LIG_MEND_REMOVE, .op = op};
    mend->label = g_strdup_printf (_ ("Remove %s"), _ (info->title));
    return;
  }
  for (guint i = 0; i < 2 && info->flags & LIG_OP_ACTIVATION; i++)
    if (accepts (verdict, activations[i])) {
      const LigOpInfo *other = lig_op_info_find (activations[i]);
      *mend = (LigMend){.kind = LIG_MEND_REPLACE, .op = op, .value = g_strdup (other->name)};
      mend->label = g_strdup_printf (_ ("Replace by %s"), _ (other->title));
      return;
    }
}

/* The op whose channel keeps a value in use: the branch among those looked at. */
static LigOp *
find_branch (LigDocument *document, const LigVerdict *verdict)
{
  const char *name = verdict->observed && g_str_has_prefix (verdict->observed, "channel ")
                       ? verdict->observed + strlen ("channel ")
                       : NULL;
  for (int i = verdict->first; name && i < verdict->first + verdict->count; i++) {
    LigOp *op = lig_verdict_find_op (document, i);
    if (op && lig_op_get_info (op)->extra_outputs &&
        g_strcmp0 (lig_op_get_extra_output_channel (op, 0), name) == 0)
      return op;
  }
  return NULL;
}

static void
mend_type (const LigVerdict *verdict, LigMend *mend)
{
  static const char *const types[] = {"bf16", "fp16", "fp32"};
  g_auto (GStrv) names = verdict->required ? g_strsplit_set (verdict->required, "| ,", -1) : NULL;
  for (guint i = 0; names && i < G_N_ELEMENTS (types); i++)
    if (g_strv_contains ((const char *const *) names, types[i])) {
      *mend = (LigMend){.kind = LIG_MEND_TYPE, .value = g_strdup (types[i])};
      mend->label = g_strdup_printf (_ ("Use %s"), types[i]);
      return;
    }
}

void
lig_mend_find (LigDocument *document, const LigVerdict *verdict, LigMend *mend)
{
  LigOp *op = NULL;
  *mend = (LigMend){0};
  switch (verdict->reason) {
  case LIG_REASON_FENCED:
    if ((op = find_fence (document, verdict)))
      *mend = (LigMend){LIG_MEND_UNFENCE, op, g_strdup (_ ("Remove the fence")), NULL};
    break;
  case LIG_REASON_FORBIDDEN:
    op = lig_verdict_find_op (document, verdict->first);
    if (op && g_strcmp0 (verdict->observed, "policy none") != 0)
      *mend = (LigMend){LIG_MEND_ALLOW, op, g_strdup (_ ("Allow")), NULL};
    break;
  case LIG_REASON_PATTERN:
    mend_pattern (document, verdict, mend);
    break;
  case LIG_REASON_IN_USE:
    if ((op = find_branch (document, verdict)))
      *mend = (LigMend){LIG_MEND_DISCONNECT, op, g_strdup (_ ("Disconnect")), NULL};
    break;
  case LIG_REASON_DTYPE:
    mend_type (verdict, mend);
    break;
  case LIG_REASON_CLAIMED:
    if ((op = lig_verdict_find_op (document, verdict->first)))
      *mend = (LigMend){LIG_MEND_FORCE, op, g_strdup (_ ("Force this instead")), NULL};
    break;
  default:
    break;
  }
}

/* --- Doing it ------------------------------------------------------------------------------ */

static gboolean
replace (LigDocument *document, LigOp *op, const char *name, GError **error)
{
  const LigRow *row = lig_document_find_row (document, op);
  g_autoptr (LigOp) other = row ? lig_op_new (name, error) : NULL;
  if (!other)
    return row == NULL;
  g_autofree char *label =
    g_strdup_printf (_ ("Replace by %s"), _ (lig_op_get_info (other)->title));
  lig_op_set_fence (other, lig_op_get_fence (op));
  if (!lig_sequence_replace (row->parent, row->index, other, error))
    return FALSE;
  lig_document_commit (document, label, NULL);
  lig_document_select (document, other, LIG_SELECT_ONLY);
  return TRUE;
}

static void
allow (LigDocument *document, LigOp *op, const char *fusion)
{
  const char *const *here = lig_op_get_forbidden (op);
  gboolean everywhere = !here || !g_strv_contains (here, fusion);
  lig_edit_forbid (document, everywhere ? NULL : op, fusion, FALSE);
}

gboolean
lig_mend_apply (LigDocument *document, const char *fusion, const LigMend *mend, GError **error)
{
  LigDtype dtype;
  switch (mend->kind) {
  case LIG_MEND_UNFENCE:
    lig_edit_set_fence (document, mend->op, FALSE);
    break;
  case LIG_MEND_ALLOW:
    allow (document, mend->op, fusion);
    break;
  case LIG_MEND_REMOVE:
    lig_document_select (document, mend->op, LIG_SELECT_ONLY);
    lig_edit_delete (document);
    break;
  case LIG_MEND_REPLACE:
    return replace (document, mend->op, mend->value, error);
  case LIG_MEND_DISCONNECT:
    lig_edit_disconnect (document, mend->op);
    break;
  case LIG_MEND_TYPE:
    if (lig_dtype_from_name (mend->value, &dtype))
      lig_edit_set_types (document, (int) dtype, -1);
    break;
  case LIG_MEND_FORCE:
    lig_edit_force (document, mend->op, fusion, TRUE);
    break;
  default:
    break;
  }
  return TRUE;
}

void
lig_mend_clear (LigMend *mend)
{
  g_clear_pointer (&mend->label, g_free);
  g_clear_pointer (&mend->value, g_free);
}
