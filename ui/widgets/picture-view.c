/* SPDX-License-Identifier: MIT */
/* Pictures as widgets. A picture is drawn once, on a cairo node, and again when its data, size or
 * colours change; the highlighted mark is drawn above it. */
#include "ui/widgets/picture-view.h"

#include "ui/widgets/style-colours.h"
#include "ui/widgets/text-scale.h"
#include "ui/widgets/toast.h"
#include <ligature/report.h>

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

struct _LigPictureView {
  GtkWidget parent_instance;
  char *name;
  LigPictureDraw draw;
  LigPictureHeight height;
  double min;
  gpointer data;
  GDestroyNotify free_data;

  LigCanvas *canvas; /* the marks of the picture */
  GArray *marks;     /* of LigMark: the same in widget pixels */
  cairo_t *cairo;    /* used by the canvas; null: nothing was drawn */
  GskRenderNode *node;
  int drawn_width, drawn_height;
  double scale;    /* pixels per unit of the picture: larger text needs a larger picture */
  int at, hovered; /* marks; -1: none */
  GtkWidget *menu;
};

G_DEFINE_FINAL_TYPE (LigPictureView, lig_picture_view, GTK_TYPE_WIDGET)

enum { PROP_MARK_TEXT = 1, N_PROPS };
static GParamSpec *props[N_PROPS];
static guint activated;

static double
wanted_height (LigPictureView *self)
{
  double height = self->draw && self->height ? self->height (self->data) : 0;
  return MAX (height, self->min);
}

/* Draws at the size that the picture has at the usual text size. */
static void
draw_picture (LigPictureView *self, LigCanvas *canvas)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self)) / self->scale;
  double height = gtk_widget_get_height (GTK_WIDGET (self)) / self->scale;
  self->draw (canvas, lig_style_colours (), width > 0 ? width : 800,
              height > 0 ? height : wanted_height (self), self->data);
}

static void
take_canvas (LigPictureView *self, LigCanvas *canvas)
{
  guint count;
  self->canvas = canvas;
  const LigMark *marks = lig_canvas_get_marks (canvas, &count);
  g_array_set_size (self->marks, 0);
  for (guint i = 0; i < count; i++) {
    LigMark mark = marks[i];
    mark.x *= self->scale;
    mark.y *= self->scale;
    mark.width *= self->scale;
    mark.height *= self->scale;
    g_array_append_val (self->marks, mark);
  }
}

/* --- Marks --------------------------------------------------------------------------------- */

/* Marks come from a canvas that draws nothing, so that they exist before the first frame. */
static void
measure_marks (LigPictureView *self)
{
  if (self->canvas || !self->draw)
    return;
  LigCanvas *canvas = lig_canvas_new_blank ();
  draw_picture (self, canvas);
  take_canvas (self, canvas);
}

const LigMark *
lig_picture_view_get_marks (LigPictureView *self, guint *count)
{
  *count = 0;
  measure_marks (self);
  *count = self->canvas ? self->marks->len : 0;
  return (const LigMark *) (gpointer) self->marks->data;
}

static const LigMark *
nth_mark (LigPictureView *self, int n)
{
  guint count;
  const LigMark *marks = lig_picture_view_get_marks (self, &count);
  return n >= 0 && n < (int) count ? &marks[n] : NULL;
}

/* The last mark drawn is on top; a mark that is thinner than the pointer is also found near it. */
static int
find_mark (LigPictureView *self, double x, double y)
{
  guint count;
  const LigMark *marks = lig_picture_view_get_marks (self, &count);
  for (double reach = 0; reach <= 4; reach += 4)
    for (guint i = count; i > 0; i--) {
      const LigMark *mark = &marks[i - 1];
      if (x >= mark->x - reach && x <= mark->x + mark->width + reach && y >= mark->y - reach &&
          y <= mark->y + mark->height + reach)
        return (int) i - 1;
    }
  return -1;
}

static const char *
current_text (LigPictureView *self)
{
  int n = self->hovered >= 0 ? self->hovered : self->at;
  const LigMark *mark = n >= 0 ? nth_mark (self, n) : NULL;
  return mark ? mark->text : NULL;
}

