/* SPDX-License-Identifier: MIT */
/* A device is opened on threads only, one at a time, and kept open while a GPU's health is shown.
 */
#include "ui/devices/device-card.h"

#include "ui/session/task.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"
#include <ligature/draw.h>
#include <ligature/store-tuning.h>
#include <ligature/tuning.h>

#include <glib/gi18n.h>

/* Milliseconds between two readings of a GPU's clocks. */
#define HEALTH_PERIOD 2000

struct _LigDeviceCard {
  AdwBin parent_instance;
  LigDocument *document;
  char *name;
  gboolean runs, ready, busy, measuring;
  LigDevice *device; /* used by the running thread, else kept for the next update */
  guint tick;
  AdwPreferencesGroup *group;
  GtkFlowBox *facts;
  GtkLabel *message, *libraries, *health;
  GtkButton *use, *measure;
  GtkSpinner *spinner;
};

G_DEFINE_FINAL_TYPE (LigDeviceCard, lig_device_card, ADW_TYPE_BIN)

typedef struct {
  char *name;
  LigStore *store;
  LigDevice *device;
  gboolean measure;
  char *libraries; /* a line for each that its backend opens */
  LigDeviceFacts facts;
  LigDeviceHealth health;
  gboolean has_health;
} Look;

static void
free_look (gpointer data)
{
  Look *look = data;
  g_clear_object (&look->store);
  g_clear_object (&look->device);
  g_free (look->name);
  g_free (look->libraries);
  g_free (look);
}

/* --- On the thread ---------------------------------------------------------------------------- */

static gboolean
measure_now (Look *look, GError **error)
{
  if (!lig_device_measure (look->device, error))
    return FALSE;
  g_autofree char *json = lig_device_facts_to_json (lig_device_get_facts (look->device));
  return !look->store || lig_store_put_device (look->store, look->name, json, error);
}

static char *
describe_libraries (const char *name)
{
  LigLibrary library;
  g_autoptr (GStrvBuilder) lines = g_strv_builder_new ();
  for (guint n = 0; lig_backend_get_library (name, n, &library); n++) {
    g_autofree char *line = lig_library_to_text (&library);
    g_strv_builder_add (lines, line);
  }
  g_auto (GStrv) all = g_strv_builder_end (lines);
  return g_strjoinv ("\n", all);
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Look *look = data;
  g_autoptr (GError) error = NULL;
  if (!look->device) {
    look->device = lig_device_open (look->name, &error);
    if (look->device && look->store)
      lig_tuning_recall (look->device, lig_store_get_path (look->store));
  }
  if (look->device && look->measure)
    measure_now (look, &error);
  look->libraries = describe_libraries (look->name);
  if (look->device) {
    look->facts = *lig_device_get_facts (look->device);
    look->has_health = lig_device_get_health (look->device, &look->health);
  }
  if (error)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_boolean (task, TRUE);
}

/* --- Facts --------------------------------------------------------------------------------------
 */

static void
add_fact (LigDeviceCard *self, const char *title, const char *value)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *heading = gtk_label_new (title), *label = gtk_label_new (value);
  gtk_widget_add_css_class (heading, "caption");
  gtk_widget_add_css_class (heading, "dim-label");
  gtk_widget_add_css_class (label, "numeric");
  gtk_label_set_xalign (GTK_LABEL (heading), 0);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  lig_tooltip_when_cut (GTK_LABEL (label));
  gtk_box_append (GTK_BOX (box), heading);
  gtk_box_append (GTK_BOX (box), label);
  gtk_flow_box_append (self->facts, box);
  gtk_widget_set_focusable (gtk_widget_get_parent (box), FALSE);
}

