/* SPDX-License-Identifier: MIT */
/* The graph of a plan in Graphviz' language has the edges that `lig plan --json` lists and no
 * others, and is valid with unusual names. */
#include <ligature/compile.h>
#include <ligature/device.h>
#include <ligature/json.h>
#include <ligature/plan-options.h>
#include <ligature/report.h>

#include <json-glib/json-glib.h>

#include <stdlib.h>
#include <string.h>

typedef struct {
  LigPlan *plan;
  JsonNode *document; /* the tables of the plan */
  JsonArray *steps, *values;
  GHashTable *edges; /* `WRITER READER VALUE`; -1 is the node of the value */
  GHashTable *nodes; /* names of nodes */
} Case;

static void
case_clear (Case *self)
{
  lig_plan_unref (self->plan);
  json_node_unref (self->document);
  g_hash_table_unref (self->edges);
  g_hash_table_unref (self->nodes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Case, case_clear)

/* --- Reading both -------------------------------------------------------------------------- */

static JsonObject *
get (JsonArray *array, int number)
{
  return lig_json_get_element (array, (guint) number);
}

static gboolean
lists (Case *self, int value, const char *member, int step)
{
  JsonArray *array = lig_json_get_array (get (self->values, value), member);
  for (guint i = 0; i < json_array_get_length (array); i++)
    if (json_array_get_int_element (array, i) == step)
      return TRUE;
  return FALSE;
}

static char
pass_of (Case *self, int step)
{
  return lig_json_get_string (get (self->steps, step), "pass", "")[0];
}

/* Returns the number of the value that the reader calls by this name. */
static int
find_value (Case *self, const char *name, int reader)
{
  JsonArray *inputs = lig_json_get_array (get (self->steps, reader), "inputs");
  for (guint i = 0; i < json_array_get_length (inputs); i++) {
    int value = (int) json_array_get_int_element (inputs, i);
    if (value < 0)
      continue;
    g_autofree char *own = lig_plan_name_values (
      self->plan, lig_json_get_string (get (self->values, value), "name", ""));
    if (g_str_equal (own, name))
      return value;
  }
  g_error ("step %d reads no %s", reader, name);
}

static int
number_of (GMatchInfo *match, int group)
{
  g_autofree char *text = g_match_info_fetch (match, group);
  return atoi (text);
}

static void
add_edge (Case *self, GMatchInfo *match)
{
  g_autofree char *from = g_match_info_fetch (match, 1), *to = g_match_info_fetch (match, 4);
  g_autofree char *label = g_match_info_fetch (match, 7);
  int writer = *from == 's' ? number_of (match, 2) : -1;
  int reader = *to == 's' ? number_of (match, 5) : -1;
  int value = writer < 0 ? number_of (match, 2) : reader < 0 ? number_of (match, 5) : -1;
  if (label && *label && reader >= 0) {
    char *end = strstr (label, "\\n");
    g_assert_true (value >= 0 || end);
    if (end)
      *end = '\0';
    value = find_value (self, label, reader);
  }
  g_assert_cmpint (value, >=, 0);
  for (int end = 1; end <= 4; end += 3) {
    g_autofree char *kind = g_match_info_fetch (match, end);
    g_autofree char *pass = g_match_info_fetch (match, end + 2);
    g_autofree char *number = g_match_info_fetch (match, end + 1);
    g_autofree char *node = g_strconcat (kind, number, pass, NULL);
    g_assert_true (g_hash_table_contains (self->nodes, node));
    if (*kind == 'v')
      g_assert_cmpint (*pass, ==, pass_of (self, MAX (writer, reader)));
  }
  g_assert_true (
    g_hash_table_add (self->edges, g_strdup_printf ("%d %d %d", writer, reader, value)));
}

static void
read_graph (Case *self, const char *text)
{
  g_autoptr (GMatchInfo) match = NULL, edge = NULL;
  g_autoptr (GRegex) nodes =
    g_regex_new ("^ .*?\\b(s\\d+|v\\d+[fbu]) \\[label=\"", G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GRegex) edges = g_regex_new ("^  ([sv])(\\d+)([fbu]?) -> ([sv])(\\d+)([fbu]?)"
                                          "(?: \\[label=\"((?:[^\"\\\\]|\\\\.)*)\"\\])?;$",
                                          G_REGEX_MULTILINE, 0, NULL);
  guint arrows = 0;
  for (g_regex_match (nodes, text, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL)) {
    g_autofree char *line = g_match_info_fetch (match, 0);
    if (!strstr (line, " -> "))
      g_assert_true (g_hash_table_add (self->nodes, g_match_info_fetch (match, 1)));
  }
  for (g_regex_match (edges, text, 0, &edge); g_match_info_matches (edge);
       g_match_info_next (edge, NULL))
    add_edge (self, edge);
  for (const char *at = text; (at = strstr (at, " -> ")); at++)
    arrows++;
  g_assert_cmpuint (arrows, ==, g_hash_table_size (self->edges));
}

/* Returns the quoted parts of a text; fails if a quote does not end. */
static GPtrArray *
read_quoted (const char *text)
{
  GPtrArray *quoted = g_ptr_array_new_with_free_func (g_free);
  for (const char *at = text; *at; at++) {
    if (*at != '"')
      continue;
    GString *inside = g_string_new (NULL);
    for (at++; *at && *at != '"'; at++) {
      if (*at == '\\' && (at[1] == '"' || at[1] == '\\'))
        at++;
      g_string_append_c (inside, *at);
    }
    g_assert_cmpint (*at, ==, '"');
    g_ptr_array_add (quoted, g_string_free (inside, FALSE));
  }
  return quoted;
}

/* Parses the text with Graphviz, if installed. */
static void
read_by_graphviz (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *program = g_find_program_in_path ("dot"), *errors = NULL;
  if (!program)
    return;
  g_autoptr (GSubprocess) process =
    g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE |
                        G_SUBPROCESS_FLAGS_STDERR_PIPE,
                      &error, program, "-Tcanon", NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, text, NULL, NULL, &errors, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (errors, ==, "");
  g_assert_true (g_subprocess_get_successful (process));
}

static void
case_init (Case *self, LigPlan *plan)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  *self = (Case){.plan = lig_plan_ref (plan)};
  json_builder_begin_object (builder);
  lig_plan_add_steps (plan, builder);
  lig_plan_add_values (plan, builder);
  json_builder_end_object (builder);
  self->document = json_builder_get_root (builder);
  JsonObject *tables = json_node_get_object (self->document);
  self->steps = lig_json_get_array (tables, "steps");
  self->values = lig_json_get_array (tables, "values");
  self->edges = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree char *text = lig_plan_to_dot (plan);
  g_autoptr (GPtrArray) quoted = read_quoted (text);
  g_assert_cmpuint (quoted->len, >, json_array_get_length (self->steps));
  read_graph (self, text);
}