/* The number of marks is only known after drawing, which is deferred until a screen reader asks. */
static void
tell (LigPictureView *self)
{
  guint count = 0;
  const LigMark *mark = self->at >= 0 ? nth_mark (self, self->at) : NULL;
  if (mark)
    lig_picture_view_get_marks (self, &count);
  g_autofree char *text = mark
                            ? g_strdup_printf (_ ("%d of %u: %s"), self->at + 1, count, mark->text)
                            : g_strdup (_ ("A picture; the arrow keys move through its parts"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text,
                                  -1);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_MARK_TEXT]);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Scrolls to the mark if the picture is inside a scrolled window. */
static void
scroll_to (LigPictureView *self, const LigMark *mark)
{
  GtkWidget *window = gtk_widget_get_ancestor (GTK_WIDGET (self), GTK_TYPE_SCROLLED_WINDOW);
  if (!window)
    return;
  double y;
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (window));
  if (gtk_widget_translate_coordinates (GTK_WIDGET (self), window, 0, mark->y, NULL, &y))
    gtk_adjustment_clamp_page (adjustment, gtk_adjustment_get_value (adjustment) + y - 24,
                               gtk_adjustment_get_value (adjustment) + y + mark->height + 24);
}

int
lig_picture_view_get_mark (LigPictureView *self)
{
  return self->at;
}

void
lig_picture_view_set_mark (LigPictureView *self, int at)
{
  guint count;
  lig_picture_view_get_marks (self, &count);
  at = count == 0 ? -1 : CLAMP (at, -1, (int) count - 1);
  if (self->at == at)
    return;
  self->at = at;
  self->hovered = -1;
  if (at >= 0)
    scroll_to (self, nth_mark (self, at));
  tell (self);
}

static gboolean
walk (GtkWidget *widget, GVariant *argument, gpointer data)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  guint count;
  int by = g_variant_get_int32 (argument);
  lig_picture_view_get_marks (self, &count);
  if (by == G_MININT32 || by == G_MAXINT32)
    lig_picture_view_set_mark (self, by < 0 ? 0 : (int) count - 1);
  else if (self->at < 0)
    lig_picture_view_set_mark (self, by < 0 ? (int) count - 1 : 0);
  else
    lig_picture_view_set_mark (self, MAX (self->at + by, 0));
  return count > 0;
}

static gboolean
leave_mark (GtkWidget *widget, GVariant *argument, gpointer data)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  if (self->at < 0)
    return FALSE;
  lig_picture_view_set_mark (self, -1);
  return TRUE;
}

static gboolean
activate (GtkWidget *widget, GVariant *argument, gpointer data)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  if (self->at >= 0)
    g_signal_emit (self, activated, 0, self->at);
  return self->at >= 0;
}

/* --- The pointer --------------------------------------------------------------------------- */

static void
hover (LigPictureView *self, int mark)
{
  if (self->hovered == mark)
    return;
  self->hovered = mark;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_MARK_TEXT]);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
move_pointer (LigPictureView *self, double x, double y)
{
  hover (self, find_mark (self, x, y));
}

static void
leave_pointer (LigPictureView *self)
{
  hover (self, -1);
}

static void
press (LigPictureView *self, int presses, double x, double y)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  lig_picture_view_set_mark (self, find_mark (self, x, y));
  if (presses == 2)
    activate (GTK_WIDGET (self), NULL, NULL);
}

static gboolean
lig_picture_view_query_tooltip (
  GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  const LigMark *mark = nth_mark (self, keyboard ? self->at : find_mark (self, x, y));
  if (!mark)
    return FALSE;
  GdkRectangle area = {(int) mark->x, (int) mark->y, (int) ceil (mark->width),
                       (int) ceil (mark->height)};
  gtk_tooltip_set_text (tooltip, mark->text);
  /* Long marks show their tooltip at the pointer. */
  if (keyboard || mark->width < 200)
    gtk_tooltip_set_tip_area (tooltip, &area);
  return TRUE;
}

static void
show_menu (LigPictureView *self, double x, double y)
{
  GdkRectangle place = {(int) x, (int) y, 1, 1};
  gtk_popover_set_pointing_to (GTK_POPOVER (self->menu), &place);
  gtk_popover_popup (GTK_POPOVER (self->menu));
}

static void
press_secondary (LigPictureView *self, int presses, double x, double y)
{
  show_menu (self, x, y);
}

static gboolean
press_menu (GtkWidget *widget, GVariant *argument, gpointer data)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  const LigMark *mark = nth_mark (self, self->at);
  show_menu (self, mark ? mark->x + mark->width / 2 : 24, mark ? mark->y + mark->height : 24);
  return TRUE;
}

