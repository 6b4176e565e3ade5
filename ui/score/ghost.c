/* SPDX-License-Identifier: MIT */
/* The document's preview over the score's sheet. The pointer passes through it. */
#include "ui/score/ghost.h"

#include "ui/document/preview.h"
#include "ui/score/text.h"
#include "ui/widgets/figures.h"
#include <ligature/comparison.h>
#include <ligature/plan.h>

#include <glib/gi18n.h>
#include <math.h>

enum { LINE_MARGIN = 12 };

/* A dashed bracket. */
typedef struct {
  LigPass pass;
  int y, height;
  int cover, cover_end; /* of the current brackets that it replaces; on a change's first ghost */
  int slot;             /* of a folded row, else -1 */
  guint count;          /* of changed groups in a folded row */
  double before, after;
  int sign; /* of the change that it belongs to */
  LigScoreText name, time, change;
} Ghost;

struct _LigScoreGhost {
  GtkWidget parent_instance;
  LigScoreHost *host;
  LigDocument *document; /* cleared before the host is freed */
  GArray *ghosts;
  GtkWidget *line;
};

G_DEFINE_FINAL_TYPE (LigScoreGhost, lig_score_ghost, GTK_TYPE_WIDGET)

/* --- Places -------------------------------------------------------------------------------- */

static int
find_block (const LigScoreMap *map, int op)
{
  for (guint i = 0; i < map->slots->len; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (map, i);
    if (lig_score_slot_is_folded (slot) && op >= slot->first && op < slot->first + slot->count)
      return (int) i;
  }
  return -1;
}

static void
extend (const LigScoreMap *map, int op, int *top, int *bottom)
{
  if (op < 0 || op >= (int) map->n_ops || map->bottoms[op] <= 0)
    return;
  *top = MIN (*top, map->tops[op]);
  *bottom = MAX (*bottom, map->bottoms[op]);
}

/* Finds the extent of a group of the previewed plan. New ops are placed in the gap before the next
 * known op. */
static gboolean
place_group (const LigScoreMap *map,
             LigPlanComparison *comparison,
             const LigPlanGroup *group,
             Ghost *ghost)
{
  int top = G_MAXINT, bottom = 0, op = -1;
  for (int i = group->first; i < group->first + group->count; i++) {
    int known = lig_plan_comparison_find_op (comparison, i);
    op = known >= 0 ? known : op;
    extend (map, known, &top, &bottom);
  }
  ghost->slot = -1;
  if (bottom > 0) {
    ghost->y = top;
    ghost->height = bottom - top;
    return TRUE;
  }
  if (op >= 0) {
    ghost->slot = find_block (map, op);
    return ghost->slot >= 0;
  }
  int next = lig_plan_comparison_find_op (comparison, group->first + group->count);
  extend (map, next, &top, &bottom);
  ghost->y =
    bottom > 0 ? top - map->metrics.space : map->height - map->metrics.end - map->metrics.space;
  ghost->height = map->metrics.space;
  return TRUE;
}

/* --- Content ------------------------------------------------------------------------------- */

static void
clear_ghost (gpointer data)
{
  Ghost *ghost = data;
  lig_score_text_clear (&ghost->name);
  lig_score_text_clear (&ghost->time);
  lig_score_text_clear (&ghost->change);
}

static Ghost *
find_folded (LigScoreGhost *self, LigPass pass, int slot)
{
  for (guint i = 0; i < self->ghosts->len; i++) {
    Ghost *ghost = &g_array_index (self->ghosts, Ghost, i);
    if (ghost->slot == slot && ghost->pass == pass)
      return ghost;
  }
  return NULL;
}

/* All changes in a folded block are one ghost around its bracket. */
static void
add_folded (LigScoreGhost *self,
            const LigScoreMap *map,
            const Ghost *like,
            const LigPlanChange *change)
{
  const LigScoreSlot *slot = lig_score_map_get_slot (map, (guint) like->slot);
  Ghost *ghost = find_folded (self, like->pass, like->slot);
  if (!ghost) {
    Ghost fresh = {.pass = like->pass,
                   .slot = like->slot,
                   .y = slot->y,
                   .height = slot->height,
                   .cover = slot->y,
                   .cover_end = slot->y + slot->height};
    g_array_append_val (self->ghosts, fresh);
    ghost = &g_array_index (self->ghosts, Ghost, self->ghosts->len - 1);
  }
  ghost->count += change->times;
  ghost->before += change->before.seconds * change->times;
  ghost->after += change->after.seconds * change->times;
}