/* Types with the same rate share a line: `fp16, bf16 matmuls`. */
static void
add_matmuls (LigDeviceCard *self, const LigDeviceFacts *facts)
{
  for (int i = 0; i < LIG_N_DTYPES; i++) {
    gboolean seen = facts->matmul[i] <= 0;
    g_autoptr (GString) names = g_string_new (NULL);
    for (int j = 0; j < i && !seen; j++)
      seen = facts->matmul[j] == facts->matmul[i];
    if (seen)
      continue;
    for (int j = i; j < LIG_N_DTYPES; j++)
      if (facts->matmul[j] == facts->matmul[i])
        g_string_append_printf (names, "%s%s", names->len ? ", " : "",
                                lig_dtype_name ((LigDtype) j));
    g_autofree char *rate = lig_draw_rate (facts->matmul[i]);
    g_autofree char *title = g_strdup_printf (_ ("Matmuls in %s"), names->str);
    add_fact (self, title, rate);
  }
}

static void
show_facts (LigDeviceCard *self, const LigDeviceFacts *facts)
{
  GtkWidget *child;
  g_autofree char *count = g_strdup_printf ("%d", facts->multiprocessors);
  g_autofree char *memory = lig_draw_bytes ((double) facts->memory);
  g_autofree char *l2 = lig_draw_bytes ((double) facts->l2);
  g_autofree char *copy = lig_draw_bytes (facts->copy);
  g_autofree char *bandwidth = g_strdup_printf ("%s/s", copy);
  g_autofree char *launch = lig_draw_time (facts->launch);
  g_autofree char *upload = lig_draw_bytes (facts->upload);
  g_autofree char *uploads = g_strdup_printf ("%s/s", upload);
  const char *known = facts->measured    ? _ ("peak rates measured on this device")
                      : facts->copy <= 0 ? _ ("peak rates unknown; measure them to get predictions")
                      : self->runs ? _ ("peak rates assumed; measure them for better predictions")
                                   : _ ("Plan only: plans are compiled for it, but cannot run");
  /* A name that only the command line needs is omitted. */
  g_autofree char *text =
    self->runs ? g_strdup_printf ("%s · %s", self->name, known) : g_strdup (known);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->facts))))
    gtk_flow_box_remove (self->facts, child);
  adw_preferences_group_set_title (self->group, facts->name);
  adw_preferences_group_set_description (self->group, text);
  if (facts->capability > 0) {
    g_autofree char *capability = g_strdup_printf ("sm_%d", facts->capability);
    add_fact (self, _ ("Capability"), capability);
  }
  add_fact (self, facts->capability > 0 ? _ ("Multiprocessors") : _ ("Cores"), count);
  add_fact (self, _ ("Memory"), memory);
  add_fact (self, facts->capability > 0 ? _ ("L2 cache") : _ ("Last cache"), l2);
  if (facts->copy > 0)
    add_fact (self, _ ("Copies"), bandwidth);
  add_matmuls (self, facts);
  if (facts->launch > 0)
    add_fact (self, _ ("Minimum kernel time"), launch);
  if (facts->upload > 0)
    add_fact (self, _ ("Copies from the host"), uploads);
}

/* Shows the versions that affect times and, if there are any, the libraries that are found at run
 * time. Both are known without a working device. */
static void
show_libraries (LigDeviceCard *self, const char *versions, const char *lines)
{
  g_autofree char *title =
    *versions ? g_strdup_printf (_ ("Libraries: %s"), versions) : g_strdup ("");
  g_autofree char *text = g_strconcat (title, *title && *lines ? "\n" : "", lines, NULL);
  gtk_label_set_label (self->libraries, text);
  gtk_widget_set_visible (GTK_WIDGET (self->libraries), *text);
}

static void
show_health (LigDeviceCard *self, const LigDeviceHealth *health)
{
  g_autoptr (GString) text = g_string_new (_ ("Now:"));
  if (health->clock >= 0)
    g_string_append_printf (text, _ (" %.0f MHz"), health->clock);
  if (health->memory_clock >= 0)
    g_string_append_printf (text, _ (" · memory %.0f MHz"), health->memory_clock);
  if (health->power >= 0 && health->power_limit >= 0)
    g_string_append_printf (text, _ (" · %.0f of %.0f W"), health->power, health->power_limit);
  if (health->temperature >= 0)
    g_string_append_printf (text, _ (" · %.0f °C"), health->temperature);
  if (*health->throttling)
    g_string_append_printf (text, _ (" · slowed by %s"), health->throttling);
  if (*health->driver)
    g_string_append_printf (text, _ (" · driver %s"), health->driver);
  gtk_label_set_label (self->health, text->str);
  gtk_widget_set_visible (GTK_WIDGET (self->health), TRUE);
}

