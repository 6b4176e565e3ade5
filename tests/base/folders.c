/* SPDX-License-Identifier: MIT */
/* A program finds the data, translations and schemas of a build only if it is in one: copies of
 * this program in other folders, with and without the mark of a build, print the folders that they
 * use. */
#include "engine/base/folders-private.h"
#include <ligature/folders.h>

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  char *root, *mark, *program;
} Fixture;

static int
print_folders (void)
{
  g_auto (GStrv) data = lig_data_folders ();
  g_auto (GStrv) schemas = lig_schema_folders ();
  g_print ("%s\n%s\n%s\n%s", data[0], lig_locale_folder (), schemas[0],
           lig_build_folder () ? lig_build_folder () : "none");
  return 0;
}

static void
write_file (const char *root, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (root, name, NULL);
  g_autofree char *folder = g_path_get_dirname (path);
  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
set_up (Fixture *f, gconstpointer data)
{
  const char *place = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *self = g_file_read_link ("/proc/self/exe", &error);
  g_autoptr (GFile) from = g_file_new_for_path (self);
  g_autofree char *made = g_dir_make_tmp ("ligature-XXXXXX", &error);
  g_assert_no_error (error);
  f->root = realpath (made, NULL);
  f->mark = g_build_filename (f->root, "ligature-source", NULL);
  f->program = g_build_filename (f->root, place, NULL);
  g_autofree char *folder = g_path_get_dirname (f->program);
  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  g_autoptr (GFile) to = g_file_new_for_path (f->program);
  g_file_copy (from, to, 0, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  const char *command[] = {"rm", "-r", f->root, NULL};
  g_spawn_sync (NULL, (char **) command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                &error);
  g_assert_no_error (error);
  g_free (f->root);
  g_free (f->mark);
  g_free (f->program);
}

/* Returns the output of the copy, which is started with a meaningless program name. */
static GStrv
ask (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  const char *command[] = {f->program, "/tests/base", "--folders", NULL};
  g_auto (GStrv) environment = g_environ_unsetenv (g_get_environ (), "LIGATURE_DATA");
  g_spawn_sync ("/", (char **) command, environment, G_SPAWN_FILE_AND_ARGV_ZERO, NULL, NULL, &text,
                NULL, NULL, &error);
  g_assert_no_error (error);
  GStrv lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 4);
  return lines;
}

static void
expect_installed (Fixture *f)
{
  g_auto (GStrv) lines = ask (f);
  for (int i = 0; i < 3; i++)
    g_assert_false (g_str_has_prefix (lines[i], f->root));
  g_assert_true (g_str_has_suffix (lines[0], "/share/ligature"));
  g_assert_cmpstr (lines[3], ==, "none");
}

static void
expect_built (Fixture *f, const char *source)
{
  g_auto (GStrv) lines = ask (f);
  g_autofree char *data = g_build_filename (source, "data", NULL);
  g_autofree char *locale = g_build_filename (f->root, "po", NULL);
  g_autofree char *schemas = g_build_filename (f->root, "data", NULL);
  g_assert_cmpstr (lines[0], ==, data);
  g_assert_cmpstr (lines[1], ==, locale);
  g_assert_cmpstr (lines[2], ==, schemas);
  g_assert_cmpstr (lines[3], ==, f->root);
}

/* Without the mark, the folders of a build next to the program are not used. */
static void
test_unmarked (Fixture *f, gconstpointer data)
{
  write_file (f->root, "po/de/LC_MESSAGES/ligature.mo", "");
  write_file (f->root, "data/gschemas.compiled", "");
  expect_installed (f);
  write_file (f->root, "ligature-source", "");
  expect_installed (f);
}

static void
test_marked (Fixture *f, gconstpointer data)
{
  write_file (f->root, "po/de/LC_MESSAGES/ligature.mo", "");
  write_file (f->root, "ligature-source", "/somewhere/source\n");
  expect_built (f, "/somewhere/source");
}

/* The folder exists before a catalogue has been built in it. */
static void
test_no_catalogue (Fixture *f, gconstpointer data)
{
  write_file (f->root, "po/readme", "");
  write_file (f->root, "ligature-source", "/somewhere/source\n");
  g_auto (GStrv) lines = ask (f);
  g_assert_cmpstr (lines[0], ==, "/somewhere/source/data");
  g_assert_true (g_str_has_suffix (lines[1], "/share/locale"));
}

/* The program is too deep below the mark. */
static void
test_deep (Fixture *f, gconstpointer data)
{
  write_file (f->root, "ligature-source", "/somewhere/source\n");
  expect_installed (f);
}

static void
test_link (Fixture *f, gconstpointer data)
{
  write_file (f->root, "other", "/somewhere/source\n");
  g_assert_cmpint (symlink ("other", f->mark), ==, 0);
  expect_installed (f);
}

static void
test_stranger (Fixture *f, gconstpointer data)
{
  write_file (f->root, "ligature-source", "/somewhere/source\n");
  if (chown (f->mark, 65534, (gid_t) -1) != 0) {
    g_test_skip ("only root can give a file to another user");
    return;
  }
  expect_installed (f);
}

/* This program itself is in the build folder. */
static void
test_here (void)
{
  g_autofree char *mark = g_build_filename (lig_build_folder (), "ligature-source", NULL);
  g_assert_true (g_file_test (mark, G_FILE_TEST_IS_REGULAR));
}

int
main (int argc, char **argv)
{
  if (argc == 2 && strcmp (argv[1], "--folders") == 0)
    return print_folders ();
  static const struct {
    const char *name, *place;
    void (*run) (Fixture *f, gconstpointer data);
  } tests[] = {{"/folders/unmarked", "tests/program", test_unmarked},
               {"/folders/marked", "tests/program", test_marked},
               {"/folders/marked-above", "tests/ui/program", test_marked},
               {"/folders/no-catalogue", "tests/program", test_no_catalogue},
               {"/folders/deep", "lib/x86_64-linux-gnu/ligature/program", test_deep},
               {"/folders/link", "tests/program", test_link},
               {"/folders/stranger", "tests/program", test_stranger}};
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, tests[i].place, set_up, tests[i].run, tear_down);
  g_test_add_func ("/folders/here", test_here);
  return g_test_run ();
}
