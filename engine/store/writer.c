/* SPDX-License-Identifier: MIT */
/* The thread that writes what runs report. */
#include "engine/store/writer.h"
#include "engine/store.h"
#include "engine/store/process.h"
#include "engine/store/sql.h"

#define BATCH_INTERVAL (200 * G_TIME_SPAN_MILLISECOND)
#define BATCH_ROWS 5000
#define HEARTBEAT_INTERVAL (5 * G_TIME_SPAN_SECOND)
#define RETRY_INTERVAL G_TIME_SPAN_SECOND

/* Rows that wait while nothing can be written; beyond them the oldest are lost. */
#define MOST_WAITING (1 << 20)

/* Entries are made under the lock and live as long as the writer, so queued rows point to them.
 * Only the thread touches what is marked so. */
typedef struct {
  char *uuid;
  gint64 id; /* thread: in the database; 0 until looked up, -1 if there is none */
  gboolean active;
  gboolean touched; /* thread: got metrics in this batch, up to last_step */
  gint64 last_step; /* thread */
} Run;

typedef struct {
  Run *run;
  const char *name;
  gint64 step;
  double value;
} Metric;

typedef struct {
  Run *run;
  const char *pass;
  gint64 step;
  int group;
  double numbers[3];
} Timing;

typedef struct {
  Run *run;
  LigRowKind kind;
  gint64 integers[LIG_ROW_INTEGERS];
  char *texts[LIG_ROW_TEXTS];
} Row;

typedef struct {
  GArray *metrics, *timings, *rows;
} Batch;

enum { ADD_METRIC = LIG_ROW_ARTIFACT + 1, ADD_TIMING, FIND_RUN, SUMMARIZE, HEARTBEAT, N_STATEMENTS };

struct _LigWriter {
  GMutex lock;
  GCond wake, served_some;
  GThread *thread;
  GHashTable *runs;  /* uuid to Run */
  GHashTable *names; /* of metrics and passes, each once */
  Batch queue;
  gint64 queued_since; /* monotonic */
  guint64 asked, served;
  int n_active;
  gboolean stop;
  GError *lost;   /* rows that will never be written */
  GError *failed; /* rows that wait for another try */

  /* Only the thread touches what follows. */
  sqlite3 *db;
  GMutex *db_lock;
  Batch pending;
  gint64 retry_at, beat_at;
  GPtrArray *beating; /* active runs, collected under the lock */
  GPtrArray *touched;
  sqlite3_stmt *statements[N_STATEMENTS];
};

const char lig_writer_summarize[] =
    "UPDATE run SET"
    " last_step = CASE WHEN ?2 IS NULL THEN (SELECT max (step) FROM metric WHERE run = ?1)"
    "             ELSE max (coalesce (last_step, ?2), ?2) END,"
    " first_loss = (SELECT value FROM metric WHERE run = ?1 AND name = '" LIG_METRIC_LOSS "'"
    "               ORDER BY step LIMIT 1),"
    " last_loss = (SELECT value FROM metric WHERE run = ?1 AND name = '" LIG_METRIC_LOSS "'"
    "              ORDER BY step DESC LIMIT 1),"
    " eval_loss = (SELECT value FROM metric WHERE run = ?1 AND name = '" LIG_METRIC_EVAL_LOSS "'"
    "              ORDER BY step DESC LIMIT 1),"
    " eval_accuracy = (SELECT value FROM metric WHERE run = ?1"
    "                  AND name = '" LIG_METRIC_EVAL_ACCURACY "' ORDER BY step DESC LIMIT 1)"
    " WHERE id = ?1";

/* A row's integers are ?2 and on, its texts ?5 and on. A sign of life also takes back that another
 * process thought this one gone, as after the machine slept, unless that one runs it now. */
static const char *const statements[] = {
  [LIG_ROW_FUSION] = "INSERT OR REPLACE INTO fusion (run, \"group\", first_op, count, pass, fusion)"
                     " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
  [LIG_ROW_VERDICT] =
      "INSERT OR REPLACE INTO verdict (run, first_op, count, taken, fusion, pass, reason, observed,"
      " required, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
  [LIG_ROW_ARTIFACT] = "INSERT OR REPLACE INTO artifact (run, created, kind, path)"
                       " VALUES (?1, ?2, ?5, ?6)",
  [ADD_METRIC] = "INSERT OR REPLACE INTO metric (run, step, name, value) VALUES (?1, ?2, ?3, ?4)",
  [ADD_TIMING] = "INSERT OR REPLACE INTO timing (run, step, \"group\", pass, microseconds, bytes,"
                 " flops) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
  [FIND_RUN] = "SELECT id FROM run WHERE uuid = ?1",
  [SUMMARIZE] = lig_writer_summarize,
  [HEARTBEAT] = "UPDATE run SET heartbeat = ?2, status = 'running', ended = NULL"
                " WHERE id = ?1 AND status IN ('running', 'interrupted')"
                " AND boot = ?3 AND pid = ?4 AND process_start = ?5",
};

