/* SPDX-License-Identifier: MIT */
/* In builds with UndefinedBehaviorSanitizer, a finding ends the program; otherwise a suite with
 * findings would pass. */
#include <glib.h>

#include <stdlib.h>
#include <string.h>

static void
overflow (void)
{
  volatile int large = G_MAXINT;
  large += (int) strlen (g_get_prgname ());
  exit (0);
}

static void
test_finding (void)
{
  if (g_test_subprocess ())
    overflow ();
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*runtime error*");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sanitizer/finding-ends-the-program", test_finding);
  return g_test_run ();
}
