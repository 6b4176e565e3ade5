/* SPDX-License-Identifier: MIT */
/* The entries of the verdict card. */
#include "ui/score/verdict-card-entry.h"

#include "ui/score/text.h"
#include "ui/score/verdict-card-edit.h"
#include "ui/score/verdict-card-list.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include <ligature/plan.h>

#include <glib/gi18n.h>
#include <math.h>

/* --- Buttons ------------------------------------------------------------------------------- */

/* Creates all buttons that edit. @edit: (transfer full) */
static void
add_button (
  LigDocument *document, GtkWidget *box, const char *text, LigCardEdit *edit, gboolean gains)
{
  gtk_box_append (GTK_BOX (box), lig_card_button_new (document, text, edit, gains));
}

/* Returns an edit like the fix of a verdict, on the op at the path. @label: (transfer full) */
static LigCardEdit *
new_override (LigFixKind kind, const char *path, const char *fusion, char *label)
{
  LigCardEdit *edit = g_new0 (LigCardEdit, 1);
  edit->kind = LIG_CARD_FIX;
  edit->path = g_strdup (path);
  edit->fusion = g_strdup (fusion);
  edit->fix = (LigFix){.kind = kind,
                       .path = edit->path,
                       .fusion = edit->fusion,
                       .value = kind == LIG_FIX_UNFORCE ? edit->fusion : NULL};
  edit->label = label;
  return edit;
}

static LigCardEdit *
new_edit (LigCardEditKind kind, const char *path, const char *fusion, char *label)
{
  LigCardEdit *edit = new_override (LIG_FIX_FORCE, path, fusion, label);
  edit->kind = kind;
  return edit;
}

static LigCardEdit *
new_fix (LigPlan *plan, const LigFix *fix, const char *title, const char *label)
{
  LigCardEdit *edit =
    new_edit (LIG_CARD_FIX, NULL, NULL,
              fix->kind == LIG_FIX_FORCE      ? g_strdup_printf (_ ("Force %s"), title)
              : fix->kind == LIG_FIX_UNFORBID ? g_strdup_printf (_ ("Allow %s"), title)
                                              : g_strdup (label));
  edit->plan = lig_plan_ref (plan);
  edit->fix = *fix;
  return edit;
}

static void
add_fix (LigDocument *document,
         LigPlan *plan,
         GtkWidget *box,
         const LigVerdict *verdict,
         const LigFix *fix)
{
  if (!fix)
    return;
  g_autofree char *label =
    lig_card_fix_label (fix, fix->gain < 0 || verdict->reason == LIG_REASON_SLOWER);
  g_autofree char *gain = lig_card_time_gain (fix->gain, fix->measured);
  g_autofree char *text = gain ? g_strdup_printf ("%s · %s", label, gain) : g_strdup (label);
  /* One button of an entry is the suggested action. */
  gboolean gains = gain && fix->gain > 0 && fix == verdict->fix;
  add_button (document, box, text, new_fix (plan, fix, verdict->title, label), gains);
}

static gboolean
is_forced (LigDocument *document, const char *path, const char *fusion)
{
  LigOp *op = lig_sequence_find (lig_document_get_sequence (document), path, NULL);
  const char *const *forced = op ? lig_op_get_forced (op) : NULL;
  return forced && g_strv_contains (forced, fusion);
}

/* Adds the overrides: a fusion that matches can be forced and forbidden. */
static void
add_overrides (LigDocument *document, LigPlan *plan, GtkWidget *box, const LigVerdict *verdict)
{
  guint count;
  const char *fusion = verdict->fusion->name, *title = verdict->title;
  g_autofree char *path =
    lig_verdict_row_path (lig_plan_get_ops (plan, &count)[verdict->first].path);
  gboolean claimed = verdict->reason == LIG_REASON_CLAIMED || verdict->reason == LIG_REASON_SLOWER;
  if (!verdict->taken && !claimed)
    return;
  if (is_forced (document, path, fusion))
    add_button (
      document, box, _ ("Do not force"),
      new_override (LIG_FIX_UNFORCE, path, fusion, g_strdup_printf (_ ("Do not force %s"), title)),
      FALSE);
  else if (verdict->taken)
    add_button (document, box, _ ("Force"),
                new_override (LIG_FIX_FORCE, path, fusion, g_strdup_printf (_ ("Force %s"), title)),
                FALSE);
  add_button (document, box, _ ("Forbid"),
              new_edit (LIG_CARD_FORBID, path, fusion, g_strdup_printf (_ ("Forbid %s"), title)),
              FALSE);
}

