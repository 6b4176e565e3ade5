/* SPDX-License-Identifier: MIT */
/* The Devices page: the devices that plans run on, and plan-only devices. */
#include "ui/devices/device-card.h"
#include "ui/page.h"
#include "ui/session/command.h"
#include "ui/session/task.h"
#include "ui/widgets/figures.h"
#include <ligature/device.h>

#include <glib/gi18n.h>
#include <string.h>

#define LIG_TYPE_DEVICES_PAGE (lig_devices_page_get_type ())
G_DECLARE_FINAL_TYPE (LigDevicesPage, lig_devices_page, LIG, DEVICES_PAGE, LigPage)

struct _LigDevicesPage {
  LigPage parent_instance;
  GtkBox *here, *elsewhere, *remark;
  GtkLabel *remark_label;
};

G_DEFINE_FINAL_TYPE (LigDevicesPage, lig_devices_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (devices) = {
  .name = "devices",
  .title = N_ ("Devices"),
  .icon = "computer-symbolic",
  .get_type = lig_devices_page_get_type,
};

/* --- Why there is no GPU ------------------------------------------------------------------------
 */

static void
find_remark (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_autoptr (LigDevice) device = lig_device_open (NULL, NULL);
  const char *remark = device ? lig_device_get_remark (device) : NULL;
  g_task_return_pointer (task, g_strdup (remark), g_free);
}

static void
take_remark (GObject *source, GAsyncResult *result, gpointer data)
{
  LigDevicesPage *self = LIG_DEVICES_PAGE (source);
  g_autofree char *remark = g_task_propagate_pointer (G_TASK (result), NULL);
  if (!self->remark)
    return;
  g_autofree char *text = remark ? lig_figure_sentence (remark) : NULL;
  gtk_label_set_label (self->remark_label, text ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->remark), text != NULL);
}

/* --- The list -----------------------------------------------------------------------------------
 */

static void
clear (GtkBox *box)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (box))))
    gtk_box_remove (box, child);
}

static void
fill (LigDevicesPage *self)
{
  guint count;
  gboolean gpu = FALSE;
  const LigDeviceEntry *entries =
    lig_session_get_devices (lig_page_get_session (LIG_PAGE (self)), &count);
  clear (self->here);
  clear (self->elsewhere);
  for (guint i = 0; i < count; i++) {
    GtkWidget *card = lig_device_card_new (lig_page_get_document (LIG_PAGE (self)), &entries[i]);
    gpu |= lig_device_name_has (entries[i].name, LIG_DEVICE_ACCELERATOR);
    gtk_box_append (entries[i].runs ? self->here : self->elsewhere, card);
  }
  gtk_widget_set_visible (GTK_WIDGET (self->remark), FALSE);
  if (gpu)
    return;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_remark, NULL);
  lig_task_run (task, find_remark);
}

/* --- Construction -------------------------------------------------------------------------------
 */

static void
lig_devices_page_constructed (GObject *object)
{
  LigDevicesPage *self = LIG_DEVICES_PAGE (object);
  G_OBJECT_CLASS (lig_devices_page_parent_class)->constructed (object);
  g_signal_connect_object (lig_page_get_session (LIG_PAGE (self)), "devices-changed",
                           G_CALLBACK (fill), self, G_CONNECT_SWAPPED);
  fill (self);
}

static void
lig_devices_page_dispose (GObject *object)
{
  adw_bin_set_child (ADW_BIN (object), NULL);
  gtk_widget_dispose_template (GTK_WIDGET (object), LIG_TYPE_DEVICES_PAGE);
  G_OBJECT_CLASS (lig_devices_page_parent_class)->dispose (object);
}

static char *
lig_devices_page_to_command (LigPage *page)
{
  GString *text = g_string_new ("lig devices");
  lig_command_append_store (text, lig_page_get_session (page));
  return g_string_free (text, FALSE);
}

static void
lig_devices_page_class_init (LigDevicesPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->constructed = lig_devices_page_constructed;
  G_OBJECT_CLASS (class)->dispose = lig_devices_page_dispose;
  LIG_PAGE_CLASS (class)->to_command = lig_devices_page_to_command;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/devices/devices-page.ui");
  gtk_widget_class_bind_template_child (widget_class, LigDevicesPage, here);
  gtk_widget_class_bind_template_child (widget_class, LigDevicesPage, elsewhere);
  gtk_widget_class_bind_template_child (widget_class, LigDevicesPage, remark);
  gtk_widget_class_bind_template_child (widget_class, LigDevicesPage, remark_label);
}

static void
lig_devices_page_init (LigDevicesPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
