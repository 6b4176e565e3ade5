/* SPDX-License-Identifier: MIT */
/* The popover of the button `Load`. */
#include "ui/profile/load-menu.h"

#include "ui/profile/profiling.h"
#include <ligature/plan-loads.h>

#include <glib/gi18n.h>

#define ZIPF "zipf:"

typedef struct {
  LigDocument *document; /* owns the widgets' page, so it outlives them */
  GtkCheckButton *even, *zipf, *of_run;
  GtkSpinButton *exponent;
  GtkEntry *run;
} Menu;

static Menu *
get_menu (GtkMenuButton *button)
{
  return g_object_get_data (G_OBJECT (button), "lig-loads");
}

static void
take_choice (GtkMenuButton *button)
{
  const Menu *menu = get_menu (button);
  LigProfiling *profiling = lig_profiling_of (menu->document);
  const char *run = gtk_editable_get_text (GTK_EDITABLE (menu->run));
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd (number, sizeof number, "%.2g", gtk_spin_button_get_value (menu->exponent));
  g_autofree char *zipf = g_strconcat (ZIPF, number, NULL);
  gtk_widget_set_sensitive (GTK_WIDGET (menu->exponent), gtk_check_button_get_active (menu->zipf));
  gtk_widget_set_sensitive (GTK_WIDGET (menu->run), gtk_check_button_get_active (menu->of_run));
  lig_profiling_set_load (profiling, gtk_check_button_get_active (menu->zipf)      ? zipf
                                     : !gtk_check_button_get_active (menu->of_run) ? NULL
                                     : *run                                        ? run
                                                                                   : "last");
}

static GtkCheckButton *
add_choice (GtkGrid *grid, int row, const char *label, GtkCheckButton *group, GtkWidget *value)
{
  GtkWidget *check = gtk_check_button_new_with_mnemonic (label);
  gtk_check_button_set_group (GTK_CHECK_BUTTON (check), group);
  gtk_grid_attach (grid, check, 0, row, value ? 1 : 2, 1);
  if (value)
    gtk_grid_attach (grid, value, 1, row, 1, 1);
  return GTK_CHECK_BUTTON (check);
}

/* Shows the current load. */
static void
show_choice (const Menu *menu)
{
  const char *load = lig_profiling_get_load (lig_profiling_of (menu->document));
  gboolean zipf = load && g_str_has_prefix (load, ZIPF);
  gtk_spin_button_set_value (menu->exponent,
                             zipf ? g_ascii_strtod (load + strlen (ZIPF), NULL) : 1);
  gtk_editable_set_text (GTK_EDITABLE (menu->run), load && !zipf ? load : "last");
  gtk_check_button_set_active (zipf ? menu->zipf : load ? menu->of_run : menu->even, TRUE);
}

static void
label (GtkWidget *widget, const char *text)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

static void
fill (GtkMenuButton *button, gpointer data)
{
  Menu *menu = get_menu (button);
  GtkWidget *popover = gtk_popover_new (), *grid = gtk_grid_new ();
  GtkWidget *note = gtk_label_new (_ ("Fusions and predictions assume an even load"));
  menu->exponent = GTK_SPIN_BUTTON (gtk_spin_button_new_with_range (0.1, 4, 0.1));
  menu->run = GTK_ENTRY (gtk_entry_new ());
  gtk_grid_set_row_spacing (GTK_GRID (grid), 6);
  gtk_grid_set_column_spacing (GTK_GRID (grid), 12);
  menu->even = add_choice (GTK_GRID (grid), 0, _ ("_Even"), NULL, NULL);
  menu->zipf =
    add_choice (GTK_GRID (grid), 1, _ ("_Zipf, exponent"), menu->even, GTK_WIDGET (menu->exponent));
  menu->of_run =
    add_choice (GTK_GRID (grid), 2, _ ("Last of _run"), menu->even, GTK_WIDGET (menu->run));
  label (GTK_WIDGET (menu->exponent), _ ("Exponent"));
  label (GTK_WIDGET (menu->run), _ ("Name or identifier of a run"));
  gtk_label_set_xalign (GTK_LABEL (note), 0);
  gtk_widget_add_css_class (note, "caption");
  gtk_widget_add_css_class (note, "dim-label");
  gtk_grid_attach (GTK_GRID (grid), note, 0, 3, 2, 1);
  show_choice (menu);
  GtkWidget *const choices[] = {GTK_WIDGET (menu->even), GTK_WIDGET (menu->zipf),
                                GTK_WIDGET (menu->of_run)};
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    g_signal_connect_object (choices[i], "toggled", G_CALLBACK (take_choice), button,
                             G_CONNECT_SWAPPED);
  g_signal_connect_object (menu->exponent, "value-changed", G_CALLBACK (take_choice), button,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (menu->run, "changed", G_CALLBACK (take_choice), button,
                           G_CONNECT_SWAPPED);
  take_choice (button);
  gtk_popover_set_child (GTK_POPOVER (popover), grid);
  gtk_menu_button_set_popover (button, popover);
}

void
lig_load_menu_set_up (GtkMenuButton *button, LigDocument *document)
{
  Menu *menu = g_new0 (Menu, 1);
  menu->document = document;
  g_object_set_data_full (G_OBJECT (button), "lig-loads", menu, g_free);
  gtk_menu_button_set_create_popup_func (button, fill, NULL, NULL);
}

void
lig_load_menu_update (GtkMenuButton *button)
{
  LigDocument *document = get_menu (button)->document;
  LigPlan *plan = lig_document_get_plan (document);
  const char *load = lig_profiling_get_load (lig_profiling_of (document));
  g_autofree char *text = g_strdup_printf (_ ("Load: %s"), load ? load : _ ("even"));
  gtk_widget_set_visible (GTK_WIDGET (button), plan && lig_plan_has_loads (plan));
  gtk_menu_button_set_label (button, text);
}
