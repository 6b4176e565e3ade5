/* SPDX-License-Identifier: MIT */
/* The search for a library next to another one, and in the folders of Python packages, with copies
 * of the math library. */
#include "kernels/cuda/common/library.h"

#include <dlfcn.h>
#include <glib.h>
#include <glib/gstdio.h>

/* Makes FOLDER/NAME, a copy of the file, and returns its path. */
static char *
copy_to (const char *file, const char *folder, const char *name)
{
  char *path = g_build_filename (folder, name, NULL), *data;
  gsize size;
  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_get_contents (file, &data, &size, NULL));
  g_assert_true (g_file_set_contents (path, data, (gssize) size, NULL));
  g_free (data);
  return path;
}

/* Opens the library next to the function, and checks its path; null: it is not found. */
static void
check_found (const char *name, const void *beside, const char *place)
{
  char why[256] = "", path[1024];
  void *library = lig_library_open (name, "other", beside, why, sizeof why);
  if (!place) {
    g_assert_null (library);
    g_assert_true (g_str_has_prefix (why, name));
    return;
  }
  g_assert_nonnull (library);
  lig_library_path (dlsym (library, "cos"), path, sizeof path);
  g_autofree char *found = g_canonicalize_filename (path, NULL);
  g_assert_cmpstr (found, ==, place);
  dlclose (library);
}

static void
test_search (void)
{
  char file[1024];
  g_autofree char *top = g_dir_make_tmp ("ligature-library-XXXXXX", NULL);
  g_autofree char *near = g_build_filename (top, "nvidia/cublas/lib", NULL);
  g_autofree char *far = g_build_filename (top, "nvidia/other/lib", NULL);
  void *system = dlopen ("libm.so.6", RTLD_NOW);
  g_assert_nonnull (system);
  lig_library_path (dlsym (system, "cos"), file, sizeof file);
  g_autofree char *own = copy_to (file, near, "liblig-own.so.1");
  g_autofree char *first = copy_to (file, near, "liblig-first.so.1");
  g_autofree char *second = copy_to (file, far, "liblig-second.so.1");
  g_autofree char *hidden = copy_to (file, far, "liblig-first.so.1");
  void *opened = dlopen (own, RTLD_NOW);
  g_assert_nonnull (opened);
  const void *beside = dlsym (opened, "cos");
  check_found ("liblig-first.so.1", beside, first);
  check_found ("liblig-second.so.1", beside, second);
  check_found ("liblig-third.so.1", beside, NULL);
  check_found ("liblig-first.so.1", NULL, NULL);
  check_found ("libm.so.6", beside, file);
  dlclose (opened);
  g_autofree char *cublas = g_path_get_dirname (near), *other = g_path_get_dirname (far),
                  *nvidia = g_path_get_dirname (cublas);
  for (char **path =
         (char *[]){own, first, second, hidden, near, far, cublas, other, nvidia, top, NULL};
       *path; path++)
    g_assert_cmpint (g_remove (*path), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/library/search", test_search);
  return g_test_run ();
}
