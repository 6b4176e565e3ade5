/* SPDX-License-Identifier: MIT */
/* Norms on the CPU against a reference in double precision and central differences, unfused and
 * fused. */
#include "tests/kernels/norm-case.h"

static void
test_forward (const Problem *p)
{
  Results r = results (p), again = results (p);
  Reference want = reference (p, wide (p->x));
  forward (p, p->x, NULL, &r);
  check (r.y, want.y, norm_names[p->kind]);
  check (r.rstd, want.rstd, "rstd");
  if (p->kind == LAYER)
    check_within (r.mean, want.mean, 1e-6 * sqrt ((double) p->rows), "mean");
  again.mean.data = again.rstd.data = NULL;
  forward (p, p->x, NULL, &again);
  check_same_bits (r.y, again.y);
}

/* A norm fused with an addition has the bits of the rounded addition followed by the norm. */
static void
test_add (const Problem *p)
{
  if (p->kind == L2)
    return;
  Results apart = results (p), r = results (p), in_place = results (p), no_sum = results (p);
  LigOperand sum = copy (p->x), x = copy (p->x), extra = copy (p->dy);
  run ("add", (LigOperand[]){p->x, p->dy, sum}, NULL, false);
  forward (p, sum, NULL, &apart);
  forward (p, p->x, &p->dy, &r);
  check_same_bits (r.sum, sum);
  check_same_bits (r.y, apart.y);
  check_same_bits (r.rstd, apart.rstd);
  no_sum.sum.data = NULL;
  forward (p, p->x, &p->dy, &no_sum);
  check_same_bits (no_sum.y, r.y);
  in_place.sum = x;
  forward (p, x, &p->dy, &in_place);
  check_same_bits (in_place.y, r.y);
  check_same_bits (x, sum);
  in_place.sum = extra;
  forward (p, p->x, &extra, &in_place);
  check_same_bits (in_place.y, r.y);
  check_same_bits (extra, sum);
}

/* The terms of dx may nearly cancel; its error is compared with the size of the terms. */
static void
check_dx (const Problem *p, LigOperand dx, const double *want, const Reference *r)
{
  double *terms = doubles (dx.size), limit = tolerance (dx.dtype) * norm_of (want, dx.size);
  for (int64_t i = 0; i < dx.size; i++)
    terms[i] = r->rstd[i / p->columns] * gain (p, i % p->columns) * p->dys[i];
  check_within (dx, want, limit + 2e-6 * norm_of (terms, dx.size), "dx");
}

static void
test_backward (const Problem *p)
{
  Results r = results (p), again = results (p);
  Reference want = reference (p, wide (p->x));
  forward (p, p->x, NULL, &r);
  backward (p, p->dy, NULL, &r, false);
  check_dx (p, r.dx, want.dx, &want);
  if (p->kind != L2)
    check (r.dweight, want.dweight, "dweight");
  if (p->kind == LAYER)
    check (r.dbias, want.dbias, "dbias");

  again.mean = r.mean;
  again.rstd = r.rstd;
  again.dx = copy (p->dy);
  again.dweight.data = NULL;
  backward (p, again.dx, NULL, &again, false);
  check_same_bits (again.dx, r.dx);
  if (p->kind == L2)
    return;
  again.dx.data = NULL;
  again.dweight = copy (r.dweight);
  backward (p, p->dy, NULL, &again, true);
  double *twice = wide (r.dweight);
  for (int64_t i = 0; i < p->columns; i++)
    twice[i] += want.dweight[i];
  check (again.dweight, twice, "accumulated dweight");

  again.dx = copy (p->x);
  double *with_branch = doubles_copy (want.dx, p->x.size), *branch = wide (p->x);
  for (int64_t i = 0; i < p->x.size; i++)
    with_branch[i] += branch[i];
  backward (p, p->dy, &again.dx, &again, false);
  check_dx (p, again.dx, with_branch, &want);
  check_same_bits (again.dweight, r.dweight);
}