static void
name_ghost (Ghost *ghost, LigPlan *plan, const LigPlanGroup *group, gboolean measured)
{
  double seconds = measured ? group->measured : lig_plan_group_get_predicted (group);
  g_autofree char *name = lig_score_group_name (plan, group);
  g_autofree char *time = lig_figure_time (seconds);
  g_autofree char *marked = *time && !measured ? g_strconcat ("≈ ", time, NULL) : NULL;
  lig_score_text_set (&ghost->name, name);
  lig_score_text_set (&ghost->time, marked ? marked : time);
}

/* Ops that the preview removes keep their position. */
static void
add_removed (LigScoreGhost *self, const LigScoreMap *map, const LigPlanChange *change)
{
  Ghost ghost = {.pass = change->pass, .slot = -1, .sign = -1};
  int top = G_MAXINT, bottom = 0;
  for (int i = 0; i < change->before.count; i++)
    extend (map, change->before.first + i, &top, &bottom);
  if (bottom == 0)
    return;
  ghost.y = top;
  ghost.height = bottom - top;
  lig_score_text_set (&ghost.name, _ ("removed"));
  g_array_append_val (self->ghosts, ghost);
}

/* Hides all current brackets of a change behind its ghosts. */
static void
cover (LigScoreGhost *self, const LigScoreMap *map, const LigPlanChange *change, guint first)
{
  int top = G_MAXINT, bottom = 0;
  for (int i = 0; i < change->before.count; i++)
    extend (map, change->before.first + i, &top, &bottom);
  for (guint i = first; i < self->ghosts->len; i++) {
    const Ghost *ghost = &g_array_index (self->ghosts, Ghost, i);
    top = MIN (top, ghost->y);
    bottom = MAX (bottom, ghost->y + ghost->height);
  }
  g_array_index (self->ghosts, Ghost, first).cover = top;
  g_array_index (self->ghosts, Ghost, first).cover_end = bottom;
}

/* The first bracket of a change shows the total cost or saving. */
static void
add_change (LigScoreGhost *self,
            const LigScoreMap *map,
            LigPlanComparison *comparison,
            const LigPlanChange *change)
{
  guint count;
  LigPlan *plan = lig_plan_comparison_get_after (comparison);
  const LigPlanGroup *groups = lig_plan_get_groups (plan, change->pass, &count);
  guint first = self->ghosts->len;
  for (guint i = 0; i < change->after.n_groups; i++) {
    const LigPlanGroup *group = &groups[change->after.first_group + i];
    Ghost ghost = {.pass = change->pass};
    if (!place_group (map, comparison, group, &ghost))
      continue;
    if (ghost.slot >= 0) {
      add_folded (self, map, &ghost, change);
      return;
    }
    ghost.sign = lig_plan_change_get_sign (change);
    if (i == 0) {
      g_autofree char *text = lig_plan_change_time_text (change);
      lig_score_text_set (&ghost.change, text);
    }
    name_ghost (&ghost, plan, group, change->measured);
    g_array_append_val (self->ghosts, ghost);
  }
  if (change->after.n_groups == 0)
    add_removed (self, map, change);
  if (first < self->ghosts->len)
    cover (self, map, change, first);
}

static void
name_folded (LigScoreGhost *self)
{
  for (guint i = 0; i < self->ghosts->len; i++) {
    Ghost *ghost = &g_array_index (self->ghosts, Ghost, i);
    if (ghost->slot < 0)
      continue;
    g_autofree char *name = g_strdup_printf (
      ngettext ("%u group differs", "%u groups differ", ghost->count), ghost->count);
    LigPlanChange sum = {.before.seconds = ghost->before, .after.seconds = ghost->after};
    g_autofree char *change = lig_plan_change_time_text (&sum);
    ghost->sign = lig_plan_change_get_sign (&sum);
    lig_score_text_set (&ghost->name, name);
    lig_score_text_set (&ghost->time, change);
  }
}

