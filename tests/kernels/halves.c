/* SPDX-License-Identifier: MIT */
/* Context parallelism: moves, rotations, positions and random numbers of all ranks together match
 * those of one process bit for bit; gradients are the transposes of the moves. */
#include "tests/kernels/case.h"

#include "kernels/positions.h"
#include <ligature/params-positions.h>
#include <ligature/params-random.h>

enum { BATCH = 3, COLUMNS = 10, MAX_RANKS = 4 };

static const LigTick tick = {.seed = 99, .micro_step = 5};

static void
run_drawn (const char *name, const LigOperand *operands, const void *params, int part)
{
  LigLaunch launch = {.operands = operands,
                      .params = params,
                      .tick = &tick,
                      .part = part,
                      .workspace = scratch (LIG_WORKSPACE_SIZE)};
  if (lig_kernel_find (name)->functions[LIG_BACKEND_CPU](&launch) != LIG_OK)
    g_error ("%s: %s", name, launch.where);
}

static size_t
row_bytes (const LigOperand *x)
{
  return (size_t) x->columns * lig_dtype_size (x->dtype);
}

static char *
row_at (const LigOperand *x, int64_t row)
{
  return (char *) x->data + (size_t) row * row_bytes (x);
}

/* Returns the rows of a rank: `length` positions of each row of the batch. */
static LigOperand
take (const LigOperand *whole, int ranks, int rank, int64_t length)
{
  LigOperand own = blank (whole->dtype, BATCH * length, whole->columns);
  for (int64_t row = 0; row < BATCH * length; row++) {
    int64_t position = lig_position (row % length, length, ranks, rank);
    memcpy (row_at (&own, row), row_at (whole, row / length * length * ranks + position),
            row_bytes (whole));
  }
  return own;
}

static void
check_same (const LigOperand *a, const LigOperand *b, const char *what)
{
  g_assert_cmpint (a->size, ==, b->size);
  if (memcmp (a->data, b->data, (size_t) a->size * lig_dtype_size (a->dtype)) != 0)
    g_error ("%s: the ranks together differ from one", what);
}

/* --- Places ---------------------------------------------------------------------------------- */

/* Together the ranks have every position once, and with a causal mask equally many visible
 * pairs. */
static void
places (void)
{
  enum { HALF = 3 };
  for (int ranks = 1; ranks <= MAX_RANKS; ranks++) {
    int64_t length = 2 * HALF, pairs[MAX_RANKS] = {0};
    guint8 seen[2 * HALF * MAX_RANKS] = {0};
    for (int rank = 0; rank < ranks; rank++)
      for (int64_t at = 0; at < length; at++) {
        int64_t position = lig_position (at, length, ranks, rank);
        g_assert_cmpint (seen[position]++, ==, 0);
        g_assert_cmpint (lig_position_place (position, length, ranks, rank), ==, at);
        for (int other = 0; other < ranks; other++)
          if (other != rank)
            g_assert_cmpint (lig_position_place (position, length, ranks, other), ==, -1);
        pairs[rank] += position + 1;
      }
    for (int rank = 1; rank < ranks; rank++)
      g_assert_cmpint (pairs[rank], ==, pairs[0]);
  }
}

/* --- Moves ----------------------------------------------------------------------------------- */

static double
dot (LigOperand a, LigOperand b)
{
  double *x = wide (a), *y = wide (b), sum = 0;
  for (int64_t i = 0; i < a.size; i++)
    sum += x[i] * y[i];
  return sum;
}