/* Places the menu at a button above the picture's right edge. */
static void
open_menu (GtkWidget *widget, const char *action, GVariant *argument)
{
  show_menu (LIG_PICTURE_VIEW (widget), gtk_widget_get_width (widget) - 24, 0);
}

/* --- Drawing ------------------------------------------------------------------------------- */

static void
forget (LigPictureView *self)
{
  g_clear_pointer (&self->node, gsk_render_node_unref);
  g_clear_pointer (&self->canvas, lig_canvas_free);
  g_clear_pointer (&self->cairo, cairo_destroy);
  if (self->marks)
    g_array_set_size (self->marks, 0);
}

void
lig_picture_view_redraw (LigPictureView *self)
{
  forget (self);
  self->hovered = -1;
  if (self->at >= 0 && !nth_mark (self, self->at))
    self->at = -1;
  tell (self);
}

static void
draw_node (LigPictureView *self, int width, int height)
{
  graphene_rect_t bounds = GRAPHENE_RECT_INIT (0, 0, (float) width, (float) height);
  GskRenderNode *node = gsk_cairo_node_new (&bounds);
  forget (self);
  self->cairo = gsk_cairo_node_get_draw_context (node);
  cairo_scale (self->cairo, self->scale, self->scale);
  LigCanvas *canvas = lig_canvas_new (self->cairo);
  draw_picture (self, canvas);
  take_canvas (self, canvas);
  self->node = node;
  self->drawn_width = width;
  self->drawn_height = height;
}

static void
draw_ring (LigPictureView *self, GtkSnapshot *snapshot, int n, gboolean strong)
{
  const LigMark *mark = nth_mark (self, n);
  if (!mark)
    return;
  const LigColours *theme = lig_style_colours ();
  LigColour colour = strong ? theme->forward : theme->dim;
  GdkRGBA rgba = {(float) (colour >> 24) / 255, (float) (colour >> 16 & 255) / 255,
                  (float) (colour >> 8 & 255) / 255, strong ? 1 : 0.6f};
  const float width[4] = {strong ? 2 : 1, strong ? 2 : 1, strong ? 2 : 1, strong ? 2 : 1};
  const GdkRGBA colours[4] = {rgba, rgba, rgba, rgba};
  GskRoundedRect outline;
  graphene_rect_t rect = GRAPHENE_RECT_INIT ((float) mark->x - 3, (float) mark->y - 3,
                                             (float) mark->width + 6, (float) mark->height + 6);
  gsk_rounded_rect_init_from_rect (&outline, &rect, 4);
  gtk_snapshot_append_border (snapshot, &outline, width, colours);
}

static void
lig_picture_view_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  if (!self->draw || width <= 0 || height <= 0)
    return;
  if (!self->node || self->drawn_width != width || self->drawn_height != height)
    draw_node (self, width, height);
  gtk_snapshot_append_node (snapshot, self->node);
  if (self->hovered >= 0 && self->hovered != self->at)
    draw_ring (self, snapshot, self->hovered, FALSE);
  if (gtk_widget_has_focus (widget))
    draw_ring (self, snapshot, self->at, TRUE);
}

static void
lig_picture_view_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  GTK_WIDGET_CLASS (lig_picture_view_parent_class)->css_changed (widget, change);
  double scale = lig_text_scale (widget);
  if (scale == self->scale)
    return;
  self->scale = scale;
  forget (self);
  gtk_widget_queue_resize (widget);
}

static void
lig_picture_view_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  gboolean across = orientation == GTK_ORIENTATION_HORIZONTAL;
  *minimum = across ? 320 : (int) ceil (wanted_height (self) * self->scale);
  *natural = across ? (int) (760 * self->scale) : *minimum;
}

static void
lig_picture_view_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  if (width != self->drawn_width || height != self->drawn_height)
    forget (self);
  gtk_popover_present (GTK_POPOVER (self->menu));
}

/* --- Files and the clipboard ----------------------------------------------------------------- */

static void
draw_on (LigCanvas *canvas, gpointer data)
{
  draw_picture (data, canvas);
}

