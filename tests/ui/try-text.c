/* SPDX-License-Identifier: MIT */
/* The page Try continues texts: token by token, in several columns, stopped and continued. */
#include "tests/ui/try-case.h"
#include "ui/session/training.h"
#include "ui/try/copies.h"
#include "ui/try/prompt.h"
#include "ui/try/settings.h"
#include "ui/try/text-side.h"
#include "ui/try/token-card.h"
#include "ui/try/tokens.h"
#include <ligature/json.h>

#define MODEL "embedding(8) ! linear(256) ! cross-entropy"

static void
train_text (Fixture *f, const char *name, const char *steps)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 60; i++)
    g_string_append (text, "abcdefgh ");
  train (f, name, MODEL, "8x16:int32", "text", text->str, steps);
}

static LigTrySettings *
get_settings (Fixture *f)
{
  return find_type (f->page, LIG_TYPE_TRY_SETTINGS);
}

static LigTryCopies *
get_copies (Fixture *f)
{
  return find_type (f->page, LIG_TYPE_TRY_COPIES);
}

static LigTryPrompt *
get_prompt (Fixture *f)
{
  return find_type (f->page, LIG_TYPE_TRY_PROMPT);
}

static gboolean
act (Fixture *f, const char *action)
{
  return gtk_widget_activate_action (GTK_WIDGET (find_type (f->page, LIG_TYPE_TRY_TEXT)), action,
                                     NULL);
}

static void
open_after (Fixture *f, const char *steps)
{
  g_autofree char *title = g_strconcat ("text, step ", steps, NULL);
  train_text (f, "text", steps);
  open_page (f);
  WAIT_FOR (says (f, title));
  WAIT_FOR (says (f, "reads 16 tokens at once"));
}

static void
open_text (Fixture *f)
{
  open_after (f, "60");
}

/* Without a model the page says what is needed, and finds a run that has ended since. */
static void
test_empty (Fixture *f, gconstpointer data)
{
  g_autofree char *none = NULL;
  open_page (f);
  WAIT_FOR (says (f, "Nothing to try yet"));
  none = get_command (f);
  g_assert_null (none);
  train_text (f, "late", "60");
  gtk_widget_set_visible (f->page, FALSE);
  gtk_widget_set_visible (f->page, TRUE);
  WAIT_FOR (says (f, "late, step 60"));
}

/* The newest run of the document's ops is chosen, even if another run is newer. */
static void
test_own (Fixture *f, gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 200; i++)
    g_string_append_printf (text, "%d ", i);
  train_text (f, "own", "60");
  train (f, "other", "embedding(4) ! linear(256) ! cross-entropy", "8x16:int32", "text", text->str,
         "2");
  fill_with (f->doc, MODEL, "8x16:int32", NULL);
  open_page (f);
  WAIT_FOR (says (f, "own, step 60"));
  g_assert_false (says (f, "another sequence"));
}

/* A newer run of the document replaces the one that the page chose; one of other ops is remarked
 * on. */
static void
test_newer (Fixture *f, gconstpointer data)
{
  fill_with (f->doc, "embedding(4) ! linear(256) ! cross-entropy", "8x16:int32", NULL);
  lig_sequence_set_name (lig_document_get_sequence (f->doc), "mine");
  train_text (f, "own", "60");
  open_page (f);
  WAIT_FOR (says (f, "own, step 60"));
  g_assert_true (says (f, "No run of “mine” has a checkpoint; this model has another sequence."));
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 200; i++)
    g_string_append_printf (text, "%d ", i);
  for (int i = 2; i < 4; i++) {
    g_autofree char *steps = g_strdup_printf ("%d", i);
    g_autofree char *title = g_strdup_printf ("newer, step %d", i);
    train (f, "newer", "embedding(4) ! linear(256) ! cross-entropy", "8x16:int32", "text",
           text->str, steps);
    /* GTK keeps a hidden widget that had the focus until a frame is drawn. */
    gtk_widget_set_visible (f->page, FALSE);
    gtk_test_widget_wait_for_draw (f->window);
    gtk_widget_set_visible (f->page, TRUE);
    WAIT_FOR (says (f, title));
    g_assert_false (says (f, "another sequence"));
  }
}

/* A run whose file was deleted is listed with the reason why it cannot be tried. */
static void
test_missing (Fixture *f, gconstpointer data)
{
  train_text (f, "own", "60");
  g_autofree char *command =
    g_strdup_printf ("rm -f %s/ligature/checkpoints/*.safetensors", g_getenv ("XDG_DATA_HOME"));
  g_assert_cmpint (system (command), ==, 0);
  fill_with (f->doc, MODEL, "8x16:int32", NULL);
  open_page (f);
  WAIT_FOR (says (f, "is missing; restore the file, or train again"));
  g_assert_true (says (f, "The newest run, “own, step 60”, cannot be tried: the checkpoint /"));
  g_assert_true (says (f, "Nothing to try yet"));
}

