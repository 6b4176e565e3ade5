/* SPDX-License-Identifier: MIT */
/* The menu of the score's view controls. */
#include "ui/score/view-controls.h"

#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

static void
append_section (GMenu *menu, const char *label, const char *const items[][3])
{
  g_autoptr (GMenu) section = g_menu_new ();
  for (guint i = 0; items[i][0]; i++) {
    g_autoptr (GMenuItem) item = g_menu_item_new (items[i][0], items[i][1]);
    if (items[i][2])
      g_menu_item_set_attribute (item, "accel", "s", items[i][2]);
    g_menu_append_item (section, item);
  }
  g_menu_append_section (menu, label, G_MENU_MODEL (section));
}

/* The zoom is a row of buttons. */
static void
append_zoom (GMenu *menu)
{
  const char *const items[][3] = {{_ ("Smaller"), "view.zoom-out", "zoom-out-symbolic"},
                                  {_ ("Normal size"), "view.zoom-reset", "zoom-original-symbolic"},
                                  {_ ("Larger"), "view.zoom-in", "zoom-in-symbolic"},
                                  {_ ("Fit to window"), "view.zoom-fit", "zoom-fit-best-symbolic"}};
  g_autoptr (GMenu) section = g_menu_new ();
  for (guint i = 0; i < G_N_ELEMENTS (items); i++) {
    g_autoptr (GMenuItem) item = g_menu_item_new (items[i][0], items[i][1]);
    g_menu_item_set_attribute (item, "verb-icon", "s", items[i][2]);
    g_menu_append_item (section, item);
  }
  g_autoptr (GMenuItem) line = g_menu_item_new_section (_ ("Zoom"), G_MENU_MODEL (section));
  g_menu_item_set_attribute (line, "display-hint", "s", "horizontal-buttons");
  g_menu_append_item (menu, line);
}

static GMenuModel *
make_menu (void)
{
  const char *const hotspots[][3] = {
    {_ ("Next hotspot"), "view.hotspot", "<Control>h"},
    {_ ("Previous hotspot"), "view.previous-hotspot", "<Control><Shift>h"},
    {NULL}};
  const char *const rows[][3] = {
    {_ ("Compact if there are many"), "view.score-rows::automatic", NULL},
    {_ ("Full"), "view.score-rows::full", NULL},
    {_ ("Compact"), "view.score-rows::compact", "<Control>r"},
    {_ ("Fold all blocks"), "view.fold-all", "<Control>bracketleft"},
    {_ ("Unfold all blocks"), "view.unfold-all", "<Control>bracketright"},
    {NULL}};
  const char *const colours[][3] = {{_ ("Fusion"), "view.score-colour::fusion", NULL},
                                    {_ ("Time"), "view.score-colour::time", NULL},
                                    {_ ("Bytes moved"), "view.score-colour::bytes", NULL},
                                    {_ ("Bound"), "view.score-colour::bound", NULL},
                                    {NULL}};
  GMenu *menu = g_menu_new ();
  append_section (menu, NULL, hotspots);
  append_zoom (menu);
  append_section (menu, _ ("Rows"), rows);
  append_section (menu, _ ("Colour by"), colours);
  return G_MENU_MODEL (menu);
}

GtkWidget *
lig_score_view_button_new (void)
{
  GtkWidget *button = gtk_menu_button_new ();
  g_autoptr (GMenuModel) menu = make_menu ();
  gtk_menu_button_set_icon_name (GTK_MENU_BUTTON (button), "view-more-symbolic");
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), menu);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "view-button");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  lig_tooltip_set (button, _ ("Zoom, rows and colours of the score"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("View of the score"), -1);
  return button;
}
