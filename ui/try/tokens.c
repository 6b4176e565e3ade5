/* SPDX-License-Identifier: MIT */
/* One Pango layout has all of the text, so that words break and shape as in any text; the grounds
 * are drawn below it. */
#include "ui/try/tokens.h"

#include "ui/try/token-card.h"
#include <ligature/json.h>

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

typedef struct {
  guint start, end; /* bytes of the text; equal until its characters are complete */
  double probability;
  JsonObject *line;
} Token;

struct _LigTokens {
  GtkWidget parent_instance;
  GString *text;
  GArray *tokens; /* Token */
  guint placed;   /* the tokens whose place in the text is known */
  PangoLayout *layout;
  int width;       /* of the layout */
  GArray *grounds; /* Ground; null: to be computed */
  gboolean plain;
  int cursor, hovered; /* tokens; -1: none */
  GtkWidget *card;
};

/* A rectangle of a token; one that breaks has several. */
typedef struct {
  guint token;
  graphene_rect_t place;
} Ground;

G_DEFINE_FINAL_TYPE (LigTokens, lig_tokens, GTK_TYPE_WIDGET)

static Token *
nth (LigTokens *self, guint n)
{
  return &g_array_index (self->tokens, Token, n);
}

static void
clear_token (gpointer data)
{
  g_clear_pointer (&((Token *) data)->line, json_object_unref);
}

/* --- Colours ------------------------------------------------------------------------------- */

LigTokenStep
lig_token_step (double probability)
{
  return probability >= 0.5   ? LIG_TOKEN_LIKELY
         : probability >= 0.1 ? LIG_TOKEN_POSSIBLE
                              : LIG_TOKEN_UNLIKELY;
}

/* Likely tokens recede, so that the eye finds those that surprised the model. Teal, amber and
 * vermilion differ for colour-blind readers, too. */
static GdkRGBA
get_colour (double probability)
{
  static const GdkRGBA light[] = {
    {0.0f, 0.55f, 0.50f, 0.13f}, {0.93f, 0.66f, 0.0f, 0.30f}, {0.86f, 0.25f, 0.10f, 0.30f}};
  static const GdkRGBA dark[] = {
    {0.25f, 0.80f, 0.72f, 0.20f}, {0.98f, 0.75f, 0.15f, 0.32f}, {1.0f, 0.42f, 0.27f, 0.45f}};
  AdwStyleManager *style = adw_style_manager_get_default ();
  GdkRGBA colour =
    (adw_style_manager_get_dark (style) ? dark : light)[lig_token_step (probability)];
  if (adw_style_manager_get_high_contrast (style))
    colour.alpha = MIN (colour.alpha * 1.6f, 0.7f);
  return colour;
}

static void
draw_ground (GtkSnapshot *snapshot, const graphene_rect_t *place, const GdkRGBA *colour)
{
  GskRoundedRect outline;
  gsk_rounded_rect_init_from_rect (&outline, place, 3);
  gtk_snapshot_push_rounded_clip (snapshot, &outline);
  gtk_snapshot_append_color (snapshot, colour, place);
  gtk_snapshot_pop (snapshot);
}

/* The grounds of single characters with one colour are drawn as one, so that a model of bytes does
 * not make a comb. */
static gboolean
joins (LigTokens *self, const Ground *one, const Ground *next)
{
  const Token *a = nth (self, one->token), *b = nth (self, next->token);
  return a->end - a->start <= 1 && b->end - b->start <= 1 &&
         lig_token_step (a->probability) == lig_token_step (b->probability) &&
         one->place.origin.y == next->place.origin.y &&
         fabsf (one->place.origin.x + one->place.size.width - next->place.origin.x) < 2;
}

static void
draw_grounds (LigTokens *self, GtkSnapshot *snapshot)
{
  for (guint i = 0; i < self->grounds->len;) {
    const Ground *ground = &g_array_index (self->grounds, Ground, i);
    GdkRGBA colour = get_colour (nth (self, ground->token)->probability);
    graphene_rect_t place = ground->place;
    for (i++; i < self->grounds->len && joins (self, &g_array_index (self->grounds, Ground, i - 1),
                                               &g_array_index (self->grounds, Ground, i));
         i++)
      graphene_rect_union (&place, &g_array_index (self->grounds, Ground, i).place, &place);
    draw_ground (snapshot, &place, &colour);
  }
}

