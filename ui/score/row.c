/* SPDX-License-Identifier: MIT */
/* A row of the score: one op. It has no child; its text is laid out when it is first seen. */
#include "ui/score/row.h"

#include "ui/score/text.h"
#include "ui/widgets/figures.h"

#include <glib/gi18n.h>

enum { TITLE, COUNT, PARAMS, SHAPE, PATH, PROBLEM, N_TEXTS };
enum { MOST_PARTS = 6, PADDING = 14, DISCLOSURE = 24 };

struct _LigOpRow {
  GtkWidget parent_instance;
  LigDocument *document; /* cleared before the sheet is freed */
  LigOp *op;
  guint number;
  gboolean block, open;
  int shown, depth;
  LigScoreText texts[N_TEXTS];
  LigScoreText parts[MOST_PARTS][2]; /* name and its own parameters */
  char *label, *description;
  GtkWidget *menu;
};

G_DEFINE_FINAL_TYPE (LigOpRow, lig_op_row, GTK_TYPE_WIDGET)

/* --- Content ------------------------------------------------------------------------------- */

static void
set_text (LigOpRow *self, int which, const char *text)
{
  if (lig_score_text_set (&self->texts[which], text))
    gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
bind_part (LigOpRow *self, int k, const LigPlanOp *part)
{
  g_autofree char *count = lig_figure_count (part->parameters);
  g_autofree char *text = NULL;
  if (part->parameters > 0)
    text = g_strdup_printf (ngettext ("%s parameter", "%s parameters", (gulong) part->parameters),
                            count);
  if (lig_score_text_set (&self->parts[k][0], _ (part->info->title)) |
      lig_score_text_set (&self->parts[k][1], text))
    gtk_widget_queue_draw (GTK_WIDGET (self));
}

static char *
count_text (LigOp *op)
{
  gint64 repeat;
  g_object_get (op, "repeat", &repeat, NULL);
  return g_strdup_printf ("× %" G_GINT64_FORMAT, repeat);
}

static char *
body_text (LigOp *op)
{
  LigSequence *body = lig_op_get_body (op);
  guint length = lig_sequence_get_length (body);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < MIN (length, 12); i++) {
    const LigOpInfo *info = lig_op_get_info (lig_sequence_get (body, (int) i, NULL));
    g_string_append_printf (text, "%s%s", i > 0 ? " · " : "", _ (info->title));
  }
  if (length == 0)
    g_string_append (text, _ ("empty: drop operations here"));
  return g_strdup (text->str);
}

static void
bind_texts (LigOpRow *self, const LigScoreMap *map, const LigScoreSlot *slot)
{
  const LigOpInfo *info = lig_op_get_info (slot->op);
  guint n_ops = 0;
  const LigPlanOp *ops = map->plan ? lig_plan_get_ops (map->plan, &n_ops) : NULL;
  gboolean planned = slot->first >= 0 && slot->first + slot->count <= (int) n_ops;
  g_autofree char *count = slot->block ? count_text (slot->op) : NULL;
  g_autofree char *params = slot->block
                              ? body_text (slot->op)
                              : lig_score_params (slot->op, planned ? &ops[slot->first] : NULL);
  g_autofree char *shape =
    planned ? lig_figure_shape (&ops[slot->first + slot->count - 1].y) : NULL;
  set_text (self, TITLE, _ (info->title));
  set_text (self, COUNT, count);
  set_text (self, PARAMS, params);
  set_text (self, SHAPE, shape);
  set_text (self, PATH, slot->path);
  self->shown = MIN (slot->shown, MOST_PARTS);
  for (int k = 0; k < self->shown && planned; k++)
    bind_part (self, k, &ops[slot->first + k]);
}