/* --- Comparing ----------------------------------------------------------------------------- */

static gboolean
has_edge (Case *self, int writer, int reader, int value)
{
  g_autofree char *edge = g_strdup_printf ("%d %d %d", writer, reader, value);
  return g_hash_table_contains (self->edges, edge);
}

static int
root_of (const LigPlanValue *values, int value)
{
  while (values[value].alias >= 0)
    value = values[value].alias;
  return value;
}

/* Checks that the steps of the edge are listed at its value; a value without writers uses those of
 * its memory. */
static void
check_edge (Case *self, const char *edge)
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (self->plan, &count);
  g_auto (GStrv) words = g_strsplit (edge, " ", 3);
  int writer = atoi (words[0]), reader = atoi (words[1]), value = atoi (words[2]);
  gboolean shared = FALSE;
  g_assert_true (reader < 0 || lists (self, value, "readers", reader));
  if (writer < 0 || lists (self, value, "writers", writer))
    return;
  g_assert_cmpint (values[value].n_writers, ==, 0);
  for (int i = 0; i < (int) count; i++)
    shared |= root_of (values, i) == root_of (values, value) && lists (self, i, "writers", writer);
  g_assert_true (shared);
}

/* Checks the edges from the last writers before the reader, up to one that also read the value.
 */
static void
check_written (Case *self, int value, JsonArray *writers, int reader)
{
  guint found = 0;
  for (guint i = json_array_get_length (writers); i-- > 0;) {
    int writer = (int) json_array_get_int_element (writers, i);
    if (writer >= reader)
      continue;
    found++;
    if (pass_of (self, writer) == pass_of (self, reader))
      g_assert_true (has_edge (self, writer, reader, value));
    else
      g_assert_true (has_edge (self, writer, -1, value) && has_edge (self, -1, reader, value));
    if (lists (self, value, "readers", writer))
      break;
  }
  g_assert_cmpuint (found, >, 0);
}

