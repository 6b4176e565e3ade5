/* SPDX-License-Identifier: MIT */
/* Training on several ranks from the window: the choice, the command, and the processes. */
#include "tests/ui/run-case.h"

#include "ui/document/ranks.h"
#include "ui/run/rank-rows.h"
#include "ui/run/settings-list.h"
#include "ui/session/child-run.h"

#include <ligature/store-sweeps.h>

#include <signal.h>

static const char model[] = "linear(16, init-std=0.3) ! gelu ! linear(4) ! mean-squared-error";

static void
choose (Fixture *f, int ranks)
{
  lig_ranks_set (f->doc, ranks);
  g_signal_emit_by_name (f->doc, "settings");
}

static gboolean
can_launch (void)
{
  g_autofree char *mpirun = g_find_program_in_path ("mpirun");
  if (!mpirun)
    g_test_skip ("there is no mpirun");
  return mpirun != NULL;
}

static void
begin (Fixture *f)
{
  choose (f, 2);
  prepare (f, model, "32x8", "{\"data\":\"synthetic\",\"steps\":100000000}");
  act (f, "run");
  WAIT_FOR (progress_of (current (f)).step >= 100 || !lig_training_is_active (current (f)));
  g_assert_cmpstr (lig_training_get_error (current (f)), ==, NULL);
}

/* Chooses the layout of that name. */
static void
choose_layout (GtkDropDown *down, const char *name)
{
  GListModel *names = gtk_drop_down_get_model (down);
  for (guint i = 0; i < g_list_model_get_n_items (names); i++)
    if (g_str_equal (gtk_string_list_get_string (GTK_STRING_LIST (names), i), name))
      gtk_drop_down_set_selected (down, i);
  GtkStringObject *chosen = gtk_drop_down_get_selected_item (down);
  g_assert_cmpstr (gtk_string_object_get_string (chosen), ==, name);
}

static void
check_command (Fixture *f, const char *end)
{
  g_autofree char *command = lig_train_to_command (f->doc);
  g_assert_true (g_str_has_suffix (command, end));
}

/* Sequence and heads are both sharded. */
static void
check_four (Fixture *f, GtkDropDown *down)
{
  if (g_get_num_processors () < 4)
    return;
  choose (f, 4);
  g_assert_cmpuint (g_list_model_get_n_items (gtk_drop_down_get_model (down)), ==, 6);
  choose_layout (down, "context=2,tensor=2");
  check_command (f, " --ranks 4 --parallel context=2,tensor=2");
  choose (f, 3);
  check_command (f, " --ranks 3");
  choose (f, 4);
  check_command (f, " --ranks 4 --parallel context=2,tensor=2");
}

/* The layouts of two ranks; the choice is kept for divisible numbers of ranks. */
static void
check_layouts (Fixture *f)
{
  GtkWidget *row = g_object_ref_sink (gtk_grid_new ());
  lig_rank_layout_attach (f->doc, GTK_GRID (row), 0);
  GtkDropDown *down = find_type (row, GTK_TYPE_DROP_DOWN);
  GtkWidget *reset = gtk_widget_get_last_child (row);
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (down)));
  g_assert_cmpuint (g_list_model_get_n_items (gtk_drop_down_get_model (down)), ==, 3);
  g_assert_cmpuint (gtk_drop_down_get_selected (down), ==, 0);
  g_assert_false (gtk_widget_get_sensitive (reset));
  choose_layout (down, "context=2");
  check_command (f, " --ranks 2 --parallel context=2");
  choose_layout (down, "tensor=2");
  check_command (f, " --ranks 2 --parallel tensor=2");
  WAIT_FOR (find_widget (f->bar, shows_text, "tensor=2 · 1,000 steps"));
  choose (f, 1);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (down)) || gtk_widget_get_visible (reset));
  choose (f, 2);
  check_command (f, " --ranks 2 --parallel tensor=2");
  check_four (f, down);
  choose (f, 2);
  choose_layout (down, "tensor=2");
  g_assert_true (gtk_widget_get_sensitive (reset));
  g_signal_emit_by_name (reset, "clicked");
  check_command (f, " --ranks 2");
  g_assert_false (gtk_widget_get_sensitive (reset));
  g_object_unref (row);
}

/* --- The list ------------------------------------------------------------------------------- */

static gboolean
has_tooltip (GtkWidget *widget, gconstpointer text)
{
  return g_strcmp0 (gtk_widget_get_tooltip_text (widget), text) == 0;
}

/* Returns the input of a row, whose next button restores the default. */
static GtkWidget *
get_input (GtkWidget *popover, const char *title)
{
  g_autofree char *text = g_strdup_printf ("Back to the default: %s", title);
  GtkWidget *reset = find_widget (popover, has_tooltip, text);
  g_assert_nonnull (reset);
  return gtk_widget_get_prev_sibling (reset);
}

/* Returns the position of a row's input in the list. */
static graphene_rect_t
find_input (GtkWidget *popover, const char *title)
{
  graphene_rect_t bounds;
  g_assert_true (gtk_widget_compute_bounds (get_input (popover, title), popover, &bounds));
  return bounds;
}