static void
append_fused (GString *text, const LigScoreMap *map, const LigScoreSlot *slot, LigPass pass)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (map->plan, pass, &count);
  guint low = 0, high = count;
  while (low < high) {
    guint middle = (low + high) / 2;
    if (groups[middle].first + groups[middle].count <= slot->first)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < count && groups[low].first < slot->first + slot->count; low++) {
    if (!groups[low].fusion || slot->block)
      continue;
    g_autofree char *name = lig_score_group_name (map->plan, &groups[low]);
    g_string_append (text, ", ");
    /* Translators: %s is a list of operations, like linear + bias + GELU. */
    g_string_append_printf (
      text, pass == LIG_PASS_FORWARD ? _ ("fused forward as %s") : _ ("fused backward as %s"),
      name);
  }
}

static void
update_label (LigOpRow *self, const LigScoreMap *map, const LigScoreSlot *slot)
{
  g_autoptr (GString) text = g_string_new (self->texts[TITLE].text);
  if (self->texts[COUNT].text)
    g_string_append_printf (text, " %s", self->texts[COUNT].text);
  if (self->texts[SHAPE].text)
    g_string_append_printf (text, ", %s", self->texts[SHAPE].text);
  g_string_append (text, ", ");
  g_string_append_printf (text, _ ("row %u of %u"), self->number + 1, map->slots->len);
  if (lig_op_get_fence (slot->op))
    g_string_append_printf (text, ", %s", _ ("fence above"));
  if (map->plan && slot->first >= 0) {
    append_fused (text, map, slot, LIG_PASS_FORWARD);
    append_fused (text, map, slot, LIG_PASS_BACKWARD);
  }
  if (g_strcmp0 (text->str, self->label) == 0)
    return;
  g_free (self->label);
  self->label = g_strdup (text->str);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, self->label,
                                  -1);
}

void
lig_op_row_place (LigOpRow *self, const LigScoreMap *map, guint number)
{
  const LigScoreSlot *slot = lig_score_map_get_slot (map, number);
  g_set_object (&self->op, slot->op);
  self->number = number;
}

void
lig_op_row_bind (LigOpRow *self, const LigScoreMap *map, guint number)
{
  const LigScoreSlot *slot = lig_score_map_get_slot (map, number);
  lig_op_row_place (self, map, number);
  if (self->open != slot->open || self->depth != slot->depth || self->block != slot->block)
    gtk_widget_queue_draw (GTK_WIDGET (self));
  if (slot->block && (!self->block || self->open != slot->open))
    gtk_accessible_update_state (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_STATE_EXPANDED, slot->open,
                                 -1);
  else if (self->block && !slot->block)
    gtk_accessible_reset_state (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_STATE_EXPANDED);
  self->block = slot->block;
  self->open = slot->open;
  self->depth = slot->depth;
  bind_texts (self, map, slot);
  update_label (self, map, slot);
  lig_op_row_update (self);
}

/* --- Content ------------------------------------------------------------------------------- */

static const char *
find_problem (LigOpRow *self)
{
  const LigProblem *problem;
  for (guint i = 0; (problem = lig_document_get_problem (self->document, i)); i++) {
    const LigRow *row =
      problem->path ? lig_document_find_path (self->document, problem->path) : NULL;
    if (row && row->op == self->op)
      return problem->text;
  }
  return NULL;
}

static void
set_flag (GtkWidget *widget, GtkStateFlags flag, gboolean on)
{
  if (((gtk_widget_get_state_flags (widget) & flag) != 0) == on)
    return;
  if (on)
    gtk_widget_set_state_flags (widget, flag, FALSE);
  else
    gtk_widget_unset_state_flags (widget, flag);
}

static void
set_class (GtkWidget *widget, const char *name, gboolean on)
{
  if (gtk_widget_has_css_class (widget, name) == on)
    return;
  if (on)
    gtk_widget_add_css_class (widget, name);
  else
    gtk_widget_remove_css_class (widget, name);
}

static void
describe (LigOpRow *self, const char *problem)
{
  const char *text = problem ? problem : self->texts[PARAMS].text;
  if (g_strcmp0 (text, self->description) == 0)
    return;
  g_free (self->description);
  self->description = g_strdup (text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  self->description ? self->description : "", -1);
}