static void
show_line (LigScoreGhost *self, LigPlanComparison *comparison)
{
  const char *label = lig_document_get_preview_label (self->document);
  const char *problem = lig_document_get_preview_problem (self->document);
  LigPlanChange total = {0};
  g_autofree char *step = comparison ? lig_plan_comparison_describe (comparison) : NULL;
  g_autofree char *sentence = problem ? lig_figure_sentence (problem) : NULL;
  g_autofree char *text = NULL;
  if (label && step)
    text = g_strdup_printf (_ ("Preview · %s · %s · Ctrl+P pins it"), step, label);
  else if (label && sentence)
    text = g_strdup_printf (_ ("Preview · %s: %s"), label, sentence);
  if (comparison)
    lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, &total);
  int sign = lig_plan_change_get_sign (&total);
  gtk_label_set_text (GTK_LABEL (self->line), text ? text : "");
  gtk_widget_set_visible (self->line, text != NULL);
  (sign > 0 || problem ? gtk_widget_add_css_class : gtk_widget_remove_css_class) (self->line,
                                                                                  "cost");
  (sign < 0 ? gtk_widget_add_css_class : gtk_widget_remove_css_class) (self->line, "gain");
}

static void
update (LigScoreGhost *self)
{
  const LigScoreMap *map = lig_score_host_get_map (self->host);
  LigPlanComparison *comparison = lig_document_get_preview (self->document);
  guint count = 0;
  const LigPlanChange *changes = NULL;
  g_array_set_size (self->ghosts, 0);
  if (comparison && map->plan)
    changes = lig_plan_comparison_get_changes (comparison, &count);
  for (guint i = 0; i < count; i++)
    if (!changes[i].same && changes[i].times > 0)
      add_change (self, map, comparison, &changes[i]);
  name_folded (self);
  show_line (self, comparison);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- Drawing ------------------------------------------------------------------------------- */

static GdkRGBA
find_colour (GtkWidget *widget, const char *name)
{
  GdkRGBA colour = {0, 0, 0, 1};
  gtk_style_context_lookup_color (gtk_widget_get_style_context (widget), name, &colour);
  return colour;
}

static void
append_outline (GtkSnapshot *snapshot,
                const graphene_rect_t *area,
                const GdkRGBA *ground,
                const GdkRGBA *ink)
{
  GskRoundedRect outline;
  const double dashes[] = {6, 4}, radius = 9;
  gsk_rounded_rect_init_from_rect (&outline, area, (float) radius);
  gtk_snapshot_push_rounded_clip (snapshot, &outline);
  gtk_snapshot_append_color (snapshot, ground, area);
  gtk_snapshot_pop (snapshot);
  cairo_t *cairo = gtk_snapshot_append_cairo (snapshot, area);
  double x = area->origin.x + 1, y = area->origin.y + 1;
  double right = x + area->size.width - 2, bottom = y + area->size.height - 2;
  double r = MIN (radius - 1, (bottom - y) / 2);
  cairo_new_sub_path (cairo);
  cairo_arc (cairo, right - r, y + r, r, -G_PI_2, 0);
  cairo_arc (cairo, right - r, bottom - r, r, 0, G_PI_2);
  cairo_arc (cairo, x + r, bottom - r, r, G_PI_2, G_PI);
  cairo_arc (cairo, x + r, y + r, r, G_PI, 3 * G_PI_2);
  cairo_close_path (cairo);
  gdk_cairo_set_source_rgba (cairo, ink);
  cairo_set_dash (cairo, dashes, 2, 0);
  cairo_set_line_width (cairo, 2);
  cairo_stroke (cairo);
  cairo_destroy (cairo);
}

static void
append_covers (LigScoreGhost *self, GtkSnapshot *snapshot, const LigScoreColumns *columns)
{
  GdkRGBA ground = find_colour (GTK_WIDGET (self), "score_ground");
  for (guint i = 0; i < self->ghosts->len; i++) {
    const Ghost *ghost = &g_array_index (self->ghosts, Ghost, i);
    int left = ghost->pass == LIG_PASS_FORWARD ? columns->forward : columns->backward;
    if (ghost->cover_end > ghost->cover)
      gtk_snapshot_append_color (
        snapshot, &ground,
        &GRAPHENE_RECT_INIT ((float) left, (float) ghost->cover - 1, (float) columns->rail,
                             (float) (ghost->cover_end - ghost->cover + 2)));
  }
}

static void
append_ghost (LigScoreGhost *self, GtkSnapshot *snapshot, Ghost *ghost, int left, int rail)
{
  GtkWidget *widget = GTK_WIDGET (self);
  const char *pass = ghost->pass == LIG_PASS_FORWARD ? "score_forward" : "score_backward";
  GdkRGBA ink = find_colour (widget, ghost->sign > 0 ? "warning_color" : pass);
  GdkRGBA text = find_colour (widget, "window_fg_color");
  GdkRGBA ground = find_colour (widget, "score_card");
  const LigScoreMetrics *sizes = &lig_score_host_get_map (self->host)->metrics;
  gboolean tall = !sizes->compact && ghost->height >= sizes->second + sizes->small / 2;
  int middle = tall ? sizes->first : MIN (ghost->height / 2, sizes->first);
  int padding = sizes->pad, width = rail - 2 * padding;
  const LigScoreTextFlags small = LIG_SCORE_TEXT_SMALL;
  append_outline (
    snapshot,
    &GRAPHENE_RECT_INIT ((float) left, (float) ghost->y, (float) rail, (float) ghost->height),
    &ground, &ink);
  int used = lig_score_text_draw (&ghost->time, widget, snapshot, left + padding + width / 2,
                                  ghost->y + middle, width / 2, small | LIG_SCORE_TEXT_END, &text);
  lig_score_text_draw (&ghost->name, widget, snapshot, left + padding, ghost->y + middle,
                       width - used - 9, small | LIG_SCORE_TEXT_BOLD, &ink);
  if (tall)
    lig_score_text_draw (&ghost->change, widget, snapshot, left + padding, ghost->y + sizes->second,
                         width, small | LIG_SCORE_TEXT_BOLD, &ink);
}

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigScoreGhost *self = LIG_SCORE_GHOST (widget);
  LigScoreColumns columns;
  double top, bottom;
  lig_score_columns (&columns, lig_score_host_get_map (self->host),
                     gtk_widget_get_width (GTK_WIDGET (self->host)));
  lig_score_host_find_sight (self->host, &top, &bottom);
  double margin = bottom - top;
  append_covers (self, snapshot, &columns);
  for (guint i = 0; i < self->ghosts->len; i++) {
    Ghost *ghost = &g_array_index (self->ghosts, Ghost, i);
    if (ghost->y < bottom + margin && ghost->y + ghost->height > top - margin)
      append_ghost (self, snapshot, ghost,
                    ghost->pass == LIG_PASS_FORWARD ? columns.forward : columns.backward,
                    columns.rail);
  }
  gtk_widget_snapshot_child (widget, self->line, snapshot);
}

