/* SPDX-License-Identifier: MIT */
/* Each column is a row of a table here: its title, its text and its sort key. */
#include "ui/plan/table.h"
#include "ui/widgets/figures.h"

#include "ui/widgets/gradual.h"
#include "ui/widgets/tooltip.h"
#include <ligature/draw.h>

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
  const char *title;
  char *(*text) (LigPlanItem *item);
  /* The sort key: one of the two. */
  double (*number) (LigPlanItem *item);
  const char *(*word) (LigPlanItem *item);
  int characters;
  gboolean expand; /* the last one, so that the others stay together in a wide window */
} Column;

struct _LigPlanTable {
  GtkWidget parent_instance;
  LigPlanListKind kind;
  LigPlanList *list;
  GtkFilterListModel *filtered;
  GtkSortListModel *sorted;
  GtkSliceListModel *shown; /* owned by the view */
  GtkColumnView *view;
  char *wanted;        /* in lower case */
  LigPlanLinks *links; /* (nullable): of the selected step; owned by the page */
};

G_DEFINE_FINAL_TYPE (LigPlanTable, lig_plan_table, GTK_TYPE_WIDGET)

static guint activated, chosen, linked;

/* --- Steps ----------------------------------------------------------------------------------- */

static double
index_number (LigPlanItem *item)
{
  return item->index;
}

static char *
index_text (LigPlanItem *item)
{
  return g_strdup_printf ("%u", item->index);
}

static const char *
pass_word (LigPlanItem *item)
{
  LigPass pass = lig_plan_item_get_step (item)->pass;
  return pass == LIG_PASS_FORWARD    ? _ ("forward")
         : pass == LIG_PASS_BACKWARD ? _ ("backward")
                                     : _ ("update");
}

static char *
pass_text (LigPlanItem *item)
{
  return g_strdup (pass_word (item));
}

static double
pass_number (LigPlanItem *item)
{
  return lig_plan_item_get_step (item)->pass;
}

static const char *
kernel_word (LigPlanItem *item)
{
  return lig_plan_step_name_kernel (lig_plan_item_get_step (item));
}

static char *
kernel_text (LigPlanItem *item)
{
  return g_strdup (kernel_word (item));
}

static const char *
group_word (LigPlanItem *item)
{
  const LigPlanGroup *group = lig_plan_item_get_group (item);
  const LigPlanStep *step = lig_plan_item_get_step (item);
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (item->plan, &count);
  if (group)
    return group->title;
  return step->part >= 0 && step->part < (int) count ? ops[step->part].title : "";
}

/* Formats paths, then the name shown in the score: `2 Linear`, `2–4 Linear + bias + GELU`. */
static char *
group_text (LigPlanItem *item)
{
  const LigPlanGroup *group = lig_plan_item_get_group (item);
  const LigPlanStep *step = lig_plan_item_get_step (item);
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (item->plan, &count);
  if (!group)
    return step->part < 0 ? g_strdup (_ ("optimizer")) : g_strdup (group_word (item));
  const char *first = ops[group->first].path, *last = ops[group->first + group->count - 1].path;
  return g_str_equal (first, last) ? g_strdup_printf ("%s %s", first, group_word (item))
                                   : g_strdup_printf ("%s–%s %s", first, last, group_word (item));
}

static double
group_number (LigPlanItem *item)
{
  const LigPlanGroup *group = lig_plan_item_get_group (item);
  return group ? group->first : G_MAXINT;
}

static const char *
operands_word (LigPlanItem *item)
{
  return lig_plan_item_get_operands (item);
}

static char *
operands_text (LigPlanItem *item)
{
  return g_strdup (operands_word (item));
}

static double
read_number (LigPlanItem *item)
{
  return lig_plan_item_get_step (item)->read;
}

static char *
read_text (LigPlanItem *item)
{
  return lig_draw_bytes (read_number (item));
}

static double
written_number (LigPlanItem *item)
{
  return lig_plan_item_get_step (item)->written;
}

