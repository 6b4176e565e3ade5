/* SPDX-License-Identifier: MIT */
/* The Plan page: the steps of the plan, and its memory. */
#include "ui/document/document.h"
#include "ui/document/times.h"
#include "ui/page.h"
#include "ui/plan/operands.h"
#include "ui/plan/table.h"
#include "ui/session/session.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/picture-view.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"
#include <ligature/draw.h>

#include <glib/gi18n.h>
#include <math.h>

#define LIG_TYPE_PLAN_PAGE (lig_plan_page_get_type ())
G_DECLARE_FINAL_TYPE (LigPlanPage, lig_plan_page, LIG, PLAN_PAGE, LigPage)

struct _LigPlanPage {
  LigPage parent_instance;
  GtkStack *stack, *views;
  AdwStatusPage *status;
  GtkBox *content, *notice;
  GtkFlowBox *figures;
  GtkLabel *title, *subtitle, *notice_label, *shown;
  GtkSearchEntry *search;
  LigPlanTable *steps, *values;
  LigPlanOperands *operands;
  LigPictureView *map;
  LigPlan *plan;
  LigPlanLinks *links; /* of the selected step in the plan */
  gboolean outdated;   /* to be filled when it is shown */
  gboolean filled[3];  /* steps, values, map */
};

G_DEFINE_FINAL_TYPE (LigPlanPage, lig_plan_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (plan) = {
  .name = "plan",
  .title = N_ ("Plan"),
  .icon = "x-office-spreadsheet-symbolic",
  .get_type = lig_plan_page_get_type,
};

/* --- Head ------------------------------------------------------------------------------------ */

/* Returns the label of the value. */
static GtkWidget *
add_figure (LigPlanPage *self, const char *title, const char *value, const char *note)
{
  GtkWidget *tile = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *const labels[] = {gtk_label_new (title), gtk_label_new (value), gtk_label_new (note)};
  static const char *const classes[] = {"caption-heading", "title-3", "caption"};
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++) {
    gtk_label_set_xalign (GTK_LABEL (labels[i]), 0);
    gtk_label_set_ellipsize (GTK_LABEL (labels[i]), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class (labels[i], classes[i]);
    lig_tooltip_when_cut (GTK_LABEL (labels[i]));
    gtk_box_append (GTK_BOX (tile), labels[i]);
  }
  gtk_widget_add_css_class (labels[2], "dim-label");
  gtk_widget_add_css_class (tile, "card");
  gtk_widget_add_css_class (tile, "figure");
  gtk_flow_box_append (self->figures, tile);
  gtk_widget_set_focusable (gtk_widget_get_parent (tile), FALSE);
  return labels[1];
}

static void
add_time_and_traffic (LigPlanPage *self)
{
  guint count, fused = 0, n_groups;
  double bytes = 0;
  LigFigures step;
  const LigTimedPlan timed = {.plan = self->plan};
  const LigPlanStep *steps = lig_plan_get_steps (self->plan, &count);
  for (guint i = 0; i < count; i++)
    bytes += steps[i].read + steps[i].written;
  lig_figures_of_step (&timed, NULL, &step);
  double seconds = step.predicted > 0 ? step.predicted : NAN;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (self->plan, pass, &n_groups);
    for (guint i = 0; i < n_groups; i++)
      fused += groups[i].fusion != NULL;
  }
  g_autofree char *n_steps = g_strdup_printf ("%u", count);
  g_autofree char *fusions = g_strdup_printf (ngettext ("%u fusion", "%u fusions", fused), fused);
  g_autofree char *time = lig_draw_time (seconds), *traffic = lig_draw_bytes (bytes);
  add_figure (self, _ ("Steps"), n_steps, fusions);
  g_autofree char *predicted = g_strconcat ("≈ ", time, NULL);
  GtkWidget *value =
    add_figure (self, _ ("Predicted"), isnan (seconds) ? "–" : predicted,
                isnan (seconds) ? _ ("the device was not measured") : _ ("forward and backward"));
  gtk_widget_add_css_class (value, "dim-label");
  add_figure (self, _ ("Moved"), traffic, _ ("read and written"));
}