static gboolean
is_about_fence (const LigFix *fix, const char *fence)
{
  return fix && fence && fix->kind == LIG_FIX_REMOVE_FENCE && g_strcmp0 (fix->path, fence) == 0;
}

/* Returns the fix of the fusion that gains most from the removal of a fence. */
static const LigFix *
find_best (GPtrArray *verdicts, const char *fence)
{
  const LigFix *best = NULL;
  for (guint i = 0; i < verdicts->len; i++) {
    const LigVerdict *verdict = verdicts->pdata[i];
    if (is_about_fence (verdict->fix, fence) && verdict->fix->gain > (best ? best->gain : 0))
      best = verdict->fix;
  }
  return best;
}

static GtkWidget *
new_removal (LigDocument *document, GPtrArray *verdicts, const char *fence)
{
  const LigFix *best = find_best (verdicts, fence);
  g_autofree char *gain = best ? lig_card_time_gain (best->gain, best->measured) : NULL;
  g_autofree char *text = gain ? g_strdup_printf ("%s · %s", _ ("Remove the fence"), gain)
                               : g_strdup (_ ("Remove the fence"));
  return lig_card_button_new (
    document, text,
    new_override (LIG_FIX_REMOVE_FENCE, fence, NULL, g_strdup (_ ("Remove the fence"))),
    gain != NULL);
}

GtkWidget *
lig_card_fence_new (
  LigDocument *document, LigPlan *plan, int first, int last, GPtrArray *verdicts, char **fence)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (int i = first + 1; i <= last && i < (int) count; i++) {
    LigOp *op = lig_sequence_find (lig_document_get_sequence (document), ops[i].path, NULL);
    if (!op || g_str_equal (ops[i].path, ops[i - 1].path))
      continue;
    g_autofree char *path = lig_verdict_row_path (ops[i].path);
    if (!lig_op_get_fence (op))
      return lig_card_button_new (
        document, _ ("Fence"), new_edit (LIG_CARD_FENCE, path, NULL, g_strdup (_ ("Add a fence"))),
        FALSE);
    *fence = g_steal_pointer (&path);
    return new_removal (document, verdicts, *fence);
  }
  return NULL;
}

/* --- Texts --------------------------------------------------------------------------------- */

GtkWidget *
lig_card_label_new (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 60);
  if (class)
    gtk_widget_add_css_class (label, class);
  return label;
}

static char *
describe_status (const LigVerdict *verdict)
{
  if (!verdict->taken)
    return lig_card_gain (verdict->gain, verdict->bytes, verdict->gain_measured);
  g_autofree char *gain =
    lig_card_gain (verdict->present - verdict->fused, verdict->bytes, verdict->times_measured);
  return gain ? g_strdup_printf (_ ("fused, %s"), gain) : g_strdup (_ ("fused"));
}

/* Returns the fusion's name, and all ops that its pattern accepts next. */
static char *
describe_fusion (const LigVerdict *verdict)
{
  if (verdict->reason != LIG_REASON_PATTERN || !verdict->needed.names)
    return g_strdup (verdict->fusion->name);
  g_autofree char *names = g_strjoinv (", ", (char **) verdict->needed.names);
  return g_strdup_printf ("%s\n%s", verdict->fusion->name, names);
}

static GtkWidget *
new_head (const LigVerdict *verdict, const char *status)
{
  double gain = verdict->taken ? verdict->present - verdict->fused : verdict->gain;
  gboolean measured = verdict->taken ? verdict->times_measured : verdict->gain_measured;
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *title = lig_card_label_new (verdict->title, "heading");
  gtk_label_set_max_width_chars (GTK_LABEL (title), 44);
  gtk_widget_set_hexpand (title, TRUE);
  /* Only the title has the tooltip, because it would cover the entry's buttons. */
  g_autofree char *tooltip = describe_fusion (verdict);
  lig_tooltip_set (title, tooltip);
  gtk_box_append (GTK_BOX (head), title);
  if (!status)
    return head;
  GtkWidget *label = gtk_label_new (status);
  gtk_widget_set_valign (label, GTK_ALIGN_START);
  gtk_widget_add_css_class (label, "verdict-gain");
  /* A zero difference has no colour. */
  gboolean changes = lig_card_is_gain (fabs (gain)) || verdict->bytes >= 1;
  if (verdict->taken)
    gtk_widget_add_css_class (label, "taken");
  else if (changes)
    gtk_widget_add_css_class (label, gain < 0 ? "cost" : "gain");
  if (!measured)
    gtk_widget_add_css_class (label, "predicted");
  gtk_box_append (GTK_BOX (head), label);
  return head;
}

