/* SPDX-License-Identifier: MIT */
/* Groups of an op's parameters: each parameter is shown once, faulty groups are rejected. */
#include "tests/sequence/register-case.h"
#include <ligature/register.h>

typedef struct {
  gint64 first, second, third;
} GroupParams;

static const LigParam grouped[] = {
  LIG_INT (GroupParams, first, "first", "First", "The first", 0, 9, 0, 0),
  LIG_INT (GroupParams, second, "second", "Second", "The second", 0, 9, 0, 0),
  LIG_INT (GroupParams, third, "third-one", "Third", "The third", 0, 9, 0, 0),
  {.name = NULL},
};

static LigOpInfo
with_groups (const char *name, const LigParamGroup *groups)
{
  LigOpInfo info = whole (name);
  info.params = grouped;
  info.params_size = sizeof (GroupParams);
  info.groups = groups;
  return info;
}

static void
check_shown (const LigOpInfo *info, guint n, const char *name, const char *title)
{
  const char *group = "unset";
  const LigParam *param = lig_op_info_nth_shown (info, n, &group);
  g_assert_cmpstr (group, ==, title);
  g_assert_cmpstr (param ? param->name : NULL, ==, name);
}

static void
test_order (void)
{
  static const LigParamGroup groups[] = {{"Last", "third-one"}, {"More", "second"}, {NULL, NULL}};
  LigOpInfo info = with_groups ("grouped-op", groups), bare = with_groups ("bare-op", NULL);
  check_shown (&info, 0, "first", NULL);
  check_shown (&info, 1, "third-one", "Last");
  check_shown (&info, 2, "second", "More");
  check_shown (&info, 3, NULL, NULL);
  check_shown (&bare, 1, "second", NULL);
  check_shown (&bare, 3, NULL, NULL);
  g_assert_cmpstr (lig_op_info_nth_shown (&info, 1, NULL)->name, ==, "third-one");
}

/* Each op shows each of its parameters once, whatever its groups. */
static void
test_built_in (void)
{
  const LigOpInfo *info;
  guint with = 0;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    const LigParam *shown;
    const char *group;
    guint count = 0, seen = 0;
    g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
    while (info->params && info->params[count].name)
      count++;
    for (; (shown = lig_op_info_nth_shown (info, seen, &group)); seen++)
      g_assert_true (g_hash_table_add (names, (gpointer) shown->name));
    g_assert_cmpuint (seen, ==, count);
    with += info->groups != NULL;
    /* A long list is split into groups. */
    g_assert_true (count < 12 || info->groups);
  }
  g_assert_cmpuint (with, >=, 3);
}

static void
rejected (const LigParamGroup *groups, const char *message)
{
  g_autoptr (GError) error = NULL;
  LigOpInfo info = with_groups ("rejected-op", groups);
  g_assert_false (lig_register_op (&info, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  g_assert_nonnull (strstr (error->message, message));
  g_assert_null (lig_op_info_find ("rejected-op"));
}

static void
test_rejected (void)
{
  static const LigParamGroup unknown[] = {{"Some", "first fourth"}, {NULL, NULL}};
  static const LigParamGroup prefix[] = {{"Some", "third"}, {NULL, NULL}};
  static const LigParamGroup twice[] = {{"Some", "first"}, {"More", "second first"}, {NULL, NULL}};
  static const LigParamGroup empty[] = {{"Some", ""}, {NULL, NULL}};
  static const LigParamGroup spaces[] = {{"Some", "first  second"}, {NULL, NULL}};
  rejected (unknown, "the group Some has 'fourth', which is not a parameter of the op");
  rejected (prefix, "the group Some has 'third', which is not a parameter of the op");
  rejected (twice, "the group More has first, which is already in a group");
  rejected (empty, "the group Some has no parameters");
  rejected (spaces, "the group Some has ''");
}

/* A table of a program built before groups existed has none. */
static void
test_older (void)
{
  static const LigParamGroup groups[] = {{"Some", "first"}, {NULL, NULL}};
  g_autoptr (GError) error = NULL;
  LigOpInfo info = with_groups ("older-op", groups);
  info.size = G_STRUCT_OFFSET (LigOpInfo, groups);
  lig_register_op (&info, &error);
  g_assert_no_error (error);
  g_assert_null (lig_op_info_find ("older-op")->groups);
  LigOpInfo newer = with_groups ("newer-op", groups);
  lig_register_op (&newer, &error);
  g_assert_no_error (error);
  check_shown (lig_op_info_find ("newer-op"), 2, "first", "Some");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/param-groups/order", test_order);
  g_test_add_func ("/param-groups/built-in", test_built_in);
  g_test_add_func ("/param-groups/rejected", test_rejected);
  g_test_add_func ("/param-groups/older", test_older);
  return g_test_run ();
}