void
lig_op_row_update (LigOpRow *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  if (!self->op)
    return;
  const char *problem = find_problem (self);
  gboolean selected = lig_document_is_selected (self->document, self->op);
  if (((gtk_widget_get_state_flags (widget) & GTK_STATE_FLAG_SELECTED) != 0) != selected)
    gtk_accessible_update_state (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_STATE_SELECTED, selected,
                                 -1);
  set_flag (widget, GTK_STATE_FLAG_SELECTED, selected);
  set_class (widget, "cursor", lig_document_get_cursor (self->document) == self->op);
  set_class (widget, "error", problem != NULL);
  set_text (self, PROBLEM, problem);
  describe (self, problem);
}

/* --- Drawing ------------------------------------------------------------------------------- */

static void
draw_disclosure (LigOpRow *self, GtkSnapshot *snapshot, int x, const GdkRGBA *colour)
{
  graphene_rect_t area = GRAPHENE_RECT_INIT ((float) x, LIG_SHEET_BASE / 2.0f - 8, 16, 16);
  cairo_t *cairo = gtk_snapshot_append_cairo (snapshot, &area);
  cairo_translate (cairo, x + 8, LIG_SHEET_BASE / 2.0);
  cairo_rotate (cairo, self->open ? G_PI / 2 : 0);
  cairo_move_to (cairo, -2.5, -5);
  cairo_line_to (cairo, 2.5, 0);
  cairo_line_to (cairo, -2.5, 5);
  gdk_cairo_set_source_rgba (cairo, colour);
  cairo_set_line_width (cairo, 2);
  cairo_stroke (cairo);
  cairo_destroy (cairo);
}

static void
draw_parts (
  LigOpRow *self, GtkSnapshot *snapshot, int x, int width, GdkRGBA dim, const GdkRGBA *line)
{
  for (int k = 0; k < self->shown; k++) {
    int y = LIG_SHEET_BASE + k * LIG_SHEET_PART;
    gtk_snapshot_append_color (snapshot, line,
                               &GRAPHENE_RECT_INIT ((float) x, (float) y, (float) width, 1));
    int used = lig_score_text_draw (&self->parts[k][1], GTK_WIDGET (self), snapshot, x + width / 2,
                                    y + LIG_SHEET_PART / 2, width / 2,
                                    LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_END, &dim);
    lig_score_text_draw (&self->parts[k][0], GTK_WIDGET (self), snapshot, x, y + LIG_SHEET_PART / 2,
                         width - used - 12, LIG_SCORE_TEXT_SMALL, &dim);
  }
}

static void
draw_head (
  LigOpRow *self, GtkSnapshot *snapshot, int x, int width, const GdkRGBA *ink, const GdkRGBA *dim)
{
  GtkWidget *widget = GTK_WIDGET (self);
  const LigScoreTextFlags end = LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_END;
  int used = lig_score_text_draw (&self->texts[SHAPE], widget, snapshot, x + width * 4 / 10, 18,
                                  width * 6 / 10, end, dim);
  int space = width - used - 12;
  int title = lig_score_text_draw (&self->texts[TITLE], widget, snapshot, x, 18, space,
                                   LIG_SCORE_TEXT_BOLD, ink);
  lig_score_text_draw (&self->texts[COUNT], widget, snapshot, x + title + 9, 18, space - title - 9,
                       LIG_SCORE_TEXT_BOLD, dim);
  used = lig_score_text_draw (&self->texts[PATH], widget, snapshot, x + width * 3 / 4, 38,
                              width / 4, end, dim);
  lig_score_text_draw (&self->texts[PARAMS], widget, snapshot, x, 38, width - used - 12,
                       LIG_SCORE_TEXT_SMALL, dim);
}

