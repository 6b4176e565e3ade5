/* SPDX-License-Identifier: MIT */
/* The verdict card: for each pass, its near misses, the accepted fusions, and on one line those
 * with a pattern that does not match. */
#include "ui/score/verdict-card.h"

#include "ui/score/verdict-card-edit.h"
#include "ui/score/verdict-card-entry.h"
#include "ui/score/verdict-card-list.h"

#include <glib/gi18n.h>
#include <ligature/attention.h>

struct _LigVerdictCard {
  GtkWidget parent_instance;
  LigDocument *document;
  LigPlan *plan; /* the owner of the verdicts and their strings */
  LigPass pass;
  char *title, *fence; /* the path of the fence that the button next to the title removes */
  GtkWidget *box, *window, *sections;
  int height; /* the largest */
};

G_DEFINE_FINAL_TYPE (LigVerdictCard, lig_verdict_card, GTK_TYPE_WIDGET)

/* --- Title --------------------------------------------------------------------------------- */

static gboolean
is_near (const LigVerdict *verdict)
{
  return !verdict->taken && (verdict->fits || verdict->fix);
}

static GPtrArray *
list (LigVerdictCard *self, int first, int last, LigPass pass)
{
  guint count, n_ops;
  const LigVerdict *verdicts = lig_plan_get_verdicts (self->plan, &count);
  lig_plan_get_ops (self->plan, &n_ops);
  return lig_verdicts_about (verdicts, count, n_ops, first, last, first != last, pass);
}

/* Returns whether one kernel of the pass computes both ops. */
static gboolean
is_one (LigVerdictCard *self, int first, int last, LigPass pass)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (self->plan, pass, &count);
  for (guint i = 0; i < count; i++)
    if (groups[i].first <= first && last < groups[i].first + groups[i].count)
      return TRUE;
  return FALSE;
}

/* Both ends of a gap between the repetitions of a block may be parts of the same row. Returns
 * `Add branch of Transformer layer at 2.0.0`. */
static char *
name_part (LigVerdictCard *self, int op, const char *row)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self->plan, &count);
  /* Translators: an op, and the row that it is a part of. */
  return g_strdup_printf (_ ("%s of %s"), _ (ops[op].info->title), row);
}

static char *
describe_gap (LigVerdictCard *self, int first, int last)
{
  guint count;
  lig_plan_get_ops (self->plan, &count);
  g_autofree char *from = lig_card_row_name (self->plan, first);
  if (last >= (int) count)
    return g_strdup_printf (_ ("After %s"), from);
  g_autofree char *to = lig_card_row_name (self->plan, last);
  if (g_str_equal (from, to)) {
    g_autofree char *row = g_steal_pointer (&to);
    g_free (from);
    from = name_part (self, first, row);
    to = name_part (self, last, row);
  }
  gboolean forward = is_one (self, first, last, LIG_PASS_FORWARD);
  gboolean backward = is_one (self, first, last, LIG_PASS_BACKWARD);
  return g_strdup_printf (forward && backward ? _ ("%s and %s are fused")
                          : forward           ? _ ("%s and %s are fused forward")
                          : backward          ? _ ("%s and %s are fused backward")
                                              : _ ("%s and %s are not one kernel"),
                          from, to);
}

static char *
describe_group (LigVerdictCard *self, int first, int last)
{
  g_autofree char *from = lig_card_row_name (self->plan, first);
  if (first == last)
    return g_strdup_printf (_ ("%s is unfused"), from);
  g_autofree char *to = lig_card_row_name (self->plan, last);
  return g_str_equal (from, to) ? g_steal_pointer (&from)
                                : g_strdup_printf (_ ("%s to %s"), from, to);
}

static GtkWidget *
new_fence (LigVerdictCard *self, int first, int last)
{
  g_autoptr (GPtrArray) all = list (self, first, last, LIG_PASS_FORWARD);
  g_autoptr (GPtrArray) backward = list (self, first, last, LIG_PASS_BACKWARD);
  for (guint i = 0; i < backward->len; i++)
    g_ptr_array_add (all, backward->pdata[i]);
  return lig_card_fence_new (self->document, self->plan, first, last, all, &self->fence);
}

static void
add_title (LigVerdictCard *self, int first, int last)
{
  gboolean gap = self->pass == LIG_PASS_JOINT;
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  self->title = gap ? describe_gap (self, first, last) : describe_group (self, first, last);
  GtkWidget *title = lig_card_label_new (self->title, "title-4");
  gtk_widget_add_css_class (head, "verdict-title");
  gtk_widget_set_hexpand (title, TRUE);
  gtk_box_append (GTK_BOX (head), title);
  GtkWidget *fence = gap ? new_fence (self, first, last) : NULL;
  if (fence) {
    gtk_widget_set_valign (fence, GTK_ALIGN_START);
    gtk_box_append (GTK_BOX (head), fence);
  }
  gtk_box_append (GTK_BOX (self->box), head);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, self->title,
                                  -1);
}