static char *
written_text (LigPlanItem *item)
{
  return lig_draw_bytes (written_number (item));
}

static double
flops_number (LigPlanItem *item)
{
  return lig_plan_item_get_step (item)->flops;
}

static char *
flops_text (LigPlanItem *item)
{
  return lig_figure_count_short ((gint64) flops_number (item));
}

static double
predicted_number (LigPlanItem *item)
{
  return lig_plan_item_get_step (item)->predicted;
}

static char *
predicted_text (LigPlanItem *item)
{
  g_autofree char *time =
    lig_figure_time (lig_plan_step_get_predicted (lig_plan_item_get_step (item)));
  return *time ? g_strconcat ("≈ ", time, NULL) : g_steal_pointer (&time);
}

static double
overlap_number (LigPlanItem *item)
{
  return lig_plan_item_get_step (item)->lane != LIG_LANE_MAIN;
}

static char *
overlap_text (LigPlanItem *item)
{
  return g_strdup (overlap_number (item) > 0 ? _ ("overlapping") : "");
}

static const Column step_columns[] = {
  {N_ ("Step"), index_text, index_number, NULL, 5, FALSE},
  {N_ ("Pass"), pass_text, pass_number, pass_word, 8, FALSE},
  {N_ ("Kernel"), kernel_text, NULL, kernel_word, 20, FALSE},
  {N_ ("Group"), group_text, group_number, group_word, 28, FALSE},
  {N_ ("Operands"), operands_text, NULL, operands_word, 72, FALSE},
  {N_ ("Read"), read_text, read_number, NULL, 8, FALSE},
  {N_ ("Written"), written_text, written_number, NULL, 8, FALSE},
  {N_ ("FLOP"), flops_text, flops_number, NULL, 6, FALSE},
  {N_ ("Predicted"), predicted_text, predicted_number, NULL, 8, FALSE},
  {N_ ("Overlap"), overlap_text, overlap_number, NULL, 11, TRUE},
};

/* --- Values ---------------------------------------------------------------------------------- */

static const char *
name_word (LigPlanItem *item)
{
  return lig_plan_item_get_value (item)->name;
}

static char *
name_text (LigPlanItem *item)
{
  return g_strdup (name_word (item));
}

static char *
shape_text (LigPlanItem *item)
{
  return lig_shape_to_string (&lig_plan_item_get_value (item)->shape);
}

static double
shape_number (LigPlanItem *item)
{
  return (double) lig_shape_size (&lig_plan_item_get_value (item)->shape);
}

static const char *
type_word (LigPlanItem *item)
{
  return lig_dtype_name (lig_plan_item_get_value (item)->dtype);
}

static char *
type_text (LigPlanItem *item)
{
  return g_strdup (type_word (item));
}

static double
bytes_number (LigPlanItem *item)
{
  return (double) lig_plan_item_get_value (item)->bytes;
}

static char *
bytes_text (LigPlanItem *item)
{
  return lig_draw_bytes (bytes_number (item));
}

static const char *
place_word (LigPlanItem *item)
{
  return lig_place_name (lig_plan_item_get_value (item)->place);
}

static char *
place_text (LigPlanItem *item)
{
  LigPlace place = lig_plan_item_get_value (item)->place;
  return g_strdup (place == LIG_PLACE_ARENA   ? _ ("arena")
                   : place == LIG_PLACE_STATE ? _ ("state")
                   : place == LIG_PLACE_ALIAS ? _ ("alias")
                                              : _ ("unused"));
}

/* Only values in the arena have an offset and a lifetime. */
static gboolean
is_placed (LigPlanItem *item)
{
  LigPlace place = lig_plan_item_get_value (item)->place;
  return (place == LIG_PLACE_ARENA || place == LIG_PLACE_ALIAS) &&
         lig_plan_item_get_value (item)->offset >= 0;
}

static double
offset_number (LigPlanItem *item)
{
  return is_placed (item) ? (double) lig_plan_item_get_value (item)->offset : -1;
}

