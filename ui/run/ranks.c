/* SPDX-License-Identifier: MIT */
#include "ui/run/ranks.h"

#include "ui/run/rank-row.h"
#include "ui/session/child-run.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <ligature/json.h>
#include <ligature/store-sweeps.h>

#define KEY "ranks"
#define CONTEXT "context-ranks"
#define TENSOR "tensor-ranks"

typedef struct {
  LigDocument *doc;
  LigRankRow parts;
} Row;

static GSettings *
get_settings (LigDocument *doc)
{
  return lig_session_get_settings (lig_document_get_session (doc));
}

/* Returns for how many ranks this machine has GPUs from the document's device on, at least one; 0
 * if that is no GPU. */
static int
count_accelerators (LigDocument *doc)
{
  const char *name = lig_document_get_device (doc);
  if (lig_device_name_has (name, LIG_DEVICE_DESCRIBED) ||
      !lig_device_name_has (name, LIG_DEVICE_ACCELERATOR))
    return 0;
  g_auto (GStrv) accelerators = lig_device_list_accelerators (name);
  return MAX ((int) g_strv_length (accelerators), 1);
}

/* Each rank has a GPU of its own; more ranks than processors would wait for one another. */
static int
get_most (LigDocument *doc)
{
  int accelerators = count_accelerators (doc);
  return accelerators > 0 ? accelerators : (int) MAX (g_get_num_processors (), 2);
}

static gboolean
has_program (const char *name)
{
  g_autofree char *found = g_find_program_in_path (name);
  return found != NULL;
}

const char *
lig_ranks_find_obstacle (LigDocument *doc)
{
  g_autofree char *program = lig_child_run_find_program ();
  if (count_accelerators (doc) == 1)
    return _ ("Each rank needs a GPU of its own, and there is no other after this one");
  if (!has_program ("mpirun") && !has_program ("mpirun.openmpi"))
    return _ ("Install the package openmpi-bin to train by several ranks");
  return program ? NULL : _ ("Install the program lig to train by several ranks");
}

int
lig_ranks_get (LigDocument *doc)
{
  int wanted = g_settings_get_int (get_settings (doc), KEY);
  return wanted > 1 && !lig_ranks_find_obstacle (doc) ? MIN (wanted, get_most (doc)) : 1;
}

/* Groups that do not divide the ranks were chosen for another number of them. */
LigLayout
lig_ranks_choose_layout (LigDocument *doc)
{
  LigLayout layout;
  GSettings *settings = get_settings (doc);
  int ranks = lig_ranks_get (doc), context = g_settings_get_int (settings, CONTEXT);
  int tensor = g_settings_get_int (settings, TENSOR);
  lig_layout_init (&layout, ranks);
  if (ranks % context == 0 && ranks / context % tensor == 0)
    layout = (LigLayout){{[LIG_GROUP_DATA] = ranks / context / tensor,
                          [LIG_GROUP_CONTEXT] = context,
                          [LIG_GROUP_TENSOR] = tensor}};
  return layout;
}

void
lig_ranks_set_layout (LigDocument *doc, const LigLayout *layout)
{
  GSettings *settings = get_settings (doc);
  g_settings_set_int (settings, CONTEXT, lig_layout_size (layout, LIG_GROUP_CONTEXT));
  g_settings_set_int (settings, TENSOR, lig_layout_size (layout, LIG_GROUP_TENSOR));
  g_signal_emit_by_name (doc, "settings");
}

LigLayout
lig_ranks_find_layout (LigDocument *doc, const char *run)
{
  LigLayout layout;
  LigStore *store = lig_session_get_store (lig_document_get_session (doc));
  g_autofree char *inputs = run && store ? lig_store_get_inputs (store, run, NULL) : NULL;
  g_autoptr (JsonNode) root = inputs ? lig_json_from_text (inputs, NULL) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  gint64 ranks = object ? lig_json_get_int (object, "ranks", 1) : 1;
  const char *parallel = object ? lig_json_get_string (object, "parallel", NULL) : NULL;
  if (ranks < 2 || ranks > get_most (doc) || lig_ranks_find_obstacle (doc) ||
      !lig_layout_parse (&layout, parallel, (int) ranks, NULL))
    lig_layout_init (&layout, 1);
  return layout;
}

static void
update (Row *self)
{
  const char *obstacle = lig_ranks_find_obstacle (self->doc);
  const char *help = _ ("Processes that divide the work of each step (1)");
  gtk_widget_set_sensitive (self->parts.input, !obstacle);
  gtk_spin_button_set_range (GTK_SPIN_BUTTON (self->parts.input), 1, get_most (self->doc));
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (self->parts.input), lig_ranks_get (self->doc));
  gtk_widget_set_sensitive (self->parts.reset, lig_ranks_get (self->doc) > 1);
  gtk_label_set_text (self->parts.help, obstacle ? obstacle : help);
  lig_tooltip_set (self->parts.input, obstacle ? obstacle : help);
}

/* An obstacle shows 1, which is not chosen. */
static void
chosen (Row *self)
{
  int value = gtk_spin_button_get_value_as_int (GTK_SPIN_BUTTON (self->parts.input));
  if (!lig_ranks_find_obstacle (self->doc) && value != lig_ranks_get (self->doc)) {
    g_settings_set_int (get_settings (self->doc), KEY, value);
    g_signal_emit_by_name (self->doc, "settings");
  }
}

static void
reset (Row *self)
{
  gtk_widget_grab_focus (self->parts.input);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (self->parts.input), 1);
}

static void
free_row (gpointer data)
{
  Row *self = data;
  g_signal_handlers_disconnect_by_data (self->doc, self);
  g_object_unref (self->doc);
  g_free (self);
}

void
lig_ranks_attach (LigDocument *doc, GtkGrid *to, int line)
{
  Row *self = g_new0 (Row, 1);
  GtkWidget *spin = gtk_spin_button_new_with_range (1, get_most (doc), 1);
  self->doc = g_object_ref (doc);
  gtk_editable_set_width_chars (GTK_EDITABLE (spin), 4);
  gtk_editable_set_max_width_chars (GTK_EDITABLE (spin), 4);
  lig_rank_row_attach (&self->parts, _ ("Ranks"), spin, to, line);
  update (self);
  g_signal_connect_swapped (spin, "value-changed", G_CALLBACK (chosen), self);
  g_signal_connect_swapped (self->parts.reset, "clicked", G_CALLBACK (reset), self);
  g_signal_connect_swapped (doc, "settings", G_CALLBACK (update), self);
  g_object_set_data_full (G_OBJECT (spin), "row", self, free_row);
}