/* The bits are the same for any number of threads. */
static void
test_threads (const Problem *p)
{
  Results r = results (p), again = results (p);
  int threads = omp_get_max_threads ();
  omp_set_num_threads (1);
  forward (p, p->x, NULL, &r);
  backward (p, p->dy, NULL, &r, false);
  omp_set_num_threads (2);
  forward (p, p->x, NULL, &again);
  backward (p, p->dy, NULL, &again, false);
  omp_set_num_threads (threads);
  check_same_bits (r.y, again.y);
  check_same_bits (r.dx, again.dx);
  check_same_bits (r.dweight, again.dweight);
  check_same_bits (r.dbias, again.dbias);
}

/* The formulas of the gradients agree with central differences of the reference's y. */
static void
test_differences (const Problem *p)
{
  if (p->rows * p->columns > 64)
    return;
  double *x = wide (p->x), h = 1e-5, *slopes = doubles (p->x.size);
  Reference want = reference (p, x);
  for (int64_t i = 0; i < p->x.size; i++) {
    double *above = doubles_copy (x, p->x.size), *below = doubles_copy (x, p->x.size);
    above[i] += h;
    below[i] -= h;
    Reference up = reference (p, above), down = reference (p, below);
    for (int64_t j = 0; j < p->x.size; j++)
      slopes[i] += p->dys[j] * (up.y[j] - down.y[j]) / (2 * h);
    slopes[i] -= want.dx[i];
  }
  g_assert_cmpfloat (norm_of (slopes, p->x.size), <=, 1e-5 * norm_of (want.dx, p->x.size) + 1e-8);
}

/* Runs problems of odd sizes, of all kinds and types. */
static void
each (gconstpointer data)
{
  static const int64_t sizes[][2] = {{1, 1},   {2, 3},    {17, 7},     {600, 1}, {600, 31},
                                     {17, 33}, {1, 1000}, {100, 1000}, {2, 2100}};
  static const LigDtype types[][2] = {{LIG_FP32, LIG_FP32},
                                      {LIG_FP16, LIG_FP16},
                                      {LIG_BF16, LIG_BF16},
                                      {LIG_BF16, LIG_FP32},
                                      {LIG_FP32, LIG_FP16}};
  void (*test) (const Problem *) = *(void (*const *) (const Problem *)) data;
  for (Kind kind = 0; kind < N_KINDS; kind++)
    for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++)
      for (size_t j = 0; j < G_N_ELEMENTS (types); j++) {
        case_begin ();
        Problem p = problem (kind, sizes[i][0], sizes[i][1], types[j][0], types[j][1]);
        test (&p);
        case_end ();
      }
}

/* A row may span several axes: its length is that of the weight. */
static void
several_axes (void)
{
  case_begin ();
  Problem p = problem (LAYER, 6, 35, LIG_FP32, LIG_FP32);
  Results r = results (&p), again = results (&p);
  forward (&p, p.x, NULL, &r);
  p.x.columns = again.y.columns = p.weight.columns = p.bias.columns = 7;
  forward (&p, p.x, NULL, &again);
  check_same_bits (r.y, again.y);
  check_same_bits (r.mean, again.mean);
  case_end ();
}

/* A large common offset does not reduce the accuracy of the variance. */
static void
offset (void)
{
  case_begin ();
  Problem p = problem (LAYER, 4, 1000, LIG_FP32, LIG_FP32);
  Results r = results (&p);
  for (int64_t i = 0; i < p.x.size; i++)
    ((float *) p.x.data)[i] += 4096;
  forward (&p, p.x, NULL, &r);
  Reference want = reference (&p, wide (p.x));
  check_within (r.rstd, want.rstd, 1e-5 * norm_of (want.rstd, 4), "rstd");
  case_end ();
}

int
main (int argc, char **argv)
{
  static void (*const tests[]) (const Problem *) = {test_forward, test_add, test_backward,
                                                    test_threads, test_differences};
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/kernels/norm/forward", &tests[0], each);
  g_test_add_data_func ("/kernels/norm/add", &tests[1], each);
  g_test_add_data_func ("/kernels/norm/backward", &tests[2], each);
  g_test_add_data_func ("/kernels/norm/threads", &tests[3], each);
  g_test_add_data_func ("/kernels/norm/differences", &tests[4], each);
  g_test_add_func ("/kernels/norm/several-axes", several_axes);
  g_test_add_func ("/kernels/norm/offset", offset);
  return g_test_run ();
}