/* --- Layout -------------------------------------------------------------------------------- */

static PangoLayout *
make_layout (LigTokens *self)
{
  PangoLayout *layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), self->text->str);
  pango_layout_set_wrap (layout, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_line_spacing (layout, 1.45f);
  return layout;
}

static void
forget_layout (LigTokens *self)
{
  g_clear_object (&self->layout);
  g_clear_pointer (&self->grounds, g_array_unref);
}

static PangoLayout *
get_layout (LigTokens *self, int width)
{
  if (!self->layout)
    self->layout = make_layout (self);
  if (self->width != width)
    g_clear_pointer (&self->grounds, g_array_unref);
  self->width = width;
  pango_layout_set_width (self->layout, width * PANGO_SCALE);
  return self->layout;
}

/* Appends the rectangles that a token has in a line. The end of a line gets a narrow one for its
 * line break. */
static void
add_ground (LigTokens *self, PangoLayoutIter *iter, guint n)
{
  PangoLayoutLine *line = pango_layout_iter_get_line_readonly (iter);
  const Token *token = nth (self, n);
  PangoRectangle logical;
  int count, *ranges;
  int from = MAX ((int) token->start, line->start_index);
  int to = MIN ((int) token->end, line->start_index + line->length);
  pango_layout_iter_get_line_extents (iter, NULL, &logical);
  float top = (float) logical.y / PANGO_SCALE, height = (float) logical.height / PANGO_SCALE;
  /* Grounds of lines with much space between them do not touch. */
  float inset = height * 0.12f;
  if (to <= from) {
    int x;
    pango_layout_line_index_to_x (line, from, FALSE, &x);
    Ground end = {n, GRAPHENE_RECT_INIT ((float) (logical.x + x) / PANGO_SCALE + 1, top + inset, 6,
                                         height - 2 * inset)};
    g_array_append_val (self->grounds, end);
    return;
  }
  pango_layout_line_get_x_ranges (line, from, to, &ranges, &count);
  for (int i = 0; i < count; i++) {
    float left = (float) ranges[2 * i] / PANGO_SCALE,
          right = (float) ranges[2 * i + 1] / PANGO_SCALE;
    Ground ground = {n, GRAPHENE_RECT_INIT (left + 0.5f, top + inset, MAX (right - left - 1, 1),
                                            height - 2 * inset)};
    g_array_append_val (self->grounds, ground);
  }
  g_free (ranges);
}

static gboolean
is_in_line (const Token *token, const PangoLayoutLine *line, int next)
{
  return (int) token->start < next && (int) token->end > line->start_index;
}

static void
measure_grounds (LigTokens *self)
{
  if (self->grounds)
    return;
  PangoLayout *layout = get_layout (self, gtk_widget_get_width (GTK_WIDGET (self)));
  PangoLayoutIter *iter = pango_layout_get_iter (layout);
  guint first = 0;
  self->grounds = g_array_new (FALSE, FALSE, sizeof (Ground));
  for (gboolean more = TRUE; more;) {
    PangoLayoutLine *line = pango_layout_iter_get_line_readonly (iter);
    PangoLayoutIter *after = pango_layout_iter_copy (iter);
    more = pango_layout_iter_next_line (after);
    int next = more ? pango_layout_iter_get_line_readonly (after)->start_index : G_MAXINT;
    while (first < self->placed && (int) nth (self, first)->end <= line->start_index)
      first++;
    for (guint n = first; n < self->placed && (int) nth (self, n)->start < next; n++)
      if (is_in_line (nth (self, n), line, next))
        add_ground (self, iter, n);
    pango_layout_iter_free (iter);
    iter = after;
  }
  pango_layout_iter_free (iter);
}

static int
find_token (LigTokens *self, double x, double y)
{
  measure_grounds (self);
  for (guint i = 0; i < self->grounds->len; i++) {
    const Ground *ground = &g_array_index (self->grounds, Ground, i);
    graphene_rect_t reach = ground->place;
    graphene_rect_inset (&reach, -1, -3);
    if (graphene_rect_contains_point (&reach, &GRAPHENE_POINT_INIT ((float) x, (float) y)))
      return (int) ground->token;
  }
  return -1;
}

