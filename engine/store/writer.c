/* SPDX-License-Identifier: MIT */
/* The thread that writes the data that runs report. */
#include "engine/store/writer.h"
#include "engine/store/guard.h"

#define BATCH_INTERVAL (200 * G_TIME_SPAN_MILLISECOND)
#define BATCH_ROWS 5000
#define HEARTBEAT_INTERVAL (5 * G_TIME_SPAN_SECOND)
#define RETRY_INTERVAL G_TIME_SPAN_SECOND

/* The maximum number of rows that wait while nothing can be written; if there are more, older ones
 * are thinned. */
#define MAX_WAITING (1 << 20)

struct _LigWriter {
  GMutex lock;
  GCond wake, completed_some;
  GThread *thread;
  GHashTable *runs;  /* uuid to LigQueuedRun */
  GHashTable *names; /* of metrics and passes, each once */
  LigBatch queue;
  gint64 queued_since; /* monotonic */
  guint64 requested, completed;
  int n_active;
  gboolean stop;
  int broken;     /* atomic: whether the connection can never be used again */
  char *path;     /* of the database */
  GError *lost;   /* the error for rows that will never be written */
  GError *failed; /* the error for rows that wait for another attempt */
  char *reported; /* the last of these errors that was returned to a caller */

  /* Only the writer thread uses the following fields. */
  LigInserter inserter;
  LigBatch pending;
  gint64 retry_at, beat_at;
  gint64 stride;      /* the stride to which the waiting rows are thinned */
  GPtrArray *beating; /* active runs, collected under the lock */
};

static void
free_run (gpointer data)
{
  LigQueuedRun *run = data;
  g_free (run->uuid);
  g_free (run->why);
  g_free (run);
}

/* Keeps the first error and frees later ones. */
static void
note (LigWriter *self, GError **kept, GError *error)
{
  g_mutex_lock (&self->lock);
  if (*kept)
    g_error_free (error);
  else
    *kept = error;
  g_mutex_unlock (&self->lock);
}

/* Returns the monotonic time of the next work; call it with the lock held. */
static gint64
get_due (LigWriter *self)
{
  gint64 due = self->n_active ? self->beat_at : G_MAXINT64;
  if (lig_batch_count (&self->queue) || lig_batch_count (&self->pending)) {
    gint64 wait = lig_batch_count (&self->queue) >= BATCH_ROWS ? 0 : BATCH_INTERVAL;
    due = MIN (due, self->queued_since + wait);
  }
  return MAX (due, self->retry_at);
}

/* Waits until work is due, then takes the queued rows; call it with the lock held. */
static void
wait_and_take (LigWriter *self)
{
  for (;;) {
    gint64 due = get_due (self);
    if (self->stop || self->requested > self->completed || due <= g_get_monotonic_time ())
      break;
    if (due == G_MAXINT64)
      g_cond_wait (&self->wake, &self->lock);
    else
      g_cond_wait_until (&self->wake, &self->lock, due);
  }
  if (!lig_batch_count (&self->pending)) {
    LigBatch taken = self->queue;
    self->queue = self->pending;
    self->pending = taken;
  } else {
    lig_batch_append (&self->pending, &self->queue);
  }
  g_ptr_array_set_size (self->beating, 0);
  /* Each write includes a heartbeat, because that becomes the end time of a run whose process is
   * killed. */
  gboolean writes = lig_batch_count (&self->pending) > 0;
  if (!self->n_active || (!writes && g_get_monotonic_time () < self->beat_at))
    return;
  GHashTableIter iter;
  gpointer run;
  g_hash_table_iter_init (&iter, self->runs);
  while (g_hash_table_iter_next (&iter, NULL, &run))
    if (((LigQueuedRun *) run)->active)
      g_ptr_array_add (self->beating, run);
}

/* Records for each run the number of rows missing from the database, and the reason. */
static void
record_missing (LigWriter *self, gboolean done, const char *why)
{
  GHashTableIter iter;
  gpointer value;
  g_mutex_lock (&self->lock);
  g_hash_table_iter_init (&iter, self->runs);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    LigQueuedRun *run = value;
    if (done)
      run->lost += run->rejected;
    run->missing = run->lost + run->waiting;
    if (run->missing == 0)
      g_clear_pointer (&run->why, g_free);
    else if (!run->why)
      run->why = g_strdup (why);
    run->rejected = run->waiting = 0;
  }
  g_mutex_unlock (&self->lock);
}