static void
add_collectives (LigPlanPage *self)
{
  LigCommunication collective;
  lig_figures_of_communication (self->plan, &collective);
  if (collective.ranks < 2)
    return;
  g_autofree char *bytes = lig_draw_bytes (collective.bytes);
  g_autofree char *waits = lig_draw_time (collective.exposed);
  g_autofree char *layout =
    lig_layout_to_string (lig_device_get_layout (lig_plan_get_device (self->plan)));
  g_autofree char *known = g_strdup_printf (_ ("%s; waits %s"), layout, waits);
  add_figure (self, _ ("Collectives"), bytes, collective.seconds > 0 ? known : layout);
}

/* Six figures or more are in two lines, so that no line has only one. */
static void
arrange_figures (LigPlanPage *self)
{
  guint count = 0;
  while (gtk_flow_box_get_child_at_index (self->figures, (int) count))
    count++;
  gtk_flow_box_set_max_children_per_line (self->figures, count > 5 ? (count + 1) / 2 : count);
}

static void
show_figures (LigPlanPage *self)
{
  GtkWidget *child;
  gint64 peak, arena = lig_plan_get_arena_bytes (self->plan, &peak);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->figures))))
    gtk_flow_box_remove (self->figures, child);
  add_time_and_traffic (self);
  add_collectives (self);
  guint segments = lig_plan_get_segments (self->plan);
  g_autofree char *arena_text = lig_draw_bytes ((double) arena);
  g_autofree char *peak_text = lig_draw_bytes ((double) peak);
  g_autofree char *min = g_strdup_printf (_ ("peak of live values: %s"), peak_text);
  g_autofree char *state = lig_draw_bytes ((double) lig_plan_get_state_bytes (self->plan));
  g_autofree char *number = g_strdup_printf ("%u", segments);
  add_figure (self, _ ("Values"), arena_text, min);
  add_figure (self, _ ("Parameters and optimizer"), state,
              lig_document_has_update (self->plan) ? _ ("with gradients")
                                                   : _ ("with gradients, no update"));
  if (segments > 1)
    add_figure (self, _ ("Pieces"), number, _ ("between opaque ops"));
  arrange_figures (self);
}

static void
show_head (LigPlanPage *self)
{
  LigDevice *device = lig_plan_get_device (self->plan);
  g_autofree char *name = lig_document_get_title (lig_page_get_document (LIG_PAGE (self)));
  g_autofree char *title =
    lig_session_name_device (lig_device_get_name (device), lig_device_get_facts (device)->name);
  g_autofree char *text = g_strdup_printf (_ ("%s · policy %s · compute %s, parameters %s"), title,
                                           lig_policy_name (lig_plan_get_policy (self->plan)),
                                           lig_dtype_name (lig_plan_get_compute (self->plan)),
                                           lig_plan_get_parameters_name (self->plan));
  gtk_label_set_label (self->title, name);
  gtk_label_set_label (self->subtitle, text);
}

static void
show_notice (LigPlanPage *self)
{
  LigDocument *doc = lig_page_get_document (LIG_PAGE (self));
  const LigProblem *problem = lig_document_get_problem (doc, 0);
  const char *measuring = lig_document_get_measuring (doc);
  gboolean stale = lig_document_is_stale (doc);
  g_autofree char *text = NULL;
  if (stale && measuring)
    text = g_strdup_printf (_ ("Compiling a new plan: measuring %s"), measuring);
  else if (problem && !stale)
    text = problem->whole ? lig_figure_sentence (problem->text)
                          : g_strdup_printf (_ ("The plan has only the ops before the problem: %s"),
                                             problem->text);
  gtk_widget_set_visible (GTK_WIDGET (self->notice), text != NULL);
  gtk_label_set_label (self->notice_label, text ? text : "");
  lig_css_class_set (GTK_WIDGET (self->views), "outdated", stale);
}

