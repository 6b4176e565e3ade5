/* SPDX-License-Identifier: MIT */
/* A small picture of an attention mask: a row of squares for each query, a column for each key. It
 * shows a few queries, and the window is scaled to them. */
#include "engine/draw/canvas.h"
#include "kernels/attention.h"
#include <ligature/draw-mask.h>

#include <glib/gi18n-lib.h>

enum { SHOWN = 12, FEWER = 8, PADDED = 3, LABELS = 18 };

typedef struct {
  LigAttentionParams params; /* only mask and window are used */
  int queries, keys, window;
  gboolean alibi, lengths, documents, memory;
} Mask;

/* --- Reading the op ------------------------------------------------------------------------ */

static const LigParam *
find_param (LigOp *op, const char *name)
{
  const LigParam *at = lig_op_get_info (op)->params;
  while (at && at->name && !g_str_equal (at->name, name))
    at++;
  return at && at->name ? at : NULL;
}

static gint64
get_whole (LigOp *op, const char *name)
{
  g_auto (GValue) value = G_VALUE_INIT;
  const LigParam *param = find_param (op, name);
  if (!param || param->kind != LIG_PARAM_INT)
    return 0;
  lig_op_get_value (op, param, &value);
  return g_value_get_int64 (&value);
}

static gboolean
is_on (LigOp *op, const char *name)
{
  g_auto (GValue) value = G_VALUE_INIT;
  const LigParam *param = find_param (op, name);
  if (!param)
    return FALSE;
  lig_op_get_value (op, param, &value);
  return G_VALUE_HOLDS_BOOLEAN (&value)  ? g_value_get_boolean (&value)
         : G_VALUE_HOLDS_STRING (&value) ? g_value_get_string (&value) != NULL
                                         : FALSE;
}

/* Scales the window to the squares, each of which represents @tokens / SHOWN tokens. */
static int
scale_window (gint64 window, gint64 tokens)
{
  if (window <= 0)
    return 0;
  if (tokens <= 0)
    return (int) MIN (window, SHOWN / 3);
  return (int) CLAMP ((double) window * SHOWN / (double) tokens + 0.5, 1, 2 * SHOWN);
}

static gboolean
read_mask (LigOp *op, gint64 tokens, Mask *mask)
{
  g_auto (GValue) value = G_VALUE_INIT;
  const LigParam *param = find_param (op, "mask");
  if (!param || param->kind != LIG_PARAM_CHOICE)
    return FALSE;
  lig_op_get_value (op, param, &value);
  const char *name = g_value_get_string (&value);
  /* In a whole layer, a separate cross-attention without a mask reads the memory. */
  gboolean memory = is_on (op, "memory") && !find_param (op, "layer-type");
  *mask = (Mask){.alibi = is_on (op, "alibi"),
                 .lengths = is_on (op, "lengths"),
                 .documents = is_on (op, "documents") && !memory,
                 .memory = memory,
                 .window = (int) MIN (get_whole (op, "window"), G_MAXINT)};
  mask->params.mask = g_strcmp0 (name, "causal") == 0                ? LIG_MASK_CAUSAL
                      : g_strcmp0 (name, "causal-bottom-right") == 0 ? LIG_MASK_CAUSAL_BOTTOM_RIGHT
                                                                     : LIG_MASK_NONE;
  mask->params.window = scale_window (mask->window, tokens);
  mask->keys = SHOWN;
  mask->queries = memory ? FEWER : SHOWN;
  return TRUE;
}

/* --- Drawing ------------------------------------------------------------------------------- */

/* The second document begins in the middle; the last keys are padding. */
static gboolean
sees (const Mask *mask, int query, int key)
{
  int32_t first, end, keys = mask->keys - (mask->lengths ? PADDED : 0);
  int32_t queries = mask->memory ? mask->queries : keys;
  lig_attention_visible (&mask->params, queries, keys, query, &first, &end);
  gboolean inside = !mask->documents || (query < SHOWN / 2) == (key < SHOWN / 2);
  return key >= first && key < end && inside;
}

/* Returns the opacity of the square, 0 to 255. */
static guint
shade (const Mask *mask, int query, int key)
{
  int distance = ABS (query - key);
  return mask->alibi ? (guint) MAX (255 - 22 * distance, 24) : 255;
}

static void
draw_squares (LigCanvas *canvas, const LigColours *colours, const Mask *mask, double size)
{
  double gap = size > 7 ? 1 : 0.5;
  for (int i = 0; i < mask->queries; i++)
    for (int j = 0; j < mask->keys; j++) {
      LigColour fill = sees (mask, i, j) ? (colours->forward & 0xffffff00u) | shade (mask, i, j)
                                         : (colours->line & 0xffffff00u) | 70;
      lig_canvas_box (canvas, LABELS + j * size, LABELS + i * size, size - gap, size - gap, 1, fill,
                      0, 0);
    }
}

gboolean
lig_draw_mask (LigCanvas *canvas,
               const LigColours *colours,
               LigOp *op,
               gint64 tokens,
               double width,
               double height)
{
  Mask mask;
  g_return_val_if_fail (canvas && colours && op, FALSE);
  if (!read_mask (op, tokens, &mask))
    return FALSE;
  double size = MIN ((width - LABELS) / mask.keys, (height - LABELS) / mask.queries);
  g_autofree char *text = lig_mask_describe (op);
  LigTextStyle style = {.size = 11, .colour = colours->dim, .width = size * mask.keys};
  if (size <= 0)
    return TRUE;
  lig_canvas_begin_mark (canvas, LABELS, LABELS, size * mask.keys, size * mask.queries, text);
  draw_squares (canvas, colours, &mask, size);
  lig_canvas_end_mark (canvas);
  lig_canvas_text (canvas, LABELS, 12, &style, mask.memory ? _ ("keys of the memory") : _ ("keys"));
  style.angle = -90;
  style.anchor = LIG_TEXT_END;
  style.width = size * mask.queries;
  lig_canvas_text (canvas, 12, LABELS, &style, _ ("queries"));
  return TRUE;
}

/* --- Words --------------------------------------------------------------------------------- */

static void
append (GString *text, const char *more)
{
  g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "", more);
}

static const char *
describe_kind (const Mask *mask)
{
  switch (mask->params.mask) {
  case LIG_MASK_CAUSAL:
    return _ ("A query attends to the keys up to its own position");
  case LIG_MASK_CAUSAL_BOTTOM_RIGHT:
    return _ ("The last query attends to all keys, each earlier one to one key fewer");
  default:
    return _ ("A query attends to all keys");
  }
}

char *
lig_mask_describe (LigOp *op)
{
  Mask mask;
  g_return_val_if_fail (op, NULL);
  if (!read_mask (op, 0, &mask))
    return NULL;
  g_autoptr (GString) text = g_string_new (describe_kind (&mask));
  g_autofree char *window = g_strdup_printf (
    mask.params.mask == LIG_MASK_NONE
      ? g_dngettext (GETTEXT_PACKAGE, "only those less than %d position away",
                     "only those less than %d positions away", (gulong) mask.window)
      : g_dngettext (GETTEXT_PACKAGE, "only the last %d of them", "only the last %d of them",
                     (gulong) mask.window),
    mask.window);
  if (mask.window > 0)
    append (text, window);
  if (mask.memory)
    append (text, _ ("the keys come from the memory"));
  if (mask.lengths)
    append (text, _ ("keys past the lengths are masked"));
  if (mask.documents)
    append (text, _ ("keys of other documents are masked"));
  if (mask.alibi)
    append (text, _ ("nearer keys get a larger bias"));
  return g_strdup (text->str);
}