static void
show_message (LigDeviceCard *self, const char *text)
{
  gtk_label_set_label (self->message, text ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->message), text != NULL);
}

static void
show_state (LigDeviceCard *self)
{
  gboolean used = g_str_equal (lig_document_get_device (self->document), self->name);
  gtk_button_set_label (self->use, used ? _ ("In use") : _ ("Use for this sequence"));
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "device.use", !used);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "device.measure",
                                 self->runs && !self->measuring);
  gtk_widget_set_visible (GTK_WIDGET (self->measure), self->runs);
  gtk_widget_set_visible (GTK_WIDGET (self->spinner), self->measuring);
  gtk_spinner_set_spinning (self->spinner, self->measuring);
  if (self->measuring)
    show_message (self, _ ("Measuring copies, matmuls and kernels; a GPU takes about a minute…"));
}

/* --- Looking ------------------------------------------------------------------------------------
 */

static void look (LigDeviceCard *self, gboolean measure);

static gboolean
look_again (gpointer data)
{
  LigDeviceCard *self = data;
  if (!self->busy)
    look (self, FALSE);
  return G_SOURCE_CONTINUE;
}

static void
take_measured (LigDeviceCard *self, gboolean fine)
{
  self->measuring = FALSE;
  if (!fine)
    return;
  show_message (self, NULL);
  lig_document_refresh_device (self->document, self->name);
  lig_toast (GTK_WIDGET (self), _ ("The peak rates were measured and are in the store"), NULL,
             NULL);
}

static void
take_look (GObject *source, GAsyncResult *result, gpointer data)
{
  LigDeviceCard *self = LIG_DEVICE_CARD (source);
  g_autoptr (GError) error = NULL;
  Look *seen = g_task_get_task_data (G_TASK (result));
  gboolean fine = g_task_propagate_boolean (G_TASK (result), &error);
  self->busy = FALSE;
  if (!self->document)
    return;
  if (seen->device && (fine || self->ready))
    show_facts (self, &seen->facts);
  show_libraries (self, seen->facts.libraries, seen->libraries);
  self->ready = TRUE;
  if (!fine)
    show_message (self, error->message);
  if (seen->measure)
    take_measured (self, fine);
  if (seen->has_health)
    show_health (self, &seen->health);
  /* Only a device that reports its health is kept open, and only while the card is visible. */
  gboolean held = seen->has_health && gtk_widget_get_mapped (GTK_WIDGET (self));
  if (held)
    self->device = g_steal_pointer (&seen->device);
  if (held && self->tick == 0)
    self->tick = g_timeout_add (HEALTH_PERIOD, look_again, self);
  show_state (self);
}

static void
look (LigDeviceCard *self, gboolean measure)
{
  Look *next = g_new0 (Look, 1);
  LigStore *store = lig_session_get_store (lig_document_get_session (self->document));
  next->name = g_strdup (self->name);
  next->store = store ? g_object_ref (store) : NULL;
  next->device = g_steal_pointer (&self->device);
  next->measure = measure;
  self->busy = TRUE;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_look, NULL);
  g_task_set_task_data (task, next, free_look);
  lig_task_run (task, work);
}

/* --- Actions ------------------------------------------------------------------------------------
 */

static void
use (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigDeviceCard *self = LIG_DEVICE_CARD (widget);
  lig_document_set_device (self->document, self->name);
}

static void
measure_device (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigDeviceCard *self = LIG_DEVICE_CARD (widget);
  if (self->measuring)
    return;
  self->measuring = TRUE;
  show_state (self);
  look (self, TRUE);
}

/* --- Construction -------------------------------------------------------------------------------
 */

static void
lig_device_card_map (GtkWidget *widget)
{
  LigDeviceCard *self = LIG_DEVICE_CARD (widget);
  GTK_WIDGET_CLASS (lig_device_card_parent_class)->map (widget);
  if (!self->busy)
    look (self, FALSE);
}