static void
show_count (LigPlanPage *self)
{
  const char *name = gtk_stack_get_visible_child_name (self->views);
  gboolean steps = g_strcmp0 (name, "steps") == 0, map = g_strcmp0 (name, "map") == 0;
  guint count =
    g_list_model_get_n_items (lig_plan_table_get_rows (steps ? self->steps : self->values));
  g_autofree char *text = steps
                            ? g_strdup_printf (ngettext ("%u step", "%u steps", count), count)
                            : g_strdup_printf (ngettext ("%u value", "%u values", count), count);
  gtk_label_set_label (self->shown, map ? "" : text);
  gtk_widget_set_sensitive (GTK_WIDGET (self->search), !map);
}

/* --- The map -----------------------------------------------------------------------------------
 */

static void
draw_map (LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data)
{
  lig_draw_map (canvas, colours, ((LigPlanPage *) data)->plan, width, height);
}

static GtkWidget *
new_map (LigPlanPage *self)
{
  GtkWidget *window = gtk_scrolled_window_new (), *clamp = adw_clamp_new ();
  GtkWidget *map = lig_picture_view_new (_ ("Memory by step"), "memory-map");
  GtkWidget *card =
    lig_picture_view_wrap (LIG_PICTURE_VIEW (map), _ ("Memory by step"),
                           _ ("Values in memory: steps on the x axis, bytes on the y axis"));
  self->map = LIG_PICTURE_VIEW (map);
  adw_clamp_set_maximum_size (ADW_CLAMP (clamp), 1600);
  adw_clamp_set_child (ADW_CLAMP (clamp), card);
  gtk_widget_set_margin_top (card, 18);
  gtk_widget_set_margin_bottom (card, 24);
  gtk_widget_set_margin_start (card, 24);
  gtk_widget_set_margin_end (card, 24);
  gtk_widget_set_vexpand (map, TRUE);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (window), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (window), clamp);
  return window;
}

/* --- Filling ------------------------------------------------------------------------------------
 */

static void
show_empty (LigPlanPage *self)
{
  LigDocument *doc = lig_page_get_document (LIG_PAGE (self));
  const LigProblem *problem = lig_document_get_problem (doc, 0);
  adw_status_page_set_title (self->status, problem ? _ ("No plan") : _ ("Nothing to plan yet"));
  adw_status_page_set_description (
    self->status,
    problem ? problem->text : _ ("The steps and the memory of the plan are listed here."));
  gtk_stack_set_visible_child_name (self->stack, "empty");
}

/* Fills the visible view only: the others are filled when they are shown. */
static void
fill_view (LigPlanPage *self)
{
  static const char *const names[] = {"steps", "values", "map"};
  const char *name = gtk_stack_get_visible_child_name (self->views);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (self->filled[i] || (self->plan && g_strcmp0 (name, names[i]) != 0))
      continue;
    self->filled[i] = TRUE;
    if (i < 2)
      lig_plan_table_set_plan (i == 0 ? self->steps : self->values, self->plan);
    else
      lig_picture_view_set_picture (self->map, self->plan ? draw_map : NULL, NULL, 480, self, NULL);
  }
}

/* Shows what belongs to the selected step. */
static void
show_links (LigPlanPage *self)
{
  int step = self->links ? lig_plan_table_get_selected (self->steps) : -1;
  if (self->links)
    lig_plan_links_turn (self->links, step);
  lig_plan_table_set_links (self->steps, self->links);
  lig_plan_table_set_links (self->values, self->links);
  lig_plan_operands_show (self->operands, self->plan, self->links);
}