/* Inputs and buttons of all groups are in the same columns. */
static void
test_columns (Fixture *f, gconstpointer data)
{
  static const char *const titles[] = {"Ranks", "Parallelism", "Optimizer"};
  if (!can_launch ())
    return;
  choose (f, 2);
  prepare (f, model, "32x8", "{\"data\":\"synthetic\"}");
  GtkWidget *window = gtk_window_new (), *button = gtk_menu_button_new ();
  GtkWidget *popover = lig_run_settings_list_new (f->doc);
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (button), popover);
  show_in (window, button, 200, 100);
  open_groups (popover);
  gtk_menu_button_popup (GTK_MENU_BUTTON (button));
  WAIT_FOR (gtk_widget_get_mapped (popover) && find_input (popover, "Ranks").origin.x > 0);
  graphene_rect_t first = find_input (popover, "Steps");
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++) {
    graphene_rect_t other = find_input (popover, titles[i]);
    g_assert_cmpfloat_with_epsilon (other.origin.x, first.origin.x, 0.5);
    g_assert_cmpfloat_with_epsilon (other.size.width, first.size.width, 0.5);
  }
  gtk_menu_button_popdown (GTK_MENU_BUTTON (button));
  WAIT_FOR (!gtk_widget_get_mapped (popover));
  wait_for_frame (window);
  gtk_window_destroy (GTK_WINDOW (window));
  choose (f, 1);
}

static void
test_choice (Fixture *f, gconstpointer data)
{
  if (!can_launch ())
    return;
  prepare (f, model, "32x8", "{\"data\":\"synthetic\"}");
  GtkWidget *row = g_object_ref_sink (gtk_grid_new ());
  lig_rank_count_attach (f->doc, GTK_GRID (row), 0);
  GtkSpinButton *spin = find_type (row, GTK_TYPE_SPIN_BUTTON);
  g_assert_cmpint (lig_ranks_get (f->doc), ==, 1);
  gtk_spin_button_set_value (spin, 2);
  g_assert_cmpint (lig_ranks_get (f->doc), ==, 2);
  WAIT_FOR (find_widget (f->bar, shows_text, "2 ranks · 1,000 steps"));
  g_autofree char *command = lig_train_to_command (f->doc);
  g_assert_true (g_str_has_suffix (command, " --ranks 2"));
  check_layouts (f);
  /* Without mpirun, one rank trains, and the row names the missing program; the choice is kept. */
  g_autofree char *path = g_strdup (g_getenv ("PATH"));
  g_setenv ("PATH", "/nonexistent", TRUE);
  g_signal_emit_by_name (f->doc, "settings");
  g_assert_cmpint (lig_ranks_get (f->doc), ==, 1);
  g_assert_false (gtk_widget_get_sensitive (GTK_WIDGET (spin)));
  g_assert_nonnull (strstr (lig_ranks_find_obstacle (f->doc), "openmpi-bin"));
  g_setenv ("PATH", path, TRUE);
  g_signal_emit_by_name (f->doc, "settings");
  g_assert_cmpint (lig_ranks_get (f->doc), ==, 2);
  g_assert_true (gtk_widget_get_sensitive (GTK_WIDGET (spin)));
  lig_document_set_device (f->doc, "cuda:0");
  g_assert_cmpint (lig_ranks_get (f->doc), ==, 1);
  lig_document_set_device (f->doc, "cpu");
  choose (f, 1);
  g_object_unref (row);
}

static void
test_words (void)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  settings.checkpoint = g_strdup ("/c");
  LigChildOrder order = {
    .settings = &settings, .device = "cpu", .store = "/s", .layout = {{3, 1, 1}}};
  g_auto (GStrv) words = lig_child_run_make_words ("lig", &order, "/f.lig");
  g_autofree char *line = g_strjoinv (" ", words);
  g_assert_cmpstr (line, ==,
                   "lig train --control --quiet --ranks 3 --store /s --device cpu --checkpoint /c "
                   "/f.lig");
  order.checkpoint = "/r";
  g_auto (GStrv) others = lig_child_run_make_words ("lig", &order, NULL);
  order.layout =
    (LigLayout){.sizes = {[LIG_GROUP_DATA] = 2, [LIG_GROUP_CONTEXT] = 1, [LIG_GROUP_TENSOR] = 2}};
  g_auto (GStrv) sharded = lig_child_run_make_words ("lig", &order, NULL);
  g_assert_cmpstr (sharded[5], ==, "4");
  g_assert_cmpstr (sharded[6], ==, "--parallel");
  g_assert_cmpstr (sharded[7], ==, "data=2,tensor=2");
  order.layout.sizes[LIG_GROUP_DATA] = 1;
  order.layout.sizes[LIG_GROUP_CONTEXT] = 2;
  g_auto (GStrv) both = lig_child_run_make_words ("lig", &order, NULL);
  g_assert_cmpstr (both[7], ==, "context=2,tensor=2");
  g_autofree char *resumed = g_strjoinv (" ", others);
  g_assert_cmpstr (resumed, ==, "lig train --control --quiet --ranks 3 --store /s --resume /r");
}

