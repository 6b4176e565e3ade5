/* SPDX-License-Identifier: MIT */
/* The program that the drivers in this folder start as ranks: `ranks-job WORK [NUMBER]`. */
#include "engine/measure/choices.h"
#include "engine/measure/shared-choices.h"
#include "engine/ranks/messages.h"
#include <ligature/ranks.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
must (gboolean done, GError *error)
{
  if (!done)
    g_error ("%s", error->message);
}

/* --- Messages ------------------------------------------------------------------------------ */

static void
check_properties (LigRanks *ranks)
{
  int rank = lig_ranks_get_rank (ranks), count = lig_ranks_get_count (ranks);
  g_assert_true (lig_ranks_join (NULL) == ranks);
  g_assert_cmpint (count, ==, lig_ranks_launched ());
  g_assert_cmpint (lig_ranks_get_local_rank (ranks), ==, rank);
  for (int other = 0; other < count; other++)
    g_assert_cmpstr (lig_ranks_get_host (ranks, other), ==, g_get_host_name ());
}

static void
check_broadcast (LigRanks *ranks, gsize bytes)
{
  GError *error = NULL;
  int rank = lig_ranks_get_rank (ranks);
  g_autofree guint8 *data = g_malloc0 (bytes + 1);
  for (gsize i = 0; rank == 0 && i < bytes; i++)
    data[i] = (guint8) (i * 7 + 1);
  must (lig_ranks_broadcast (ranks, data, bytes, &error), error);
  for (gsize i = 0; i < bytes; i++)
    g_assert_cmpuint (data[i], ==, (guint8) (i * 7 + 1));
  g_assert_cmpuint (data[bytes], ==, 0);
}

static void
check_texts (LigRanks *ranks)
{
  GError *error = NULL;
  gboolean first = lig_ranks_get_rank (ranks) == 0;
  g_autofree char *text = g_strdup (first ? "the sequence" : "another");
  g_autofree char *none = first ? NULL : g_strdup ("some");
  must (lig_ranks_broadcast_text (ranks, &text, &error), error);
  must (lig_ranks_broadcast_text (ranks, &none, &error), error);
  g_assert_cmpstr (text, ==, "the sequence");
  g_assert_null (none);
}

/* The numbers are chosen so that another summation order gives another result. */
static double
number_of (int rank, guint i)
{
  return i % 3 == 0 ? (rank % 2 ? -1e16 : 1e16) + rank : 0.1 * (rank + 1) + i;
}

static void
check_sum (LigRanks *ranks, guint count)
{
  GError *error = NULL;
  g_autofree double *values = g_new (double, count + 1);
  for (guint i = 0; i < count; i++)
    values[i] = number_of (lig_ranks_get_rank (ranks), i);
  must (lig_ranks_sum (ranks, values, count, &error), error);
  for (guint i = 0; i < count; i++) {
    double sum = number_of (0, i);
    for (int rank = 1; rank < lig_ranks_get_count (ranks); rank++)
      sum += number_of (rank, i);
    g_assert_cmpmem (&values[i], sizeof sum, &sum, sizeof sum);
  }
}

static int
messages (LigRanks *ranks, int number)
{
  GError *error = NULL;
  static const gsize sizes[] = {0, 1, 65536, 1000003, 40000000};
  static const guint counts[] = {0, 1, 7, 4096, 4097, 20000};
  check_properties (ranks);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    check_broadcast (ranks, sizes[i]);
  check_texts (ranks);
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    check_sum (ranks, counts[i]);
  must (lig_ranks_agree (ranks, "the data", "same", &error), error);
  return 0;
}

/* Rank `number` and those after it have another text. */
static int
differ (LigRanks *ranks, int number)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strnfill (200, lig_ranks_get_rank (ranks) < number ? 'a' : 'b');
  if (lig_ranks_agree (ranks, "the data", text, &error))
    return 1;
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  printf ("%s\n", error->message);
  return 0;
}

/* Only rank `number` fails; with -1 all fail alike, with -2 each differently. */
static int
share (LigRanks *ranks, int number)
{
  g_autoptr (GError) error = NULL;
  int rank = lig_ranks_get_rank (ranks);
  gboolean fine = number >= 0 && rank != number;
  must (lig_ranks_share_failure (ranks, TRUE, &error), error);
  if (!fine)
    g_set_error (&error, LIG_ERROR, LIG_ERROR_VALUE, "data: %d rows, expected 4",
                 number < -1 ? rank : 3);
  if (!fine)
    lig_error_set_setting (&error, "batch");
  if (lig_ranks_share_failure (ranks, fine, &error))
    return 1;
  gboolean own = number == -1 || rank == MAX (number, 0);
  g_assert_cmpint (error->code, ==, own ? LIG_ERROR_VALUE : LIG_ERROR_RANKS);
  g_assert_cmpstr (lig_error_get_setting (error), ==, "batch");
  g_assert_false (lig_ranks_share_failure (ranks, fine, NULL));
  printf ("%s\n", error->message);
  return 0;
}