/* Forgets the links of a plan, which its tables refer to. */
static void
drop_links (LigPlanPage *self)
{
  g_autoptr (LigPlanLinks) old = g_steal_pointer (&self->links);
  if (old)
    show_links (self);
}

static void
renew_links (LigPlanPage *self)
{
  drop_links (self);
  self->links = self->plan ? lig_plan_links_new (self->plan) : NULL;
}

static void
update (LigPlanPage *self)
{
  LigDocument *doc = lig_page_get_document (LIG_PAGE (self));
  self->outdated = !gtk_widget_get_mapped (GTK_WIDGET (self));
  if (self->outdated)
    return;
  LigPlan *plan = lig_document_get_plan (doc), *old = self->plan;
  if (plan && lig_sequence_get_length (lig_document_get_sequence (doc)) == 0)
    plan = NULL;
  self->plan = plan ? lig_plan_ref (plan) : NULL;
  if (!plan)
    show_empty (self);
  if (plan != old) {
    renew_links (self);
    self->filled[0] = self->filled[1] = self->filled[2] = FALSE;
    fill_view (self);
    show_links (self);
  }
  g_clear_pointer (&old, lig_plan_unref);
  if (!plan)
    return;
  gtk_stack_set_visible_child_name (self->stack, "content");
  show_head (self);
  show_figures (self);
  show_notice (self);
  show_count (self);
}

static void
turn (LigPlanPage *self)
{
  fill_view (self);
  show_count (self);
}

static void
search (LigPlanPage *self)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->search));
  lig_plan_table_search (self->steps, text);
  lig_plan_table_search (self->values, text);
  show_count (self);
}

/* Goes to the row of the op that a step belongs to. */
static void
go_to_op (LigPlanPage *self, LigPlanItem *item)
{
  LigDocument *doc = lig_page_get_document (LIG_PAGE (self));
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (item->plan, &count);
  int part = lig_plan_item_get_step (item)->part;
  const LigRow *row =
    part >= 0 && part < (int) count ? lig_document_find_path (doc, ops[part].path) : NULL;
  if (!row)
    return;
  lig_document_select (doc, row->op, LIG_SELECT_ONLY);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.page", "s", "sequence");
}

/* Goes to a step's row, which a search may hide. */
static void
go_to_step (LigPlanPage *self, int step)
{
  gtk_stack_set_visible_child_name (self->views, "steps");
  if (lig_plan_table_select (self->steps, (guint) step))
    return;
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
  search (self);
  lig_plan_table_select (self->steps, (guint) step);
}

/* Follows the value of a row. */
static void
go_along (LigPlanPage *self, LigPlanItem *item)
{
  lig_plan_operands_follow (self->operands, (int) item->index);
}

static void
focus_search (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_widget_grab_focus (GTK_WIDGET (LIG_PLAN_PAGE (widget)->search));
}

static char *
lig_plan_page_to_command (LigPage *page)
{
  return lig_document_to_command (lig_page_get_document (page), "plan");
}

static void
copy_command (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_widget_activate_action (widget, "win.copy-command", NULL);
}

/* --- Construction -------------------------------------------------------------------------------
 */

static void
lig_plan_page_map (GtkWidget *widget)
{
  LigPlanPage *self = LIG_PLAN_PAGE (widget);
  GTK_WIDGET_CLASS (lig_plan_page_parent_class)->map (widget);
  if (self->outdated)
    update (self);
}

