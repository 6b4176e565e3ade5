/* SPDX-License-Identifier: MIT */
/* The choice of the parallelism of the chosen number of ranks. */
#include "ui/document/ranks.h"
#include "ui/run/rank-row.h"
#include "ui/run/rank-rows.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <string.h>

typedef struct {
  LigDocument *doc;
  LigRankRow parts;
  GtkDropDown *down;
  GtkStringList *names;
  GArray *layouts;  /* of LigLayout, in the order of the names */
  int ranks;        /* of the layouts */
  gboolean experts; /* whether they include those that share experts */
  gboolean updating;
} Row;

/* Lists the layouts of a number of ranks; pure data parallelism, the default, is first. Those that
 * share experts are last. */
static void
list_layouts (int ranks, gboolean experts, GArray *to)
{
  g_array_set_size (to, 0);
  for (int context = 1; context <= ranks; context++)
    for (int tensor = 1; ranks % context == 0 && tensor <= ranks / context; tensor++)
      if (ranks / context % tensor == 0) {
        LigLayout layout;
        lig_layout_init (&layout, ranks / context / tensor);
        layout.sizes[LIG_GROUP_CONTEXT] = context;
        layout.sizes[LIG_GROUP_TENSOR] = tensor;
        g_array_append_val (to, layout);
      }
  for (int expert = 2; experts && expert <= ranks; expert++)
    if (ranks % expert == 0) {
      LigLayout layout;
      lig_layout_init (&layout, ranks);
      layout.expert = expert;
      g_array_append_val (to, layout);
    }
}

static void
fill (Row *self, int ranks, gboolean experts)
{
  guint before = g_list_model_get_n_items (G_LIST_MODEL (self->names));
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  list_layouts (ranks, experts, self->layouts);
  for (guint i = 0; i < self->layouts->len; i++)
    g_ptr_array_add (names, lig_layout_to_string (&g_array_index (self->layouts, LigLayout, i)));
  g_ptr_array_add (names, NULL);
  gtk_string_list_splice (self->names, 0, before, (const char *const *) names->pdata);
  self->ranks = ranks;
  self->experts = experts;
}

static void
update (Row *self)
{
  LigLayout layout = lig_ranks_choose_layout (self->doc);
  int ranks = lig_layout_size (&layout, LIG_GROUP_ALL);
  gboolean experts = lig_ranks_share_experts (self->doc);
  self->updating = TRUE;
  lig_rank_row_set_visible (&self->parts, ranks > 1);
  if (ranks != self->ranks || experts != self->experts)
    fill (self, ranks, experts);
  for (guint i = 0; i < self->layouts->len; i++)
    if (memcmp (&g_array_index (self->layouts, LigLayout, i), &layout, sizeof layout) == 0)
      gtk_drop_down_set_selected (self->down, i);
  gtk_widget_set_sensitive (self->parts.reset, gtk_drop_down_get_selected (self->down) > 0);
  self->updating = FALSE;
}

static void
chosen (Row *self)
{
  guint selected = gtk_drop_down_get_selected (self->down);
  if (!self->updating && selected < self->layouts->len)
    lig_ranks_set_layout (self->doc, &g_array_index (self->layouts, LigLayout, selected));
}

static void
reset (Row *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->down));
  gtk_drop_down_set_selected (self->down, 0);
}

static void
free_row (gpointer data)
{
  Row *self = data;
  g_signal_handlers_disconnect_by_data (self->doc, self);
  g_object_unref (self->doc);
  g_array_unref (self->layouts);
  g_free (self);
}

void
lig_rank_layout_attach (LigDocument *doc, GtkGrid *to, int line)
{
  const char *help =
    _ ("How ranks share a step: by samples (data), tokens (context), weights (tensor) or experts "
       "(expert)");
  Row *self = g_new0 (Row, 1);
  self->doc = g_object_ref (doc);
  self->names = gtk_string_list_new (NULL);
  self->layouts = g_array_new (FALSE, FALSE, sizeof (LigLayout));
  GtkWidget *down = gtk_drop_down_new (G_LIST_MODEL (self->names), NULL);
  self->down = GTK_DROP_DOWN (down);
  lig_tooltip_set (down, help);
  lig_rank_row_attach (&self->parts, _ ("Parallelism"), down, to, line);
  gtk_label_set_text (self->parts.help, help);
  update (self);
  g_signal_connect_swapped (down, "notify::selected", G_CALLBACK (chosen), self);
  g_signal_connect_swapped (self->parts.reset, "clicked", G_CALLBACK (reset), self);
  g_signal_connect_swapped (doc, "settings", G_CALLBACK (update), self);
  g_signal_connect_swapped (doc, "changed", G_CALLBACK (update), self);
  g_object_set_data_full (G_OBJECT (down), "row", self, free_row);
}