static char *
offset_text (LigPlanItem *item)
{
  return is_placed (item)
           ? g_strdup_printf ("%" G_GINT64_FORMAT, lig_plan_item_get_value (item)->offset)
           : g_strdup ("–");
}

static double
life_number (LigPlanItem *item)
{
  return is_placed (item) ? lig_plan_item_get_value (item)->first : -1;
}

static char *
life_text (LigPlanItem *item)
{
  const LigPlanValue *value = lig_plan_item_get_value (item);
  guint count;
  lig_plan_get_steps (item->plan, &count);
  return is_placed (item) ? g_strdup_printf ("%d–%d", value->first, MIN (value->last, (int) count))
                          : g_strdup ("–");
}

static double
saved_number (LigPlanItem *item)
{
  return lig_plan_item_get_value (item)->saved;
}

static char *
saved_text (LigPlanItem *item)
{
  return g_strdup (saved_number (item) > 0 ? _ ("kept") : "");
}

static const Column value_columns[] = {
  {N_ ("Value"), name_text, NULL, name_word, 36, FALSE},
  {N_ ("Shape"), shape_text, shape_number, NULL, 20, FALSE},
  {N_ ("Type"), type_text, NULL, type_word, 8, FALSE},
  {N_ ("Bytes"), bytes_text, bytes_number, NULL, 8, FALSE},
  {N_ ("Place"), place_text, NULL, place_word, 8, FALSE},
  {N_ ("Offset"), offset_text, offset_number, NULL, 12, FALSE},
  {N_ ("Steps"), life_text, life_number, NULL, 10, FALSE},
  {N_ ("Backward"), saved_text, saved_number, NULL, 8, TRUE},
};

/* --- Links ----------------------------------------------------------------------------------- */

/* Returns the links of the row with the selected step: a set of LigPlanLink. */
static unsigned
find_links (LigPlanTable *self, LigPlanItem *item)
{
  if (!self->links || !item)
    return 0;
  return self->kind == LIG_PLAN_STEPS ? lig_plan_links_of_step (self->links, (int) item->index)
                                      : lig_plan_links_of_value (self->links, (int) item->index);
}

static void
set_class (GtkWidget *widget, const char *class, gboolean has)
{
  if (has)
    gtk_widget_add_css_class (widget, class);
  else
    gtk_widget_remove_css_class (widget, class);
}

/* Returns the sentence that explains a mark; null without one. */
static char *
describe_links (LigPlanTable *self, LigPlanItem *item, unsigned links)
{
  if (links == 0)
    return NULL;
  return self->kind == LIG_PLAN_STEPS
           ? lig_plan_links_describe_step (self->links, (int) item->index)
           : lig_plan_links_describe_value (self->links, (int) item->index);
}

/* Marks the first cell of a row that is connected with the selected step. */
static void
show_mark (GtkListItem *row)
{
  LigPlanTable *self = g_object_get_data (G_OBJECT (row), "table");
  LigPlanItem *item = gtk_list_item_get_item (row);
  GtkWidget *cell = gtk_list_item_get_child (row);
  unsigned links = find_links (self, item);
  GtkWidget *image = gtk_widget_get_first_child (cell);
  g_autofree char *text = describe_links (self, item, links);
  set_class (cell, "before", (links & LIG_LINK_BEFORE) != 0);
  set_class (cell, "after", (links & LIG_LINK_AFTER) != 0 && !(links & LIG_LINK_BEFORE));
  gtk_image_set_from_icon_name (GTK_IMAGE (image), links == 0                ? NULL
                                                   : links & LIG_LINK_BEFORE ? "go-down-symbolic"
                                                                             : "go-up-symbolic");
  lig_tooltip_set (cell, text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (image), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  text ? text : "", -1);
}