static void
lig_plan_page_constructed (GObject *object)
{
  LigPlanPage *self = LIG_PLAN_PAGE (object);
  LigDocument *doc = lig_page_get_document (LIG_PAGE (self));
  G_OBJECT_CLASS (lig_plan_page_parent_class)->constructed (object);
  self->outdated = TRUE;
  g_signal_connect_object (doc, "planned", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (doc, "titled", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
}

static void
lig_plan_page_dispose (GObject *object)
{
  LigPlanPage *self = LIG_PLAN_PAGE (object);
  drop_links (self);
  adw_bin_set_child (ADW_BIN (self), NULL);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_PLAN_PAGE);
  g_clear_pointer (&self->plan, lig_plan_unref);
  G_OBJECT_CLASS (lig_plan_page_parent_class)->dispose (object);
}

/* The map has no search. */
static void
find (LigPage *page)
{
  LigPlanPage *self = LIG_PLAN_PAGE (page);
  if (g_strcmp0 (gtk_stack_get_visible_child_name (self->views), "map") == 0)
    gtk_stack_set_visible_child_name (self->views, "steps");
  gtk_widget_grab_focus (GTK_WIDGET (self->search));
}

static void
lig_plan_page_class_init (LigPlanPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->constructed = lig_plan_page_constructed;
  G_OBJECT_CLASS (class)->dispose = lig_plan_page_dispose;
  LIG_PAGE_CLASS (class)->to_command = lig_plan_page_to_command;
  widget_class->map = lig_plan_page_map;
  LIG_PAGE_CLASS (class)->find = find;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/plan/plan-page.ui");
  gtk_widget_class_bind_template_child (widget_class, LigPlanPage, stack);
  gtk_widget_class_bind_template_child (widget_class, LigPlanPage, views);
  gtk_widget_class_bind_template_child (widget_class, LigPlanPage, status);
  gtk_widget_class_bind_template_child (widget_class, LigPlanPage, content);
  gtk_widget_class_bind_template_child (widget_class, LigPlanPage, figures);
  gtk_widget_class_bind_template_child (widget_class, LigPlanPage, notice);
  gtk_widget_class_bind_template_child (widget_class, LigPlanPage, notice_label);
  gtk_widget_class_bind_template_child (widget_class, LigPlanPage, title);
  gtk_widget_class_bind_template_child (widget_class, LigPlanPage, subtitle);
  gtk_widget_class_bind_template_child (widget_class, LigPlanPage, shown);
  gtk_widget_class_bind_template_child (widget_class, LigPlanPage, search);
  gtk_widget_class_install_action (widget_class, "plan.copy-command", NULL, copy_command);
  gtk_widget_class_install_action (widget_class, "plan.find", NULL, focus_search);
}

static void
lig_plan_page_init (LigPlanPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  lig_tooltip_when_cut (self->title);
  self->steps = LIG_PLAN_TABLE (lig_plan_table_new (LIG_PLAN_STEPS));
  self->values = LIG_PLAN_TABLE (lig_plan_table_new (LIG_PLAN_VALUES));
  self->operands = LIG_PLAN_OPERANDS (lig_plan_operands_new ());
  GtkWidget *steps = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_set_vexpand (GTK_WIDGET (self->steps), TRUE);
  gtk_box_append (GTK_BOX (steps), GTK_WIDGET (self->steps));
  gtk_box_append (GTK_BOX (steps), GTK_WIDGET (self->operands));
  gtk_stack_add_titled (self->views, steps, "steps", _ ("Steps"));
  gtk_stack_add_titled (self->views, new_map (self), "map", _ ("Memory map"));
  gtk_stack_add_titled (self->views, GTK_WIDGET (self->values), "values", _ ("Values"));
  gtk_search_entry_set_key_capture_widget (self->search, GTK_WIDGET (self->content));
  g_signal_connect_swapped (self->search, "search-changed", G_CALLBACK (search), self);
  g_signal_connect_swapped (self->steps, "activated", G_CALLBACK (go_to_op), self);
  g_signal_connect_object (self->steps, "selected", G_CALLBACK (show_links), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_swapped (self->operands, "follow", G_CALLBACK (go_to_step), self);
  g_signal_connect_swapped (self->values, "activated", G_CALLBACK (go_along), self);
  g_signal_connect_object (self->views, "notify::visible-child", G_CALLBACK (turn), self,
                           G_CONNECT_SWAPPED);
}
