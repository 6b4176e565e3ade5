/* SPDX-License-Identifier: MIT */
/* The program lig: every example works when pasted, exit codes, errors, and the documents that
 * ops, check, fuse, plan and devices print. */
#include "tests/cli/case.h"

#include <ligature/sequence.h>

#include <json-glib/json-glib.h>

/* Returns the names of all commands from `lig --help`. */
static GStrv
list_commands (void)
{
  g_auto (Outcome) help = lig ("--help", NULL);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  const char *list = strstr (help.out, "Commands:\n");
  g_assert_cmpint (help.code, ==, 0);
  g_assert_nonnull (list);
  g_auto (GStrv) lines = g_strsplit (list, "\n", -1);
  for (char **line = lines + 1; **line == ' '; line++) {
    g_auto (GStrv) words = g_strsplit (g_strchug (*line), " ", 2);
    g_strv_builder_add (names, words[0]);
  }
  return g_strv_builder_end (names);
}

static void
test_examples (void)
{
  g_auto (GStrv) commands = list_commands ();
  g_assert_cmpuint (g_strv_length (commands), >=, 8);
  for (char **command = commands; *command; command++) {
    g_auto (Outcome) help = lig (*command, "--help", NULL);
    const char *example = strstr (help.out, "Example:\n");
    g_assert_cmpint (help.code, ==, 0);
    g_assert_nonnull (example);
    g_auto (Outcome) pasted = shell (strchr (example, '\n') + 1);
    if (pasted.code != 0)
      g_test_message ("%s: %s", *command, pasted.err);
    g_assert_cmpint (pasted.code, ==, 0);
  }
}