/* --- Pieces -------------------------------------------------------------------------------- */

/* Divides `bytes` unevenly: `shape` 1 gives the last peer everything, 2 the first. */
static void
divide (int64_t *bounds, int count, int64_t bytes, int shape)
{
  for (int peer = 0; peer <= count; peer++)
    bounds[peer] = shape == 1   ? (peer == count ? bytes : 0)
                   : shape == 2 ? (peer == 0 ? 0 : bytes)
                                : bytes * peer * peer / ((int64_t) count * count);
}

static guint8
byte_of (int rank, int64_t i)
{
  return (guint8) (rank * 31 + i % 251);
}

static void
check_collective (const LigPeers *peers, const int64_t *bounds)
{
  const char *where = NULL;
  int64_t bytes = bounds[peers->count], own = bounds[peers->rank + 1] - bounds[peers->rank];
  g_autofree guint8 *from = g_malloc ((gsize) bytes + 1);
  g_autofree guint8 *to = g_malloc0 ((gsize) (own * peers->count) + 1);
  for (int64_t i = 0; i < bytes; i++)
    from[i] = byte_of (peers->rank, i);
  g_assert_cmpint (peers->collective (peers, from, bounds, to, &where), ==, LIG_OK);
  for (int peer = 0; peer < peers->count; peer++)
    for (int64_t i = 0; i < own; i++)
      g_assert_cmpuint (to[peer * own + i], ==, byte_of (peer, bounds[peers->rank] + i));
  g_assert_cmpuint (to[own * peers->count], ==, 0);
}

static void
check_gather (const LigPeers *peers, const int64_t *bounds)
{
  const char *where = NULL;
  int64_t bytes = bounds[peers->count];
  g_autofree guint8 *data = g_malloc0 ((gsize) bytes + 1);
  for (int64_t i = bounds[peers->rank]; i < bounds[peers->rank + 1]; i++)
    data[i] = byte_of (peers->rank, i);
  g_assert_cmpint (peers->gather (peers, data, bounds, &where), ==, LIG_OK);
  for (int peer = 0; peer < peers->count; peer++)
    for (int64_t i = bounds[peer]; i < bounds[peer + 1]; i++)
      g_assert_cmpuint (data[i], ==, byte_of (peer, i));
  g_assert_cmpuint (data[bytes], ==, 0);
}

static gpointer
sum_often (gpointer ranks)
{
  for (int i = 0; i < 200; i++)
    check_sum (ranks, 3);
  return NULL;
}

/* Another thread adds numbers in the meantime. */
static int
pieces (LigRanks *ranks, int number)
{
  static const int64_t sizes[] = {0, 1, 5, 4096, 65537, 1 << 20, 24000000};
  const LigPeers *peers = lig_ranks_get_peers (ranks, LIG_GROUP_ALL);
  if (!peers)
    return lig_ranks_get_count (ranks) == 1 ? 0 : 1;
  g_autofree int64_t *bounds = g_new (int64_t, (gsize) peers->count + 1);
  GThread *other = g_thread_new ("sums", sum_often, ranks);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (int shape = 0; shape < 3; shape++) {
      divide (bounds, peers->count, sizes[i], shape);
      check_collective (peers, bounds);
      check_gather (peers, bounds);
    }
  g_thread_join (other);
  return 0;
}

/* Times exchanges and gathers of arrays of `number` MiB. */
static int
speed (LigRanks *ranks, int number)
{
  const LigPeers *peers = lig_ranks_get_peers (ranks, LIG_GROUP_ALL);
  const char *where = NULL;
  int64_t bytes = (int64_t) number << 20;
  g_autofree int64_t *bounds = g_new (int64_t, (gsize) peers->count + 1);
  g_autofree char *from = g_malloc0 ((gsize) bytes), *to = g_malloc0 ((gsize) bytes + 4096);
  for (int peer = 0; peer <= peers->count; peer++)
    bounds[peer] = bytes * peer / peers->count;
  for (int i = 0; i < 5; i++) {
    gint64 began = g_get_monotonic_time ();
    g_assert_cmpint (peers->collective (peers, from, bounds, to, &where), ==, LIG_OK);
    gint64 between = g_get_monotonic_time ();
    g_assert_cmpint (peers->gather (peers, from, bounds, &where), ==, LIG_OK);
    if (peers->rank == 0)
      printf ("%d MiB: exchange %.2f ms, gather %.2f ms\n", number,
              (double) (between - began) / 1e3, (double) (g_get_monotonic_time () - between) / 1e3);
  }
  return 0;
}