/* Prints in bold the operands that connect the row with the selected step. */
static void
show_operands (GtkListItem *row)
{
  LigPlanTable *self = g_object_get_data (G_OBJECT (row), "table");
  LigPlanItem *item = gtk_list_item_get_item (row);
  if (!item)
    return;
  g_autoptr (PangoAttrList) bold = pango_attr_list_new ();
  const char *text = lig_plan_item_get_operands (item), *at = text;
  gboolean linked_row = find_links (self, item) != 0;
  for (int operand = 0; linked_row && *at;) {
    gsize length = strcspn (at, " ");
    gboolean arrow = length == 2 && strncmp (at, "->", 2) == 0;
    if (!arrow && lig_plan_links_has_operand (self->links, (int) item->index, operand++)) {
      PangoAttribute *weight = pango_attr_weight_new (PANGO_WEIGHT_BOLD);
      weight->start_index = (guint) (at - text);
      weight->end_index = weight->start_index + (guint) length;
      pango_attr_list_insert (bold, weight);
    }
    at += length + (at[length] == ' ');
  }
  gtk_inscription_set_attributes (GTK_INSCRIPTION (gtk_list_item_get_child (row)), bold);
}

void
lig_plan_table_set_links (LigPlanTable *self, LigPlanLinks *links)
{
  self->links = links;
  g_signal_emit (self, linked, 0);
}

/* --- Columns --------------------------------------------------------------------------------- */

static gboolean
is_numeric (const Column *column)
{
  return column->number && !column->word;
}

/* Returns whether the column has the marks of rows. */
static gboolean
is_marked (const Column *column)
{
  return column == &step_columns[0] || column == &value_columns[0];
}

static void
set_up (GtkListItemFactory *factory, GtkListItem *item, const Column *column)
{
  GtkWidget *cell = gtk_inscription_new (NULL);
  LigPlanTable *self = g_object_get_data (G_OBJECT (factory), "table");
  /* Words get room before numbers; a narrow window scrolls. */
  gtk_inscription_set_min_chars (GTK_INSCRIPTION (cell),
                                 (guint) MIN (column->characters, column->number ? 6 : 14));
  gtk_inscription_set_nat_chars (GTK_INSCRIPTION (cell), (guint) column->characters);
  gtk_inscription_set_text_overflow (GTK_INSCRIPTION (cell),
                                     GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END);
  gtk_inscription_set_xalign (GTK_INSCRIPTION (cell), is_numeric (column) && !column->expand);
  if (is_numeric (column))
    gtk_widget_add_css_class (cell, "numeric");
  g_object_set_data (G_OBJECT (item), "table", self);
  if (is_marked (column)) {
    GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 3);
    gtk_widget_add_css_class (box, "plan-mark");
    gtk_box_append (GTK_BOX (box), gtk_image_new ());
    gtk_widget_set_hexpand (cell, TRUE);
    gtk_box_append (GTK_BOX (box), cell);
    cell = box;
    g_signal_connect_object (self, "linked", G_CALLBACK (show_mark), item, G_CONNECT_SWAPPED);
  } else if (column->word == operands_word) {
    g_signal_connect_object (self, "linked", G_CALLBACK (show_operands), item, G_CONNECT_SWAPPED);
  }
  gtk_list_item_set_child (item, cell);
}

static void
bind (GtkListItemFactory *factory, GtkListItem *item, const Column *column)
{
  GtkWidget *cell = gtk_list_item_get_child (item);
  GtkWidget *inscription = is_marked (column) ? gtk_widget_get_last_child (cell) : cell;
  g_autofree char *text = column->text (gtk_list_item_get_item (item));
  gtk_inscription_set_text (GTK_INSCRIPTION (inscription), text);
  lig_tooltip_set (inscription, column->characters > 12 ? text : NULL);
  if (is_marked (column))
    show_mark (item);
  else if (column->word == operands_word)
    show_operands (item);
}

static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const Column *column = data;
  LigPlanItem *left = (gpointer) a, *right = (gpointer) b;
  if (!column->number)
    return strcmp (column->word (left), column->word (right));
  double x = column->number (left), y = column->number (right);
  return x < y ? -1 : x > y ? 1 : 0;
}