static void
test_exit_codes (void)
{
  static const struct {
    int code;
    const char *arguments;
  } cases[] = {
    {0, "--help"},
    {0, "--version"},
    {2, ""},
    {2, "frobnicate"},
    {2, "check"},
    {2, "check gelu relu"},
    {2, "check gelu --frobnicate"},
    {2, "check gelu --input 2x2 --batch many"},
    {2, "check gelu --input 2x2 --batch -1"},
    {2, "apply gelu --input x.safetensors"},
    {2, "apply gelu -o y.safetensors"},
    {0, "check gelu --input 2x2"},
    {0, "check --input 2x2 -- gelu"},
    {1, "check gelu"},
    {1, "check missing.lig"},
    {1, "check ./missing"},
    {2, "check gelu --input 2xx2"},
    {1, "check 'gelu !' --input 2x2"},
    {1, "check 'gleu' --input 2x2"},
    {2, "fuse gelu --input 2x2 --device null:h300"},
    {1, "fuse gelu --input 2x2 --device cuda:99"},
    {2, "fuse gelu --input 2x2 --forbid nothing"},
    {2, "fuse gelu --input 2x2 --fence 7"},
    {1, "apply gelu --input missing.safetensors -o y.safetensors"},
    {1, "ops frobnicate"},
    {1, "runs show 00000000"},
    {2, "devices null:h300"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *line = g_strconcat ("lig ", cases[i].arguments, NULL);
    g_auto (Outcome) outcome = shell (line);
    if (outcome.code != cases[i].code)
      g_error ("%s: exit code %d, expected %d: %s", line, outcome.code, cases[i].code, outcome.err);
    /* A failure prints one sentence to stderr only, without internals of the engine. */
    if (cases[i].code != 0) {
      g_assert_cmpstr (outcome.out, ==, "");
      g_assert_cmpstr (outcome.err, !=, "");
    }
  }
}

static void
test_errors (void)
{
  g_auto (Outcome) features =
    lig ("check", "layer-norm ! linear(4, in-features=9)", "--input", "3x8", "--json", NULL);
  assert_error (&features, 1, "shape", "input has 8 features, expected 9");
  assert_keys (features.json, "error problems");
  g_assert_cmpstr (text_at (features.json, "error.path"), ==, "1");
  g_auto (Outcome) op = lig ("check", "lineer(4)", "--input", "3x8", "--json", NULL);
  assert_failed (&op, 1, "op", "did you mean 'linear'?");
  g_auto (Outcome) usage = lig ("fuse", "--json", "--nonsense", "gelu", NULL);
  assert_failed (&usage, 2, "usage", "--nonsense");
  g_auto (Outcome) missing = lig ("check", "missing.lig", "--json", NULL);
  assert_failed (&missing, 1, "file", "missing.lig");
  g_autofree char *file = in_folder ("wrong.lig");
  g_assert_true (
    g_file_set_contents (file, "{\"ligature\":1,\"ops\":[{\"op\":\"gleu\"}]}", -1, NULL));
  g_auto (Outcome) place = lig ("check", "wrong.lig", "--json", NULL);
  assert_failed (&place, 1, "op", "gleu");
  g_assert_cmpstr (text_at (place.json, "error.path"), ==, "$.ops[0].op");
  g_auto (Outcome) channel =
    lig ("check", "gelu ! add-extra-input(from=r)", "--input", "3x8", "--json", NULL);
  assert_error (&channel, 1, "channel", "r");
  g_assert_cmpstr (text_at (channel.json, "error.path"), ==, "1");
  /* Every problem is listed with its fixes; the first one is the error. */
  g_auto (Outcome) all = lig ("check", "gelu ! add-extra-input(from=r) ! linear(4, in-features=9)",
                              "--input", "3x8", "--json", NULL);
  assert_error (&all, 1, "channel", "r");
  assert_contains (all.err, "linear at 2: input has 8 features, expected 9");
  assert_contains (all.err, "to fix it: set in-features to 8 at 2");
  g_assert_cmpstr (text_at (all.json, "problems.0.path"), ==, "1");
  g_assert_cmpstr (text_at (all.json, "problems.1.path"), ==, "2");
  assert_keys (at (all.json, "problems.1"), "code message path fixes");
  assert_keys (at (all.json, "problems.1.fixes.0"), "kind path name value text");
  g_assert_cmpstr (text_at (all.json, "problems.1.fixes.0.value"), ==, "8");
  /* A number in a message is not mistaken for a path. */
  g_auto (Outcome) number = lig ("check", "no at 7.lig", "--json", NULL);
  assert_failed (&number, 1, "file", "at 7");
  g_assert_true (json_node_is_null (at (number.json, "error.path")));
}

static void
test_ops (void)
{
  g_auto (Outcome) all = lig ("ops", "--json", NULL);
  g_assert_cmpint (all.code, ==, 0);
  JsonArray *list = json_node_get_array (all.json);
  g_assert_cmpuint (json_array_get_length (list), >=, 28);
  for (guint i = 0; i < json_array_get_length (list); i++) {
    JsonNode *op = json_array_get_element (list, i);
    assert_keys (op, "op title category summary formula example params inputs outputs parameters "
                     "saves kernels fusions");
    assert_keys (at (op, "kernels"), "forward backward");
    for (guint j = 0; j < length_at (op, "params"); j++) {
      g_autofree char *place = g_strdup_printf ("params.%u", j);
      assert_keys (at (op, place),
                   "name type group default minimum maximum choices required positional label "
                   "help");
    }
    g_auto (GStrv) example = g_strsplit (text_at (op, "example"), " @ ", 2);
    g_assert_cmpuint (g_strv_length (example), ==, 2);
    g_auto (Outcome) check = lig ("check", example[0], "--input", example[1], NULL);
    g_assert_cmpint (check.code, ==, 0);
  }
  g_auto (Outcome) one = lig ("ops", "linear", "--json", NULL);
  g_assert_cmpstr (text_at (one.json, "op"), ==, "linear");
  g_assert_cmpstr (text_at (one.json, "parameters.1"), ==, "bias");
  g_assert_cmpstr (text_at (one.json, "kernels.forward.0"), ==, "linear");
  g_assert_true (json_node_get_boolean (at (one.json, "params.0.required")));
  g_auto (Outcome) person = lig ("ops", "cross-entropy", NULL);
  assert_contains (person.out, "label-smoothing");
  assert_contains (person.out, "lig check 'cross-entropy' --input 6x10");
}

static void
test_check (void)
{
  g_auto (Outcome) outcome =
    lig ("check", "make-extra-output ! linear(4) ! add-extra-input ! cross-entropy", "--input",
         "3x8", "--batch", "5", "--json", NULL);
  JsonNode *root = outcome.json;
  g_assert_cmpint (outcome.code, ==, 0);
  assert_keys (root,
               "input ops parameters parameter_bytes saved_bytes extra_inputs extra_outputs fit "
               "problem");
  g_assert_cmpint (int_at (root, "input.shape.0"), ==, 5);
  g_assert_cmpuint (length_at (root, "ops"), ==, 5);
  assert_keys (at (root, "ops.1"), "index path op output parameters tied saved_bytes");
  g_assert_cmpstr (text_at (root, "ops.1.op"), ==, "basic-linear");
  g_assert_cmpstr (text_at (root, "ops.2.path"), ==, "1");
  g_assert_cmpstr (text_at (root, "ops.1.parameters.0.path"), ==, "1.weight");
  g_assert_cmpint (int_at (root, "ops.1.parameters.0.shape.1"), ==, 8);
  g_assert_cmpstr (text_at (root, "ops.2.parameters.0.path"), ==, "1.bias");
  g_assert_cmpint (int_at (root, "ops.1.saved_bytes"), ==, 5 * 8 * 4);
  g_assert_cmpint (int_at (root, "parameters"), ==, 4 * 8 + 4);
  g_assert_cmpint (int_at (root, "parameter_bytes"), ==, 4 * (4 * 8 + 4));
  g_assert_cmpuint (length_at (root, "extra_inputs"), ==, 2);
  g_assert_cmpstr (text_at (root, "extra_inputs.1.dtype"), ==, "int32");
  g_assert_cmpint (int_at (root, "extra_outputs.0.shape.1"), ==, 8);
  g_auto (Outcome) types =
    lig ("check", "linear(4)", "--input", "3x8", "--dtype", "bf16:fp32", "--json", NULL);
  g_assert_cmpstr (text_at (types.json, "ops.0.output.dtype"), ==, "bf16");
  g_assert_cmpstr (text_at (types.json, "ops.0.parameters.0.dtype"), ==, "fp32");
  g_auto (Outcome) person = lig ("check", "linear(4)", "--input", "3x8", NULL);
  assert_contains (person.out, "0.weight 4x8:fp32");
}

/* Returns the groups of a pass in the notation of the golden tests: `[0] [1 2 NAME]`. */
static char *
describe_groups (JsonNode *root, const char *pass)
{
  GString *text = g_string_new (NULL);
  JsonArray *groups = json_node_get_array (at (root, pass));
  for (guint i = 0; i < json_array_get_length (groups); i++) {
    JsonNode *group = json_array_get_element (groups, i);
    JsonArray *ops = json_node_get_array (at (group, "ops"));
    g_string_append (text, i > 0 ? " [" : "[");
    for (guint j = 0; j < json_array_get_length (ops); j++)
      g_string_append_printf (text, "%s%" G_GINT64_FORMAT, j > 0 ? " " : "",
                              json_array_get_int_element (ops, j));
    if (!JSON_NODE_HOLDS_NULL (at (group, "fusion")))
      g_string_append_printf (text, " %s", text_at (group, "fusion"));
    g_string_append_c (text, ']');
  }
  return g_string_free (text, FALSE);
}

static void
check_rails (const char *expression, const char *forward, const char *backward)
{
  static const char *const devices[] = {"cpu", "null", "null:h200"};
  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_auto (Outcome) outcome = lig ("fuse", expression, "--input", "64x32", "--device", devices[i],
                                    "--policy", "all", "--json", NULL);
    g_assert_cmpint (outcome.code, ==, 0);
    g_autofree char *above = describe_groups (outcome.json, "forward");
    g_autofree char *below = describe_groups (outcome.json, "backward");
    g_assert_cmpstr (above, ==, forward);
    g_assert_cmpstr (below, ==, backward);
    g_assert_cmpstr (text_at (outcome.json, "device"), ==, devices[i]);
    for (guint j = 0; j < length_at (outcome.json, "verdicts"); j++) {
      g_autofree char *place = g_strdup_printf ("verdicts.%u", j);
      JsonNode *verdict = at (outcome.json, place);
      g_assert_cmpstr (text_at (verdict, "text"), !=, "");
      g_assert_true (json_node_get_boolean (at (verdict, "taken")) ==
                     JSON_NODE_HOLDS_NULL (at (verdict, "reason")));
    }
  }
}