static void
clear_row (gpointer data)
{
  Row *row = data;
  for (int i = 0; i < LIG_ROW_TEXTS; i++)
    g_free (row->texts[i]);
}

static void
init_batch (Batch *batch)
{
  batch->metrics = g_array_new (FALSE, FALSE, sizeof (Metric));
  batch->timings = g_array_new (FALSE, FALSE, sizeof (Timing));
  batch->rows = g_array_new (FALSE, FALSE, sizeof (Row));
}

static void
empty_batch (Batch *batch)
{
  for (guint i = 0; i < batch->rows->len; i++)
    clear_row (&g_array_index (batch->rows, Row, i));
  g_array_set_size (batch->metrics, 0);
  g_array_set_size (batch->timings, 0);
  g_array_set_size (batch->rows, 0);
}

static void
free_batch (Batch *batch)
{
  empty_batch (batch);
  g_array_unref (batch->metrics);
  g_array_unref (batch->timings);
  g_array_unref (batch->rows);
}

static guint
count_rows (const Batch *batch)
{
  return batch->metrics->len + batch->timings->len + batch->rows->len;
}

static void
free_run (gpointer data)
{
  Run *run = data;
  g_free (run->uuid);
  g_free (run);
}

/* ---- the thread ---- */

static sqlite3_stmt *
get_statement (LigWriter *self, int which, GError **error)
{
  if (!self->statements[which])
    self->statements[which] = lig_sql_prepare (self->db, error, statements[which], "");
  return self->statements[which];
}

/* Keeps the first of the errors. */
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

/* A row that the database refuses for what it is would be refused for ever: it is left out. */
static void
note_refused (LigWriter *self, const Run *run, const char *why)
{
  note (self,
        &self->lost,
        g_error_new (LIG_ERROR,
                     LIG_ERROR_STORE,
                     "store '%s': cannot add to run '%s': %s",
                     sqlite3_db_filename (self->db, "main"),
                     run->uuid,
                     why));
}

/* Runs a bound statement. */
static gboolean
step (LigWriter *self, sqlite3_stmt *statement, const Run *run, GError **error)
{
  int code = sqlite3_step (statement);
  gboolean done = TRUE;
  if (code == SQLITE_CONSTRAINT)
    note_refused (self,
                  run,
                  sqlite3_extended_errcode (self->db) == SQLITE_CONSTRAINT_FOREIGNKEY
                      ? "it is not in the store"
                      : sqlite3_errmsg (self->db));
  else if (code != SQLITE_DONE)
    done = lig_sql_fail (self->db, "cannot write", error);
  sqlite3_reset (statement);
  return done;
}

/* Binds the run's number. A run that was begun elsewhere is looked up once; a number that is not
 * there makes the row be refused. */
static gboolean
bind_run (LigWriter *self, sqlite3_stmt *statement, Run *run, GError **error)
{
  if (!run->id) {
    sqlite3_stmt *find = get_statement (self, FIND_RUN, error);
    g_autoptr (GError) failure = NULL;
    if (!find)
      return FALSE;
    sqlite3_bind_text (find, 1, run->uuid, -1, SQLITE_STATIC);
    if (lig_sql_next (find, &failure))
      run->id = sqlite3_column_int64 (find, 0);
    else if (!failure)
      run->id = -1;
    sqlite3_reset (find);
    if (failure) {
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }
  }
  sqlite3_bind_int64 (statement, 1, run->id);
  return TRUE;
}

static gboolean
write_metrics (LigWriter *self, GError **error)
{
  sqlite3_stmt *statement = get_statement (self, ADD_METRIC, error);
  if (!statement)
    return FALSE;
  for (guint i = 0; i < self->pending.metrics->len; i++) {
    const Metric *metric = &g_array_index (self->pending.metrics, Metric, i);
    Run *run = metric->run;
    if (!bind_run (self, statement, run, error))
      return FALSE;
    sqlite3_bind_int64 (statement, 2, metric->step);
    sqlite3_bind_text (statement, 3, metric->name, -1, SQLITE_STATIC);
    sqlite3_bind_double (statement, 4, metric->value);
    if (!step (self, statement, run, error))
      return FALSE;
    if (!run->touched)
      g_ptr_array_add (self->touched, run);
    run->last_step = run->touched ? MAX (run->last_step, metric->step) : metric->step;
    run->touched = TRUE;
  }
  return TRUE;
}