static void
test_generate (Fixture *f, gconstpointer data)
{
  open_text (f);
  LigTryCopies *copies = get_copies (f);
  lig_try_prompt_set_text (get_prompt (f), "abcd");
  lig_try_settings_set (get_settings (f), "temperature", 0);
  lig_try_settings_set (get_settings (f), "max", 12);
  g_assert_true (act (f, "try.generate"));
  g_assert_cmpuint (lig_try_copies_get_writing (copies), ==, 1);
  WAIT_FOR (lig_try_copies_get_writing (copies) == 0);
  /* A model of pairs of characters has learned what follows each of them. */
  g_assert_cmpstr (lig_try_copies_get_text (copies, 0), ==, "efgh abcdefg");
  g_assert_true (says (f, "12 tokens · at the limit"));
  g_assert_true (says (f, "tokens a second"));
  g_autofree char *command = get_command (f);
  g_assert_true (g_str_has_prefix (command, "lig generate "));
  g_assert_nonnull (strstr (command, " --prompt abcd --temperature 0 --max 12"));
}

/* Three columns with seeds of their own; stopping ends them, continuing appends to them. */
static void
test_columns (Fixture *f, gconstpointer data)
{
  /* A model that has hardly learned anything draws other texts from other seeds. */
  open_after (f, "1");
  LigTryCopies *copies = get_copies (f);
  lig_try_prompt_set_text (get_prompt (f), "ab");
  lig_try_settings_set (get_settings (f), "temperature", 2);
  lig_try_settings_set (get_settings (f), "copies", 3);
  lig_try_settings_set (get_settings (f), "max", 100000);
  g_assert_true (act (f, "try.generate"));
  WAIT_FOR (lig_try_copies_get_tokens (copies, 2) > 20);
  g_assert_cmpuint (lig_try_copies_get_count (copies), ==, 3);
  g_assert_true (act (f, "try.stop"));
  WAIT_FOR (lig_try_copies_get_writing (copies) == 0);
  g_assert_true (says (f, "tokens · stopped"));
  g_autofree char *first = g_strdup (lig_try_copies_get_text (copies, 0));
  g_assert_cmpstr (first, !=, lig_try_copies_get_text (copies, 1));
  guint before = lig_try_copies_get_tokens (copies, 0);
  lig_try_settings_set (get_settings (f), "max", 5);
  g_assert_true (act (f, "try.continue"));
  WAIT_FOR (lig_try_copies_get_writing (copies) == 0);
  g_assert_cmpuint (lig_try_copies_get_tokens (copies, 0), ==, before + 5);
  g_assert_true (g_str_has_prefix (lig_try_copies_get_text (copies, 0), first));
}

/* The keyboard goes from token to token and shows the card of each. */
static void
test_card (Fixture *f, gconstpointer data)
{
  open_text (f);
  lig_try_prompt_set_text (get_prompt (f), "abcd");
  lig_try_settings_set (get_settings (f), "max", 6);
  lig_try_settings_set (get_settings (f), "temperature", 0);
  g_assert_true (act (f, "try.generate"));
  WAIT_FOR (says (f, "at the limit"));
  LigTokens *tokens = find_type (f->page, LIG_TYPE_TOKENS);
  wait_for_frame (f->window);
  lig_tokens_set_cursor (tokens, 0);
  GtkWidget *card = find_type (GTK_WIDGET (tokens), GTK_TYPE_POPOVER);
  WAIT_FOR (card && gtk_widget_get_mapped (card));
  g_assert_nonnull (find_widget (card, shows_text, "Token 101 and its alternatives"));
  g_assert_nonnull (find_widget (card, shows_text, "e"));
  lig_tokens_set_cursor (tokens, 100);
  g_assert_cmpint (lig_tokens_get_cursor (tokens), ==, 5);
  lig_tokens_set_cursor (tokens, -1);
  WAIT_FOR (!gtk_widget_get_visible (card));
}

/* The process ends with the page, even while it writes. */
static void
test_closed (Fixture *f, gconstpointer data)
{
  open_text (f);
  lig_try_settings_set (get_settings (f), "max", 100000);
  g_assert_true (act (f, "try.generate"));
  WAIT_FOR (lig_try_copies_get_tokens (get_copies (f), 0) > 3);
  g_assert_true (has_process (f));
  gtk_window_destroy (GTK_WINDOW (f->window));
  f->window = f->page = NULL;
  WAIT_FOR (!has_process (f));
}

