/* SPDX-License-Identifier: MIT */
/* Attention on the CPU at lengths that fill no block: every mask with every window, padding and
 * packing, with and without grouped heads, against the reference in double precision. */
#include "tests/kernels/attention-case.h"

static const int lengths[] = {1, 17, 1000, 1025}, features[] = {16, 64, 80, 128};

enum { MASKS = 3, WINDOWS = 4, KINDS = 4 };

static Shape
shape_of (int batch, int heads, int kv_heads, int length, int width, LigDtype dtype)
{
  return (Shape){.params = {.heads = heads,
                            .kv_heads = kv_heads,
                            .features = width,
                            .length = length,
                            .memory_length = length,
                            .scale = 1 / sqrtf ((float) width),
                            .path_hash = 77},
                 .dtype = dtype,
                 .batch = batch};
}

/* Sets the mask, window, padding and packing of a shape. */
static Shape
variant_of (Shape shape, int mask, int window, int kind)
{
  int length = shape.params.memory_length;
  int windows[WINDOWS] = {0, 1, length / 3 + 1, 2 * length};
  shape.params.mask = mask;
  shape.params.window = windows[window];
  shape.with_lengths = kind % 2;
  shape.with_documents = kind / 2;
  return shape;
}

/* The rounding of a 16-bit y affects the gradients of the scores, where larger terms cancel. */
static void
check_gradient (LigOperand got, const double *want, const char *what)
{
  bool wide = got.dtype == LIG_FP32;
  double rounding = wide ? 2e-7 : 1.2e-3;
  check_within (got, want,
                (wide ? 1 : 3) * allowed (got, want) + rounding * sqrt ((double) got.size), what);
}

/* Fills the rows past the lengths with NaN. */
static void
poison (const Problem *p, LigOperand rows, int length)
{
  size_t row = (size_t) rows.columns * lig_dtype_size (rows.dtype);
  const int32_t *lengths_of = p->lengths.data;
  for (int b = 0; lengths_of && rows.data && b < p->shape.batch; b++)
    memset ((char *) rows.data + (size_t) (b * length + MIN (lengths_of[b], length)) * row, 0xff,
            (size_t) MAX (length - lengths_of[b], 0) * row);
}

/* The rows past the lengths may contain anything: the reference reads their earlier values. */
static void
poison_all (const Problem *p)
{
  const LigAttentionParams *params = &p->shape.params;
  poison (p, p->memory, params->memory_length);
  if (p->shape.cross)
    return;
  poison (p, p->x, params->length);
  poison (p, p->dy, params->length);
}

static void
check_shape (Shape shape)
{
  case_begin ();
  Problem p = problem (shape);
  poison_all (&p);
  Results got = compute (&p);
  Reference want = reference (&p, p.xs);
  g_test_message ("%d of %d to %d positions, heads %d/%d x %d, mask %d, window %d%s%s", shape.batch,
                  shape.params.length, shape.params.memory_length, shape.params.heads,
                  shape.params.kv_heads, shape.params.features, shape.params.mask,
                  shape.params.window, shape.with_lengths ? ", lengths" : "",
                  shape.with_documents ? ", documents" : "");
  check (got.y, want.y, "y");
  check (got.lse, want.lse, "lse");
  check_gradient (got.dx, want.dx, "dx");
  if (shape.cross)
    check_gradient (got.dmemory, want.dmemory, "dmemory");
  case_end ();
}

static void
check_all (Shape shape)
{
  for (int mask = 0; mask < MASKS; mask++)
    for (int window = 0; window < WINDOWS; window++)
      for (int kind = 0; kind < KINDS; kind++)
        check_shape (variant_of (shape, mask, window, kind));
}

/* All combinations. */
static void
short_rows (void)
{
  for (int l = 0; l < 2; l++)
    for (size_t f = 0; f < G_N_ELEMENTS (features); f++)
      for (int grouped = 0; grouped < 2; grouped++) {
        check_all (shape_of (2, 2, 2 - grouped, lengths[l], features[f], LIG_FP32));
        check_all (shape_of (2, 2, 2 - grouped, lengths[l], features[f], LIG_BF16));
      }
}

static void
long_rows (void)
{
  check_all (shape_of (1, 2, 1, 1025, 16, LIG_FP32));
}

/* Each mask with each kind of padding, alternating windows, at the other widths. */
static void
wide_rows (void)
{
  int turn = 0;
  for (int l = 2; l < 4; l++)
    for (size_t f = 0; f < G_N_ELEMENTS (features); f++)
      for (int kind = 0; kind < KINDS; kind++, turn++) {
        int grouped = turn / 2 % 2;
        Shape shape = shape_of (1, 1 + grouped, 1, lengths[l], features[f],
                                turn % 3 == 1 ? LIG_BF16 : LIG_FP32);
        check_shape (variant_of (shape, (turn + l) % MASKS, (turn + turn / 4) % WINDOWS, kind));
      }
}

static void
memories (void)
{
  static const int pairs[][2] = {{17, 1025}, {1025, 17}, {1000, 1025}, {1, 1000}};
  for (size_t i = 0; i < G_N_ELEMENTS (pairs); i++)
    for (int mask = 0; mask < MASKS; mask++) {
      Shape shape = shape_of (1, 2, 1, pairs[i][0], features[(i + (size_t) mask) % 3], LIG_FP32);
      shape.params.memory_length = pairs[i][1];
      shape.cross = true;
      check_shape (variant_of (shape, mask, (int) i % WINDOWS, mask % 2));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/attention-lengths/short-rows", short_rows);
  g_test_add_func ("/attention-lengths/long-rows", long_rows);
  g_test_add_func ("/attention-lengths/wide-rows", wide_rows);
  g_test_add_func ("/attention-lengths/memories", memories);
  return g_test_run ();
}