#define LBA "forward-linear-bias-activation"
#define BAB "backward-activation-bias"
#define BLB "backward-linear-bias"

static void
test_fuse (void)
{
  check_rails ("layer-norm ! linear(64) ! gelu ! linear(32)", "[0] [1 2 3 " LBA "] [4 5 " LBA "]",
               "[0] [1] [2 3 " BAB "] [4 5 " BLB "]");
  check_rails ("layer-norm ! linear(64) ! swiglu ! linear(32)",
               "[0] [1 2 " LBA "] [3] [4 5 " LBA "]", "[0] [1] [2 3 " BAB "] [4 5 " BLB "]");
  check_rails ("make-extra-output(to=r) ! layer-norm ! linear(64) ! gelu ! linear(32) ! "
               "add-extra-input(from=r)",
               "[0] [1] [2 3 4 " LBA "] [5 6 7 forward-linear-bias-add]",
               "[0 1 backward-add-norm] [2] [3 4 " BAB "] [5 6 " BLB "] [7]");
  g_auto (Outcome) evaluation =
    lig ("fuse", "linear(4) ! gelu", "--input", "64x32", "--eval", "--json", NULL);
  g_assert_cmpuint (length_at (evaluation.json, "backward"), ==, 0);
  g_auto (Outcome) person = lig ("fuse", "linear(4) ! gelu", "--input", "64x32", NULL);
  assert_contains (person.out, "linear-bias-activation");
}

