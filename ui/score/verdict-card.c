/* SPDX-License-Identifier: MIT */
/* The verdict card: an entry for each verdict, with its explanation and buttons for edits. */
#include "ui/score/verdict-card.h"

#include "ui/score/text.h"
#include "ui/score/verdict-card-edit.h"
#include "ui/score/verdict-card-list.h"

#include <glib/gi18n.h>

struct _LigVerdictCard {
  GtkWidget parent_instance;
  LigDocument *document;
  LigPlan *plan; /* the owner of the verdicts and their strings */
  GtkWidget *box;
};

G_DEFINE_FINAL_TYPE (LigVerdictCard, lig_verdict_card, GTK_TYPE_WIDGET)

/* --- Building ------------------------------------------------------------------------------ */

static GtkWidget *
make_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  if (class)
    gtk_widget_add_css_class (label, class);
  return label;
}

/* All buttons that edit are made here. @edit: (transfer full) */
static GtkWidget *
add_button (
  LigVerdictCard *self, GtkWidget *box, const char *text, LigCardEdit *edit, gboolean gains)
{
  GtkWidget *button = lig_card_button_new (self->document, text, edit, gains);
  gtk_box_append (GTK_BOX (box), button);
  return button;
}

/* Returns an edit like a mend of a verdict, on the op at the path. */
static LigCardEdit *
new_wish (LigMendKind kind, const char *path, const char *fusion, const char *format)
{
  LigCardEdit *edit = g_new0 (LigCardEdit, 1);
  edit->kind = LIG_CARD_MEND;
  edit->path = g_strdup (path);
  edit->fusion = g_strdup (fusion);
  edit->mend =
    (LigMend){.kind = kind, .path = edit->path, .fusion = edit->fusion, .value = edit->fusion};
  g_auto (GStrv) parts = g_strsplit (format, "%s", -1);
  edit->label = g_strjoinv (fusion ? fusion : "", parts);
  return edit;
}

static LigCardEdit *
new_edit (LigCardEditKind kind, const char *path, const char *fusion, const char *format)
{
  LigCardEdit *edit = new_wish (LIG_MEND_FORCE, path, fusion, format);
  edit->kind = kind;
  return edit;
}

static gboolean
names (const char *const *list, const char *name)
{
  return list && g_strv_contains (list, name);
}

static void
add_constraints (LigVerdictCard *self, GtkWidget *box, const LigVerdict *verdict)
{
  const LigMend *mend = verdict->mend;
  const char *fusion = verdict->fusion->name;
  LigOp *op = lig_verdict_find_op (self->document, verdict->first);
  if (!op)
    return;
  gboolean forbidden =
    names (lig_op_get_forbidden (op), fusion) ||
    names (lig_sequence_get_forbidden (lig_document_get_sequence (self->document)), fusion);
  gboolean forced = names (lig_op_get_forced (op), fusion);
  guint count;
  const char *path = lig_plan_get_ops (self->plan, &count)[verdict->first].path;
  if (!mend || mend->kind != LIG_MEND_UNFORBID)
    add_button (self, box, forbidden ? _ ("Allow") : _ ("Forbid"),
                forbidden ? new_wish (LIG_MEND_UNFORBID, path, fusion, _ ("Allow %s"))
                          : new_edit (LIG_CARD_FORBID, path, fusion, _ ("Forbid %s")),
                FALSE);
  if (mend && mend->kind == LIG_MEND_FORCE && !forced)
    return;
  add_button (self, box, forced ? _ ("Do not force") : _ ("Force"),
              forced ? new_wish (LIG_MEND_UNFORCE, path, fusion, _ ("Do not force %s"))
                     : new_wish (LIG_MEND_FORCE, path, fusion, _ ("Force %s")),
              FALSE);
}

static void
add_mend (LigVerdictCard *self, GtkWidget *box, const LigMend *mend)
{
  g_autofree char *label = lig_verdict_card_label (mend);
  LigCardEdit *edit = new_edit (LIG_CARD_MEND, NULL, NULL, label);
  edit->plan = lig_plan_ref (self->plan);
  edit->mend = *mend;
  add_button (self, box, label, edit, TRUE);
}

static GtkWidget *
make_head (const LigVerdict *verdict)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 9);
  g_autofree char *name = lig_score_fusion_name (verdict->fusion);
  g_autofree char *gain = lig_verdict_describe_gain (verdict);
  GtkWidget *title = make_label (name, "heading");
  GtkWidget *pass = gtk_label_new (verdict->pass == LIG_PASS_FORWARD    ? _ ("forward")
                                   : verdict->pass == LIG_PASS_BACKWARD ? _ ("backward")
                                                                        : _ ("both passes"));
  gtk_widget_add_css_class (pass, "verdict-pass");
  gtk_widget_add_css_class (pass, lig_pass_name (verdict->pass));
  gtk_widget_set_valign (pass, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), pass);
  GtkWidget *status = gtk_label_new (verdict->taken ? _ ("Fused") : gain);
  gtk_widget_set_hexpand (status, TRUE);
  gtk_widget_set_halign (status, GTK_ALIGN_END);
  gtk_widget_add_css_class (status, "verdict-gain");
  gtk_widget_add_css_class (status, verdict->taken ? "taken" : "refused");
  gtk_box_append (GTK_BOX (head), status);
  return head;
}