static void
lig_device_card_unmap (GtkWidget *widget)
{
  LigDeviceCard *self = LIG_DEVICE_CARD (widget);
  g_clear_handle_id (&self->tick, g_source_remove);
  g_clear_object (&self->device);
  GTK_WIDGET_CLASS (lig_device_card_parent_class)->unmap (widget);
}

static void
lig_device_card_dispose (GObject *object)
{
  LigDeviceCard *self = LIG_DEVICE_CARD (object);
  g_clear_handle_id (&self->tick, g_source_remove);
  g_clear_object (&self->device);
  if (self->document)
    g_signal_handlers_disconnect_by_data (self->document, self);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (lig_device_card_parent_class)->dispose (object);
}

static void
lig_device_card_finalize (GObject *object)
{
  g_free (LIG_DEVICE_CARD (object)->name);
  G_OBJECT_CLASS (lig_device_card_parent_class)->finalize (object);
}

static void
lig_device_card_class_init (LigDeviceCardClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_device_card_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_device_card_finalize;
  widget_class->map = lig_device_card_map;
  widget_class->unmap = lig_device_card_unmap;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
  gtk_widget_class_install_action (widget_class, "device.use", NULL, use);
  gtk_widget_class_install_action (widget_class, "device.measure", NULL, measure_device);
}

static GtkWidget *
new_line (const char *class)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_widget_add_css_class (label, class);
  gtk_widget_set_visible (label, FALSE);
  return label;
}

static void
add_buttons (LigDeviceCard *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->spinner = GTK_SPINNER (gtk_spinner_new ());
  self->measure = GTK_BUTTON (gtk_button_new_with_label (_ ("Measure")));
  self->use = GTK_BUTTON (gtk_button_new ());
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->measure), "device.measure");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->use), "device.use");
  lig_tooltip_set (GTK_WIDGET (self->measure),
                   _ ("Measure the peak rates that predictions use, and store them"));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->spinner));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->measure));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->use));
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  adw_preferences_group_set_header_suffix (self->group, box);
}

static void
lig_device_card_init (LigDeviceCard *self)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  self->group = ADW_PREFERENCES_GROUP (adw_preferences_group_new ());
  self->facts = GTK_FLOW_BOX (gtk_flow_box_new ());
  self->message = GTK_LABEL (new_line ("dim-label"));
  self->libraries = GTK_LABEL (new_line ("dim-label"));
  self->health = GTK_LABEL (new_line ("numeric"));
  gtk_flow_box_set_selection_mode (self->facts, GTK_SELECTION_NONE);
  gtk_flow_box_set_homogeneous (self->facts, TRUE);
  gtk_flow_box_set_min_children_per_line (self->facts, 2);
  gtk_flow_box_set_max_children_per_line (self->facts, 4);
  gtk_flow_box_set_row_spacing (self->facts, 6);
  gtk_flow_box_set_column_spacing (self->facts, 12);
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "device-facts");
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self->message));
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self->facts));
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self->libraries));
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self->health));
  add_buttons (self);
  adw_preferences_group_add (self->group, card);
  adw_bin_set_child (ADW_BIN (self), GTK_WIDGET (self->group));
}

GtkWidget *
lig_device_card_new (LigDocument *document, const LigDeviceEntry *entry)
{
  LigDeviceCard *self = g_object_new (LIG_TYPE_DEVICE_CARD, NULL);
  self->document = g_object_ref (document);
  self->name = g_strdup (entry->name);
  self->runs = entry->runs;
  adw_preferences_group_set_title (self->group, entry->title);
  adw_preferences_group_set_description (self->group, entry->name);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  entry->title, -1);
  g_signal_connect_object (document, "settings", G_CALLBACK (show_state), self, G_CONNECT_SWAPPED);
  show_state (self);
  return GTK_WIDGET (self);
}

gboolean
lig_device_card_is_ready (LigDeviceCard *self)
{
  return self->ready;
}

gboolean
lig_device_card_is_measuring (LigDeviceCard *self)
{
  return self->measuring;
}
