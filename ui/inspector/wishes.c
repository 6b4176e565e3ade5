/* SPDX-License-Identifier: MIT */
/* The inspector's list of all forced and forbidden fusions, each with a button that drops it. */
#include "ui/document/wishes.h"

#include "ui/inspector/parts.h"
#include "ui/score/marks.h"
#include "ui/score/text.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/preview-hook.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

struct _LigWishList {
  AdwBin parent_instance;
  LigDocument *doc;
  GtkBox *lines;
  char *shown; /* the wishes that the lines were made from */
};

G_DEFINE_FINAL_TYPE (LigWishList, lig_wish_list, ADW_TYPE_BIN)

/* --- Lines --------------------------------------------------------------------------------- */

/* Returns the title of the group that a forced fusion created, null without one. */
static const char *
find_title (LigPlan *plan, const LigWish *wish)
{
  guint count, n_ops;
  const LigPlanOp *ops = plan ? lig_plan_get_ops (plan, &n_ops) : NULL;
  for (LigPass pass = LIG_PASS_FORWARD; ops && wish->forced && pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
    for (guint i = 0; i < count; i++)
      if (groups[i].fusion && g_str_equal (groups[i].fusion->name, wish->fusion) &&
          g_str_equal (ops[groups[i].first].path, wish->path))
        return groups[i].title;
  }
  return NULL;
}

/* Returns `Linear + bias + GELU at 4`, or the fusion's own words if it is not in the plan. */
static char *
describe_place (LigDocument *doc, const LigWish *wish)
{
  const LigFusion *fusion = lig_fusion_find (wish->fusion);
  const char *known = find_title (lig_document_get_plan (doc), wish);
  g_autofree char *words = fusion ? lig_score_fusion_name (fusion) : g_strdup (wish->fusion);
  g_autofree char *title = known ? g_strdup (known) : lig_figure_sentence (words);
  if (!wish->path)
    return g_strdup_printf (_ ("%s everywhere"), title);
  return g_strdup_printf (_ ("%s at %s"), title, wish->path);
}

/* Returns the kind of the wish, the pass, and the name used in files and commands. */
static char *
describe_kind (const LigWish *wish)
{
  return g_strdup_printf (wish->forced ? _ ("forced: %s") : _ ("forbidden: %s"), wish->fusion);
}

static GtkWidget *
make_texts (const LigWish *wish, const char *place)
{
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  g_autofree char *kind = describe_kind (wish);
  GtkWidget *name = lig_inspector_label (kind, "caption");
  const LigFusion *fusion = lig_fusion_find (wish->fusion);
  gtk_widget_add_css_class (name, "dim-label");
  gtk_box_append (GTK_BOX (texts), lig_inspector_label (place, NULL));
  gtk_box_append (GTK_BOX (texts), name);
  gtk_widget_set_hexpand (texts, TRUE);
  if (fusion && fusion->summary)
    lig_tooltip_set (texts, _ (fusion->summary));
  return texts;
}

/* Tries the sequence without the wish of a button. */
static gboolean
try_without (GtkWidget *button, LigDocument *doc, LigPreviewTrial *trial, gpointer data)
{
  gboolean forced;
  const char *path, *fusion;
  g_autoptr (LigSequence) copy = lig_sequence_copy (lig_document_get_sequence (doc));
  g_variant_get (gtk_actionable_get_action_target_value (GTK_ACTIONABLE (button)), "(b&s&s)",
                 &forced, &path, &fusion);
  gboolean removed = lig_wish_remove (copy, forced, *path ? path : NULL, fusion);
  trial->sequence = g_steal_pointer (&copy);
  trial->label =
    g_strdup_printf (forced ? _ ("Remove the override of %s") : _ ("Allow %s"), fusion);
  return removed;
}

static GtkWidget *
make_button (LigDocument *doc, const LigWish *wish, const char *place)
{
  GtkWidget *button =
    gtk_button_new_with_label (wish->forced ? _ ("Remove override") : _ ("Allow"));
  g_autofree char *label =
    g_strdup_printf (wish->forced ? _ ("Remove the override of %s") : _ ("Allow %s"), place);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "wishes.drop");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "(bss)", wish->forced,
                                    wish->path ? wish->path : "", wish->fusion);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  lig_preview_hook (button, doc, try_without, NULL, NULL);
  return button;
}

static GtkWidget *
make_line (LigDocument *doc, const LigWish *wish, const char *place)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 9);
  GtkWidget *sign = lig_score_marks_new (wish->forced ? LIG_SCORE_FORCED : LIG_SCORE_FORBIDDEN);
  gtk_box_append (GTK_BOX (line), sign);
  gtk_box_append (GTK_BOX (line), make_texts (wish, place));
  gtk_box_append (GTK_BOX (line), make_button (doc, wish, place));
  gtk_widget_add_css_class (line, "line");
  return line;
}

void
lig_wish_list_show (LigWishList *self)
{
  g_autoptr (GPtrArray) wishes = lig_document_list_wishes (self->doc);
  g_autoptr (GString) text = g_string_new (NULL);
  GtkWidget *line;
  for (guint i = 0; i < wishes->len; i++) {
    const LigWish *wish = wishes->pdata[i];
    g_autofree char *place = describe_place (self->doc, wish);
    g_string_append_printf (text, "%d %s %s\n", wish->forced, place, wish->fusion);
  }
  gtk_widget_set_visible (GTK_WIDGET (self), wishes->len > 0);
  if (g_strcmp0 (text->str, self->shown) == 0)
    return;
  g_free (self->shown);
  self->shown = g_strdup (text->str);
  while ((line = gtk_widget_get_first_child (GTK_WIDGET (self->lines))))
    gtk_box_remove (self->lines, line);
  for (guint i = 0; i < wishes->len; i++) {
    g_autofree char *place = describe_place (self->doc, wishes->pdata[i]);
    gtk_box_append (self->lines, make_line (self->doc, wishes->pdata[i], place));
  }
}

static void
drop (GtkWidget *widget, const char *action, GVariant *target)
{
  gboolean forced;
  const char *path, *fusion;
  g_variant_get (target, "(b&s&s)", &forced, &path, &fusion);
  lig_document_drop_wish (LIG_WISH_LIST (widget)->doc, forced, *path ? path : NULL, fusion);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_wish_list_finalize (GObject *object)
{
  LigWishList *self = LIG_WISH_LIST (object);
  g_clear_object (&self->doc);
  g_free (self->shown);
  G_OBJECT_CLASS (lig_wish_list_parent_class)->finalize (object);
}

static void
lig_wish_list_class_init (LigWishListClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_wish_list_finalize;
  gtk_widget_class_install_action (GTK_WIDGET_CLASS (class), "wishes.drop", "(bss)", drop);
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_wish_list_init (LigWishList *self)
{
}

GtkWidget *
lig_wish_list_new (LigDocument *doc)
{
  LigWishList *self = g_object_new (LIG_TYPE_WISH_LIST, NULL);
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *lines = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->doc = g_object_ref (doc);
  self->lines = GTK_BOX (lines);
  gtk_widget_add_css_class (lines, "card");
  gtk_widget_add_css_class (lines, "lines");
  gtk_box_append (GTK_BOX (whole), lig_inspector_label (_ ("Forced and forbidden"), "heading"));
  gtk_box_append (GTK_BOX (whole), lines);
  adw_bin_set_child (ADW_BIN (self), whole);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Forced and forbidden"), -1);
  return GTK_WIDGET (self);
}