/* Records the result of an attempt to write. */
static void
record_result (LigWriter *self, gboolean done, GError *failure)
{
  gint64 now = g_get_monotonic_time ();
  g_autofree char *why = failure                   ? g_strdup (failure->message)
                         : self->inserter.rejected ? g_strdup (self->inserter.rejected->message)
                                                   : NULL;
  if (self->beating->len)
    self->beat_at = now + HEARTBEAT_INTERVAL;
  if (self->inserter.rejected)
    note (self, &self->lost, g_steal_pointer (&self->inserter.rejected));
  if (done) {
    self->retry_at = 0;
    self->stride = 1;
    lig_batch_empty (&self->pending);
    g_mutex_lock (&self->lock);
    g_clear_error (&self->failed);
    g_mutex_unlock (&self->lock);
  } else {
    gboolean full = lig_batch_count (&self->pending) > MAX_WAITING;
    self->retry_at = now + RETRY_INTERVAL;
    lig_batch_thin (&self->pending, MAX_WAITING, &self->stride);
    lig_batch_count_waiting (&self->pending);
    note (self, full ? &self->lost : &self->failed, failure);
  }
  record_missing (self, done, why);
}

typedef struct {
  LigWriter *writer;
  GError **error;
  gboolean done;
} Write;

static void
write_pending (gpointer data)
{
  Write *write = data;
  LigWriter *self = write->writer;
  write->done = lig_inserter_write (&self->inserter, &self->pending, self->beating, write->error);
}

/* Writes the pending rows, all or nothing. */
static gboolean
try_to_write (LigWriter *self, GError **error)
{
  Write write = {self, error, FALSE};
  if (!lig_writer_is_broken (self)) {
    if (lig_guard_run (write_pending, &write))
      return write.done;
    /* Only SQLite accesses the mapping, and it is only called with this lock held. */
    g_mutex_unlock (self->inserter.db_lock);
    lig_writer_break (self);
    g_clear_error (error);
  }
  lig_guard_fail (self->path, error);
  return FALSE;
}

static gpointer
work (gpointer data)
{
  LigWriter *self = data;
  gboolean stop = FALSE;
  while (!stop) {
    GError *failure = NULL;
    g_mutex_lock (&self->lock);
    wait_and_take (self);
    guint64 requested = self->requested;
    stop = self->stop;
    g_mutex_unlock (&self->lock);

    gboolean done = try_to_write (self, &failure);
    record_result (self, done, failure);

    g_mutex_lock (&self->lock);
    self->completed = requested;
    g_cond_broadcast (&self->completed_some);
    g_mutex_unlock (&self->lock);
  }
  return NULL;
}

/* Returns the entry of a run, and creates it with `id`, 0 if unknown. */
static LigQueuedRun *
get_run (LigWriter *self, const char *uuid, gint64 id)
{
  LigQueuedRun *run = g_hash_table_lookup (self->runs, uuid);
  if (!run) {
    run = g_new0 (LigQueuedRun, 1);
    run->uuid = g_strdup (uuid);
    run->id = id;
    g_hash_table_insert (self->runs, run->uuid, run);
  }
  return run;
}

static const char *
get_name (LigWriter *self, const char *name)
{
  const char *known = g_hash_table_lookup (self->names, name);
  if (!known) {
    char *copy = g_strdup (name);
    g_hash_table_add (self->names, copy);
    known = copy;
  }
  return known;
}

static void
ensure_thread (LigWriter *self)
{
  if (!self->thread)
    self->thread = g_thread_try_new ("lig-store", work, self, self->failed ? NULL : &self->failed);
}

/* Wakes the thread if the row just queued changes the time of its next work. */
static void
queued (LigWriter *self)
{
  guint waiting = lig_batch_count (&self->queue);
  if (waiting == 1)
    self->queued_since = g_get_monotonic_time ();
  if (waiting == 1 || waiting == BATCH_ROWS)
    g_cond_signal (&self->wake);
  ensure_thread (self);
}

void
lig_writer_add_metric (
  LigWriter *self, const char *run, gint64 step, const char *name, double value)
{
  g_mutex_lock (&self->lock);
  LigQueuedMetric metric = {{get_run (self, run, 0), get_name (self, name), step}, value};
  g_array_append_val (self->queue.metrics, metric);
  queued (self);
  g_mutex_unlock (&self->lock);
}

void
lig_writer_add_timing (LigWriter *self,
                       const char *run,
                       gint64 step,
                       int group,
                       const char *pass,
                       const double numbers[3])
{
  g_mutex_lock (&self->lock);
  LigQueuedTiming timing = {{get_run (self, run, 0), get_name (self, pass), step},
                            group,
                            {numbers[0], numbers[1], numbers[2]}};
  g_array_append_val (self->queue.timings, timing);
  queued (self);
  g_mutex_unlock (&self->lock);
}