/* --- Layout -------------------------------------------------------------------------------- */

/* Returns the open card, else the popover that has the focus, for example an open list. */
static GtkWidget *
find_popover (LigScoreGhost *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root ? gtk_root_get_focus (root) : NULL;
  GtkWidget *card = lig_score_host_get_card (self->host);
  if (card)
    return card;
  GtkWidget *popover = focus ? gtk_widget_get_ancestor (focus, GTK_TYPE_POPOVER) : NULL;
  return popover && gtk_widget_get_mapped (popover) ? popover : NULL;
}

/* Returns whether a popover covers a part of the sheet, from @top to @bottom. */
static gboolean
is_covered (LigScoreGhost *self, double top, double bottom)
{
  enum { SHADOW = 24 };
  graphene_point_t point;
  GtkWidget *popover = find_popover (self);
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GdkSurface *surface = popover ? gtk_native_get_surface (GTK_NATIVE (popover)) : NULL;
  if (!surface || !root ||
      !gtk_widget_compute_point (GTK_WIDGET (self), GTK_WIDGET (root),
                                 &GRAPHENE_POINT_INIT (0, (float) top), &point))
    return FALSE;
  int from = gdk_popup_get_position_y (GDK_POPUP (surface)) + SHADOW;
  int to = from + gdk_surface_get_height (surface) - 2 * SHADOW;
  return to > point.y && from < point.y + bottom - top;
}

