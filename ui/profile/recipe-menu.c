/* SPDX-License-Identifier: MIT */
/* The popover of the button `Compare recipes`. */
#include "ui/profile/recipe-menu.h"

#include "ui/profile/comparing.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/toast.h"
#include <ligature/plan-options.h>
#include <ligature/plan.h>
#include <ligature/recipe.h>

#include <glib/gi18n.h>

typedef struct {
  LigDocument *document; /* owns the widgets' page, so it outlives them */
  GHashTable *choices;   /* names of recipes that the user selected or deselected */
} Menu;

static void
free_menu (gpointer data)
{
  Menu *menu = data;
  g_hash_table_unref (menu->choices);
  g_free (menu);
}

static Menu *
get_menu (GtkMenuButton *button)
{
  return g_object_get_data (G_OBJECT (button), "lig-recipes");
}

/* Returns the text of a recipe: with the parameters of the document if it is the document's. */
static char *
text_of (const Menu *menu, const LigRecipeInfo *info)
{
  const char *text = lig_sequence_get_recipe (lig_document_get_sequence (menu->document));
  LigRecipe recipe;
  if (text && lig_recipe_parse (&recipe, text, NULL) && recipe.info == info)
    return g_strdup (text);
  return g_strdup (info->name);
}

/* Returns whether the document's device supports the recipe, as far as is known. */
static gboolean
is_possible (const Menu *menu, const LigRecipeInfo *info, GError **error)
{
  LigPlan *plan = lig_document_get_plan (menu->document);
  return plan ? lig_recipe_check_device (info->name, lig_plan_get_device (plan), error)
              : !info->described;
}

static gboolean
is_chosen (const Menu *menu, const LigRecipeInfo *info)
{
  gpointer chosen;
  if (g_hash_table_lookup_extended (menu->choices, info->name, NULL, &chosen))
    return GPOINTER_TO_INT (chosen);
  return is_possible (menu, info, NULL);
}

/* Returns (transfer full) the chosen recipes, texts for lig_recipe_parse(). */
static GStrv
get_chosen (GtkMenuButton *button)
{
  const Menu *menu = get_menu (button);
  const LigRecipeInfo *info;
  g_autoptr (GStrvBuilder) chosen = g_strv_builder_new ();
  for (guint i = 0; (info = lig_recipe_info_nth (i)); i++) {
    g_autofree char *text = text_of (menu, info);
    if (is_chosen (menu, info))
      g_strv_builder_add (chosen, text);
  }
  return g_strv_builder_end (chosen);
}

void
lig_recipe_menu_compare (GtkMenuButton *button, guint rounds)
{
  LigComparing *comparing = lig_comparing_of (get_menu (button)->document);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) chosen = get_chosen (button);
  if (!*chosen)
    lig_toast (GTK_WIDGET (button), _ ("Choose at least one recipe to compare"), NULL, NULL);
  else if (!lig_comparing_start (comparing, (const char *const *) chosen, rounds, &error))
    lig_toast_error (GTK_WIDGET (button), g_steal_pointer (&error));
}

/* --- The popover ---------------------------------------------------------------------------- */

static void
choose (GtkCheckButton *check, GtkMenuButton *button)
{
  const LigRecipeInfo *info = g_object_get_data (G_OBJECT (check), "info");
  g_hash_table_insert (get_menu (button)->choices, (gpointer) info->name,
                       GINT_TO_POINTER (gtk_check_button_get_active (check)));
  GtkWidget *start = g_object_get_data (G_OBJECT (button), "start");
  g_auto (GStrv) chosen = get_chosen (button);
  gtk_widget_set_sensitive (start, *chosen != NULL);
}

static GtkWidget *
new_caption (const char *text)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 30);
  gtk_widget_add_css_class (label, "caption");
  gtk_widget_add_css_class (label, "dim-label");
  return label;
}

static GtkWidget *
new_check (GtkMenuButton *button, const LigRecipeInfo *info, const char *caption)
{
  const Menu *menu = get_menu (button);
  g_autofree char *text = text_of (menu, info);
  GtkWidget *check = gtk_check_button_new (), *name = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (name), 0);
  gtk_label_set_ellipsize (GTK_LABEL (name), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (name), 40);
  gtk_check_button_set_child (GTK_CHECK_BUTTON (check), name);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (check), is_chosen (menu, info));
  g_object_set_data (G_OBJECT (check), "info", (gpointer) info);
  gtk_accessible_update_property (GTK_ACCESSIBLE (check), GTK_ACCESSIBLE_PROPERTY_LABEL, text,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, caption, -1);
  g_signal_connect_object (check, "toggled", G_CALLBACK (choose), button, 0);
  return check;
}

/* Returns a check button for a recipe above its description, or above the reason why the device
 * does not support it. The text is outside the check button, which would not make room for a second
 * line. */
static GtkWidget *
new_entry (GtkMenuButton *button, const LigRecipeInfo *info)
{
  g_autoptr (GError) error = NULL;
  GtkWidget *entry = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  is_possible (get_menu (button), info, &error);
  g_autofree char *caption =
    error ? lig_figure_sentence (error->message) : g_strdup (_ (info->help));
  GtkWidget *words = new_caption (caption);
  gtk_widget_set_margin_start (words, 28);
  gtk_box_append (GTK_BOX (entry), new_check (button, info, caption));
  gtk_box_append (GTK_BOX (entry), words);
  return entry;
}

static void
compare (GtkMenuButton *button)
{
  gtk_menu_button_popdown (button);
  gtk_widget_activate_action (GTK_WIDGET (button), "win.compare-recipes", NULL);
}

static GtkWidget *
new_start (GtkMenuButton *button)
{
  GtkWidget *start = gtk_button_new_with_mnemonic (_ ("_Compare"));
  g_auto (GStrv) chosen = get_chosen (button);
  gtk_widget_add_css_class (start, "suggested-action");
  gtk_widget_set_halign (start, GTK_ALIGN_END);
  gtk_widget_set_sensitive (start, *chosen != NULL);
  g_signal_connect_object (start, "clicked", G_CALLBACK (compare), button, G_CONNECT_SWAPPED);
  g_object_set_data (G_OBJECT (button), "start", start);
  return start;
}

static void
fill (GtkMenuButton *button, gpointer data)
{
  GtkWidget *popover = gtk_popover_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  const LigRecipeInfo *info;
  gtk_widget_set_margin_top (box, 6);
  gtk_widget_set_margin_start (box, 6);
  gtk_widget_set_margin_end (box, 6);
  gtk_widget_set_margin_bottom (box, 18);
  /* A popover computes its height from the natural width of its texts, so the box sets that
   * width. */
  gtk_widget_set_size_request (box, 380, -1);
  gtk_box_append (GTK_BOX (box),
                  new_caption (_ ("Compared with no quantization on the same batch")));
  for (guint i = 0; (info = lig_recipe_info_nth (i)); i++)
    gtk_box_append (GTK_BOX (box), new_entry (button, info));
  gtk_box_append (GTK_BOX (box), new_start (button));
  gtk_popover_set_child (GTK_POPOVER (popover), box);
  gtk_menu_button_set_popover (button, popover);
}

void
lig_recipe_menu_set_up (GtkMenuButton *button, LigDocument *document)
{
  Menu *menu = g_new0 (Menu, 1);
  menu->document = document;
  menu->choices = g_hash_table_new (g_str_hash, g_str_equal);
  g_object_set_data_full (G_OBJECT (button), "lig-recipes", menu, free_menu);
  gtk_menu_button_set_create_popup_func (button, fill, NULL, NULL);
}