/* --why explains one op or gap; the fixes have the same numbers as in the whole list. */
static void
test_why (void)
{
  g_auto (Outcome) answer = lig ("fuse", "linear(64) ! gelu ! linear(8)", "--input", "256x64",
                                 "--device", "null:h200", "--fence", "1", "--why", "1", NULL);
  g_assert_cmpint (answer.code, ==, 0);
  const char *forward = strstr (answer.out, "\nforward\n"),
             *fence = strstr (answer.out, "there is a fence"),
             *backward = strstr (answer.out, "\nbackward\n"), *claimed = strstr (answer.out, BAB);
  g_assert_true (forward && fence && backward && claimed);
  g_assert_true (forward < backward && backward < claimed);
  assert_contains (answer.out, "remove the fence before 1");
  g_auto (Outcome) gap = lig ("fuse", "--policy", "all", "linear(64) ! gelu ! linear(8)", "--input",
                              "256x64", "--device", "null:h200", "--why", "|2", "--json", NULL);
  assert_keys (gap.json, "place ops paths forward backward joint attention");
  g_assert_cmpuint (length_at (gap.json, "ops"), ==, 2);
  assert_keys (
    at (gap.json, "backward.0"),
    "fusion pass ops paths taken reason observed required title why text near_miss gain_us "
    "gain_measured gain_bytes fused_us current_us times_measured fix alternative");
  assert_keys (at (gap.json, "backward.0.fix"),
               "number kind fusion path value edit gain_us measured gain_bytes text");
  g_assert_cmpstr (text_at (gap.json, "backward.0.fix.kind"), ==, "force");
  g_auto (Outcome) block =
    lig ("fuse", "block(2) { linear(8) ! gelu }", "--input", "8x8", "--why", "0.1", NULL);
  g_assert_cmpint (block.code, ==, 0);
  assert_contains (block.out, "from basic-linear at 0.1.0 to gelu at 0.1.1");
  /* Users mistake the number of a repetition for that of an op. */
  assert_contains (block.out, "repetition 1 of the block at 0; its op 1 is at 0.0.1");
  g_auto (Outcome) beyond =
    lig ("fuse", "block(2) { linear(8) ! gelu ! relu }", "--input", "8x8", "--why", "0.2", NULL);
  assert_contains (beyond.err, "in the first repetition it is 0.0.2");
  g_auto (Outcome) missing = lig ("fuse", "gelu", "--input", "8x8", "--why", "7", "--json", NULL);
  assert_failed (&missing, 2, "usage", "'7'");
  g_auto (Outcome) edge = lig ("fuse", "gelu", "--input", "8x8", "--why", "|0", "--json", NULL);
  assert_failed (&edge, 2, "usage", "the first op");
  g_auto (Outcome) empty = lig ("fuse", "gelu", "--input", "8x8", "--why", "", "--json", NULL);
  assert_failed (&empty, 2, "usage", "--why is empty, expected PATH");
}