static void
add_column (LigPlanTable *self, const Column *column)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkColumnViewColumn *shown = gtk_column_view_column_new (_ (column->title), factory);
  g_autoptr (GtkSorter) sorter =
    GTK_SORTER (gtk_custom_sorter_new (compare, (gpointer) column, NULL));
  g_object_set_data (G_OBJECT (factory), "table", self);
  g_signal_connect (factory, "setup", G_CALLBACK (set_up), (gpointer) column);
  g_signal_connect (factory, "bind", G_CALLBACK (bind), (gpointer) column);
  gtk_column_view_column_set_sorter (shown, sorter);
  gtk_column_view_column_set_resizable (shown, TRUE);
  gtk_column_view_column_set_expand (shown, column->expand);
  gtk_column_view_append_column (self->view, shown);
  g_object_unref (shown);
}

/* --- Searching ------------------------------------------------------------------------------- */

static gboolean
has (const char *text, const char *wanted)
{
  g_autofree char *folded = g_utf8_strdown (text, -1);
  return strstr (folded, wanted) != NULL;
}

static gboolean
matches (gpointer object, gpointer data)
{
  LigPlanTable *self = data;
  LigPlanItem *item = object;
  if (self->kind == LIG_PLAN_VALUES)
    return has (name_word (item), self->wanted) || has (place_word (item), self->wanted) ||
           has (type_word (item), self->wanted);
  g_autofree char *group = group_text (item);
  return has (kernel_word (item), self->wanted) || has (operands_word (item), self->wanted) ||
         has (group, self->wanted) || has (pass_word (item), self->wanted);
}

void
lig_plan_table_search (LigPlanTable *self, const char *text)
{
  g_autoptr (GtkFilter) filter = NULL;
  g_clear_pointer (&self->wanted, g_free);
  if (text && *text) {
    self->wanted = g_utf8_strdown (text, -1);
    filter = GTK_FILTER (gtk_custom_filter_new (matches, self, NULL));
  }
  gtk_filter_list_model_set_filter (self->filtered, filter);
}

/* --- Construction ---------------------------------------------------------------------------- */

void
lig_plan_table_set_plan (LigPlanTable *self, LigPlan *plan)
{
  lig_gradual_restart (self->shown);
  lig_plan_list_set_plan (self->list, plan);
}

GListModel *
lig_plan_table_get_rows (LigPlanTable *self)
{
  return G_LIST_MODEL (self->sorted);
}

/* Returns the row of the step or value; -1: the search hides it. */
static int
find_row (LigPlanTable *self, guint index)
{
  guint count = g_list_model_get_n_items (G_LIST_MODEL (self->sorted));
  for (guint i = 0; i < count; i++) {
    g_autoptr (LigPlanItem) item = g_list_model_get_item (G_LIST_MODEL (self->sorted), i);
    if (item->index == index)
      return (int) i;
  }
  return -1;
}

/* The list within a column view has the action; GTK 4.8 has no function for it. */
static void
scroll_to (LigPlanTable *self, guint row)
{
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self->view));
  while (child && !GTK_IS_LIST_VIEW (child))
    child = gtk_widget_get_next_sibling (child);
  if (child)
    gtk_widget_activate_action (child, "list.scroll-to-item", "u", row);
}

gboolean
lig_plan_table_select (LigPlanTable *self, guint index)
{
  int row = find_row (self, index);
  if (row < 0)
    return FALSE;
  lig_gradual_finish (self->shown);
  gtk_single_selection_set_selected (GTK_SINGLE_SELECTION (gtk_column_view_get_model (self->view)),
                                     (guint) row);
  scroll_to (self, (guint) row);
  return TRUE;
}

int
lig_plan_table_get_selected (LigPlanTable *self)
{
  LigPlanItem *item = gtk_single_selection_get_selected_item (
    GTK_SINGLE_SELECTION (gtk_column_view_get_model (self->view)));
  return item ? (int) item->index : -1;
}

