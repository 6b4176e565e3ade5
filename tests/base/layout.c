/* SPDX-License-Identifier: MIT */
/* Parallelism: texts that are read and rejected, and the indices of ranks in their groups. */
#include "engine/base/layout.h"
#include <ligature/layout.h>

static void
test_read (void)
{
  static const struct {
    const char *text;
    int count, data, positions, tensor;
    const char *written;
  } cases[] = {
    {NULL, 1, 1, 1, 1, "data=1"},
    {"", 4, 4, 1, 1, "data=4"},
    {"tensor=2", 2, 1, 1, 2, "tensor=2"},
    {"tensor=2", 8, 4, 1, 2, "data=4,tensor=2"},
    {" tensor=4 , data=2 ", 8, 2, 1, 4, "data=2,tensor=4"},
    {"data=3", 3, 3, 1, 1, "data=3"},
    {"data=1,tensor=1", 1, 1, 1, 1, "data=1"},
    {"context=2", 2, 1, 2, 1, "context=2"},
    {"context=4", 8, 2, 4, 1, "data=2,context=4"},
    {"context=2,data=3", 6, 3, 2, 1, "data=3,context=2"},
    {"context=1,tensor=2", 2, 1, 1, 2, "tensor=2"},
    {"context=2,tensor=2", 8, 2, 2, 2, "data=2,context=2,tensor=2"},
    {"data=8,expert=4", 8, 8, 1, 1, "data=8,expert=4"},
    {"expert=2", 4, 4, 1, 1, "data=4,expert=2"},
    {"expert=1,tensor=2", 4, 2, 1, 2, "data=2,tensor=2"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    LigLayout layout;
    g_assert_true (lig_layout_parse (&layout, cases[i].text, cases[i].count, &error));
    g_assert_no_error (error);
    g_autofree char *written = lig_layout_to_string (&layout);
    g_assert_cmpstr (written, ==, cases[i].written);
    g_assert_cmpint (lig_layout_size (&layout, LIG_GROUP_DATA), ==, cases[i].data);
    g_assert_cmpint (lig_layout_size (&layout, LIG_GROUP_CONTEXT), ==, cases[i].positions);
    g_assert_cmpint (lig_layout_size (&layout, LIG_GROUP_TENSOR), ==, cases[i].tensor);
    g_assert_cmpint (lig_layout_size (&layout, LIG_GROUP_REPLICAS), ==,
                     cases[i].data * cases[i].positions);
    g_assert_cmpint (lig_layout_size (&layout, LIG_GROUP_ALL), ==, cases[i].count);
    g_assert_cmpint (lig_layout_is_default (&layout), ==,
                     !strchr (written, ',') && g_str_has_prefix (written, "data="));
  }
}

static void
test_rejected (void)
{
  static const struct {
    const char *text;
    int count;
    const char *part;
  } cases[] = {
    {"tensor=2", 3, "is 3, expected a multiple of 2"},
    {"data=2,tensor=2", 8, "is 8, expected 4"},
    {"data=2147483647,tensor=2", 2, "'data=2147483647'"},
    {"context=2", 3, "is 3, expected a multiple of 2"},
    {"context=2,tensor=2", 6, "is 6, expected a multiple of 4"},
    {"context=2,context=2", 4, "'context=2'"},
    {"context=0", 2, "'context=0'"},
    {"replicas=2", 2, "'replicas=2'"},
    {"tensor=0", 2, "'tensor=0'"},
    {"tensor=-2", 2, "'tensor=-2'"},
    {"tensor=two", 2, "'tensor=two'"},
    {"tensor", 2, "'tensor'"},
    {"tensor=2,", 2, "''"},
    {"tensor=2,tensor=2", 2, "'tensor=2'"},
    {"pipeline=2", 2, "'pipeline=2'"},
    {"all=2", 2, "'all=2'"},
    {"tens=2", 2, "'tens=2'"},
    {"data=4,expert=3", 4, "expert is 3, expected a divisor of data, 4"},
    {"expert=8", 4, "expert is 8, expected a divisor of data, 4"},
    {"data=2,expert=2,tensor=2", 4, "expert is 2 and tensor is 2"},
    {"data=2,context=2,expert=2", 4, "expert is 2 and context is 2"},
    {"expert=2,expert=2", 4, "'expert=2'"},
    {"expert=0", 4, "'expert=0'"},
    {"expert-replicas=2", 4, "'expert-replicas=2'"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    LigLayout layout;
    g_assert_false (lig_layout_parse (&layout, cases[i].text, cases[i].count, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
    g_assert_nonnull (strstr (error->message, cases[i].part));
  }
}

/* Each rank has a unique pair of indices, and neighbours are in one tensor group. */
static void
test_places (void)
{
  LigLayout layout;
  g_assert_true (lig_layout_parse (&layout, "data=3,tensor=4", 12, NULL));
  for (int rank = 0; rank < 12; rank++) {
    int data = lig_layout_place (&layout, rank, LIG_GROUP_DATA);
    int tensor = lig_layout_place (&layout, rank, LIG_GROUP_TENSOR);
    g_assert_cmpint (data, ==, rank / 4);
    g_assert_cmpint (tensor, ==, rank % 4);
    g_assert_cmpint (lig_layout_place (&layout, rank, LIG_GROUP_ALL), ==, rank);
  }
  g_assert_cmpint (lig_layout_stride (&layout, LIG_GROUP_DATA), ==, 4);
  g_assert_cmpint (lig_layout_stride (&layout, LIG_GROUP_TENSOR), ==, 1);
}

/* The ranks of a sample are neighbours; a layout of three sizes, which cannot be read yet, has
 * indices, too. */
static void
test_positions (void)
{
  const LigLayout layout = {.sizes = {2, 3, 2}};
  for (int rank = 0; rank < 12; rank++) {
    g_assert_cmpint (lig_layout_place (&layout, rank, LIG_GROUP_DATA), ==, rank / 6);
    g_assert_cmpint (lig_layout_place (&layout, rank, LIG_GROUP_CONTEXT), ==, rank / 2 % 3);
    g_assert_cmpint (lig_layout_place (&layout, rank, LIG_GROUP_TENSOR), ==, rank % 2);
    g_assert_cmpint (lig_layout_place (&layout, rank, LIG_GROUP_REPLICAS), ==, rank / 2);
  }
  g_assert_cmpint (lig_layout_stride (&layout, LIG_GROUP_DATA), ==, 6);
  g_assert_cmpint (lig_layout_stride (&layout, LIG_GROUP_CONTEXT), ==, 2);
  g_assert_cmpint (lig_layout_stride (&layout, LIG_GROUP_REPLICAS), ==, 2);
}

/* Ranks that share the experts are neighbours; those with the same experts are as far apart as
 * there are such ranks. */
static void
test_experts (void)
{
  LigLayout layout;
  g_assert_true (lig_layout_parse (&layout, "data=8,expert=4", 8, NULL));
  for (int rank = 0; rank < 8; rank++) {
    g_assert_cmpint (lig_layout_place (&layout, rank, LIG_GROUP_DATA), ==, rank);
    g_assert_cmpint (lig_layout_place (&layout, rank, LIG_GROUP_EXPERT), ==, rank % 4);
    g_assert_cmpint (lig_layout_place (&layout, rank, LIG_GROUP_EXPERT_REPLICAS), ==, rank / 4);
  }
  g_assert_cmpint (lig_layout_size (&layout, LIG_GROUP_EXPERT), ==, 4);
  g_assert_cmpint (lig_layout_size (&layout, LIG_GROUP_EXPERT_REPLICAS), ==, 2);
  g_assert_cmpint (lig_layout_stride (&layout, LIG_GROUP_EXPERT), ==, 1);
  g_assert_cmpint (lig_layout_stride (&layout, LIG_GROUP_EXPERT_REPLICAS), ==, 4);
  lig_layout_init (&layout, 6);
  g_assert_cmpint (lig_layout_size (&layout, LIG_GROUP_EXPERT), ==, 1);
  g_assert_cmpint (lig_layout_size (&layout, LIG_GROUP_EXPERT_REPLICAS), ==, 6);
  layout.expert = 4;
  g_assert_false (lig_layout_check (&layout, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/layout/read", test_read);
  g_test_add_func ("/base/layout/rejected", test_rejected);
  g_test_add_func ("/base/layout/places", test_places);
  g_test_add_func ("/base/layout/positions", test_positions);
  g_test_add_func ("/base/layout/experts", test_experts);
  return g_test_run ();
}