/* --- The card ------------------------------------------------------------------------------ */

static gboolean
find_place (LigTokens *self, int n, GdkRectangle *place)
{
  measure_grounds (self);
  for (guint i = 0; i < self->grounds->len; i++) {
    const Ground *ground = &g_array_index (self->grounds, Ground, i);
    if ((int) ground->token != n)
      continue;
    *place = (GdkRectangle){(int) ground->place.origin.x, (int) ground->place.origin.y,
                            (int) ceilf (ground->place.size.width),
                            (int) ceilf (ground->place.size.height)};
    return TRUE;
  }
  return FALSE;
}

static void
hide_card (LigTokens *self)
{
  if (self->card)
    gtk_popover_popdown (GTK_POPOVER (self->card));
}

/* The keyboard's token, else the one under the pointer. */
static void
show_card (LigTokens *self)
{
  GdkRectangle place;
  int n = self->hovered >= 0 ? self->hovered : self->cursor;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (n < 0 || (guint) n >= self->placed || !gtk_widget_get_mapped (GTK_WIDGET (self)) ||
      !find_place (self, n, &place)) {
    hide_card (self);
    return;
  }
  if (!self->card) {
    self->card = lig_token_card_new ();
    gtk_widget_set_parent (self->card, GTK_WIDGET (self));
  }
  g_autofree char *text = lig_token_card_fill (self->card, nth (self, (guint) n)->line);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text,
                                  -1);
  gtk_popover_set_pointing_to (GTK_POPOVER (self->card), &place);
  gtk_popover_popup (GTK_POPOVER (self->card));
}

/* Scrolls to the token of the keyboard. */
static void
scroll_to_cursor (LigTokens *self)
{
  GdkRectangle place;
  double x, y;
  GtkWidget *scrolled = gtk_widget_get_ancestor (GTK_WIDGET (self), GTK_TYPE_SCROLLED_WINDOW);
  if (!scrolled || self->cursor < 0 || !find_place (self, self->cursor, &place) ||
      !gtk_widget_translate_coordinates (GTK_WIDGET (self), scrolled, place.x, place.y, &x, &y))
    return;
  GtkAdjustment *shift = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled));
  double top = y + gtk_adjustment_get_value (shift);
  gtk_adjustment_clamp_page (shift, top - place.height, top + 2 * place.height);
}

void
lig_tokens_set_cursor (LigTokens *self, int n)
{
  self->cursor = CLAMP (n, -1, (int) self->placed - 1);
  self->hovered = -1;
  scroll_to_cursor (self);
  show_card (self);
}

int
lig_tokens_get_cursor (LigTokens *self)
{
  return self->cursor;
}

/* --- Text ---------------------------------------------------------------------------------- */

static void
take_text (LigTokens *self)
{
  forget_layout (self);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

void
lig_tokens_clear (LigTokens *self)
{
  self->cursor = self->hovered = -1;
  self->placed = 0;
  hide_card (self);
  g_string_truncate (self->text, 0);
  g_array_set_size (self->tokens, 0);
  take_text (self);
}

/* Gives the shown text to the tokens that wait for it: each one its own text where that agrees, the
 * last one the rest. */
static void
place_tokens (LigTokens *self, const char *shown)
{
  guint at = (guint) self->text->len;
  g_string_append (self->text, shown);
  if (!*shown)
    return;
  for (; self->placed < self->tokens->len; self->placed++) {
    Token *token = nth (self, self->placed);
    const char *own = lig_json_get_string (token->line, "text", "");
    gboolean last = self->placed + 1 == self->tokens->len;
    token->start = at;
    if (last)
      at = (guint) self->text->len;
    else if (g_str_has_prefix (self->text->str + at, own))
      at += (guint) strlen (own);
    token->end = at;
  }
}

void
lig_tokens_add (LigTokens *self, JsonObject *line)
{
  JsonNode *node = json_object_get_member (line, "probability");
  double probability = node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_double (node) : 0;
  Token token = {(guint) self->text->len, (guint) self->text->len, probability,
                 json_object_ref (line)};
  g_array_append_val (self->tokens, token);
  place_tokens (self, lig_json_get_string (line, "shown", ""));
  take_text (self);
}

void
lig_tokens_end (LigTokens *self, const char *shown)
{
  place_tokens (self, shown);
  take_text (self);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  self->text->str, -1);
}

