/* SPDX-License-Identifier: MIT */
#include "ui/try/settings.h"

#include <ligature/json-members.h>
#include <ligature/shell.h>

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

/* A setting. `initial` is the default of the command.
 *
 * @off: the value that switches it off; NaN: none
 * @wide: whether its range is too wide for a slider */
typedef struct {
  const char *name, *label, *help;
  double min, max, step, initial, off;
  int digits;
  gboolean wide;
} Setting;

static const Setting settings[] = {
  {"temperature", N_ ("Temperature"),
   N_ ("0: always the most probable token; higher: more surprising"), 0, 2, 0.05, 0.8, NAN, 2,
   FALSE},
  {"top-p", N_ ("Top p"), N_ ("Draw among the most probable tokens with this probability together"),
   0.05, 1, 0.05, 1, 1, 2, FALSE},
  {"min-p", N_ ("Min p"),
   N_ ("Draw no token that is less probable than this share of the most probable one"), 0, 0.5,
   0.01, 0, 0, 2, FALSE},
  {"repetition", N_ ("Repetition penalty"),
   N_ ("Makes tokens less probable that the text has already"), 1, 2, 0.05, 1, 1, 2, FALSE},
  {"top-k", N_ ("Top k"), N_ ("Draw among this number of most probable tokens; 0: all"), 0, 1000, 1,
   0, 0, 0, TRUE},
  {"max", N_ ("Longest text"), N_ ("The most tokens of a continuation"), 1, 100000, 16, 256, NAN, 0,
   TRUE},
  {"seed", N_ ("Seed"), N_ ("The same seed gives the same text"), 0, 1e9, 1, 0, NAN, 0, TRUE},
  {"copies", N_ ("Continuations"), N_ ("In columns, with seeds one after the other"), 1, 4, 1, 1,
   NAN, 0, TRUE},
};

enum { N_SETTINGS = G_N_ELEMENTS (settings) };

struct _LigTrySettings {
  GtkBox parent_instance;
  GtkAdjustment *values[N_SETTINGS];
  GtkLabel *figures[N_SETTINGS]; /* of sliders */
};

G_DEFINE_FINAL_TYPE (LigTrySettings, lig_try_settings, GTK_TYPE_BOX)

static guint changed_signal;

static guint
find (const char *name)
{
  guint i = 0;
  while (i + 1 < N_SETTINGS && strcmp (settings[i].name, name) != 0)
    i++;
  return i;
}

/* Rounds to the steps of a slider, and without what the product adds: 0.30000000000000004. */
static double
get (LigTrySettings *self, guint i)
{
  const Setting *setting = &settings[i];
  double scale = pow (10, setting->digits), value = gtk_adjustment_get_value (self->values[i]);
  if (!setting->wide)
    value = round (value / setting->step) * setting->step;
  return round (value * scale) / scale;
}

double
lig_try_settings_get (LigTrySettings *self, const char *name)
{
  return get (self, find (name));
}

void
lig_try_settings_set (LigTrySettings *self, const char *name, double value)
{
  gtk_adjustment_set_value (self->values[find (name)], value);
}

guint
lig_try_settings_get_copies (LigTrySettings *self)
{
  return (guint) lig_try_settings_get (self, "copies");
}

void
lig_try_settings_add_request (LigTrySettings *self, JsonBuilder *to, guint copy)
{
  for (guint i = 0; i < N_SETTINGS; i++) {
    const Setting *setting = &settings[i];
    double value = get (self, i);
    if (g_str_equal (setting->name, "copies"))
      continue;
    if (g_str_equal (setting->name, "seed"))
      value += copy;
    if (setting->digits > 0)
      lig_json_add_number (to, setting->name, value);
    else
      lig_json_add_integer (to, setting->name, (gint64) value);
  }
}

void
lig_try_settings_append_options (LigTrySettings *self, GString *to)
{
  for (guint i = 0; i < N_SETTINGS; i++) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    double value = get (self, i);
    if (value == settings[i].initial)
      continue;
    g_ascii_formatd (text, sizeof text, "%.10g", value);
    lig_shell_append_option (to, settings[i].name, text);
  }
}

/* --- Rows ---------------------------------------------------------------------------------- */

