/* SPDX-License-Identifier: MIT */
/* The page Devices. */
#include "ui/page.h"

#include <glib/gi18n.h>

#define LIG_TYPE_DEVICES_PAGE (lig_devices_page_get_type ())
G_DECLARE_FINAL_TYPE (LigDevicesPage, lig_devices_page, LIG, DEVICES_PAGE, LigPage)

struct _LigDevicesPage {
  LigPage parent_instance;
};

G_DEFINE_FINAL_TYPE (LigDevicesPage, lig_devices_page, LIG_TYPE_PAGE)

LIG_PAGE_INFO (devices) = {
  .name = "devices",
  .title = N_ ("Devices"),
  .icon = "computer-symbolic",
  .get_type = lig_devices_page_get_type,
};

static void
lig_devices_page_class_init (LigDevicesPageClass *class)
{
}

static void
lig_devices_page_init (LigDevicesPage *self)
{
  adw_bin_set_child (ADW_BIN (self), gtk_label_new (_ ("Devices")));
}