static void
test_apply_fix (void)
{
  g_autofree char *file = in_folder ("fixed.lig");
  const char *const arguments[] = {"linear(64) ! gelu", "--input",   "256x64",
                                   "--device",          "null:h200", "--fence"};
#define FENCED \
  arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5], "1"
  g_auto (Outcome) reasons = lig ("fuse", FENCED, "--all", NULL);
  assert_contains (reasons.out, "fix 1: remove the fence before 1");
  g_auto (Outcome) done = lig ("fuse", FENCED, "--apply-fix", "1", "-o", "fixed.lig", NULL);
  g_assert_cmpint (done.code, ==, 0);
  g_assert_cmpstr (done.out, ==, "");
  assert_contains (done.err, "fixed.lig with the edit: remove the fence before 1");
  g_auto (Outcome) document =
    lig ("fuse", FENCED, "--apply-fix", "1", "-o", "fixed.lig", "--json", NULL);
  assert_contains (document.out, "\"kind\": \"remove-fence\"");
  g_auto (Outcome) after = lig ("fuse", "fixed.lig", "--device", "null:h200", NULL);
  g_assert_null (strstr (after.out, "fence"));
  g_auto (Outcome) printed = lig ("fuse", FENCED, "--apply-fix", "1", "-o", "-", NULL);
  g_autofree char *saved = NULL;
  g_assert_true (g_file_get_contents (file, &saved, NULL, NULL));
  g_assert_cmpstr (printed.out, ==, saved);
  /* The error contains both numbers. */
  g_auto (Outcome) large =
    lig ("fuse", FENCED, "--apply-fix", "99", "-o", "other.lig", "--json", NULL);
  assert_failed (&large, 2, "usage", "no edit has the number 99; the plan offers ");
  /* A policy is not part of a sequence. */
  g_auto (Outcome) policies = lig ("fuse", "linear(64) ! gelu ! linear(64)", "--input", "256x64",
                                   "--device", "cpu", "--all", NULL);
  const char *choice = strstr (policies.out, ": use policy measured");
  g_assert_nonnull (choice);
  while (!g_str_has_prefix (choice, "fix "))
    choice--;
  g_autofree char *number = g_strndup (choice + 4, strcspn (choice + 4, ":"));
  g_auto (Outcome) policy = lig ("fuse", "linear(64) ! gelu ! linear(64)", "--input", "256x64",
                                 "--device", "cpu", "--apply-fix", number, "-o", "other.lig", NULL);
  g_assert_cmpint (policy.code, !=, 0);
  assert_contains (policy.err, "add --policy measured instead of --apply-fix");
  g_auto (Outcome) zero = lig ("fuse", FENCED, "--apply-fix", "0", "-o", "-", "--json", NULL);
  assert_failed (&zero, 2, "usage", "--apply-fix is '0'");
  g_auto (Outcome) word = lig ("fuse", FENCED, "--apply-fix", "one", "-o", "-", "--json", NULL);
  assert_failed (&word, 2, "usage", "'one'");
  g_auto (Outcome) nowhere = lig ("fuse", FENCED, "--apply-fix", "1", "--json", NULL);
  assert_failed (&nowhere, 2, "usage", "-o FILE");
  g_auto (Outcome) alone = lig ("fuse", FENCED, "-o", "other.lig", "--json", NULL);
  assert_failed (&alone, 2, "usage", "--apply-fix N");
  g_auto (Outcome) unreachable =
    lig ("fuse", FENCED, "--apply-fix", "1", "-o", "none/such.lig", "--json", NULL);
  assert_failed (&unreachable, 1, "file", "none/such.lig");
  g_autofree char *other = in_folder ("other.lig");
  g_assert_false (g_file_test (other, G_FILE_TEST_EXISTS));
#undef FENCED
}