/* Returns the picture as shown, in a format of lig_draw_to_file(). */
static GBytes *
to_file (LigPictureView *self, const char *format, GError **error)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self)) / self->scale;
  double height = gtk_widget_get_height (GTK_WIDGET (self)) / self->scale;
  if (!self->draw) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("there is no picture yet"));
    return NULL;
  }
  return lig_draw_to_file (format, width > 0 ? width : 800,
                           height > 0 ? height : wanted_height (self), lig_style_colours ()->card,
                           draw_on, self, error);
}

static void
save (LigPictureView *self, const char *path)
{
  g_autoptr (GError) error = NULL;
  const char *dot = strrchr (path, '.');
  g_autoptr (GBytes) bytes = to_file (self, dot ? dot + 1 : "", &error);
  if (bytes && lig_report_save (bytes, path, &error)) {
    g_autofree char *name = g_path_get_basename (path);
    g_autofree char *text = g_strdup_printf (_ ("The picture was saved as “%s”"), name);
    lig_toast (GTK_WIDGET (self), text, NULL, NULL);
    return;
  }
  lig_toast_error (GTK_WIDGET (self), g_steal_pointer (&error));
}

static void
take_file (GtkNativeDialog *dialog, int response, gpointer data)
{
  LigPictureView *self = data;
  if (response == GTK_RESPONSE_ACCEPT) {
    g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
    g_autofree char *path = file ? g_file_get_path (file) : NULL;
    if (path)
      save (self, path);
  }
  g_object_unref (dialog);
}

static void export(GtkWidget *widget, const char *action, GVariant *argument)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  g_autofree char *name =
    g_strdup_printf ("%s.%s", self->name, action + strlen ("picture.export-"));
  GtkFileChooserNative *dialog =
    gtk_file_chooser_native_new (_ ("Save picture"), GTK_WINDOW (gtk_widget_get_root (widget)),
                                 GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"), _ ("_Cancel"));
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  g_signal_connect_object (dialog, "response", G_CALLBACK (take_file), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
export_to (GtkWidget *widget, const char *action, GVariant *argument)
{
  save (LIG_PICTURE_VIEW (widget), g_variant_get_string (argument, NULL));
}

/* Copies an image for programs that paste images, and SVG for those that accept it. */
static void
copy (GtkWidget *widget, const char *action, GVariant *argument)
{
  LigPictureView *self = LIG_PICTURE_VIEW (widget);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) png = to_file (self, "png", &error);
  g_autoptr (GBytes) svg = png ? to_file (self, "svg", &error) : NULL;
  if (!svg) {
    lig_toast_error (widget, g_steal_pointer (&error));
    return;
  }
  GdkContentProvider *all[] = {gdk_content_provider_new_for_bytes ("image/png", png),
                               gdk_content_provider_new_for_bytes ("image/svg+xml", svg)};
  g_autoptr (GdkContentProvider) content = gdk_content_provider_new_union (all, G_N_ELEMENTS (all));
  gdk_clipboard_set_content (gtk_widget_get_clipboard (widget), content);
  lig_toast (widget, _ ("The picture was copied"), NULL, NULL);
}

static void
install_files (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "picture.export-png", NULL, export);
  gtk_widget_class_install_action (widget_class, "picture.export-svg", NULL, export);
  gtk_widget_class_install_action (widget_class, "picture.export-pdf", NULL, export);
  gtk_widget_class_install_action (widget_class, "picture.export-to", "s", export_to);
  gtk_widget_class_install_action (widget_class, "picture.copy", NULL, copy);
}

/* --- Construction -------------------------------------------------------------------------- */

static GMenuModel *
new_menu (void)
{
  GMenu *menu = g_menu_new ();
  g_autoptr (GMenu) files = g_menu_new ();
  g_menu_append (menu, _ ("_Copy picture"), "picture.copy");
  g_menu_append (files, _ ("Save as _PNG…"), "picture.export-png");
  g_menu_append (files, _ ("Save as _SVG…"), "picture.export-svg");
  g_menu_append (files, _ ("Save as P_DF…"), "picture.export-pdf");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (files));
  return G_MENU_MODEL (menu);
}

void
lig_picture_view_set_picture (LigPictureView *self,
                              LigPictureDraw draw,
                              LigPictureHeight height,
                              double min,
                              gpointer data,
                              GDestroyNotify free_data)
{
  if (self->free_data)
    self->free_data (self->data);
  self->draw = draw;
  self->height = height;
  self->min = min;
  self->data = data;
  self->free_data = free_data;
  gtk_widget_queue_resize (GTK_WIDGET (self));
  lig_picture_view_redraw (self);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  g_value_set_string (value, current_text (LIG_PICTURE_VIEW (object)));
}

