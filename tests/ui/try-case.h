/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the page Try: a store with a trained model, and the page in a window. */
#pragma once

#include "tests/ui/case.h"
#include "ui/page.h"
#include "ui/session/child-run.h"
#include <ligature/store.h>

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *page;
} Fixture;

/* Trains a model into the fixture's store, on data with that text. */
static inline void
train (Fixture *f,
       const char *name,
       const char *sequence,
       const char *input,
       const char *kind,
       const char *text,
       const char *steps)
{
  int status = -1;
  g_autofree char *program = lig_child_run_find_program ();
  g_autofree char *file = g_strdup_printf ("%s/%s", f->folder, name);
  g_autofree char *spec = g_strdup_printf ("%s:%s?validation=0.25", kind, file);
  const char *store = lig_store_get_path (lig_session_get_store (f->session));
  g_assert_true (g_file_set_contents (file, text, -1, NULL));
  const char *const words[] = {program, "train",  sequence, "--input", input, "--data",
                               spec,    "--lr",   "0.05",   "--steps", steps, "--device",
                               "cpu",   "--name", name,     "--store", store, NULL};
  g_assert_true (g_spawn_sync (NULL, (char **) words, NULL,
                               G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                               NULL, NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);
}

static inline void
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "cpu");
  /* A busy machine opens it late. */
  WAIT_FOR (lig_session_get_store (f->session));
}

/* Opens the page, which looks for models. */
static inline void
open_page (Fixture *f)
{
  const LigPageInfo *info;
  guint n = 0;
  while ((info = lig_page_info_nth (n)) && !g_str_equal (info->name, "try"))
    n++;
  GtkWidget *toasts = adw_toast_overlay_new ();
  f->page = g_object_new (info->get_type (), "document", f->doc, "session", f->session, NULL);
  f->window = g_object_new (GTK_TYPE_APPLICATION_WINDOW, NULL);
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (toasts), f->page);
  lig_page_add_actions (LIG_PAGE (f->page), G_ACTION_MAP (f->window));
  show_in (f->window, toasts, 1200, 800);
}

static inline void
tear_down (Fixture *f, gconstpointer data)
{
  if (f->window)
    gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
}

static inline gboolean
says (Fixture *f, const char *text)
{
  return find_widget (f->page, shows_text, text) != NULL;
}

/* Returns whether a process has the fixture's store as an argument. */
static inline gboolean
has_process (Fixture *f)
{
  const char *name, *store = lig_store_get_path (lig_session_get_store (f->session));
  g_autoptr (GDir) folder = g_dir_open ("/proc", 0, NULL);
  while ((name = g_dir_read_name (folder))) {
    g_autofree char *file = g_build_filename ("/proc", name, "cmdline", NULL), *words = NULL;
    gsize length;
    if (!g_ascii_isdigit (*name) || !g_file_get_contents (file, &words, &length, NULL))
      continue;
    for (gsize i = 0; i < length; i += strlen (words + i) + 1)
      if (g_str_equal (words + i, store))
        return TRUE;
  }
  return FALSE;
}

/* Returns the page's command. */
static inline char *
get_command (Fixture *f)
{
  return lig_page_to_command (LIG_PAGE (f->page));
}