/* The engine's error replaces the parameters. */
static void
draw_problem (LigOpRow *self, GtkSnapshot *snapshot, int x, int width, const GdkRGBA *ink)
{
  GdkRGBA red = *ink;
  gtk_style_context_lookup_color (gtk_widget_get_style_context (GTK_WIDGET (self)), "error_color",
                                  &red);
  int title = lig_score_text_draw (&self->texts[TITLE], GTK_WIDGET (self), snapshot, x + 24, 18,
                                   width - 24, LIG_SCORE_TEXT_BOLD, ink);
  lig_score_text_draw (&self->texts[PATH], GTK_WIDGET (self), snapshot, x + 24 + title + 12, 18,
                       width - title - 36, LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_END, ink);
  lig_score_text_draw (&self->texts[PROBLEM], GTK_WIDGET (self), snapshot, x, 38, width,
                       LIG_SCORE_TEXT_SMALL, &red);
  graphene_rect_t area = GRAPHENE_RECT_INIT ((float) x, 10, 16, 16);
  cairo_t *cairo = gtk_snapshot_append_cairo (snapshot, &area);
  gdk_cairo_set_source_rgba (cairo, &red);
  cairo_arc (cairo, x + 8, 18, 8, 0, 2 * G_PI);
  cairo_rectangle (cairo, x + 7, 13.5, 2, 6);
  cairo_rectangle (cairo, x + 7, 21, 2, 2);
  cairo_set_fill_rule (cairo, CAIRO_FILL_RULE_EVEN_ODD);
  cairo_fill (cairo);
  cairo_destroy (cairo);
}

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigOpRow *self = LIG_OP_ROW (widget);
  GdkRGBA ink, dim, line;
  int x = PADDING, width = gtk_widget_get_width (widget) - 2 * PADDING;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &ink);
  dim = line = ink;
  dim.alpha *= 0.62f;
  line.alpha *= 0.12f;
  if (self->block) {
    draw_disclosure (self, snapshot, x, &dim);
    x += DISCLOSURE;
    width -= DISCLOSURE;
  }
  if (self->texts[PROBLEM].text)
    draw_problem (self, snapshot, x, width, &ink);
  else
    draw_head (self, snapshot, x, width, &ink, &dim);
  draw_parts (self, snapshot, x, width, dim, &line);
}

static gboolean
query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  LigOpRow *self = LIG_OP_ROW (widget);
  if (self->menu || !self->description || !*self->description)
    return FALSE;
  gtk_tooltip_set_text (tooltip, self->description);
  return TRUE;
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
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 60 : 18;
}

/* --- Menu ---------------------------------------------------------------------------------- */

static void
append_section (GMenu *menu, const char *const items[][3])
{
  g_autoptr (GMenu) section = g_menu_new ();
  for (guint i = 0; items[i][1]; i++) {
    g_autoptr (GMenuItem) item = g_menu_item_new (items[i][0], items[i][1]);
    if (items[i][2])
      g_menu_item_set_attribute (item, "accel", "s", items[i][2]);
    if (items[i][0])
      g_menu_append_item (section, item);
  }
  g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
}

/* The menu contains the actions that are possible, with labels for the row's state. */
static GMenuModel *
make_menu (LigOpRow *self)
{
  GMenu *menu = g_menu_new ();
  const LigOpInfo *info = lig_op_get_info (self->op);
  const LigRow *row = lig_document_find_row (self->document, self->op);
  const char *const *forbidden = lig_op_get_forbidden (self->op);
  g_autoptr (GPtrArray) chosen = lig_document_get_selection (self->document);
  gboolean ends = info->extra_inputs || info->extra_outputs;
  const char *fence =
    lig_op_get_fence (self->op) ? _ ("Remove the fence above") : _ ("Fence above");
  gboolean above = row && (row->index > 0 || row->depth > 0 || lig_op_get_fence (self->op));
  append_section (
    menu, (const char *const[][3]){{_ ("Why not one kernel…"), "op.explain"},
                                   {above ? fence : NULL, "op.fence"},
                                   {self->block               ? NULL
                                    : forbidden && *forbidden ? _ ("Allow the fusion here")
                                                              : _ ("Forbid the fusion here"),
                                    "op.forbid"},
                                   {!self->block ? NULL
                                    : self->open ? _ ("Fold")
                                                 : _ ("Unfold"),
                                    "op.fold"},
                                   {ends || chosen->len == 2 ? _ ("Connect") : NULL, "op.connect"},
                                   {ends ? _ ("Disconnect") : NULL, "op.disconnect"},
                                   {NULL, NULL}});
  append_section (menu, (const char *const[][3]){{_ ("Cut"), "win.cut", "<Control>x"},
                                                 {_ ("Copy"), "win.copy", "<Control>c"},
                                                 {_ ("Paste"), "win.paste", "<Control>v"},
                                                 {_ ("Duplicate"), "op.duplicate"},
                                                 {_ ("Delete"), "op.delete"},
                                                 {NULL, NULL}});
  append_section (
    menu, (const char *const[][3]){{_ ("Move up"), "op.move-up"},
                                   {_ ("Move down"), "op.move-down"},
                                   {_ ("Group into a block"), "op.group"},
                                   {self->block ? _ ("Take the block apart") : NULL, "op.ungroup"},
                                   {NULL, NULL}});
  return G_MENU_MODEL (menu);
}

