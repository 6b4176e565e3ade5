/* SPDX-License-Identifier: MIT */
/* Lines are read and requests are written asynchronously in the main loop, below the priority of
 * drawing, so that a fast model does not delay frames. The requests go through a socket, because
 * writing to the pipe of an ended process would end this one. */
#include "ui/session/trying.h"

#include "ui/session/child-run.h"
#include <ligature/error.h>
#include <ligature/json.h>
#include <ligature/tensor-file.h>
#include <ligature/weights.h>

#include <glib/gi18n.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Below GDK's redraw, above idle work. */
#define PRIORITY (G_PRIORITY_HIGH_IDLE + 30)

struct _LigTrying {
  GObject parent_instance;
  GSubprocess *process;
  GCancellable *cancellable;
  GDataInputStream *lines;
  GSocketConnection *requests;
  JsonParser *parser;
  GString *unsent;
  gboolean writing;
  int errors; /* an in-memory file with its standard error */
  JsonNode *model;
  char *error;
};

G_DEFINE_FINAL_TYPE (LigTrying, lig_trying, G_TYPE_OBJECT)

enum { LINE, ENDED, N_SIGNALS };
static guint signals[N_SIGNALS];

void
lig_trying_stop (LigTrying *self)
{
  g_cancellable_cancel (self->cancellable);
  if (self->process)
    g_subprocess_force_exit (self->process);
}

static void
lig_trying_finalize (GObject *object)
{
  LigTrying *self = LIG_TRYING (object);
  lig_trying_stop (self);
  g_clear_object (&self->lines);
  g_clear_object (&self->requests);
  g_clear_object (&self->process);
  g_clear_object (&self->parser);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->model, json_node_unref);
  g_string_free (self->unsent, TRUE);
  g_free (self->error);
  if (self->errors >= 0)
    close (self->errors);
  G_OBJECT_CLASS (lig_trying_parent_class)->finalize (object);
}

static void
lig_trying_class_init (LigTryingClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_trying_finalize;
  signals[LINE] = g_signal_new ("line", LIG_TYPE_TRYING, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                G_TYPE_NONE, 1, JSON_TYPE_OBJECT);
  signals[ENDED] =
    g_signal_new ("ended", LIG_TYPE_TRYING, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
lig_trying_init (LigTrying *self)
{
  self->errors = -1;
  self->cancellable = g_cancellable_new ();
  self->parser = json_parser_new ();
  self->unsent = g_string_new (NULL);
}

/* --- The end ------------------------------------------------------------------------------- */

/* Returns what the process printed last (transfer full), empty if it said nothing. */
static char *
read_errors (LigTrying *self)
{
  char text[4096];
  off_t size = lseek (self->errors, 0, SEEK_END);
  gssize length =
    pread (self->errors, text, sizeof text - 1, MAX (size - (off_t) sizeof text + 1, 0));
  text[MAX (length, 0)] = '\0';
  return *g_strstrip (text) ? lig_child_run_find_reason (text) : g_strdup ("");
}

static void
take_end (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LigTrying) self = data;
  if (!g_subprocess_wait_finish (G_SUBPROCESS (source), result, NULL) ||
      g_cancellable_is_cancelled (self->cancellable))
    return;
  g_autofree char *said = read_errors (self);
  gboolean killed = g_subprocess_get_if_signaled (self->process);
  if (*said && !killed && g_subprocess_get_exit_status (self->process) != 0)
    self->error = g_steal_pointer (&said);
  else if (killed)
    self->error = g_strdup_printf (_ ("the process of the model was ended by signal %d, perhaps "
                                      "because the memory is full; try again, or on the CPU"),
                                   g_subprocess_get_term_sig (self->process));
  else
    self->error = g_strdup (_ ("the process of the model ended without a reason; try again"));
  g_signal_emit (self, signals[ENDED], 0);
}

/* --- Lines --------------------------------------------------------------------------------- */

static void
take_line (LigTrying *self, const char *line)
{
  if (!json_parser_load_from_data (self->parser, line, -1, NULL))
    return;
  JsonNode *root = json_parser_get_root (self->parser);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return;
  if (!self->model)
    self->model = json_node_copy (root);
  g_autoptr (JsonObject) object = json_object_ref (json_node_get_object (root));
  g_signal_emit (self, signals[LINE], 0, object);
}

static void
read_line (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LigTrying) self = data;
  g_autofree char *line =
    g_data_input_stream_read_line_finish (G_DATA_INPUT_STREAM (source), result, NULL, NULL);
  if (line)
    take_line (self, line);
  if (g_cancellable_is_cancelled (self->cancellable))
    return;
  if (line)
    g_data_input_stream_read_line_async (self->lines, PRIORITY, self->cancellable, read_line,
                                         g_object_ref (self));
  else
    g_subprocess_wait_async (self->process, self->cancellable, take_end, g_object_ref (self));
}