static void
show_figure (LigTrySettings *self, guint i)
{
  double value = get (self, i);
  g_autofree char *text = value == settings[i].off
                            ? g_strdup (C_ ("sampling", "off"))
                            : g_strdup_printf ("%.*f", settings[i].digits, value);
  if (self->figures[i])
    gtk_label_set_label (self->figures[i], text);
}

static void
value_changed (GtkAdjustment *adjustment, LigTrySettings *self)
{
  for (guint i = 0; i < N_SETTINGS; i++)
    if (self->values[i] == adjustment)
      show_figure (self, i);
  g_signal_emit (self, changed_signal, 0);
}

static GtkWidget *
make_control (LigTrySettings *self, guint i)
{
  const Setting *setting = &settings[i];
  GtkWidget *control =
    setting->wide ? gtk_spin_button_new (self->values[i], setting->step, (guint) setting->digits)
                  : gtk_scale_new (GTK_ORIENTATION_HORIZONTAL, self->values[i]);
  if (setting->wide) {
    gtk_editable_set_width_chars (GTK_EDITABLE (control), 5);
    gtk_editable_set_max_width_chars (GTK_EDITABLE (control), 6);
    gtk_spin_button_set_numeric (GTK_SPIN_BUTTON (control), TRUE);
  }
  gtk_widget_set_tooltip_text (control, _ (setting->help));
  gtk_accessible_update_property (GTK_ACCESSIBLE (control), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ (setting->label), -1);
  return control;
}

static void
draw_seed (GtkButton *button, LigTrySettings *self)
{
  lig_try_settings_set (self, "seed", g_random_int_range (0, 10000));
}

static GtkWidget *
make_dice (LigTrySettings *self)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("media-playlist-shuffle-symbolic");
  gtk_widget_set_tooltip_text (button, _ ("Another seed"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Another seed"), -1);
  gtk_widget_add_css_class (button, "flat");
  g_signal_connect (button, "clicked", G_CALLBACK (draw_seed), self);
  return button;
}

static void
add_row (LigTrySettings *self, guint i)
{
  const Setting *setting = &settings[i];
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *label = gtk_label_new (_ (setting->label));
  GtkWidget *control = make_control (self, i);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_box_append (GTK_BOX (line), label);
  gtk_box_append (GTK_BOX (row), line);
  if (setting->wide && g_str_equal (setting->name, "seed"))
    gtk_box_append (GTK_BOX (line), make_dice (self));
  if (setting->wide) {
    gtk_box_append (GTK_BOX (line), control);
  } else {
    GtkWidget *figure = gtk_label_new (NULL);
    gtk_widget_add_css_class (figure, "numeric");
    gtk_widget_add_css_class (figure, "heading");
    gtk_box_append (GTK_BOX (line), figure);
    gtk_box_append (GTK_BOX (row), control);
    self->figures[i] = GTK_LABEL (figure);
  }
  show_figure (self, i);
  gtk_box_append (GTK_BOX (self), row);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_try_settings_dispose (GObject *object)
{
  LigTrySettings *self = LIG_TRY_SETTINGS (object);
  for (guint i = 0; i < N_SETTINGS; i++) {
    if (self->values[i])
      g_signal_handlers_disconnect_by_data (self->values[i], self);
    g_clear_object (&self->values[i]);
    self->figures[i] = NULL;
  }
  G_OBJECT_CLASS (lig_try_settings_parent_class)->dispose (object);
}

static void
lig_try_settings_class_init (LigTrySettingsClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_try_settings_dispose;
  changed_signal = g_signal_new ("changed", LIG_TYPE_TRY_SETTINGS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
}

static void
lig_try_settings_init (LigTrySettings *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 9);
  for (guint i = 0; i < N_SETTINGS; i++) {
    const Setting *setting = &settings[i];
    self->values[i] = g_object_ref_sink (gtk_adjustment_new (
      setting->initial, setting->min, setting->max, setting->step, setting->step * 4, 0));
    g_signal_connect (self->values[i], "value-changed", G_CALLBACK (value_changed), self);
    add_row (self, i);
  }
}

GtkWidget *
lig_try_settings_new (void)
{
  return g_object_new (LIG_TYPE_TRY_SETTINGS, NULL);
}