/* A scrolled window ignores that its labels wrap, so its size is computed here. */
static void
fit (LigVerdictCard *self)
{
  int width, height;
  if (!self->window)
    return;
  gtk_widget_set_size_request (self->sections, -1, -1);
  gtk_widget_measure (self->sections, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &width, NULL, NULL);
  gtk_widget_set_size_request (self->sections, width, -1);
  gtk_widget_measure (self->sections, GTK_ORIENTATION_VERTICAL, width, NULL, &height, NULL, NULL);
  height = MIN (height, self->height);
  gtk_scrolled_window_set_min_content_height (GTK_SCROLLED_WINDOW (self->window), -1);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (self->window), height);
  gtk_scrolled_window_set_min_content_height (GTK_SCROLLED_WINDOW (self->window), height);
}

/* --- Passes -------------------------------------------------------------------------------- */

static void
show_rest (GtkButton *button, GtkWidget *rest, gboolean shown)
{
  const char *text = g_object_get_data (G_OBJECT (button), "text");
  g_autofree char *label = g_strdup_printf (shown ? _ ("%s: hide") : _ ("%s: show"), text);
  gtk_widget_set_visible (rest, shown);
  gtk_label_set_text (GTK_LABEL (gtk_button_get_child (button)), label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  gtk_accessible_update_state (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_STATE_EXPANDED, shown, -1);
}

static void
toggle_rest (GtkButton *button, GtkWidget *rest)
{
  GtkWidget *card = gtk_widget_get_ancestor (rest, LIG_TYPE_VERDICT_CARD);
  show_rest (button, rest, !gtk_widget_get_visible (rest));
  if (card)
    fit (LIG_VERDICT_CARD (card));
}

/* Returns `2 other fusions need a scale`; @rest has at least one. */
static char *
describe_rest (GPtrArray *rest)
{
  g_autofree char *needs = lig_verdict_describe_needs (rest->pdata[0]);
  for (guint i = 1; i < rest->len && needs; i++) {
    g_autofree char *other = lig_verdict_describe_needs (rest->pdata[i]);
    if (g_strcmp0 (needs, other) != 0)
      g_clear_pointer (&needs, g_free);
  }
  if (!needs)
    return g_strdup_printf (ngettext ("%u other fusion needs other operations",
                                      "%u other fusions need other operations", rest->len),
                            rest->len);
  return g_strdup_printf (
    ngettext ("%u other fusion needs %s", "%u other fusions need %s", rest->len), rest->len, needs);
}

/* Adds the fusions with a pattern that does not match, folded into one line. */
static void
add_rest (GtkWidget *to, GPtrArray *misses)
{
  if (misses->len == 0)
    return;
  char *text = describe_rest (misses);
  GtkWidget *button = gtk_button_new ();
  GtkWidget *label = lig_card_label_new ("", NULL);
  GtkWidget *rest = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  gtk_button_set_child (GTK_BUTTON (button), label);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "verdict-more");
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  g_object_set_data_full (G_OBJECT (button), "text", text, g_free);
  for (guint i = 0; i < misses->len; i++)
    gtk_box_append (GTK_BOX (rest), lig_card_miss_new (misses->pdata[i]));
  g_signal_connect_object (button, "clicked", G_CALLBACK (toggle_rest), rest, 0);
  gtk_box_append (GTK_BOX (to), button);
  gtk_box_append (GTK_BOX (to), rest);
  show_rest (GTK_BUTTON (button), rest, FALSE);
}

static char *
describe_none (LigVerdictCard *self, int first, int last)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self->plan, &count);
  if (first == last)
    return g_strdup (_ ("No fusion includes its neighbours."));
  return lig_verdict_describe_none (ops[first].info, last < (int) count ? ops[last].info : NULL);
}

/* Puts accepted fusions first; the sort is stable. */
static int
compare_taken (gconstpointer a, gconstpointer b)
{
  const LigVerdict *one = *(const LigVerdict *const *) a, *two = *(const LigVerdict *const *) b;
  return two->taken - one->taken;
}

/* Names the kernel that computes the attention of a group. */
static void
add_attention (LigVerdictCard *self, GtkWidget *to, const LigPlanGroup *group)
{
  for (int i = 0; i < group->n_steps; i++) {
    g_autoptr (LigAttentionTimes) times =
      lig_plan_get_attention (self->plan, (guint) (group->steps[i]));
    g_autofree char *text = times ? lig_attention_times_describe (times) : NULL;
    if (text)
      gtk_box_append (GTK_BOX (to), lig_card_label_new (text, "verdict-text"));
  }
}