static void
check_split (LigDtype dtype, int64_t length, int64_t part)
{
  LigHalvesParams p = {length, part};
  LigOperand x = random_tensor (dtype, BATCH * length, COLUMNS);
  LigOperand first = blank (dtype, BATCH * length / 2, part), second = copy (first);
  LigOperand rest = blank (dtype, BATCH * length, MAX (COLUMNS - part, 1)), back = copy (x);
  if (part == COLUMNS)
    rest = (LigOperand){NULL, 0, 1, dtype};
  memset (back.data, 0xff, (size_t) back.size * lig_dtype_size (dtype));
  run_drawn ("split_halves", (LigOperand[]){x, first, second, rest}, &p, 0);
  g_assert_cmpmem (row_at (&second, 0), row_bytes (&second), row_at (&x, length / 2),
                   row_bytes (&second));
  run_drawn ("join_halves", (LigOperand[]){first, second, rest, back}, &p, 0);
  check_same (&x, &back, "join_halves");
  run_drawn ("join_halves", (LigOperand[]){first, {NULL, 0, part, dtype}, rest, back}, &p, 0);
  double *values = wide (back);
  g_assert_cmpfloat (values[length / 2 * COLUMNS], ==, 0);
}

/* Each result is a prefix of the whole; the gradient is the transpose. */
static void
check_arrange (LigDtype dtype, int ranks, int rank, gboolean causal)
{
  enum { LENGTH = 6 };
  LigArrangeParams p = {LENGTH, ranks, rank, causal};
  LigOperand whole = random_tensor (dtype, BATCH * LENGTH * ranks, COLUMNS);
  LigOperand all = blank (dtype, BATCH * LENGTH * ranks, COLUMNS), dx = copy (all), y[2], dy[2];
  for (int i = 0; i < ranks; i++) {
    LigOperand own = take (&whole, ranks, i, LENGTH);
    memcpy (row_at (&all, i * BATCH * LENGTH), own.data,
            (size_t) BATCH * LENGTH * row_bytes (&own));
  }
  for (int late = 0; late < 2; late++) {
    int64_t reach = lig_block_reach (LENGTH, ranks, rank, causal, late);
    y[late] = blank (dtype, BATCH * reach, COLUMNS);
    dy[late] = random_tensor (dtype, BATCH * reach, COLUMNS);
  }
  run_drawn ("arrange_halves", (LigOperand[]){all, y[0], y[1]}, &p, 0);
  for (int late = 0; late < 2; late++) {
    int64_t reach = y[late].size / COLUMNS / BATCH;
    for (int64_t row = 0; row < BATCH; row++)
      g_assert_cmpmem (row_at (&y[late], row * reach), (size_t) reach * row_bytes (&whole),
                       row_at (&whole, row * LENGTH * ranks), (size_t) reach * row_bytes (&whole));
  }
  run_drawn ("arrange_halves_backward", (LigOperand[]){dy[0], dy[1], dx}, &p, 0);
  double expected = dot (y[0], dy[0]) + dot (y[1], dy[1]);
  g_assert_cmpfloat_with_epsilon (dot (all, dx), expected, dtype == LIG_FP32 ? 1e-3 : 0.5);
}

static void
moves (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (floating); i++) {
    case_begin ();
    check_split (floating[i], 6, 4);
    check_split (floating[i], 2, COLUMNS);
    for (int ranks = 1; ranks <= MAX_RANKS; ranks++)
      for (int rank = 0; rank < 2 * ranks; rank++)
        check_arrange (floating[i], ranks, rank / 2, rank % 2);
    case_end ();
  }
}

/* --- Kernels that know the position -------------------------------------------------------- */

static void
check_rotary (int ranks, int rank)
{
  enum { LENGTH = 8 };
  LigRotaryParams one = {
    .heads = 2, .kv_heads = 1, .features = 4, .length = LENGTH * ranks, .rotated = 4, .base = 100};
  LigRotaryParams own = one;
  LigOperand x = random_tensor (LIG_FP32, BATCH * LENGTH * ranks, 16), y = copy (x);
  LigOperand part = take (&x, ranks, rank, LENGTH), to = copy (part);
  own.length = LENGTH;
  own.ranks = ranks;
  own.rank = rank;
  run_drawn ("rotary", (LigOperand[]){x, y}, &one, 0);
  run_drawn ("rotary", (LigOperand[]){part, to}, &own, 0);
  LigOperand expected = take (&y, ranks, rank, LENGTH);
  check_same (&to, &expected, "rotary");
}