/* --- Requests ------------------------------------------------------------------------------ */

static void write_requests (LigTrying *self);

static void
take_written (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LigTrying) self = data;
  self->writing = FALSE;
  /* An ended process is reported by its output. */
  if (g_output_stream_write_all_finish (G_OUTPUT_STREAM (source), result, NULL, NULL))
    write_requests (self);
}

static void
write_requests (LigTrying *self)
{
  if (self->writing || self->unsent->len == 0)
    return;
  gsize length = self->unsent->len;
  char *bytes = g_string_free (self->unsent, FALSE);
  GOutputStream *to = g_io_stream_get_output_stream (G_IO_STREAM (self->requests));
  self->unsent = g_string_new (NULL);
  self->writing = TRUE;
  /* The stream keeps the bytes until they are written. */
  g_object_set_data_full (G_OBJECT (to), "bytes", bytes, g_free);
  g_output_stream_write_all_async (to, bytes, length, G_PRIORITY_DEFAULT, self->cancellable,
                                   take_written, g_object_ref (self));
}

void
lig_trying_send (LigTrying *self, JsonBuilder *request)
{
  json_builder_end_object (request);
  g_autoptr (JsonNode) root = json_builder_get_root (request);
  lig_json_append (self->unsent, root);
  g_string_append_c (self->unsent, '\n');
  write_requests (self);
}

/* --- Starting ------------------------------------------------------------------------------ */

GStrv
lig_trying_make_words (const char *program, const LigTryingOrder *order)
{
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  g_strv_builder_add_many (words, program, order->rows ? "predict" : "generate", order->model,
                           "--lines", NULL);
  if (order->store)
    g_strv_builder_add_many (words, "--store", order->store, NULL);
  if (order->device)
    g_strv_builder_add_many (words, "--device", order->device, NULL);
  return g_strv_builder_end (words);
}

/* In the child: lowers the priority, so that the window on the same CPUs stays responsive. */
static void
lower_priority (gpointer unused)
{
  setpriority (PRIO_PROCESS, 0, 5);
}

static gboolean
start (LigTrying *self, const char *const *words, GError **error)
{
  int ends[2] = {-1, -1};
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  self->errors = memfd_create ("errors", MFD_CLOEXEC);
  if (self->errors < 0 || socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_MEMORY, g_strerror (errno));
    return FALSE;
  }
  g_autoptr (GSocket) socket = g_socket_new_from_fd (ends[0], error);
  g_subprocess_launcher_take_stdin_fd (launcher, ends[1]);
  g_subprocess_launcher_take_stderr_fd (launcher, dup (self->errors));
  g_subprocess_launcher_set_child_setup (launcher, lower_priority, NULL, NULL);
  if (!socket) {
    close (ends[0]);
    return FALSE;
  }
  self->requests = g_socket_connection_factory_create_connection (socket);
  self->process = g_subprocess_launcher_spawnv (launcher, words, error);
  return self->process != NULL;
}

LigTrying *
lig_trying_new (const LigTryingOrder *order, GError **error)
{
  g_autoptr (LigTrying) self = g_object_new (LIG_TYPE_TRYING, NULL);
  g_autofree char *program = lig_child_run_find_program ();
  if (!program) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FILE,
                         _ ("the program lig is not installed; install it next to this one"));
    return NULL;
  }
  g_auto (GStrv) words = lig_trying_make_words (program, order);
  if (!start (self, (const char *const *) words, error))
    return NULL;
  self->lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (self->process));
  g_data_input_stream_read_line_async (self->lines, PRIORITY, self->cancellable, read_line,
                                       g_object_ref (self));
  return g_steal_pointer (&self);
}

/* --- Facts --------------------------------------------------------------------------------- */

JsonObject *
lig_trying_get_model (LigTrying *self)
{
  return self->model ? json_node_get_object (self->model) : NULL;
}

const char *
lig_trying_get_error (LigTrying *self)
{
  return self->error;
}

gboolean
lig_trying_reads_rows (const char *path)
{
  g_autoptr (LigTensorFile) file = lig_weights_open (path, NULL);
  return file && lig_tensor_file_get_metadata (file, LIG_WEIGHTS_TABLE) != NULL;
}