static void
check_value (Case *self, int value)
{
  JsonObject *object = get (self->values, value);
  JsonArray *writers = lig_json_get_array (object, "writers");
  JsonArray *readers = lig_json_get_array (object, "readers");
  guint count, n_writers = json_array_get_length (writers);
  gboolean kept = lig_plan_get_values (self->plan, &count)[value].kept_to_end;
  gboolean state = g_str_equal (lig_json_get_string (object, "place", ""), "state");
  for (guint i = 0; i < json_array_get_length (readers); i++) {
    int reader = (int) json_array_get_int_element (readers, i);
    gboolean found = FALSE;
    for (int writer = -1; writer < reader; writer++)
      found |= has_edge (self, writer, reader, value);
    g_assert_true (found);
    if (state)
      g_assert_true (has_edge (self, -1, reader, value));
    else if (n_writers > 0)
      check_written (self, value, writers, reader);
  }
  for (guint i = 0; i < n_writers; i++)
    if (state || (kept && i == n_writers - 1))
      g_assert_true (has_edge (self, (int) json_array_get_int_element (writers, i), -1, value));
}

static void
check_plan (LigPlan *plan)
{
  g_auto (Case) all;
  GHashTableIter iter;
  gpointer edge;
  case_init (&all, plan);
  g_hash_table_iter_init (&iter, all.edges);
  while (g_hash_table_iter_next (&iter, &edge, NULL))
    check_edge (&all, edge);
  for (int i = 0; i < (int) json_array_get_length (all.values); i++)
    check_value (&all, i);
  for (guint i = 0; i < json_array_get_length (all.steps); i++) {
    g_autofree char *node = g_strdup_printf ("s%u", i);
    g_assert_true (g_hash_table_contains (all.nodes, node));
  }
}

/* --- Tests --------------------------------------------------------------------------------- */

static LigSequence *
new_sequence (const char *expression, const char *input)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  LigSequence *sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_shape_parse (input, &shape, &dtype, &error);
  g_assert_no_error (error);
  lig_sequence_set_input (sequence, &shape, dtype);
  return sequence;
}

static LigPlan *
plan_training (LigSequence *sequence, LigPolicy policy, const char *recipe)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  options.recipe = recipe;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static void
test_sequences (void)
{
  static const struct {
    const char *expression, *input, *recipe;
  } cases[] = {
    {"linear(12) ! gelu ! linear(6) ! mean-squared-error", "4x8", NULL},
    {"make-extra-output(to=a) ! linear(8) ! add-extra-input(from=a) ! layer-norm", "4x8", NULL},
    {"embedding(64, vocabulary=64) ! transformer-layer(2) ! linear(64) ! cross-entropy",
     "16x8:int32", "fp8-rows"},
    {"embedding(64, vocabulary=64) ! linear(64) ! gelu ! linear(64, tied=0, bias=false) ! "
     "cross-entropy",
     "16x8:int32", "fp8-delayed"},
    {"block(3, recompute=all){ layer-norm ! linear(16) ! gelu ! linear(8) } ! mean-squared-error",
     "4x8", NULL},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (LigPolicy policy = LIG_POLICY_NONE; policy <= LIG_POLICY_ALL; policy++) {
      g_autoptr (LigSequence) sequence = new_sequence (cases[i].expression, cases[i].input);
      g_autoptr (LigPlan) plan = plan_training (sequence, policy, cases[i].recipe);
      g_autofree char *text = lig_plan_to_dot (plan);
      check_plan (plan);
      read_by_graphviz (text);
    }
}

static void
test_examples (void)
{
  const LigOpInfo *info;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    g_auto (GStrv) parts = g_strsplit (info->example, " @ ", 2);
    g_autoptr (LigSequence) sequence = new_sequence (parts[0], parts[1]);
    g_autoptr (LigPlan) plan = plan_training (sequence, LIG_POLICY_ALL, NULL);
    g_test_message ("%s", info->example);
    check_plan (plan);
  }
}

/* The user-defined name of a sequence cannot break the quoting. */
static void
test_names (void)
{
  static const char name[] = "a \"quoted\" \\ name\\";
  g_autoptr (LigSequence) sequence = new_sequence ("linear(4)", "2x4");
  lig_sequence_set_name (sequence, name);
  g_autoptr (LigPlan) plan = plan_training (sequence, LIG_POLICY_ALL, NULL);
  g_autofree char *text = lig_plan_to_dot (plan);
  g_autoptr (GPtrArray) quoted = read_quoted (text);
  g_assert_cmpstr (quoted->pdata[0], ==, name);
  check_plan (plan);
  read_by_graphviz (text);
}

/* An empty plan is an empty graph. */
static void
test_empty (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("identity", "2x4");
  g_autoptr (LigPlan) plan = plan_training (sequence, LIG_POLICY_ALL, NULL);
  g_autofree char *text = lig_plan_to_dot (plan);
  g_assert_null (strstr (text, "->"));
  read_by_graphviz (text);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan-dot/sequences", test_sequences);
  g_test_add_func ("/plan-dot/examples", test_examples);
  g_test_add_func ("/plan-dot/names", test_names);
  g_test_add_func ("/plan-dot/empty", test_empty);
  return g_test_run ();
}