static GtkWidget *
make_entry (LigVerdictCard *self, const LigVerdict *verdict)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_widget_add_css_class (box, "verdict");
  gtk_widget_set_halign (buttons, GTK_ALIGN_END);
  gtk_box_append (GTK_BOX (box), make_head (verdict));
  GtkWidget *text = make_label (verdict->text, "verdict-text");
  gtk_box_append (GTK_BOX (box), text);
  if (verdict->mend)
    add_mend (self, buttons, verdict->mend);
  add_constraints (self, buttons, verdict);
  gtk_box_append (GTK_BOX (box), buttons);
  gtk_accessible_update_property (GTK_ACCESSIBLE (box), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  verdict->text, -1);
  return box;
}

/* Returns the title of the op in the sequence, which may have several ops in the plan: both parts
 * of a linear are one op to the user. */
static const char *
get_title (const LigPlanOp *op)
{
  const LigOpInfo *info = lig_op_info_find (op->title);
  return _ (info ? info->title : op->info->title);
}

/* Returns a description of the place: `between Linear at 2 and SwiGLU at 3`. */
static char *
describe_place (LigPlan *plan, int first, int last)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  const LigPlanOp *from = &ops[first], *to = &ops[MIN (last, (int) count - 1)];
  if (last >= (int) count)
    return g_strdup_printf (_ ("after %s at %s"), get_title (from), from->path);
  if (g_str_equal (from->path, to->path))
    return g_strdup_printf (_ ("%s at %s"), get_title (from), from->path);
  return g_strdup_printf (last == first + 1 ? _ ("between %s at %s and %s at %s")
                                            : _ ("from %s at %s to %s at %s"),
                          get_title (from), from->path, get_title (to), to->path);
}

/* Adds a button for the fence before the first op of the sequence that begins after @first. */
static void
add_fence (LigVerdictCard *self, GtkWidget *head, int first, int last)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self->plan, &count);
  for (int i = first + 1; i <= last && i < (int) count; i++) {
    LigOp *op = lig_verdict_find_op (self->document, i);
    if (!op || g_str_equal (ops[i].path, ops[i - 1].path))
      continue;
    gboolean fence = lig_op_get_fence (op);
    GtkWidget *button = add_button (
      self, head, fence ? _ ("Remove the fence") : _ ("Fence"),
      fence ? new_wish (LIG_MEND_REMOVE_FENCE, ops[i].path, NULL, _ ("Remove the fence"))
            : new_edit (LIG_CARD_FENCE, ops[i].path, NULL, _ ("Add a fence")),
      FALSE);
    gtk_widget_set_valign (button, GTK_ALIGN_START);
    return;
  }
}

static void
add_title (LigVerdictCard *self, gboolean fused, int first, int last)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  g_autofree char *place = describe_place (self->plan, first, last);
  gtk_widget_add_css_class (head, "verdict-title");
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_box_append (
    GTK_BOX (texts),
    make_label (fused ? _ ("One kernel here") : _ ("Why not one kernel here?"), "title-4"));
  gtk_box_append (GTK_BOX (texts), make_label (place, "verdict-text"));
  gtk_box_append (GTK_BOX (head), texts);
  add_fence (self, head, first, last);
  gtk_box_append (GTK_BOX (self->box), head);
}

static void
fill (LigVerdictCard *self, int first, int last)
{
  g_autoptr (GPtrArray) entries = lig_verdict_card_list (self->document, first, last);
  gboolean fused = entries->len > 0 && ((const LigVerdict *) entries->pdata[0])->taken;
  add_title (self, fused, first, last);
  if (entries->len == 0) {
    gtk_box_append (GTK_BOX (self->box),
                    make_label (_ ("No fusion has a pattern that extends across this gap."), NULL));
    return;
  }
  GtkWidget *list = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *window = gtk_scrolled_window_new ();
  /* The scroll bar overlaps the list. */
  gtk_widget_set_margin_end (list, 12);
  for (guint i = 0; i < entries->len; i++)
    gtk_box_append (GTK_BOX (list), make_entry (self, entries->pdata[i]));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (window), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (window), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (window), 420);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (window), list);
  gtk_box_append (GTK_BOX (self->box), window);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  LigVerdictCard *self = LIG_VERDICT_CARD (object);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (lig_verdict_card_parent_class)->dispose (object);
}

static void
lig_verdict_card_class_init (LigVerdictCardClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "verdictcard");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_verdict_card_init (LigVerdictCard *self)
{
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  gtk_widget_set_size_request (self->box, 440, -1);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
}

GtkWidget *
lig_verdict_card_new (LigDocument *document, int first_expanded, int last_expanded)
{
  guint count = 0;
  LigVerdictCard *self = g_object_new (LIG_TYPE_VERDICT_CARD, NULL);
  LigPlan *plan = lig_document_get_plan (document);
  self->document = g_object_ref (document);
  self->plan = plan ? lig_plan_ref (plan) : NULL;
  if (plan)
    lig_plan_get_ops (plan, &count);
  if (first_expanded >= 0 && first_expanded < (int) count)
    fill (self, first_expanded, last_expanded);
  return GTK_WIDGET (self);
}