static void
lig_picture_view_dispose (GObject *object)
{
  LigPictureView *self = LIG_PICTURE_VIEW (object);
  forget (self);
  g_clear_pointer (&self->marks, g_array_unref);
  g_clear_pointer (&self->menu, gtk_widget_unparent);
  if (self->free_data)
    self->free_data (self->data);
  self->free_data = NULL;
  self->draw = NULL;
  g_clear_pointer (&self->name, g_free);
  G_OBJECT_CLASS (lig_picture_view_parent_class)->dispose (object);
}

static void
add_key (GtkWidgetClass *class, guint key, int by)
{
  gtk_widget_class_add_binding (class, key, 0, walk, "i", by);
}

static void
lig_picture_view_class_init (LigPictureViewClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_picture_view_dispose;
  G_OBJECT_CLASS (class)->get_property = get_property;
  widget_class->snapshot = lig_picture_view_snapshot;
  widget_class->css_changed = lig_picture_view_css_changed;
  widget_class->measure = lig_picture_view_measure;
  widget_class->size_allocate = lig_picture_view_size_allocate;
  widget_class->query_tooltip = lig_picture_view_query_tooltip;
  props[PROP_MARK_TEXT] =
    g_param_spec_string ("mark-text", NULL, NULL, NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (G_OBJECT_CLASS (class), N_PROPS, props);
  activated = g_signal_new ("activated", LIG_TYPE_PICTURE_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                            NULL, G_TYPE_NONE, 1, G_TYPE_INT);
  install_files (widget_class);
  gtk_widget_class_set_css_name (widget_class, "picture-view");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  gtk_widget_class_install_action (widget_class, "picture.menu", NULL, open_menu);
  add_key (widget_class, GDK_KEY_Left, -1);
  add_key (widget_class, GDK_KEY_Up, -1);
  add_key (widget_class, GDK_KEY_Right, 1);
  add_key (widget_class, GDK_KEY_Down, 1);
  add_key (widget_class, GDK_KEY_Page_Up, -10);
  add_key (widget_class, GDK_KEY_Page_Down, 10);
  add_key (widget_class, GDK_KEY_Home, G_MININT32);
  add_key (widget_class, GDK_KEY_End, G_MAXINT32);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Return, 0, activate, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_KP_Enter, 0, activate, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Escape, 0, leave_mark, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Menu, 0, press_menu, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_F10, GDK_SHIFT_MASK, press_menu, NULL);
}

static void
add_gestures (LigPictureView *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkGesture *primary = gtk_gesture_click_new (), *secondary = gtk_gesture_click_new ();
  g_signal_connect_swapped (motion, "motion", G_CALLBACK (move_pointer), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (leave_pointer), self);
  g_signal_connect_swapped (primary, "pressed", G_CALLBACK (press), self);
  g_signal_connect_swapped (secondary, "pressed", G_CALLBACK (press_secondary), self);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (secondary), GDK_BUTTON_SECONDARY);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (primary));
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (secondary));
}

static void
lig_picture_view_init (LigPictureView *self)
{
  AdwStyleManager *style = adw_style_manager_get_default ();
  g_autoptr (GMenuModel) model = new_menu ();
  self->at = self->hovered = -1;
  self->scale = 1;
  self->marks = g_array_new (FALSE, FALSE, sizeof (LigMark));
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  self->menu = gtk_popover_menu_new_from_model (model);
  gtk_popover_set_has_arrow (GTK_POPOVER (self->menu), FALSE);
  gtk_widget_set_halign (self->menu, GTK_ALIGN_START);
  gtk_widget_set_parent (self->menu, GTK_WIDGET (self));
  add_gestures (self);
  g_signal_connect_object (style, "notify::dark", G_CALLBACK (lig_picture_view_redraw), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (style, "notify::high-contrast", G_CALLBACK (lig_picture_view_redraw),
                           self, G_CONNECT_SWAPPED);
}

GtkWidget *
lig_picture_view_new (const char *label, const char *name)
{
  LigPictureView *self = g_object_new (LIG_TYPE_PICTURE_VIEW, NULL);
  self->name = g_strdup (name);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return GTK_WIDGET (self);
}