/* --- Faults -------------------------------------------------------------------------------- */

static void
note_end (const char *message, gboolean failed, gpointer data)
{
  printf ("%s: %s\n", failed ? "failed" : "lost", message);
  fflush (stdout);
}

static void
begin_watch (LigRanks *ranks)
{
  GError *error = NULL;
  must (lig_ranks_watch (ranks, NULL, NULL, &error), error);
  must (lig_ranks_watch (ranks, note_end, NULL, &error), error);
  printf ("rank %d: process %d\n", lig_ranks_get_rank (ranks), (int) getpid ());
  fflush (stdout);
}

/* Rank 0 never broadcasts, so all wait. */
static int
hang (LigRanks *ranks, int number)
{
  char byte = 0;
  begin_watch (ranks);
  if (lig_ranks_get_rank (ranks) == 0)
    for (;;)
      pause ();
  return lig_ranks_broadcast (ranks, &byte, 1, NULL) ? 0 : 1;
}

/* Rank `number` fails while the others wait; with -1 all fail alike. */
static int
fail (LigRanks *ranks, int number)
{
  begin_watch (ranks);
  if (number < 0 || lig_ranks_get_rank (ranks) == number)
    lig_ranks_fail (ranks, "data: 3 rows, expected 4");
  return hang (ranks, number);
}

/* All leave while they are watched. */
static int
leave (LigRanks *ranks, int number)
{
  begin_watch (ranks);
  g_usleep ((gulong) lig_ranks_get_rank (ranks) * 700000);
  return 0;
}

/* --- Choices ------------------------------------------------------------------------------- */

static char *
list_choice (gpointer data, const char *part)
{
  return g_strdup_printf ("matmul | %s\tfast\n", part);
}

/* All ranks get the groups, the algorithms and the rates of rank 0, and the same links. */
static int
choices (LigRanks *ranks, int number)
{
  GError *error = NULL;
  int rank = lig_ranks_get_rank (ranks);
  gboolean first = rank == 0;
  g_autoptr (LigDevice) device = lig_device_open ("cpu", &error);
  must (device && lig_device_join (device, ranks, &error), error);
  const LigTuning tuning = {.list = list_choice};
  LigDeviceFacts facts = *lig_device_get_facts (device);
  const LigFabric links = facts.fabric;
  facts.copy = 1e9 * (rank + 1);
  lig_device_set_facts (device, &facts);
  g_autofree char *groups = first ? g_strdup ("groups") : NULL;
  must (lig_choices_share (device, first ? &tuning : NULL, &groups, &error), error);
  g_autofree char *algorithms = lig_algorithms_list ();
  g_autofree char *line = g_strdup_printf ("matmul | %s\tfast", facts.name);
  g_assert_cmpstr (groups, ==, "groups");
  g_assert_true (first || strstr (algorithms, line));
  g_assert_cmpfloat (lig_device_get_facts (device)->copy, ==, 1e9);
  double sums[] = {links.start, links.inside.bandwidth};
  must (lig_ranks_sum (ranks, sums, 2, &error), error);
  int count = lig_ranks_get_count (ranks);
  g_assert_cmpfloat_with_epsilon (sums[0], count * links.start, 1e-12);
  g_assert_cmpfloat_with_epsilon (sums[1], count * links.inside.bandwidth, 1);
  return 0;
}

static const struct {
  const char *name;
  int (*run) (LigRanks *ranks, int number);
} works[] = {{"messages", messages}, {"differ", differ}, {"share", share},
             {"pieces", pieces},     {"speed", speed},   {"hang", hang},
             {"fail", fail},         {"leave", leave},   {"choices", choices}};

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  LigRanks *ranks = lig_ranks_join (&error);
  int code = 2;
  g_set_prgname ("job");
  if (!ranks)
    g_error ("%s", error->message);
  for (guint i = 0; i < G_N_ELEMENTS (works); i++)
    if (argc > 1 && strcmp (argv[1], works[i].name) == 0)
      code = works[i].run (ranks, argc > 2 ? atoi (argv[2]) : 0);
  lig_ranks_leave ();
  return code;
}