/* The table is longer than the row; its gradient is the sum of those of the ranks. */
static void
check_positions (int ranks)
{
  enum { LENGTH = 4 };
  int64_t all = LENGTH * ranks, table = all + 3;
  LigPositionParams one = {.length = all};
  LigOperand x = random_tensor (LIG_FP32, BATCH * all, COLUMNS), y = copy (x);
  LigOperand weight = random_tensor (LIG_FP32, table, COLUMNS), sum = copy (weight);
  double *total = doubles (sum.size);
  run_drawn ("position_embedding", (LigOperand[]){x, weight, y}, &one, 0);
  run_drawn ("position_embedding_backward", (LigOperand[]){x, sum}, &one, 0);
  for (int rank = 0; rank < ranks; rank++) {
    LigPositionParams own = {LENGTH, ranks, rank};
    LigOperand part = take (&x, ranks, rank, LENGTH), to = copy (part), dweight = copy (weight);
    run_drawn ("position_embedding", (LigOperand[]){part, weight, to}, &own, 0);
    LigOperand expected = take (&y, ranks, rank, LENGTH);
    check_same (&to, &expected, "position_embedding");
    run_drawn ("position_embedding_backward", (LigOperand[]){part, dweight}, &own, 0);
    double *values = wide (dweight);
    for (int64_t i = 0; i < dweight.size; i++)
      total[i] += values[i];
  }
  double *expected = wide (sum);
  for (int64_t i = 0; i < sum.size; i++)
    g_assert_cmpfloat (total[i], ==, expected[i]);
}

/* Data parallel ranks have different rows of the batch. */
static void
check_dropout (int ranks, int rank, int data)
{
  enum { LENGTH = 6 };
  LigDropoutParams one = {.probability = 0.4f, .path_hash = 7}, own = one;
  LigOperand x = random_tensor (LIG_FP32, BATCH * LENGTH * ranks, COLUMNS), y = copy (x);
  LigOperand part = take (&x, ranks, rank, LENGTH), to = copy (part);
  own.block = LENGTH / 2 * COLUMNS;
  own.ranks = ranks;
  own.rank = rank;
  run_drawn ("dropout", (LigOperand[]){x, y}, &one, data);
  run_drawn ("dropout", (LigOperand[]){part, to}, &own, data);
  LigOperand expected = take (&y, ranks, rank, LENGTH);
  check_same (&to, &expected, "dropout");
}

static void
positions (void)
{
  for (int ranks = 1; ranks <= MAX_RANKS; ranks++) {
    case_begin ();
    check_positions (ranks);
    for (int rank = 0; rank < ranks; rank++) {
      check_rotary (ranks, rank);
      check_dropout (ranks, rank, 0);
      check_dropout (ranks, rank, 3);
    }
    case_end ();
  }
}

/* Params that do not fit the rows are rejected. */
static void
rejected (void)
{
  case_begin ();
  LigOperand x = random_tensor (LIG_FP32, 12, 4), half = blank (LIG_FP32, 6, 2), all = copy (x);
  const LigHalvesParams odd = {3, 2}, wide_part = {6, 5};
  const LigArrangeParams outside = {4, 3, 3, 1}, length = {5, 2, 0, 1};
  const struct {
    const char *kernel;
    const void *params;
  } cases[] = {{"split_halves", &odd},
               {"split_halves", &wide_part},
               {"arrange_halves", &outside},
               {"arrange_halves", &length}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigLaunch launch = {.operands = (LigOperand[]){x, half, half, all}, .params = cases[i].params};
    LigStatus status = lig_kernel_find (cases[i].kernel)->functions[LIG_BACKEND_CPU](&launch);
    g_assert_cmpint (status, ==, LIG_FAILED);
    g_assert_nonnull (strstr (launch.where, "halves"));
  }
  case_end ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/halves/places", places);
  g_test_add_func ("/kernels/halves/moves", moves);
  g_test_add_func ("/kernels/halves/positions", positions);
  g_test_add_func ("/kernels/halves/rejected", rejected);
  return g_test_run ();
}