/* Adds the kernels of an op that forms its own group. */
static void
add_alone (LigVerdictCard *self, GtkWidget *to, int op, LigPass pass)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (self->plan, pass, &count);
  for (guint i = 0; i < count; i++)
    if (!groups[i].fusion && groups[i].first == op) {
      gtk_box_append (GTK_BOX (to), lig_card_kernels_new (self->plan, &groups[i]));
      add_attention (self, to, &groups[i]);
    }
}

static void
add_pass (LigVerdictCard *self, GtkWidget *to, int first, int last, LigPass pass)
{
  gboolean backward = pass == LIG_PASS_BACKWARD;
  GtkWidget *section = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  g_autoptr (GPtrArray) verdicts = list (self, first, last, pass);
  g_autoptr (GPtrArray) misses = g_ptr_array_new ();
  GtkWidget *heading =
    lig_card_label_new (backward ? _ ("Backward") : _ ("Forward"), "verdict-pass");
  gtk_widget_add_css_class (section, "verdict-section");
  gtk_widget_add_css_class (heading, lig_pass_name (pass));
  gtk_box_append (GTK_BOX (section), heading);
  /* The card of a bracket starts with the bracket itself. */
  if (self->pass != LIG_PASS_JOINT && first == last)
    add_alone (self, section, first, pass);
  if (self->pass != LIG_PASS_JOINT)
    g_ptr_array_sort (verdicts, compare_taken);
  for (guint i = 0; i < verdicts->len; i++) {
    const LigVerdict *verdict = verdicts->pdata[i];
    if (verdict->taken || is_near (verdict))
      gtk_box_append (GTK_BOX (section),
                      lig_card_entry_new (self->document, self->plan, verdict, self->fence));
    else
      g_ptr_array_add (misses, (gpointer) verdict);
  }
  if (misses->len == verdicts->len) {
    g_autofree char *none = lig_plan_has_pass (self->plan, pass)
                              ? describe_none (self, first, last)
                              : g_strdup (_ ("This plan has no backward pass."));
    gtk_box_append (GTK_BOX (section), lig_card_label_new (none, "verdict-text"));
  }
  add_rest (section, misses);
  gtk_box_append (GTK_BOX (to), section);
}

static void
fill (LigVerdictCard *self, int first, int last)
{
  GtkWidget *sections = gtk_box_new (GTK_ORIENTATION_VERTICAL, 9);
  add_title (self, first, last);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    if (self->pass == pass || self->pass == LIG_PASS_JOINT)
      add_pass (self, sections, first, last, pass);
  /* The scroll bar overlaps the list. */
  gtk_widget_set_margin_end (sections, 12);
  self->window = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->window), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->window), sections);
  gtk_box_append (GTK_BOX (self->box), self->window);
  self->sections = sections;
  lig_verdict_card_set_height (self, 480);
}

void
lig_verdict_card_set_height (LigVerdictCard *self, int height)
{
  self->height = height;
  fit (self);
}

const char *
lig_verdict_card_get_title (LigVerdictCard *self)
{
  return self->title;
}

/* --- Construction -------------------------------------------------------------------------- */

void
lig_verdict_card_clear (LigVerdictCard *self)
{
  if (self->box)
    lig_card_buttons_forget (self->box);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  self->window = self->sections = NULL;
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_clear_object (&self->document);
}

static void
dispose (GObject *object)
{
  lig_verdict_card_clear (LIG_VERDICT_CARD (object));
  G_OBJECT_CLASS (lig_verdict_card_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  g_free (LIG_VERDICT_CARD (object)->title);
  g_free (LIG_VERDICT_CARD (object)->fence);
  G_OBJECT_CLASS (lig_verdict_card_parent_class)->finalize (object);
}

static void
lig_verdict_card_class_init (LigVerdictCardClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  G_OBJECT_CLASS (class)->finalize = finalize;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "verdictcard");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_verdict_card_init (LigVerdictCard *self)
{
  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
}

GtkWidget *
lig_verdict_card_new (LigDocument *document, int first_expanded, int last_expanded, LigPass pass)
{
  guint count = 0;
  LigVerdictCard *self = g_object_new (LIG_TYPE_VERDICT_CARD, NULL);
  LigPlan *plan = lig_document_get_plan (document);
  self->document = g_object_ref (document);
  self->pass = pass;
  self->plan = plan ? lig_plan_ref (plan) : NULL;
  if (plan)
    lig_plan_get_ops (plan, &count);
  if (first_expanded >= 0 && first_expanded < (int) count)
    fill (self, first_expanded, last_expanded);
  return GTK_WIDGET (self);
}