const char *
lig_tokens_get_text (LigTokens *self)
{
  return self->text->str;
}

guint
lig_tokens_get_count (LigTokens *self)
{
  return self->tokens->len;
}

void
lig_tokens_set_plain (LigTokens *self, gboolean plain)
{
  self->plain = plain;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- Drawing ------------------------------------------------------------------------------- */

static void
lig_tokens_measure (GtkWidget *widget,
                    GtkOrientation orientation,
                    int for_size,
                    int *minimum,
                    int *natural,
                    int *minimum_baseline,
                    int *natural_baseline)
{
  LigTokens *self = LIG_TOKENS (widget);
  int height;
  if (orientation == GTK_ORIENTATION_HORIZONTAL) {
    *minimum = 120;
    *natural = 240;
    return;
  }
  g_autoptr (PangoLayout) layout = make_layout (self);
  pango_layout_set_width (layout, MAX (for_size, 120) * PANGO_SCALE);
  pango_layout_get_pixel_size (layout, NULL, &height);
  *minimum = *natural = height + 4;
}

static void
lig_tokens_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LigTokens *self = LIG_TOKENS (widget);
  get_layout (self, width);
  if (self->card)
    gtk_popover_present (GTK_POPOVER (self->card));
}

static void
lig_tokens_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigTokens *self = LIG_TOKENS (widget);
  GtkStyleContext *context = gtk_widget_get_style_context (widget);
  int shown = self->hovered >= 0 ? self->hovered : self->cursor;
  GdkRGBA ink;
  gtk_style_context_get_color (context, &ink);
  measure_grounds (self);
  if (!self->plain)
    draw_grounds (self, snapshot);
  for (guint i = 0; i < self->grounds->len; i++) {
    const Ground *ground = &g_array_index (self->grounds, Ground, i);
    if ((int) ground->token == shown) {
      GskRoundedRect outline;
      gsk_rounded_rect_init_from_rect (&outline, &ground->place, 3);
      gtk_snapshot_append_border (snapshot, &outline, (const float[]){1.5f, 1.5f, 1.5f, 1.5f},
                                  (const GdkRGBA[]){ink, ink, ink, ink});
    }
  }
  gtk_snapshot_append_layout (snapshot, self->layout, &ink);
  GTK_WIDGET_CLASS (lig_tokens_parent_class)->snapshot (widget, snapshot);
}

/* --- Pointer and keys ---------------------------------------------------------------------- */

static void
hover (LigTokens *self, int n)
{
  if (n == self->hovered)
    return;
  self->hovered = n;
  show_card (self);
}

static void
moved (GtkEventControllerMotion *motion, double x, double y, LigTokens *self)
{
  hover (self, find_token (self, x, y));
}

static void
left (GtkEventControllerMotion *motion, LigTokens *self)
{
  hover (self, -1);
}

static void
focus_left (GtkEventControllerFocus *focus, LigTokens *self)
{
  lig_tokens_set_cursor (self, -1);
}

static void
pressed (GtkGestureClick *click, int count, double x, double y, LigTokens *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  lig_tokens_set_cursor (self, find_token (self, x, y));
}