static gboolean
write_timings (LigWriter *self, GError **error)
{
  sqlite3_stmt *statement = get_statement (self, ADD_TIMING, error);
  if (!statement)
    return FALSE;
  for (guint i = 0; i < self->pending.timings->len; i++) {
    const Timing *timing = &g_array_index (self->pending.timings, Timing, i);
    if (!bind_run (self, statement, timing->run, error))
      return FALSE;
    sqlite3_bind_int64 (statement, 2, timing->step);
    sqlite3_bind_int (statement, 3, timing->group);
    sqlite3_bind_text (statement, 4, timing->pass, -1, SQLITE_STATIC);
    for (int j = 0; j < 3; j++)
      sqlite3_bind_double (statement, 5 + j, timing->numbers[j]);
    if (!step (self, statement, timing->run, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
write_rows (LigWriter *self, GError **error)
{
  for (guint i = 0; i < self->pending.rows->len; i++) {
    const Row *row = &g_array_index (self->pending.rows, Row, i);
    sqlite3_stmt *statement = get_statement (self, row->kind, error);
    if (!statement || !bind_run (self, statement, row->run, error))
      return FALSE;
    int last = sqlite3_bind_parameter_count (statement);
    for (int j = 0; j < LIG_ROW_INTEGERS; j++)
      sqlite3_bind_int64 (statement, 2 + j, row->integers[j]);
    for (int j = 0; j < LIG_ROW_TEXTS && 2 + LIG_ROW_INTEGERS + j <= last; j++)
      sqlite3_bind_text (
          statement, 2 + LIG_ROW_INTEGERS + j, row->texts[j], -1, SQLITE_STATIC);
    if (!step (self, statement, row->run, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
write_summaries (LigWriter *self, GError **error)
{
  sqlite3_stmt *statement = get_statement (self, SUMMARIZE, error);
  gboolean done = statement != NULL;
  for (guint i = 0; done && i < self->touched->len; i++) {
    Run *run = self->touched->pdata[i];
    sqlite3_bind_int64 (statement, 1, run->id);
    sqlite3_bind_int64 (statement, 2, run->last_step);
    done = step (self, statement, run, error);
  }
  return done;
}

static gboolean
write_heartbeats (LigWriter *self, GError **error)
{
  const LigProcess *process = lig_process_get_self ();
  sqlite3_stmt *statement = get_statement (self, HEARTBEAT, error);
  gboolean done = statement != NULL;
  for (guint i = 0; done && i < self->beating->len; i++) {
    Run *run = self->beating->pdata[i];
    done = bind_run (self, statement, run, error);
    sqlite3_bind_int64 (statement, 2, g_get_real_time ());
    sqlite3_bind_text (statement, 3, process->boot, -1, SQLITE_STATIC);
    sqlite3_bind_int64 (statement, 4, process->pid);
    sqlite3_bind_int64 (statement, 5, process->start);
    done = done && step (self, statement, run, error);
  }
  return done;
}

/* Writes what is pending in one transaction: all of it or nothing. */
static gboolean
write_batch (LigWriter *self, GError **error)
{
  if (!count_rows (&self->pending) && !self->beating->len)
    return TRUE;
  g_mutex_lock (self->db_lock);
  gboolean done = lig_sql_begin (self->db, error);
  if (done) {
    done = write_metrics (self, error) && write_timings (self, error) &&
           write_rows (self, error) && write_summaries (self, error) &&
           write_heartbeats (self, error);
    done = lig_sql_end (self->db, done, error);
  }
  g_mutex_unlock (self->db_lock);
  for (guint i = 0; i < self->touched->len; i++)
    ((Run *) self->touched->pdata[i])->touched = FALSE;
  g_ptr_array_set_size (self->touched, 0);
  return done;
}

/* When there is something to do next, in monotonic time; call it with the lock held. */
static gint64
get_due (LigWriter *self)
{
  gint64 due = self->n_active ? self->beat_at : G_MAXINT64;
  if (count_rows (&self->queue) || count_rows (&self->pending)) {
    gint64 wait = count_rows (&self->queue) >= BATCH_ROWS ? 0 : BATCH_INTERVAL;
    due = MIN (due, self->queued_since + wait);
  }
  return MAX (due, self->retry_at);
}

/* Waits, then takes what is queued; call it with the lock held. */
static void
wait_and_take (LigWriter *self)
{
  for (;;) {
    gint64 due = get_due (self);
    if (self->stop || self->asked > self->served || due <= g_get_monotonic_time ())
      break;
    if (due == G_MAXINT64)
      g_cond_wait (&self->wake, &self->lock);
    else
      g_cond_wait_until (&self->wake, &self->lock, due);
  }
  if (!count_rows (&self->pending)) {
    Batch taken = self->queue;
    self->queue = self->pending;
    self->pending = taken;
  } else {
    g_array_append_vals (self->pending.metrics, self->queue.metrics->data, self->queue.metrics->len);
    g_array_append_vals (self->pending.timings, self->queue.timings->data, self->queue.timings->len);
    g_array_append_vals (self->pending.rows, self->queue.rows->data, self->queue.rows->len);
    g_array_set_size (self->queue.metrics, 0);
    g_array_set_size (self->queue.timings, 0);
    g_array_set_size (self->queue.rows, 0);
  }
  g_ptr_array_set_size (self->beating, 0);
  if (!self->n_active || g_get_monotonic_time () < self->beat_at)
    return;
  GHashTableIter iter;
  gpointer run;
  g_hash_table_iter_init (&iter, self->runs);
  while (g_hash_table_iter_next (&iter, NULL, &run))
    if (((Run *) run)->active)
      g_ptr_array_add (self->beating, run);
}

/* Books how writing went. */
static void
conclude (LigWriter *self, gboolean done, GError *failure)
{
  gint64 now = g_get_monotonic_time ();
  if (self->beating->len)
    self->beat_at = now + HEARTBEAT_INTERVAL;
  if (done) {
    self->retry_at = 0;
    empty_batch (&self->pending);
    g_mutex_lock (&self->lock);
    g_clear_error (&self->failed);
    g_mutex_unlock (&self->lock);
    return;
  }
  self->retry_at = now + RETRY_INTERVAL;
  if (count_rows (&self->pending) > MOST_WAITING) {
    empty_batch (&self->pending);
    note (self, &self->lost, failure);
  } else {
    note (self, &self->failed, failure);
  }
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
    guint64 asked = self->asked;
    stop = self->stop;
    g_mutex_unlock (&self->lock);

    gboolean done = write_batch (self, &failure);
    conclude (self, done, failure);

    g_mutex_lock (&self->lock);
    self->served = asked;
    g_cond_broadcast (&self->served_some);
    g_mutex_unlock (&self->lock);
  }
  return NULL;
}

/* ---- what callers do, with the lock held ---- */

/* The entry of a run; `id` as far as it is known. */
static Run *
get_run (LigWriter *self, const char *uuid, gint64 id)
{
  Run *run = g_hash_table_lookup (self->runs, uuid);
  if (!run) {
    run = g_new0 (Run, 1);
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

/* Wakes the thread where the row just queued changes when it has to work. */
static void
queued (LigWriter *self)
{
  guint waiting = count_rows (&self->queue);
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
  Metric metric = { get_run (self, run, 0), get_name (self, name), step, value };
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
  Timing timing = { get_run (self, run, 0),
                    get_name (self, pass),
                    step,
                    group,
                    { numbers[0], numbers[1], numbers[2] } };
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
  Row row = { .kind = kind };
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
  Run *entry = get_run (self, run, id);
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
  Run *entry = g_hash_table_lookup (self->runs, run);
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
    guint64 ticket = ++self->asked;
    g_cond_signal (&self->wake);
    while (self->served < ticket)
      g_cond_wait (&self->served_some, &self->lock);
  }
  if (self->lost)
    failure = g_steal_pointer (&self->lost);
  else
    failure = g_steal_pointer (&self->failed);
  g_mutex_unlock (&self->lock);
  if (!failure)
    return TRUE;
  g_propagate_error (error, failure);
  return FALSE;
}

LigWriter *
lig_writer_new (sqlite3 *db, GMutex *db_lock)
{
  LigWriter *self = g_new0 (LigWriter, 1);
  g_mutex_init (&self->lock);
  g_cond_init (&self->wake);
  g_cond_init (&self->served_some);
  self->runs = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_run);
  self->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->beating = g_ptr_array_new ();
  self->touched = g_ptr_array_new ();
  init_batch (&self->queue);
  init_batch (&self->pending);
  self->db = db;
  self->db_lock = db_lock;
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
  /* Nobody is left to whom the error could be returned. */
  const GError *failure = self->lost ? self->lost : self->failed;
  if (failure)
    g_message ("%s", failure->message);
  g_clear_error (&self->lost);
  g_clear_error (&self->failed);
  for (int i = 0; i < N_STATEMENTS; i++)
    sqlite3_finalize (self->statements[i]);
  free_batch (&self->queue);
  free_batch (&self->pending);
  g_hash_table_unref (self->runs);
  g_hash_table_unref (self->names);
  g_ptr_array_unref (self->beating);
  g_ptr_array_unref (self->touched);
  g_cond_clear (&self->wake);
  g_cond_clear (&self->served_some);
  g_mutex_clear (&self->lock);
  g_free (self);
}