static void
selected (LigPlanTable *self)
{
  g_signal_emit (self, chosen, 0);
}

GtkColumnView *
lig_plan_table_get_view (LigPlanTable *self)
{
  return self->view;
}

static void
activate (LigPlanTable *self, guint position)
{
  g_autoptr (LigPlanItem) item = g_list_model_get_item (G_LIST_MODEL (self->sorted), position);
  if (item)
    g_signal_emit (self, activated, 0, item);
}

static void
lig_plan_table_dispose (GObject *object)
{
  LigPlanTable *self = LIG_PLAN_TABLE (object);
  GtkWidget *child;
  if (self->filtered)
    gtk_filter_list_model_set_filter (self->filtered, NULL);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))))
    gtk_widget_unparent (child);
  self->view = NULL;
  g_clear_object (&self->sorted);
  g_clear_object (&self->filtered);
  g_clear_object (&self->list);
  g_clear_pointer (&self->wanted, g_free);
  G_OBJECT_CLASS (lig_plan_table_parent_class)->dispose (object);
}

static void
lig_plan_table_class_init (LigPlanTableClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_plan_table_dispose;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "plantable");
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BIN_LAYOUT);
  activated = g_signal_new ("activated", LIG_TYPE_PLAN_TABLE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                            NULL, G_TYPE_NONE, 1, LIG_TYPE_PLAN_ITEM);
  chosen = g_signal_new ("selected", LIG_TYPE_PLAN_TABLE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                         G_TYPE_NONE, 0);
  linked = g_signal_new ("linked", LIG_TYPE_PLAN_TABLE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                         G_TYPE_NONE, 0);
}

static void
lig_plan_table_init (LigPlanTable *self)
{
  self->view = GTK_COLUMN_VIEW (gtk_column_view_new (NULL));
  gtk_widget_add_css_class (GTK_WIDGET (self->view), "data-table");
  gtk_column_view_set_reorderable (self->view, TRUE);
  gtk_column_view_set_show_row_separators (self->view, TRUE);
  g_signal_connect_swapped (self->view, "activate", G_CALLBACK (activate), self);
}

GtkWidget *
lig_plan_table_new (LigPlanListKind kind)
{
  LigPlanTable *self = g_object_new (LIG_TYPE_PLAN_TABLE, NULL);
  gboolean steps = kind == LIG_PLAN_STEPS;
  self->kind = kind;
  self->list = lig_plan_list_new (kind);
  self->filtered = gtk_filter_list_model_new (g_object_ref (G_LIST_MODEL (self->list)), NULL);
  self->sorted = gtk_sort_list_model_new (g_object_ref (G_LIST_MODEL (self->filtered)),
                                          g_object_ref (gtk_column_view_get_sorter (self->view)));
  self->shown = lig_gradual_new (g_object_ref (G_LIST_MODEL (self->sorted)));
  GtkSingleSelection *selection = gtk_single_selection_new (G_LIST_MODEL (self->shown));
  gtk_single_selection_set_autoselect (selection, FALSE);
  gtk_single_selection_set_can_unselect (selection, TRUE);
  g_signal_connect_object (selection, "notify::selected-item", G_CALLBACK (selected), self,
                           G_CONNECT_SWAPPED);
  guint count = steps ? G_N_ELEMENTS (step_columns) : G_N_ELEMENTS (value_columns);
  for (guint i = 0; i < count; i++)
    add_column (self, steps ? &step_columns[i] : &value_columns[i]);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (selection));
  g_object_unref (selection);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  steps ? _ ("Steps") : _ ("Values"), -1);
  GtkWidget *window = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (window), GTK_WIDGET (self->view));
  gtk_widget_set_vexpand (window, TRUE);
  gtk_widget_set_parent (window, GTK_WIDGET (self));
  return GTK_WIDGET (self);
}