static gboolean
key_pressed (
  GtkEventControllerKey *key, guint value, guint code, GdkModifierType state, LigTokens *self)
{
  gboolean mirrored = gtk_widget_get_direction (GTK_WIDGET (self)) == GTK_TEXT_DIR_RTL;
  int last = (int) self->placed - 1;
  if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK))
    return FALSE;
  if (value == GDK_KEY_Escape && self->cursor >= 0)
    lig_tokens_set_cursor (self, -1);
  else if (value == GDK_KEY_Home)
    lig_tokens_set_cursor (self, MIN (0, last));
  else if (value == GDK_KEY_End)
    lig_tokens_set_cursor (self, last);
  else if (value == (mirrored ? GDK_KEY_Left : GDK_KEY_Right))
    lig_tokens_set_cursor (self, MIN (self->cursor + 1, last));
  else if (value == (mirrored ? GDK_KEY_Right : GDK_KEY_Left))
    lig_tokens_set_cursor (self, MAX (self->cursor - 1, MIN (0, last)));
  else
    return FALSE;
  return TRUE;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_tokens_unmap (GtkWidget *widget)
{
  LigTokens *self = LIG_TOKENS (widget);
  self->cursor = self->hovered = -1;
  hide_card (self);
  GTK_WIDGET_CLASS (lig_tokens_parent_class)->unmap (widget);
}

static void
lig_tokens_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (lig_tokens_parent_class)->css_changed (widget, change);
  take_text (LIG_TOKENS (widget));
}

static GtkSizeRequestMode
lig_tokens_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
lig_tokens_dispose (GObject *object)
{
  LigTokens *self = LIG_TOKENS (object);
  g_clear_pointer (&self->card, gtk_widget_unparent);
  forget_layout (self);
  G_OBJECT_CLASS (lig_tokens_parent_class)->dispose (object);
}

static void
lig_tokens_finalize (GObject *object)
{
  LigTokens *self = LIG_TOKENS (object);
  g_string_free (self->text, TRUE);
  g_array_unref (self->tokens);
  G_OBJECT_CLASS (lig_tokens_parent_class)->finalize (object);
}

static void
lig_tokens_class_init (LigTokensClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_tokens_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_tokens_finalize;
  widget_class->measure = lig_tokens_measure;
  widget_class->size_allocate = lig_tokens_size_allocate;
  widget_class->snapshot = lig_tokens_snapshot;
  widget_class->unmap = lig_tokens_unmap;
  widget_class->css_changed = lig_tokens_css_changed;
  widget_class->get_request_mode = lig_tokens_get_request_mode;
  gtk_widget_class_set_css_name (widget_class, "tokens");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LOG);
}

static void
lig_tokens_init (LigTokens *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *key = gtk_event_controller_key_new ();
  GtkEventController *focus = gtk_event_controller_focus_new ();
  GtkGesture *click = gtk_gesture_click_new ();
  self->text = g_string_new (NULL);
  self->tokens = g_array_new (FALSE, TRUE, sizeof (Token));
  g_array_set_clear_func (self->tokens, clear_token);
  self->cursor = self->hovered = -1;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  g_signal_connect (motion, "motion", G_CALLBACK (moved), self);
  g_signal_connect (motion, "leave", G_CALLBACK (left), self);
  g_signal_connect (key, "key-pressed", G_CALLBACK (key_pressed), self);
  g_signal_connect (focus, "leave", G_CALLBACK (focus_left), self);
  g_signal_connect (click, "pressed", G_CALLBACK (pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_widget_add_controller (GTK_WIDGET (self), key);
  gtk_widget_add_controller (GTK_WIDGET (self), focus);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Continuation"), -1);
}

GtkWidget *
lig_tokens_new (void)
{
  return g_object_new (LIG_TYPE_TOKENS, NULL);
}

/* --- The legend ---------------------------------------------------------------------------- */

static void
draw_sample (GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer step)
{
  static const double probabilities[LIG_N_TOKEN_STEPS] = {1, 0.3, 0};
  GdkRGBA colour = get_colour (probabilities[GPOINTER_TO_UINT (step)]);
  gdk_cairo_set_source_rgba (cairo, &colour);
  cairo_paint (cairo);
}

GtkWidget *
lig_token_sample_new (LigTokenStep step, const char *label)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *area = gtk_drawing_area_new ();
  GtkWidget *text = gtk_label_new (label);
  gtk_widget_set_size_request (area, 16, 12);
  gtk_widget_set_valign (area, GTK_ALIGN_CENTER);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (area), draw_sample, GUINT_TO_POINTER (step),
                                  NULL);
  gtk_widget_add_css_class (text, "caption");
  gtk_widget_add_css_class (text, "dim-label");
  gtk_box_append (GTK_BOX (box), area);
  gtk_box_append (GTK_BOX (box), text);
  return box;
}