static void
test_wishes (void)
{
  static const struct {
    const char *option, *value, *forward, *reason;
  } cases[] = {
    {"--forbid", LBA, "[0] [1 2 forward-bias-activation]", "forbidden"},
    {"--forbid", LBA "@0", "[0] [1 2 forward-bias-activation]", "forbidden"},
    {"--force", "forward-bias-activation@0", "[0] [1 2 forward-bias-activation]", "claimed"},
    {"--fence", "1", "[0 1 " LBA "] [2]", "fenced"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gboolean said = FALSE;
    g_auto (Outcome) outcome = lig ("fuse", "linear(4) ! gelu", "--input", "8x8", "--json",
                                    cases[i].option, cases[i].value, NULL);
    g_assert_cmpint (outcome.code, ==, 0);
    g_autofree char *groups = describe_groups (outcome.json, "forward");
    g_assert_cmpstr (groups, ==, cases[i].forward);
    for (guint j = 0; j < length_at (outcome.json, "verdicts"); j++) {
      g_autofree char *place = g_strdup_printf ("verdicts.%u.reason", j);
      said |= g_strcmp0 (text_at (outcome.json, place), cases[i].reason) == 0;
    }
    g_assert_true (said);
  }
  g_auto (Outcome) illegal = lig ("fuse", "linear(4) ! gelu", "--input", "8x8", "--json", "--force",
                                  "forward-linear-bias-add@0", NULL);
  assert_failed (&illegal, 1, "fusion", "needs a residual after Bias of Linear at 0");
}

/* Checks that each state value that an update step uses is a node at that step. */
static void
check_state_edges (void)
{
#define PLAN "plan", "linear(8) ! mean-squared-error", "--input", "4x8", "--optimizer", "adamw"
  g_auto (Outcome) json = lig (PLAN, "--json", NULL), dot = lig (PLAN, "--dot", NULL);
#undef PLAN
  static const char *const sides[] = {"inputs", "outputs"};
  guint found = 0, n_steps = json_array_get_length (json_node_get_array (at (json.json, "steps")));
  for (guint step = 0; step < n_steps; step++)
    for (guint side = 0; side < G_N_ELEMENTS (sides); side++) {
      g_autofree char *place = g_strdup_printf ("steps.%u.%s", step, sides[side]);
      g_autofree char *pass = g_strdup_printf ("steps.%u.pass", step);
      JsonArray *numbers = json_node_get_array (at (json.json, place));
      for (guint i = 0; i < json_array_get_length (numbers); i++) {
        int value = (int) json_array_get_int_element (numbers, i);
        g_autofree char *where = g_strdup_printf ("values.%d.place", value);
        if (value < 0 || !g_str_equal (text_at (json.json, where), "state"))
          continue;
        g_autofree char *node = g_strdup_printf ("v%d%c", value, *text_at (json.json, pass));
        g_autofree char *edge = side == 0 ? g_strdup_printf ("  %s -> s%u;\n", node, step)
                                          : g_strdup_printf ("  s%u -> %s;\n", step, node);
        assert_contains (dot.out, edge);
        found += g_str_equal (text_at (json.json, pass), "update");
      }
    }
  /* The update reads gradients, and writes parameters and both moments. */
  g_assert_cmpuint (found, >=, 4);
}

static void
test_plan (void)
{
  g_auto (Outcome) outcome = lig ("plan", "layer-norm ! linear(64) ! gelu ! linear(32)", "--input",
                                  "64x32", "--device", "null:h200", "--json", NULL);
  JsonNode *root = outcome.json;
  g_assert_cmpint (outcome.code, ==, 0);
  assert_keys (
    root,
    "device policy recipe recompute tf32 nondeterministic ops steps values arena_bytes live_peak "
    "spared_bytes state_bytes segments fit problem units");
  assert_keys (at (root, "steps.0"),
               "index pass kernel group fusion operands inputs outputs again read written flops "
               "predicted_us");
  assert_keys (at (root, "values.0"),
               "name shape dtype place offset bytes first last saved again writers readers");
  g_assert_cmpstr (text_at (root, "steps.0.kernel"), ==, "layer_norm");
  g_assert_cmpint (int_at (root, "live_peak"), <=, int_at (root, "arena_bytes"));
  g_assert_cmpint (int_at (root, "segments"), ==, 1);
  for (guint i = 0; i < length_at (root, "values"); i++) {
    g_autofree char *place = g_strdup_printf ("values.%u", i);
    JsonNode *value = at (root, place);
    if (g_str_equal (text_at (value, "place"), "arena"))
      g_assert_cmpint (int_at (value, "offset") + int_at (value, "bytes"), <=,
                       int_at (root, "arena_bytes"));
  }
  g_auto (Outcome) person = lig ("plan", "linear(64)", "--input", "64x32", NULL);
  assert_contains (person.out, "linear_bias");
  assert_contains (person.out, "peak live ");
  g_auto (Outcome) plain = lig ("plan", "linear(64)", "--input", "64x32", "--text", NULL);
  assert_contains (plain.out, "plan for ");
  g_auto (Outcome) graph = lig ("plan", "linear(64)", "--input", "64x32", "--dot", NULL);
  g_assert_cmpint (graph.code, ==, 0);
  g_assert_true (g_str_has_prefix (graph.out, "digraph plan {\n"));
  assert_contains (graph.out, "s0 -> ");
  assert_contains (graph.out, "0.weight\\n64x32 fp32");
  check_state_edges ();
  g_auto (Outcome) both = lig ("plan", "linear(64)", "--input", "64x32", "--dot", "--json", NULL);
  g_assert_cmpint (both.code, ==, 2);
  assert_contains (both.err, "--dot and --json");
}

/* Returns the text with its wrapped messages unwrapped. */
static char *
join_lines (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n  ", -1);
  return g_strjoinv (" ", lines);
}

/* A plan of 32 TB for the 149 GB of an H200, or for this computer. */
static void
test_too_large (void)
{
  static const char *const commands[] = {"fuse", "plan", "check"};
  const char *p = "linear(2000000) ! linear(4)", *input = "1000000x1000000", *device = "null:h200";
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_auto (Outcome) person = lig (commands[i], p, "--input", input, "--device", device, NULL);
    g_auto (Outcome) json =
      lig (commands[i], p, "--input", input, "--device", device, "--json", NULL);
    g_auto (Outcome) small =
      lig (commands[i], p, "--input", "10x10", "--device", device, "--json", NULL);
    g_assert_cmpint (person.code, ==, 1);
    g_assert_cmpint (json.code, ==, 1);
    g_assert_cmpint (small.code, ==, 0);
    g_autofree char *sentence = join_lines (person.out);
    assert_contains (sentence, "the plan does not fit null:h200: it needs ");
    assert_contains (sentence, "148 GB available (149 GB less a reserve of 1.07 GB for ");
    assert_contains (sentence, "0.weight 8.00 TB");
    assert_contains (text_at (json.json, "problem"), "0.weight 8.00 TB");
    g_assert_true (JSON_NODE_HOLDS_NULL (at (small.json, "problem")));
  }
  g_auto (Outcome) here = lig ("check", p, "--input", input, NULL);
  g_autofree char *sentence = join_lines (here.out);
  assert_contains (sentence, "the plan does not fit ");
  g_assert_cmpint (here.code, ==, 1);
  g_auto (Outcome) unknown = lig ("check", p, "--input", input, "--device", "null", NULL);
  g_assert_null (strstr (unknown.out, "does not fit"));
}

