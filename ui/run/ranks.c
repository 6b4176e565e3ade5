/* SPDX-License-Identifier: MIT */
#include "ui/run/ranks.h"

#include "ui/session/child-run.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <ligature/json.h>
#include <ligature/store-sweeps.h>

#define KEY "ranks"

typedef struct {
  LigDocument *doc;
  GtkWidget *spin, *reset;
  GtkLabel *help;
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
    return _ ("A GPU is trained on by one rank; several share the processor");
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

/* A tensor group that does not divide the ranks was chosen for another number of them. */
LigLayout
lig_ranks_choose_layout (LigDocument *doc)
{
  LigLayout layout;
  int ranks = lig_ranks_get (doc), tensor = g_settings_get_int (get_settings (doc), "tensor-ranks");
  if (tensor < 1 || ranks % tensor != 0)
    tensor = 1;
  lig_layout_init (&layout, ranks / tensor);
  layout.sizes[LIG_GROUP_TENSOR] = tensor;
  return layout;
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
  const char *help = _ ("Processes that share each batch, by mpirun (1)");
  gtk_widget_set_sensitive (self->spin, !obstacle);
  gtk_spin_button_set_range (GTK_SPIN_BUTTON (self->spin), 1, get_most (self->doc));
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (self->spin), lig_ranks_get (self->doc));
  gtk_widget_set_sensitive (self->reset, lig_ranks_get (self->doc) > 1);
  gtk_label_set_text (self->help, obstacle ? obstacle : help);
  lig_tooltip_set (self->spin, obstacle ? obstacle : help);
}

/* An obstacle shows 1, which is not chosen. */
static void
chosen (Row *self)
{
  int value = gtk_spin_button_get_value_as_int (GTK_SPIN_BUTTON (self->spin));
  if (!lig_ranks_find_obstacle (self->doc) && value != lig_ranks_get (self->doc)) {
    g_settings_set_int (get_settings (self->doc), KEY, value);
    g_signal_emit_by_name (self->doc, "settings");
  }
}

static void
reset (Row *self)
{
  gtk_widget_grab_focus (self->spin);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (self->spin), 1);
}

static void
free_row (gpointer data)
{
  Row *self = data;
  g_signal_handlers_disconnect_by_data (self->doc, self);
  g_object_unref (self->doc);
  g_free (self);
}

static GtkWidget *
make_texts (Row *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *title = gtk_label_new (_ ("Ranks"));
  self->help = GTK_LABEL (gtk_label_new (NULL));
  gtk_widget_add_css_class (GTK_WIDGET (self->help), "dim-label");
  gtk_widget_add_css_class (GTK_WIDGET (self->help), "caption");
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_label_set_xalign (self->help, 0);
  gtk_label_set_wrap (self->help, TRUE);
  gtk_label_set_max_width_chars (self->help, 36);
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->help));
  gtk_widget_set_hexpand (box, TRUE);
  return box;
}

static void
make_reset (Row *self)
{
  g_autofree char *text = g_strdup_printf (_ ("Back to the default: %s"), _ ("Ranks"));
  self->reset = gtk_button_new_from_icon_name ("edit-undo-symbolic");
  gtk_widget_add_css_class (self->reset, "flat");
  gtk_widget_set_valign (self->reset, GTK_ALIGN_CENTER);
  lig_tooltip_set (self->reset, text);
  g_signal_connect_swapped (self->reset, "clicked", G_CALLBACK (reset), self);
}

GtkWidget *
lig_ranks_row_new (LigDocument *doc)
{
  Row *self = g_new0 (Row, 1);
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  self->doc = g_object_ref (doc);
  self->spin = gtk_spin_button_new_with_range (1, get_most (doc), 1);
  gtk_widget_set_valign (self->spin, GTK_ALIGN_CENTER);
  make_reset (self);
  gtk_box_append (GTK_BOX (row), make_texts (self));
  gtk_box_append (GTK_BOX (row), self->spin);
  gtk_box_append (GTK_BOX (row), self->reset);
  g_object_set (row, "margin-top", 12, "margin-start", 12, "margin-end", 12, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->spin), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Ranks"), -1);
  update (self);
  g_signal_connect_swapped (self->spin, "value-changed", G_CALLBACK (chosen), self);
  g_signal_connect_swapped (doc, "settings", G_CALLBACK (update), self);
  g_object_set_data_full (G_OBJECT (row), "row", self, free_row);
  return row;
}