/* The line is at the lower edge of the visible part, so that it is always seen, or at the upper
 * edge while a popover covers the lower one. */
static void
size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LigScoreGhost *self = LIG_SCORE_GHOST (widget);
  int min, wanted, tall;
  double top, bottom;
  if (!gtk_widget_get_visible (self->line))
    return;
  lig_score_host_find_sight (self->host, &top, &bottom);
  gtk_widget_measure (self->line, GTK_ORIENTATION_HORIZONTAL, -1, &min, &wanted, NULL, NULL);
  wanted = CLAMP (wanted, min, MAX (width - 2 * LINE_MARGIN, min));
  gtk_widget_measure (self->line, GTK_ORIENTATION_VERTICAL, wanted, &min, &tall, NULL, NULL);
  bottom = MIN (bottom, height);
  int low = (int) bottom - tall - LINE_MARGIN;
  int y = is_covered (self, low, low + tall) ? (int) top + LINE_MARGIN / 2 : low;
  GtkAllocation area = {(width - wanted) / 2, MAX (y, 0), wanted, tall};
  gtk_widget_size_allocate (self->line, &area, -1);
}

static void
measure (GtkWidget *widget,
         GtkOrientation orientation,
         int for_size,
         int *minimum,
         int *natural,
         int *minimum_baseline,
         int *natural_baseline)
{
  /* GTK warns about a child that is allocated without being measured. */
  int min, wanted;
  gtk_widget_measure (LIG_SCORE_GHOST (widget)->line, orientation, -1, &min, &wanted, NULL, NULL);
  *minimum = *natural = 0;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  LigScoreGhost *self = LIG_SCORE_GHOST (object);
  g_clear_pointer (&self->line, gtk_widget_unparent);
  G_OBJECT_CLASS (lig_score_ghost_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  g_array_unref (LIG_SCORE_GHOST (object)->ghosts);
  G_OBJECT_CLASS (lig_score_ghost_parent_class)->finalize (object);
}

static void
lig_score_ghost_class_init (LigScoreGhostClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  G_OBJECT_CLASS (class)->finalize = finalize;
  widget_class->snapshot = snapshot;
  widget_class->size_allocate = size_allocate;
  widget_class->measure = measure;
  gtk_widget_class_set_css_name (widget_class, "scoreghost");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_score_ghost_init (LigScoreGhost *self)
{
  self->ghosts = g_array_new (FALSE, TRUE, sizeof (Ghost));
  g_array_set_clear_func (self->ghosts, clear_ghost);
  self->line = g_object_new (GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS,
                             "visible", FALSE, "ellipsize", PANGO_ELLIPSIZE_END, NULL);
  gtk_widget_add_css_class (self->line, "preview-line");
  gtk_widget_set_parent (self->line, GTK_WIDGET (self));
  gtk_widget_set_can_target (GTK_WIDGET (self), FALSE);
}

GtkWidget *
lig_score_ghost_new (LigScoreHost *host, LigDocument *document)
{
  LigScoreGhost *self = g_object_new (LIG_TYPE_SCORE_GHOST, NULL);
  self->host = host;
  self->document = document;
  gtk_widget_set_parent (GTK_WIDGET (self), GTK_WIDGET (host));
  g_signal_connect_object (document, "previewed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (host, "mapped", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}

void
lig_score_ghost_follow (LigScoreGhost *self)
{
  if (gtk_widget_get_visible (self->line))
    gtk_widget_queue_allocate (GTK_WIDGET (self));
}

/* --- Reading ------------------------------------------------------------------------------- */

guint
lig_score_ghost_count (LigScoreGhost *self)
{
  return self->ghosts->len;
}

void
lig_score_ghost_get (LigScoreGhost *self, guint n, LigPass *pass, int *y, int *height)
{
  const Ghost *ghost = &g_array_index (self->ghosts, Ghost, n);
  *pass = ghost->pass;
  *y = ghost->y;
  *height = ghost->height;
}

const char *
lig_score_ghost_get_text (LigScoreGhost *self)
{
  return gtk_label_get_text (GTK_LABEL (self->line));
}