static void
test_control (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  if (!can_launch ())
    return;
  begin (f);
  LigTraining *training = current (f);
  g_assert_cmpint (lig_training_get_layout (training).sizes[LIG_GROUP_DATA], ==, 2);
  WAIT_FOR (find_widget (f->page, shows_text, " · 2 ranks"));
  act (f, "pause");
  WAIT_FOR (progress_of (training).status == LIG_RUN_PAUSED);
  gint64 step = progress_of (training).step;
  WAIT_FOR (find_widget (f->bar, shows_text, "Paused at"));
  act (f, "pause");
  WAIT_FOR (progress_of (training).step > step + 100);
  g_assert_cmpfloat (lig_curve_get_last (lig_training_get_curve (training, LIG_METRIC_LOSS)), >, 0);
  act (f, "stop");
  WAIT_FOR (!lig_training_is_active (training));
  g_assert_cmpint (progress_of (training).status, ==, LIG_RUN_CANCELLED);
  g_autoptr (LigRunRow) row = lig_store_find_run (lig_session_get_store (f->session),
                                                  lig_training_get_uuid (training), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (row->status, ==, "cancelled");
  g_autofree char *inputs =
    lig_store_get_inputs (lig_session_get_store (f->session), row->uuid, NULL);
  g_assert_nonnull (strstr (inputs, "\"ranks\": 2"));
  g_assert_true (is_enabled (f, "resume"));
  act (f, "resume");
  step = progress_of (training).step;
  training = current (f);
  WAIT_FOR (progress_of (training).step > step);
  act (f, "stop");
  WAIT_FOR (!lig_training_is_active (training));
  g_assert_cmpstr (lig_training_get_error (training), ==, NULL);
}

/* Returns the newest child of a process with that name. */
static pid_t
find_child (pid_t parent, const char *name)
{
  g_autoptr (GDir) folder = g_dir_open ("/proc", 0, NULL);
  const char *entry;
  pid_t found = 0;
  while ((entry = g_dir_read_name (folder))) {
    g_autofree char *path = g_build_filename ("/proc", entry, "stat", NULL), *text = NULL;
    char command[32] = "", state;
    int process, above;
    if (!g_ascii_isdigit (*entry) || !g_file_get_contents (path, &text, NULL, NULL))
      continue;
    if (sscanf (text, "%d (%31[^)]) %c %d", &process, command, &state, &above) == 4 &&
        above == parent && g_str_equal (command, name))
      found = MAX (found, process);
  }
  return found;
}

/* The last rank is killed; the error message names it. */
static void
test_killed (Fixture *f, gconstpointer data)
{
  if (!can_launch ())
    return;
  begin (f);
  pid_t launcher = find_child (getpid (), "lig");
  pid_t rank = find_child (find_child (launcher, "mpirun"), "lig");
  g_assert_cmpint (rank, >, 0);
  kill (rank, SIGKILL);
  WAIT_FOR (!lig_training_is_active (current (f)));
  const char *error = lig_training_get_error (current (f));
  g_assert_nonnull (error);
  g_assert_true (g_str_has_prefix (error, "ranks: rank 1 on "));
  g_assert_cmpint (progress_of (current (f)).status, ==, LIG_RUN_FAILED);
  WAIT_FOR (find_widget (f->page, shows_text, "ranks: rank 1 on "));
  WAIT_FOR (find_widget (f->bar, shows_text, "ranks: rank 1 on "));
}

/* A batch that the ranks cannot share is a problem of the plan with a fix; one from the settings of
 * a run is rejected before the first step. */
static void
test_rejected (Fixture *f, gconstpointer data)
{
  if (!can_launch ())
    return;
  choose (f, 2);
  prepare (f, model, "33x8", "{\"data\":\"synthetic\",\"steps\":10}");
  WAIT_FOR (!lig_document_is_stale (f->doc) && lig_document_get_problem (f->doc, 0));
  g_assert_false (is_enabled (f, "run"));
  WAIT_FOR (find_widget (f->bar, shows_text, "The batch size is 33, expected a multiple of 2"));
  prepare (f, model, "32x8", "{\"data\":\"synthetic\",\"steps\":10,\"batch\":33}");
  WAIT_FOR (!lig_document_is_stale (f->doc));
  act (f, "run");
  WAIT_FOR (!lig_training_is_active (current (f)));
  g_assert_nonnull (strstr (lig_training_get_error (current (f)), "33"));
  WAIT_FOR (find_widget (f->page, shows_text, "33"));
}

static void
add_tests (void)
{
  g_test_add_func ("/ranks/words", test_words);
  g_test_add ("/ranks/choice", Fixture, NULL, set_up, test_choice, tear_down);
  g_test_add ("/ranks/columns", Fixture, NULL, set_up, test_columns, tear_down);
  g_test_add ("/ranks/control", Fixture, NULL, set_up, test_control, tear_down);
  g_test_add ("/ranks/killed", Fixture, NULL, set_up, test_killed, tear_down);
  g_test_add ("/ranks/rejected", Fixture, NULL, set_up, test_rejected, tear_down);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