static void
drop_menu (gpointer data)
{
  LigOpRow *self = data;
  g_clear_pointer (&self->menu, gtk_widget_unparent);
  g_object_unref (self);
}

static void
menu_closed (LigOpRow *self)
{
  /* The chosen action is activated after this signal. */
  g_idle_add_once (drop_menu, g_object_ref (self));
}

void
lig_op_row_show_menu (LigOpRow *self, double x, double y)
{
  g_clear_pointer (&self->menu, gtk_widget_unparent);
  g_autoptr (GMenuModel) model = make_menu (self);
  self->menu = gtk_popover_menu_new_from_model (model);
  gtk_widget_set_parent (self->menu, GTK_WIDGET (self));
  gtk_popover_set_has_arrow (GTK_POPOVER (self->menu), FALSE);
  gtk_widget_set_halign (self->menu, GTK_ALIGN_START);
  if (x < 0) {
    x = PADDING;
    y = LIG_SHEET_BASE / 2;
  }
  gtk_popover_set_pointing_to (GTK_POPOVER (self->menu), &(GdkRectangle){(int) x, (int) y, 1, 1});
  g_signal_connect_swapped (self->menu, "closed", G_CALLBACK (menu_closed), self);
  gtk_popover_popup (GTK_POPOVER (self->menu));
}

static void
size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LigOpRow *self = LIG_OP_ROW (widget);
  if (self->menu)
    gtk_popover_present (GTK_POPOVER (self->menu));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  LigOpRow *self = LIG_OP_ROW (object);
  g_clear_pointer (&self->menu, gtk_widget_unparent);
  g_clear_object (&self->op);
  G_OBJECT_CLASS (lig_op_row_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  LigOpRow *self = LIG_OP_ROW (object);
  for (int i = 0; i < N_TEXTS; i++)
    lig_score_text_clear (&self->texts[i]);
  for (int i = 0; i < 2 * MOST_PARTS; i++)
    lig_score_text_clear (&self->parts[i / 2][i % 2]);
  g_free (self->label);
  g_free (self->description);
  G_OBJECT_CLASS (lig_op_row_parent_class)->finalize (object);
}

static void
lig_op_row_class_init (LigOpRowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  G_OBJECT_CLASS (class)->finalize = finalize;
  widget_class->snapshot = snapshot;
  widget_class->measure = measure;
  widget_class->size_allocate = size_allocate;
  widget_class->query_tooltip = query_tooltip;
  gtk_widget_class_set_css_name (widget_class, "scorerow");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LIST_ITEM);
  lig_op_row_install_actions (widget_class);
}

static void
lig_op_row_init (LigOpRow *self)
{
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
}

GtkWidget *
lig_op_row_new (LigDocument *document)
{
  LigOpRow *self = g_object_new (LIG_TYPE_OP_ROW, NULL);
  self->document = document;
  return GTK_WIDGET (self);
}

LigOp *
lig_op_row_get_op (LigOpRow *self)
{
  return self->op;
}

guint
lig_op_row_get_number (LigOpRow *self)
{
  return self->number;
}

LigDocument *
lig_op_row_get_document (LigOpRow *self)
{
  return self->document;
}

gboolean
lig_op_row_is_disclosure (LigOpRow *self, double x, double y)
{
  return self->block && x < PADDING + DISCLOSURE && y < LIG_SHEET_BASE;
}