static double
rate_at (JsonNode *node, const char *place)
{
  return json_node_get_double (at (node, place));
}

static void
test_devices (void)
{
  gboolean cpu = FALSE, h200 = FALSE;
  g_auto (Outcome) outcome = lig ("devices", "--json", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
  JsonArray *list = json_node_get_array (outcome.json);
  for (guint i = 0; i < json_array_get_length (list); i++) {
    JsonNode *device = json_array_get_element (list, i);
    cpu |= g_str_equal (text_at (device, "device"), "cpu");
    h200 |= g_str_equal (text_at (device, "device"), "null:h200");
  }
  g_assert_true (cpu && h200);
  g_auto (Outcome) b200 = lig ("devices", "null:b200", "--json", NULL);
  g_assert_cmpfloat (rate_at (b200.json, "0.matmul.fp4"), ==, 6.422e15);
  g_assert_cmpint (int_at (b200.json, "0.fabric.multiprocessors"), ==, 24);
  g_assert_cmpfloat (rate_at (b200.json, "0.fabric.start"), ==, 35e-6);
  g_assert_cmpfloat (rate_at (b200.json, "0.fabric.inside.bandwidth"), ==, 580e9);
  g_assert_cmpfloat (rate_at (b200.json, "0.fabric.inside.latency"), ==, 3.4e-6);
  g_assert_cmpfloat (rate_at (b200.json, "0.fabric.between.bandwidth"), ==, 50e9);
  g_assert_cmpfloat (rate_at (b200.json, "0.fabric.between.latency"), ==, 14e-6);
  g_assert_cmpstr (text_at (b200.json, "0.units.latency"), ==, "s");
  g_auto (Outcome) table = lig ("devices", "null:b200", NULL);
  assert_contains (table.out, "6.42 P");
  assert_contains (table.out, "35.0 µs       580 GB/s  3.40 µs      50.0 GB/s  14.0 µs");
  /* A CPU has neither links nor 4-bit matmuls. */
  g_auto (Outcome) host = lig ("devices", "cpu", NULL);
  g_assert_null (strstr (host.out, "links"));
  g_assert_null (strstr (host.out, "fp4"));
  g_auto (Outcome) written = lig ("devices", "null:a100", "-o", "mine.json", NULL);
  g_assert_cmpint (written.code, ==, 0);
  g_auto (Outcome) own =
    lig ("fuse", "gelu", "--input", "8x8", "--device", "null:mine.json", "--json", NULL);
  g_assert_cmpint (own.code, ==, 0);
  g_auto (Outcome) absent = lig ("devices", "null:a100", "--measure", "--json", NULL);
  assert_failed (&absent, 1, "device", "cannot be measured");
}

/* Shipped sequences are canonical, have no unknown members, and compile for every shipped profile.
 */
static void
test_shipped (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("LIGATURE_DATA"), "examples", NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;
  int count = 0;
  while ((name = g_dir_read_name (dir))) {
    if (!g_str_has_suffix (name, ".lig"))
      continue;
    g_autoptr (GError) error = NULL;
    g_auto (GStrv) warnings = NULL;
    g_autofree char *file = g_build_filename (path, name, NULL), *text = NULL;
    g_autoptr (LigSequence) sequence = lig_sequence_load (file, &warnings, &error);
    g_assert_no_error (error);
    g_assert_true (!warnings || !warnings[0]);
    g_assert_true (g_file_get_contents (file, &text, NULL, NULL));
    g_autofree char *canonical = lig_sequence_to_json (sequence);
    g_assert_cmpstr (text, ==, canonical);
    g_auto (Outcome) plan = lig ("plan", file, "--device", "null:h100", "--json", NULL);
    g_assert_cmpint (plan.code, ==, 0);
    count++;
  }
  g_assert_cmpint (count, >=, 6);
}

/* Nothing is predicted for a CPU that was never measured, and reading commands do not create a
 * store. The first command that writes a store measures the CPU and reports it; later commands use
 * the result. */
static void
test_peak_rates (void)
{
  const char *text = "linear(8) ! gelu";
  g_autofree char *store = in_folder ("peak-rates.db");
  g_auto (Outcome) before =
    lig ("plan", text, "--input", "4x8", "--device", "cpu", "--store", store, "--json", NULL);
  g_assert_cmpint (before.code, ==, 0);
  g_assert_true (JSON_NODE_HOLDS_NULL (at (before.json, "steps.0.predicted_us")));
  g_assert_false (g_file_test (store, G_FILE_TEST_EXISTS));
  for (int i = 0; i < 2; i++) {
    g_auto (Outcome) profile = lig ("profile", text, "--input", "4x8", "--device", "cpu", "--steps",
                                    "2", "--store", store, "--json", NULL);
    g_assert_cmpint (profile.code, ==, 0);
    g_assert_cmpint (strstr (profile.err, "measuring how fast cpu is") != NULL, ==, i == 0);
    g_assert_cmpfloat (json_node_get_double (at (profile.json, "groups.0.predicted_us")), >, 0);
  }
  g_auto (Outcome) after =
    lig ("plan", text, "--input", "4x8", "--device", "cpu", "--store", store, "--json", NULL);
  g_assert_cmpfloat (json_node_get_double (at (after.json, "steps.0.predicted_us")), >, 0);
  /* Steps without rows return immediately, so they reach no share of a peak rate. */
  g_auto (Outcome) empty =
    lig ("profile", text, "--input", "0x8", "--device", "cpu", "--store", store, "--json", NULL);
  g_assert_cmpint (empty.code, ==, 0);
  g_assert_true (JSON_NODE_HOLDS_NULL (at (empty.json, "groups.0.roofline")));
  g_auto (Outcome) shown =
    lig ("profile", text, "--input", "0x8", "--device", "cpu", "--store", store, NULL);
  g_assert_null (strchr (shown.out, '%'));
  /* With another number of threads the CPU counts as another machine. */
  g_autofree char *line = g_strdup_printf (
    "OMP_NUM_THREADS=%d \"$LIG\" plan '%s' --input 4x8 --device cpu --store '%s' --json",
    g_get_num_processors () == 1 ? 2 : 1, text, store);
  g_auto (Outcome) other = shell (line);
  g_assert_true (JSON_NODE_HOLDS_NULL (at (other.json, "steps.0.predicted_us")));
}

/* A profile that does not describe a device is rejected, and so is one with impossible figures. */
static void
test_bad_profiles (void)
{
  g_autofree char *slow = in_folder ("slow.json");
  g_autofree char *device = g_strconcat ("null:", slow, NULL);
  g_assert_true (g_file_set_contents (slow, "{\"name\": \"slow\", \"copy\": 1e-308}", -1, NULL));
  g_auto (Outcome) zero =
    lig ("fuse", "gelu", "--input", "4x8", "--device", "null:/dev/zero", "--json", NULL);
  assert_failed (&zero, 1, "file",
                 "/dev/zero: cannot be read as a device description: not a regular file");
  g_auto (Outcome) report = lig ("report", "linear(8) ! gelu", "--input", "4x8", "--device", device,
                                 "-o", "slow.html", "--json", NULL);
  assert_failed (&report, 1, "format", "copy is 1e-308, expected 1e+06 to 1e+18 bytes a second");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/examples", test_examples);
  g_test_add_func ("/cli/exit-codes", test_exit_codes);
  g_test_add_func ("/cli/errors", test_errors);
  g_test_add_func ("/cli/ops", test_ops);
  g_test_add_func ("/cli/check", test_check);
  g_test_add_func ("/cli/fuse", test_fuse);
  g_test_add_func ("/cli/wishes", test_wishes);
  g_test_add_func ("/cli/why", test_why);
  g_test_add_func ("/cli/apply-fix", test_apply_fix);
  g_test_add_func ("/cli/plan", test_plan);
  g_test_add_func ("/cli/too-large", test_too_large);
  g_test_add_func ("/cli/devices", test_devices);
  g_test_add_func ("/cli/shipped", test_shipped);
  g_test_add_func ("/cli/peak-rates", test_peak_rates);
  g_test_add_func ("/cli/bad-profiles", test_bad_profiles);
  return run_cli_tests ();
}