static const LigPlanGroup *
find_group (LigPlan *plan, const LigVerdict *verdict)
{
  guint count;
  LigPass pass = verdict->pass == LIG_PASS_BACKWARD ? LIG_PASS_BACKWARD : LIG_PASS_FORWARD;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = 0; i < count; i++)
    if (groups[i].fusion == verdict->fusion && groups[i].first == verdict->first)
      return &groups[i];
  return NULL;
}

GtkWidget *
lig_card_kernels_new (LigPlan *plan, const LigPlanGroup *group)
{
  g_autofree char *kernels = lig_score_kernels (plan, group);
  g_autofree char *bytes = lig_figure_bytes (group->bytes);
  g_autofree char *moved = g_strdup_printf (_ ("%s moved"), bytes);
  g_autofree char *text = g_strdup_printf ("%s · %s", kernels, moved);
  return lig_card_label_new (group->n_steps > 0 ? text : kernels, "verdict-text");
}

static void
add_kernels (GtkWidget *box, LigPlan *plan, const LigVerdict *verdict)
{
  const LigPlanGroup *group = find_group (plan, verdict);
  if (group)
    gtk_box_append (GTK_BOX (box), lig_card_kernels_new (plan, group));
}

static void
add_times (GtkWidget *box, const LigVerdict *verdict)
{
  if (verdict->reason == LIG_REASON_SLOWER)
    return;
  g_autofree char *times = lig_verdict_describe_times (verdict);
  g_autofree char *whole = times ? g_strconcat (times, ".", NULL) : NULL;
  g_autofree char *sentence = whole ? lig_figure_sentence (whole) : NULL;
  if (sentence)
    gtk_box_append (GTK_BOX (box), lig_card_label_new (sentence, "verdict-text"));
}

/* --- Entries ------------------------------------------------------------------------------- */

GtkWidget *
lig_card_entry_new (LigDocument *document,
                    LigPlan *plan,
                    const LigVerdict *verdict,
                    const char *fence)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  g_autofree char *status = describe_status (verdict);
  g_autofree char *reason = g_strconcat (verdict->why, ".", NULL);
  g_autofree char *why = lig_figure_sentence (reason);
  gtk_widget_add_css_class (box, "verdict");
  gtk_box_append (GTK_BOX (box), new_head (verdict, status));
  if (verdict->taken)
    add_kernels (box, plan, verdict);
  else
    gtk_box_append (GTK_BOX (box), lig_card_label_new (why, "verdict-text"));
  add_times (box, verdict);
  if (!is_about_fence (verdict->fix, fence))
    add_fix (document, plan, buttons, verdict, verdict->fix);
  if (!is_about_fence (verdict->alternative, fence))
    add_fix (document, plan, buttons, verdict, verdict->alternative);
  add_overrides (document, plan, buttons, verdict);
  gtk_widget_set_halign (buttons, GTK_ALIGN_END);
  if (gtk_widget_get_first_child (buttons))
    gtk_box_append (GTK_BOX (box), buttons);
  else
    g_object_unref (g_object_ref_sink (buttons));
  g_autofree char *label = g_strdup_printf ("%s: %s %s", verdict->title, why, status ? status : "");
  gtk_accessible_update_property (GTK_ACCESSIBLE (box), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return box;
}

GtkWidget *
lig_card_miss_new (const LigVerdict *verdict)
{
  g_autofree char *text = g_strdup_printf ("%s: %s.", verdict->title, verdict->why);
  g_autofree char *tooltip = describe_fusion (verdict);
  GtkWidget *label = lig_card_label_new (text, "verdict-text");
  lig_tooltip_set (label, tooltip);
  return label;
}
