/* SPDX-License-Identifier: MIT */
/* Caches the choices that kernels make by measuring, in this process and in the tuning table. */
#include "engine/measure/choices.h"
#include "engine/device/device-private.h"

#include "engine/measure/lock.h"
#include "engine/measure/stopwatch.h"
#include "engine/measure/tuning-private.h"

#include <glib/gi18n-lib.h>

/* Guards `chosen`: several threads may run programs at once. */
static GMutex lock;

/* The choices of this process. They are kept even without a store, so that two training runs in one
 * process give the same result. */
static GHashTable *chosen; /* key -> text */

static void
keep (const char *key, const char *choice)
{
  g_mutex_lock (&lock);
  if (!chosen)
    chosen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_insert (chosen, g_strdup (key), g_strdup (choice));
  g_mutex_unlock (&lock);
}

static bool
get_choice (void *data, const char *key, char *choice, size_t size)
{
  const LigTuning *tuning = data;
  double microseconds, noise;
  g_mutex_lock (&lock);
  g_autofree char *text = chosen ? g_strdup (g_hash_table_lookup (chosen, key)) : NULL;
  g_mutex_unlock (&lock);
  if (!text && tuning && !tuning->get (tuning->data, key, &microseconds, &noise, &text))
    return false;
  if (!text || g_strlcpy (choice, text, size) >= size)
    return false;
  keep (key, text);
  return true;
}

static void
put_choice (void *data, const char *key, double microseconds, const char *choice)
{
  const LigTuning *tuning = data;
  keep (key, choice);
  if (tuning)
    tuning->put (tuning->data, key, microseconds, 0, choice);
}

/* The seconds that this thread has searched, the start of the current search, the nesting depth of
 * searches, and the flag that reports a search. */
static _Thread_local struct {
  double seconds, since;
  guint depth;
  int *watch;
} searching;

void
lig_choices_watch (int *watch)
{
  searching.watch = watch;
}

static void
begin_measuring (void *guard)
{
  if (searching.depth++ == 0)
    searching.since = lig_now ();
  if (searching.watch)
    g_atomic_int_set (searching.watch, TRUE);
  lig_measuring_begin (guard);
}

static void
end_measuring (void *guard)
{
  lig_measuring_end (guard);
  if (--searching.depth > 0)
    return;
  searching.seconds += lig_now () - searching.since;
  if (searching.watch)
    g_atomic_int_set (searching.watch, FALSE);
}

double
lig_choices_seconds (void)
{
  return searching.seconds;
}

static void
report_no_memory (void *guard, const char *what)
{
  const char *device = lig_device_get_name (guard);
  g_autofree char *text =
    g_str_has_prefix (what, "attention ")
      ? g_strdup_printf (
          _ ("no memory on %s to compare cuDNN with the built-in kernel for %s; the built-in "
             "kernel runs, which may be slower"),
          device, what)
      : g_strdup_printf (_ ("no memory on %s to try algorithms for a matmul of %s; the matmul may "
                            "be slower than possible"),
                         device, what);
  lig_tuning_say (text);
}

void
lig_choices_begin (LigDevice *device, const LigTuning *tuning)
{
  const LigBackend *calls = lig_device_calls (device);
  LigChoices choices = {
    .get = get_choice,
    .put = put_choice,
    .data = (gpointer) tuning,
    .begin = begin_measuring,
    .end = end_measuring,
    .no_memory = report_no_memory,
    .guard = device,
  };
  if (calls)
    calls->keep_choices (lig_device_handle (device), &choices);
}

void
lig_choices_end (LigDevice *device)
{
  const LigBackend *calls = lig_device_calls (device);
  if (calls)
    calls->keep_choices (lig_device_handle (device), NULL);
}

void
lig_choices_recall (const LigTuning *tuning, const char *key)
{
  char choice[512];
  get_choice ((gpointer) tuning, key, choice, sizeof choice);
}

char *
lig_choices_find (const char *begin, const char *end)
{
  g_autofree char *text = lig_algorithms_list ();
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++) {
    g_auto (GStrv) words = g_strsplit (*line, "\t", 2);
    if (words[0] && g_str_has_prefix (words[0], begin) && g_str_has_suffix (words[0], end))
      return g_strdup (*line);
  }
  return NULL;
}

char *
lig_algorithms_list (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_mutex_lock (&lock);
  g_autoptr (GList) keys = chosen ? g_hash_table_get_keys (chosen) : NULL;
  keys = g_list_sort (keys, (GCompareFunc) g_strcmp0);
  for (GList *key = keys; key; key = key->next)
    g_string_append_printf (text, "%s\t%s\n", (char *) key->data,
                            (char *) g_hash_table_lookup (chosen, key->data));
  g_mutex_unlock (&lock);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

void
lig_algorithms_preset (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text ? text : "", "\n", -1);
  for (char **line = lines; *line; line++) {
    g_auto (GStrv) words = g_strsplit (*line, "\t", 2);
    if (g_strv_length (words) == 2)
      keep (words[0], words[1]);
  }
}