/* A run in this process neither waits for the model nor ends it. */
static void
test_training (Fixture *f, gconstpointer data)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  settings.data = g_strdup ("synthetic");
  settings.steps = 10000000;
  open_text (f);
  fill_with (f->doc, "linear(64) ! mean-squared-error", "64x64", NULL);
  LigTraining *training = lig_training_start (f->session, lig_document_get_sequence (f->doc), "cpu",
                                              (LigLayout){.sizes = {1, 1, 1}}, &settings);
  LigRunProgress progress = {0};
  WAIT_FOR ((lig_training_get_progress (training, &progress), progress.step > 2));
  lig_try_settings_set (get_settings (f), "max", 20);
  g_assert_true (act (f, "try.generate"));
  WAIT_FOR (says (f, "20 tokens · at the limit"));
  g_assert_true (lig_training_is_active (training));
  gint64 step = progress.step;
  WAIT_FOR ((lig_training_get_progress (training, &progress), progress.step > step));
  lig_training_cancel (training);
  WAIT_FOR (!lig_training_is_active (training));
}

/* --- Parts --------------------------------------------------------------------------------- */

static void
add_token (LigTokens *tokens, const char *json)
{
  g_autoptr (JsonNode) root = lig_json_from_text (json, NULL);
  lig_tokens_add (tokens, json_node_get_object (root));
}

/* The bytes of a character belong to several tokens, of which the last one shows it; text that was
 * held back is given to its tokens. */
static void
test_tokens (void)
{
  LigTokens *tokens = g_object_ref_sink (LIG_TOKENS (lig_tokens_new ()));
  add_token (tokens,
             "{\"token\": 1, \"text\": \"\\\\xc3\", \"probability\": 0.5, \"shown\": \"\"}");
  add_token (tokens, "{\"token\": 2, \"text\": \"\\\\xa9\", \"probability\": 1, \"shown\": \"é\"}");
  add_token (tokens, "{\"token\": 3, \"text\": \"a\", \"probability\": 1, \"shown\": \"\"}");
  add_token (tokens, "{\"token\": 4, \"text\": \"b\", \"probability\": 1, \"shown\": \"ab\"}");
  g_assert_cmpstr (lig_tokens_get_text (tokens), ==, "éab");
  lig_tokens_end (tokens, "!");
  g_assert_cmpstr (lig_tokens_get_text (tokens), ==, "éab!");
  g_assert_cmpuint (lig_tokens_get_count (tokens), ==, 4);
  lig_tokens_clear (tokens);
  g_assert_cmpstr (lig_tokens_get_text (tokens), ==, "");
  g_object_unref (tokens);
}

static void
test_texts (void)
{
  static const struct {
    double probability;
    const char *text;
  } cases[] = {{1, "100 %"},        {0.314, "31 %"}, {0.042, "4.2 %"},
               {0.0004, "< 0.1 %"}, {0, "0 %"},      {0.0951, "10 %"}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = lig_token_percent (cases[i].probability);
    g_assert_cmpstr (text, ==, cases[i].text);
  }
  g_autofree char *visible = lig_token_to_visible (" a b\n");
  g_assert_cmpstr (visible, ==, "␣a b↵");
  g_assert_cmpint (lig_token_step (0.5), ==, LIG_TOKEN_LIKELY);
  g_assert_cmpint (lig_token_step (0.2), ==, LIG_TOKEN_POSSIBLE);
  g_assert_cmpint (lig_token_step (0.05), ==, LIG_TOKEN_UNLIKELY);
}

/* A model that another machine wrote, or that was deleted, is a sentence with a way out. */
static void
test_failure (Fixture *f, gconstpointer data)
{
  open_text (f);
  g_autofree char *command = g_strdup_printf (
    "truncate -s 20 %s/ligature/checkpoints/*.safetensors", g_getenv ("XDG_DATA_HOME"));
  g_assert_cmpint (system (command), ==, 0);
  g_assert_true (gtk_widget_activate_action (f->page, "try.again", NULL));
  WAIT_FOR (says (f, "This model cannot be tried"));
  g_assert_nonnull (find_widget (f->page, has_action, "try.again"));
}

static void
add_tests (void)
{
#define ADD(name, test) g_test_add ("/ui/try-text/" name, Fixture, NULL, set_up, test, tear_down)
  ADD ("empty", test_empty);
  ADD ("own", test_own);
  ADD ("newer", test_newer);
  ADD ("missing", test_missing);
  ADD ("generate", test_generate);
  ADD ("columns", test_columns);
  ADD ("card", test_card);
  ADD ("failure", test_failure);
  ADD ("closed", test_closed);
  ADD ("training", test_training);
  g_test_add_func ("/ui/try-text/tokens", test_tokens);
  g_test_add_func ("/ui/try-text/texts", test_texts);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
