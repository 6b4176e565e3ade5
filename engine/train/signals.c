/* SPDX-License-Identifier: MIT */
/* The signals of a run. The training thread emits nothing: a source in the main context of the
 * starting thread reads the progress, so that no step waits for a handler. */
#include "engine/train/signals.h"
#include "engine/train/run-private.h"
#include <ligature/store-rows.h>

/* The interval of the ticks, and the maximum duration of one, both in milliseconds. */
enum { TICK = 16, LONGEST_TICK = 8 };

enum { STEP, PROGRESS, ENDED, N_SIGNALS };
static guint signals[N_SIGNALS];

static LigRunProgress *
copy_progress (LigRunProgress *progress)
{
  return g_memdup2 (progress, sizeof *progress);
}

G_DEFINE_BOXED_TYPE (LigRunProgress, lig_run_progress, copy_progress, g_free)

GType
lig_run_status_get_type (void)
{
  static gsize type;
  static GEnumValue values[] = {
    {LIG_RUN_READY, "LIG_RUN_READY", NULL},
    {LIG_RUN_RUNNING, "LIG_RUN_RUNNING", NULL},
    {LIG_RUN_PAUSED, "LIG_RUN_PAUSED", NULL},
    {LIG_RUN_DONE, "LIG_RUN_DONE", NULL},
    {LIG_RUN_FAILED, "LIG_RUN_FAILED", NULL},
    {LIG_RUN_CANCELLED, "LIG_RUN_CANCELLED", NULL},
    {LIG_RUN_INTERRUPTED, "LIG_RUN_INTERRUPTED", NULL},
    {0, NULL, NULL},
  };
  if (g_once_init_enter (&type)) {
    for (GEnumValue *value = values; value->value_name; value++)
      value->value_nick = lig_run_status_name ((LigRunStatus) value->value);
    g_once_init_leave (&type, g_enum_register_static ("LigRunStatus", values));
  }
  return type;
}

void
lig_run_add_signals (GType run)
{
  signals[STEP] = g_signal_new ("step", run, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2,
                                G_TYPE_INT64, G_TYPE_DOUBLE);
  signals[PROGRESS] =
    g_signal_new ("progress", run, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                  LIG_TYPE_RUN_PROGRESS | G_SIGNAL_TYPE_STATIC_SCOPE);
  signals[ENDED] = g_signal_new ("ended", run, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                 2, LIG_TYPE_RUN_STATUS, G_TYPE_STRING);
}

static gboolean
is_watched (LigRun *self, int signal)
{
  return g_signal_has_handler_pending (self, signals[signal], 0, TRUE);
}

/* Emits `step` for the steps since the last tick, or for only some of them if the handlers are slow
 * and the run continues. */
static void
emit_steps (LigRun *self, gboolean all)
{
  LigRunMetric metrics[256];
  guint count;
  double began = lig_now ();
  do {
    count = lig_run_take_metrics (self, metrics, G_N_ELEMENTS (metrics));
    for (guint i = 0; i < count; i++)
      if (g_str_equal (metrics[i].name, LIG_METRIC_LOSS))
        g_signal_emit (self, signals[STEP], 0, metrics[i].step, metrics[i].value);
  } while (count > 0 && (all || lig_now () - began < LONGEST_TICK * 1e-3));
}

static void
emit_progress (LigRun *self)
{
  LigRunProgress progress;
  lig_run_get_progress (self, &progress);
  g_signal_emit (self, signals[PROGRESS], 0, &progress);
}

static gboolean
tick (gpointer weak)
{
  g_autoptr (LigRun) self = g_weak_ref_get (weak);
  if (!self)
    return G_SOURCE_REMOVE;
  if (is_watched (self, STEP))
    emit_steps (self, FALSE);
  if (is_watched (self, PROGRESS))
    emit_progress (self);
  return G_SOURCE_CONTINUE;
}

static gboolean
emit_end (gpointer weak)
{
  g_autoptr (LigRun) self = g_weak_ref_get (weak);
  if (!self)
    return G_SOURCE_REMOVE;
  if (self->ticker)
    g_source_destroy (self->ticker);
  if (is_watched (self, STEP))
    emit_steps (self, TRUE);
  if (is_watched (self, PROGRESS))
    emit_progress (self);
  g_signal_emit (self, signals[ENDED], 0, self->progress.status,
                 self->error ? self->error->message : NULL);
  return G_SOURCE_REMOVE;
}

static void
free_weak (gpointer data)
{
  g_weak_ref_clear (data);
  g_free (data);
}

/* The source holds no reference to the run, because its context may never be iterated. */
static GSource *
prepare_source (LigRun *self, GSource *source, GSourceFunc function)
{
  GWeakRef *weak = g_new0 (GWeakRef, 1);
  g_weak_ref_init (weak, self);
  g_source_set_callback (source, function, weak, free_weak);
  return source;
}

void
lig_run_watch (LigRun *self)
{
  /* Made here, because the caller holds a reference to the run and the training thread does not. */
  self->end = prepare_source (self, g_idle_source_new (), emit_end);
  g_source_set_priority (self->end, G_PRIORITY_DEFAULT);
  if (!is_watched (self, STEP) && !is_watched (self, PROGRESS))
    return;
  self->ticker = prepare_source (self, g_timeout_source_new (TICK), tick);
  g_source_attach (self->ticker, self->context);
}

/* The signal is always emitted in an iteration of the context: emitted at once, it would come on
 * the training thread, and before the caller that started the run waits for it. */
void
lig_run_announce_end (LigRun *self)
{
  g_source_attach (self->end, self->context);
}

void
lig_run_unwatch (LigRun *self)
{
  if (self->ticker)
    g_source_destroy (self->ticker);
  g_clear_pointer (&self->ticker, g_source_unref);
  g_clear_pointer (&self->end, g_source_unref);
}
