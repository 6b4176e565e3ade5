/* SPDX-License-Identifier: MIT */
/* Messages about libraries, and backends without any. */
#include <ligature/device.h>

static void
check_text (LigLibrary library, const char *expected)
{
  g_autofree char *text = lig_library_to_text (&library);
  g_assert_cmpstr (text, ==, expected);
}

static void
test_text (void)
{
  check_text ((LigLibrary){"NCCL", "2.28.9", "/lib/libnccl.so.2", "", "no ranks"},
              "NCCL 2.28.9 is /lib/libnccl.so.2");
  check_text ((LigLibrary){"NCCL", "", "", "", "no ranks"},
              "NCCL is missing: no ranks; ./setup cuda adds it");
  check_text ((LigLibrary){"NCCL", "", "/lib/libnccl.so.2", "it is too old", "no ranks"},
              "NCCL is not used, it is too old: no ranks");
}

static void
test_none (void)
{
  LigLibrary library;
  g_assert_false (lig_backend_get_library ("cpu", 0, &library));
  g_assert_false (lig_backend_get_library ("null:h200", 0, &library));
  g_assert_false (lig_backend_get_library ("abacus", 0, &library));
  g_assert_false (lig_backend_get_library ("cuda", G_MAXUINT, &library));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/device/libraries/text", test_text);
  g_test_add_func ("/device/libraries/none", test_none);
  return g_test_run ();
}