void
lig_writer_add_row (LigWriter *self,
                    const char *run,
                    LigRowKind kind,
                    const gint64 integers[LIG_ROW_INTEGERS],
                    const char *const texts[LIG_ROW_TEXTS])
{
  LigQueuedRow row = {.kind = kind};
  for (int i = 0; i < LIG_ROW_INTEGERS; i++)
    row.integers[i] = integers[i];
  for (int i = 0; i < LIG_ROW_TEXTS; i++)
    row.texts[i] = g_strdup (texts[i]);
  g_mutex_lock (&self->lock);
  row.run = get_run (self, run, 0);
  g_array_append_val (self->queue.rows, row);
  queued (self);
  g_mutex_unlock (&self->lock);
}

void
lig_writer_enlist (LigWriter *self, const char *run, gint64 id)
{
  g_mutex_lock (&self->lock);
  LigQueuedRun *entry = get_run (self, run, id);
  if (!entry->active)
    self->n_active++;
  entry->active = TRUE;
  ensure_thread (self);
  g_cond_signal (&self->wake);
  g_mutex_unlock (&self->lock);
}

void
lig_writer_dismiss (LigWriter *self, const char *run)
{
  g_mutex_lock (&self->lock);
  LigQueuedRun *entry = g_hash_table_lookup (self->runs, run);
  if (entry && entry->active) {
    entry->active = FALSE;
    self->n_active--;
  }
  g_mutex_unlock (&self->lock);
}

gboolean
lig_writer_flush (LigWriter *self, GError **error)
{
  GError *failure = NULL;
  g_mutex_lock (&self->lock);
  if (self->thread) {
    guint64 ticket = ++self->requested;
    g_cond_signal (&self->wake);
    while (self->completed < ticket)
      g_cond_wait (&self->completed_some, &self->lock);
  }
  if (self->lost)
    failure = g_steal_pointer (&self->lost);
  else
    failure = g_steal_pointer (&self->failed);
  if (failure) {
    g_free (self->reported);
    self->reported = g_strdup (failure->message);
  }
  g_mutex_unlock (&self->lock);
  if (!failure)
    return TRUE;
  g_propagate_error (error, failure);
  return FALSE;
}

guint64
lig_writer_count_missing (LigWriter *self, const char *run, char **why)
{
  g_mutex_lock (&self->lock);
  const LigQueuedRun *entry = g_hash_table_lookup (self->runs, run);
  guint64 missing = entry ? entry->missing : 0;
  *why = entry ? g_strdup (entry->why) : NULL;
  g_mutex_unlock (&self->lock);
  return missing;
}

gboolean
lig_writer_is_broken (LigWriter *self)
{
  return g_atomic_int_get (&self->broken);
}

void
lig_writer_break (LigWriter *self)
{
  g_atomic_int_set (&self->broken, TRUE);
}

LigWriter *
lig_writer_new (sqlite3 *db, GMutex *db_lock)
{
  LigWriter *self = g_new0 (LigWriter, 1);
  self->stride = 1;
  self->path = g_strdup (db ? sqlite3_db_filename (db, "main") : NULL);
  g_mutex_init (&self->lock);
  g_cond_init (&self->wake);
  g_cond_init (&self->completed_some);
  self->runs = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_run);
  self->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->beating = g_ptr_array_new ();
  lig_batch_init (&self->queue);
  lig_batch_init (&self->pending);
  lig_inserter_init (&self->inserter, db, db_lock);
  return self;
}

void
lig_writer_free (LigWriter *self)
{
  if (self->thread) {
    g_mutex_lock (&self->lock);
    self->stop = TRUE;
    g_cond_signal (&self->wake);
    g_mutex_unlock (&self->lock);
    g_thread_join (self->thread);
  }
  /* No later call can return the error, so log it. */
  const GError *failure = self->lost ? self->lost : self->failed;
  if (failure && g_strcmp0 (failure->message, self->reported) != 0)
    g_message ("%s", failure->message);
  g_clear_error (&self->lost);
  g_clear_error (&self->failed);
  g_free (self->reported);
  if (lig_writer_is_broken (self))
    lig_guard_abandon (self->inserter.db);
  else
    lig_inserter_clear (&self->inserter);
  lig_batch_clear (&self->queue);
  lig_batch_clear (&self->pending);
  g_hash_table_unref (self->runs);
  g_hash_table_unref (self->names);
  g_ptr_array_unref (self->beating);
  g_free (self->path);
  g_cond_clear (&self->wake);
  g_cond_clear (&self->completed_some);
  g_mutex_clear (&self->lock);
  g_free (self);
}
