/* SPDX-License-Identifier: MIT */
/* Whatever can be edited can be saved and read again: random edits, many of them with extreme
 * values, and after each the file's text gives the same sequence. */
#include "tests/document/case.h"
#include "ui/document/edit.h"

enum { SEEDS = 20, EDITS = 400 };

static GRand *numbers;

static guint
draw (guint end)
{
  return (guint) g_rand_int_range (numbers, 0, (gint32) MAX (end, 1));
}

static const char *
draw_text (void)
{
  static const char *const texts[] = {"",       "0",
                                      "-1",     "9999999999",
                                      "1e308",  "nan",
                                      "inf",    "0.1",
                                      "2",      "auto",
                                      "0.skip", "../x",
                                      "a b\n",  "\xc3\xa4\"\\",
                                      "fp8",    "none",
                                      "16",     "true",
                                      "#1",     "1e-320",
                                      "causal", "99999999999999999999",
                                      "\t"};
  return texts[draw (G_N_ELEMENTS (texts))];
}

static LigOp *
draw_op (LigDocument *doc)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (doc, &count);
  return count > 0 ? rows[draw (count)].op : NULL;
}

/* --- Edits --------------------------------------------------------------------------------- */

static void
add (LigDocument *doc)
{
  guint count = 0;
  while (lig_op_info_nth (count))
    count++;
  lig_edit_add (doc, lig_op_info_nth (draw (count))->name, NULL);
}

static void
select_ops (LigDocument *doc)
{
  for (guint i = 0; i < 1 + draw (3); i++) {
    LigOp *op = draw_op (doc);
    if (op)
      lig_document_select (doc, op, i == 0 ? LIG_SELECT_ONLY : LIG_SELECT_RANGE);
  }
}

static void
set_value (LigDocument *doc)
{
  g_auto (GValue) value = G_VALUE_INIT;
  LigOp *op = draw_op (doc);
  const LigParam *params = op ? lig_op_get_info (op)->params : NULL;
  const char *text = draw_text ();
  LigShape shape;
  LigDtype dtype;
  guint count = 0;
  while (params && params[count].name)
    count++;
  if (count == 0)
    return;
  switch (draw (4)) {
  case 0:
    g_value_init (&value, G_TYPE_STRING);
    g_value_set_string (&value, text);
    break;
  case 1:
    g_value_init (&value, G_TYPE_INT64);
    g_value_set_int64 (&value, g_ascii_strtoll (text, NULL, 10));
    break;
  case 2:
    g_value_init (&value, G_TYPE_DOUBLE);
    g_value_set_double (&value, g_ascii_strtod (text, NULL));
    break;
  default:
    g_value_init (&value, LIG_TYPE_SHAPE);
    if (!lig_shape_parse (draw (2) ? "9999999999x4" : "-1x3x2", &shape, &dtype, NULL))
      lig_shape_init (&shape, 2, (gint64) -1, (gint64) 9999999999);
    g_value_set_boxed (&value, &shape);
  }
  lig_edit_set_value (doc, op, params[draw (count)].name, &value, NULL);
}

/* As the inspector's entry does. */
static void
set_input (LigDocument *doc)
{
  static const gint64 lengths[] = {1, 4, 2147483647, 2147483648, 9999999999, G_MAXINT64, 0, 16};
  LigShape shape = {.n_axes = 1 + (int) draw (LIG_MAX_AXES)};
  LigDtype dtype = draw (2) ? LIG_INT32 : LIG_FP32;
  for (int i = 0; i < shape.n_axes; i++)
    shape.axes[i] = lengths[draw (draw (2) ? 2 : G_N_ELEMENTS (lengths))];
  if (lig_sequence_check_input (&shape, dtype, NULL))
    lig_edit_set_input (doc, &shape, dtype);
}

static void
set_name (LigDocument *doc)
{
  lig_edit_set_name (doc, draw (3) ? draw_text () : NULL);
}

static void
set_types (LigDocument *doc)
{
  static const char *const recipes[] = {NULL, "fp8-current", "fp8-delayed:history=7", "none", "x"};
  if (draw (2))
    lig_edit_set_recipe (doc, recipes[draw (G_N_ELEMENTS (recipes))]);
  else
    lig_edit_set_types (doc, draw (2) ? -1 : LIG_BF16, draw (2) ? -1 : LIG_FP32);
}

static void
set_marks (LigDocument *doc)
{
  static const char *const fusions[] = {"linear-bias-gelu", "residual-norm", "no such fusion"};
  LigOp *op = draw_op (doc);
  const char *fusion = fusions[draw (G_N_ELEMENTS (fusions))];
  if (!op)
    return;
  switch (draw (4)) {
  case 0:
    lig_edit_set_trained (doc, op, draw (2) == 0);
    break;
  case 1:
    lig_edit_set_fence (doc, op, draw (2) == 0);
    break;
  case 2:
    lig_edit_forbid (doc, draw (2) ? op : NULL, fusion, draw (2) == 0);
    break;
  default:
    lig_edit_force (doc, op, fusion, draw (2) == 0);
  }
}

static void
connect_ops (LigDocument *doc)
{
  LigOp *from = draw_op (doc), *to = draw_op (doc);
  if (from && to && draw (4))
    lig_edit_connect (doc, from, to, NULL);
  else if (from)
    lig_edit_disconnect (doc, from);
}

static void
rearrange (LigDocument *doc)
{
  g_autofree char *copied = NULL;
  select_ops (doc);
  switch (draw (6)) {
  case 0:
    lig_edit_group (doc, 1 + (int) draw (3), NULL);
    break;
  case 1:
    lig_edit_ungroup (doc, NULL);
    break;
  case 2:
    lig_edit_move_by (doc, draw (2) ? 1 : -1);
    break;
  case 3:
    copied = lig_edit_copy (doc);
    if (copied && lig_sequence_get_length (lig_document_get_sequence (doc)) < 20)
      lig_edit_paste (doc, copied, NULL);
    break;
  case 4:
    lig_edit_delete (doc);
    break;
  default:
    lig_document_undo (doc);
  }
}

/* --- The property -------------------------------------------------------------------------- */

static void
check (LigDocument *doc, guint seed, guint edit)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = lig_sequence_to_json (lig_document_get_sequence (doc));
  g_autoptr (LigSequence) read = lig_sequence_from_json (text, -1, NULL, &error);
  if (!read)
    g_error ("seed %u, edit %u: %s\n%s", seed, edit, error->message, text);
  g_autofree char *again = lig_sequence_to_json (read);
  g_assert_cmpstr (again, ==, text);
}

static void
test_saved (DocumentFixture *f, gconstpointer data)
{
  static void (*const edits[]) (LigDocument * doc) = {
    add,      add,       select_ops, set_value,   set_value, set_input,
    set_name, set_types, set_marks,  connect_ops, rearrange, rearrange};
  for (guint seed = 0; seed < SEEDS; seed++) {
    numbers = g_rand_new_with_seed (seed);
    fill (f->doc, "block(2) { block(2) { gelu ! linear(4) } } ! linear(4) ! mean-squared-error");
    for (guint edit = 0; edit < EDITS; edit++) {
      edits[draw (G_N_ELEMENTS (edits))](f->doc);
      check (f->doc, seed, edit);
    }
    g_rand_free (numbers);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_DOCUMENT_TEST ("/document/saved", test_saved);
  return g_test_run ();
}
