/* SPDX-License-Identifier: MIT */
/* Wrong command lines: each with the exit code and the message, as text and with --json. */
#include "tests/cli/case.h"

#define LINE "'linear(2) ! mean-squared-error' --input 2x2"
#define TRAIN "train " LINE " --data synthetic "
#define SWEEP "sweep " LINE " --data synthetic "
#define FUSE "fuse gelu --input 2x2 --device null "

enum { FAILED = 1, USAGE = 2 };

static const struct {
  int code;
  const char *arguments, *message;
} cases[] = {
  /* Commands and verbs. */
  {USAGE, "fus", "command 'fus' is unknown; did you mean 'fuse'?"},
  {USAGE, "frobnicate", "command 'frobnicate' is unknown; see lig --help"},
  {USAGE, "--frobnicate", "option --frobnicate is unknown; see lig --help"},
  {USAGE, "--jsn fuse", "option --jsn is unknown; did you mean --json?"},
  {USAGE, "--device cpu", "command missing; see lig --help"},
  {USAGE, "list", "command 'list' is unknown; did you mean 'runs list'?"},
  {USAGE, "version", "command 'version' is unknown; did you mean '--version'?"},
  {USAGE, "runs ls", "verb 'ls' of lig runs is unknown; did you mean 'list'?"},
  {USAGE, "runs rm last", "verb 'rm' of lig runs is unknown; did you mean 'delete'?"},
  {USAGE, "help fus", "command 'fus' is unknown; did you mean 'fuse'?"},
  {USAGE, "help fuse gelu", "lig fuse has no verbs; see lig help fuse"},
  {USAGE, "help runs lst", "verb 'lst' of lig runs is unknown; did you mean 'list'?"},
  {USAGE, "help runs list all", "argument 'all' is unexpected; see lig help --help"},
  {USAGE, "runs help lst", "verb 'lst' of lig runs is unknown; did you mean 'list'?"},
  {USAGE, "runs lst", "verb 'lst' of lig runs is unknown; did you mean 'list'?"},
  {USAGE, "runs frobnicate", "verb 'frobnicate' of lig runs is unknown; see lig runs --help"},
  {USAGE, "runs verdicts -h", "verb 'verdicts' of lig runs is unknown; see lig runs --help"},
  {USAGE, "runs lst --help", "verb 'lst' of lig runs is unknown; did you mean 'list'?"},
  {USAGE, "--generate sh", "--generate takes man, bash, zsh, fish"},
  /* Options. */
  {USAGE, FUSE "--polcy all", "option --polcy is unknown; did you mean --policy?"},
  {USAGE, FUSE "--zzz", "option --zzz is unknown; see lig fuse --help"},
  {USAGE, TRAIN "--learning-rate 1", "option --learning-rate is unknown; did you mean --lr?"},
  {USAGE, TRAIN "--batch-size 4", "option --batch-size is unknown; did you mean --batch?"},
  {USAGE, FUSE "--learning-rate 1", "option --learning-rate is unknown; see lig fuse --help"},
  {USAGE, "fuse gelu --input 2x2 --device h100",
   "device 'h100' is unknown; choose from cpu, cuda:N and null[:DESCRIPTION]; did you mean "
   "'null:h100'?"},
  {USAGE, "train " LINE " --data iris.csv",
   "--data: 'iris.csv' names no kind of dataset; did you mean 'csv:iris.csv'?"},
  {FAILED, "fuse 'embedding(8)' --device null",
   "the sequence has no input shape; give --input, like 32x128:int32"},
  {FAILED, "fuse 'block(2) { attention(4) }' --device null",
   "the sequence has no input shape; give --input, like 2x5x32"},
  {FAILED, "fuse 'linear(8)' --device null",
   "the sequence has no input shape; give --input, like 64x256"},
  {USAGE, FUSE "-z", "option -z is unknown; see lig fuse --help"},
  {USAGE, FUSE "--policy", "--policy needs a value, none|all|measured; see lig fuse --help"},
  {USAGE, FUSE "--all=yes", "--all takes no value, not 'yes'; see lig fuse --help"},
  {USAGE, FUSE "--policy=al", "expected none, all or measured; did you mean 'all'?"},
  {USAGE, FUSE "--color=red", "--color is 'red', expected auto, always or never"},
  {USAGE, "check gelu --batch many", "--batch is 'many', expected a whole number"},
  {USAGE, "check gelu --batch 99999999999999999999", "expected a whole number"},
  {USAGE, "check gelu --input 2x2 --batch -1", "--batch is '-1', expected a whole number from 0"},
  {USAGE, "profile gelu --steps 1.5", "--steps is '1.5', expected a whole number"},
  {USAGE, "profile gelu --steps 0", "--steps is '0', expected a whole number from 1 to 1000000"},
  /* Counts of arguments. */
  {USAGE, "check", "check needs a sequence P; see lig check --help"},
  {USAGE, "check gelu relu", "argument 'relu' is unexpected; write an expression in quotes"},
  {USAGE, "devices cpu null", "argument 'null' is unexpected; see lig devices --help"},
  {USAGE, "train", "train needs a sequence P or --resume FILE|RUN; see lig train --help"},
  {USAGE, "runs", "runs needs a verb, list|show|"},
  {USAGE, "runs show", "runs show takes RUN; see lig help runs show"},
  {USAGE, "--values", "--values takes one kind of value"},
  /* Values of options. */
  {USAGE, "check gelu --input 2xx2", "--input: shape '2xx2': axis 1 is '', expected a length"},
  {USAGE, "check gelu --input ''", "--input is empty, expected D{xD}[:dtype]"},
  {USAGE, "check gelu --input 2x2:fp8", "--input: element type 'fp8' is unknown"},
  {USAGE, "check gelu --input 2x2:bf61", "element type 'bf61' is unknown; did you mean 'bf16'?"},
  {USAGE, "check gelu --input 2x2 --device nul", "device 'nul' is unknown; "},
  {USAGE, "check gelu --input 2x2 --device cuda:x", "did you mean 'cuda:0'?"},
  {USAGE, "check gelu --input 2x2 --device null:h20", "did you mean 'h200'?"},
  {USAGE, "devices cpuu", "did you mean 'cpu'?"},
  {FAILED, "check gelu --input 2x2 --device cuda:99", "cuda:99 cannot be used"},
  {FAILED, "check gelu --input 2x2 --device null:none.json", "none.json"},
  {USAGE, FUSE "--dtype fp8", "--dtype is 'fp8', expected fp32, fp16 or bf16"},
  {USAGE, FUSE "--dtype BF16", "or a pair like bf16:fp32 or bf16:fp8; did you mean 'bf16'?"},
  {USAGE, FUSE "--forbid forward-linear-bias-activaton",
   "--forbid: fusion 'forward-linear-bias-activaton' is unknown; did you mean "
   "'forward-linear-bias-activation'?"},
  {USAGE, FUSE "--force backward-residual", "--force is 'backward-residual', expected FUSION@PATH"},
  {USAGE, FUSE "--fence 7", "--fence: no op has the path '7'"},
  {USAGE, FUSE "--apply-fix 1", "--apply-fix needs a file"},
  {USAGE, FUSE "--apply-fix 9 -o x.lig", "--apply-fix: no edit has the number 9"},
  {USAGE, FUSE "--why 7", "--why: no op has the path '7'"},
  {USAGE, "profile gelu --input 2x2 --compare all,none,all",
   "--compare lists all twice; name different policies"},
  {USAGE, "profile gelu --input 2x2 --compare al",
   "--compare has 'al', expected none, all or measured; did you mean 'all'?"},
  {USAGE, "profile gelu --input 2x2 --load zipf:-1", "--load is 'zipf:-1', expected an exponent"},
  {FAILED, "profile gelu --input 2x2 --load EVEN", "load is 'EVEN', expected even, zipf:EXPONENT"},
  {USAGE, "generate x --prompt a --temperature -1",
   "--temperature is -1, expected a number from 0 to 100"},
  {USAGE, "generate x --prompt a --top-p 2", "--top-p is 2, expected a number from 0 to 1"},
  {USAGE, "sweep --resume x --lr 3",
   "--lr cannot be combined with --resume: the sweep fixes it; omit it"},
  {USAGE, "apply gelu", "apply needs --input X.safetensors; see lig apply --help"},
  {USAGE, FUSE "-o x.lig", "-o is only used with --apply-fix"},
  /* Sequences: an unreadable one is a failure. */
  {FAILED, "check gleu --input 2x2", "op 'gleu' is unknown; did you mean 'gelu'?"},
  {FAILED, "check mse", "column 1: op 'mse' is unknown; did you mean 'mean-squared-error'?"},
  {FAILED, "check 'gelu ! mlp' --input 2x2", "op 'mlp' is unknown; did you mean 'layer-norm-mlp'?"},
  {FAILED, "check softmax", "column 1: op 'softmax' is unknown; lig ops lists the ops"},
  {FAILED, "check plain.md", "plain.md: not a .lig file: expected '{', got '#'"},
  {FAILED, "check 'reshape(3x5)' --input 3x5", "column 9: expected a shape like [3,5], got '3x5'"},
  {FAILED, "check 'linear(ot-features=3)' --input 2x2", "did you mean 'out-features'?"},
  {USAGE, TRAIN "--data 'csv:x?task=clas'", "did you mean 'class'?"},
  {FAILED, "check wrong-op.lig", "$.ops[0].op: op 'gleu' is unknown; did you mean 'gelu'?"},
  {FAILED, "check wrong-type.lig",
   "$.input.dtype: element type 'bf61' is unknown; did you mean 'bf16'?"},
  {FAILED, "check wrong-fusion.lig", "fusion 'forward-linear-bias-activaton' is unknown; did you"},
  {FAILED, "check missing.lig", "missing.lig"},
  {FAILED, "check missing.lgi", "cannot open 'missing.lgi': No such file"},
  {FAILED, "check .", ".: cannot be read: Is a directory"},
  /* Training. */
  {USAGE, "train " LINE, "training needs data; give --data, such as --data csv:FILE"},
  {USAGE, "train 'embedding(8, vocabulary=9)'", "give --data, such as --data text:FOLDER"},
  {USAGE, "train " LINE " --data synthetc", "did you mean 'synthetic'?"},
  {USAGE, TRAIN "--data 'synthetic?smples=3'", "did you mean 'samples'?"},
  {USAGE, TRAIN "--data 'synthetic?samples=x'", "samples is 'x', expected a whole number from 1"},
  {USAGE, TRAIN "--lr fast", "--lr is 'fast', expected a number from 0 to 1000000"},
  {USAGE, TRAIN "--steps 0", "--steps is '0', expected a whole number from 1"},
  {USAGE, TRAIN "--optimizer adam", "expected sgd or adamw; did you mean 'adamw'?"},
  {USAGE, TRAIN "--schedule cosin", "expected constant or cosine; did you mean 'cosine'?"},
  {USAGE, TRAIN "--warmup 5000", "warmup is 5000, expected a whole number from 0 to steps, 1000"},
  {USAGE, TRAIN "--device null:h200",
   "device 'null:h200' is only a description and cannot run; give --device cpu"},
  {USAGE, TRAIN "--momentum 0.9",
   "--momentum belongs to the optimizer sgd, not adamw; omit it, or give --optimizer sgd"},
  {USAGE, TRAIN "--min-lr 1e-5",
   "--min-lr is the final learning rate of a cosine schedule; omit it, or give --schedule cosine"},
  {FAILED, TRAIN "--loss-scale 8",
   "loss-scale is 8, but is only for fp16, and this run computes in fp32; omit it, or compute in "
   "fp16 (--loss-scale)"},
  {FAILED, TRAIN "--loss-scale 8 --dtype bf16", "this run computes in bf16; omit it, or"},
  {USAGE, TRAIN "--resume last",
   "cannot be combined with --resume, which has its own sequence; omit one of them"},
  {FAILED, TRAIN "--data csv:missing.csv", "missing.csv"},
  {USAGE, SWEEP, "sweep needs settings to vary; give --over KEY=A,B,… or --list FILE"},
  {USAGE, SWEEP "--over lr=", "--over: 'lr=' is not a list of values"},
  {USAGE, SWEEP "--over lr=a,b", "--over: lr is 'a', expected a number"},
  {USAGE, SWEEP "--over dtype=fp32,fp8", "--over: dtype is 'fp8', expected fp32, fp16 or bf16"},
  {USAGE, SWEEP "--over foo=1", "--over: training has no setting 'foo'"},
  {USAGE, SWEEP "--over stesp=1", "--over: training has no setting 'stesp'; did you mean 'steps'?"},
  {USAGE, SWEEP "--over 0.out-featurs=1",
   "--over: linear at 0 has no parameter 'out-featurs'; did"},
  {USAGE, SWEEP "--over lr=1 --over lr=2", "--over: lr is swept twice"},
  {USAGE, SWEEP "--over lr=1,2 --zip", "--zip needs at least two --over"},
  /* Reports and runs. */
  {USAGE, "report gelu", "report needs -o FILE"},
  {USAGE, "report gelu -o x.hmtl", "report format 'hmtl' is unknown"},
  {USAGE, "report gelu -o x --format htm", "did you mean 'html'?"},
  {USAGE, "runs list --status don", "did you mean 'done'?"},
  {USAGE, "runs show last --tag x", "lig runs show has no option --tag; see lig help runs show"},
};

/* Runs the line in a shell, exactly as users type it. */
static void
check (int code, const char *arguments, const char *message)
{
  g_autofree char *line = g_strconcat ("lig ", arguments, NULL);
  g_autofree char *json = g_strconcat ("lig --json ", arguments, NULL);
  g_test_message ("%s", line);
  g_auto (Outcome) plain = shell (line), document = shell (json);
  if (plain.code != code || !strstr (plain.err, message))
    g_error ("%s: exit code %d, expected %d: %s", line, plain.code, code, plain.err);
  g_assert_cmpstr (plain.out, ==, "");
  /* One message of the program, whose end names the thing, not the preceding action. */
  g_assert_true (g_str_has_suffix (plain.err, "\n"));
  g_assert_cmpint (document.code, ==, code);
  g_assert_nonnull (document.json);
  assert_keys (at (document.json, "error"), "code message path");
  assert_contains (text_at (document.json, "error.message"), message);
  g_assert_cmpint (strcmp (text_at (document.json, "error.code"), "usage") == 0, ==, code == USAGE);
}

static void
test_wrong (void)
{
  g_autofree char *key = in_folder ("wrong-key.lig");
  g_assert_true (g_file_set_contents (
    key, "{\"ligature\":1,\"ops\":[{\"op\":\"linear\",\"ot-features\":3}]}", -1, NULL));
  g_autofree char *op = in_folder ("wrong-op.lig"), *fusion = in_folder ("wrong-fusion.lig");
  g_assert_true (
    g_file_set_contents (op, "{\"ligature\":1,\"ops\":[{\"op\":\"gleu\"}]}", -1, NULL));
  g_assert_true (
    g_file_set_contents (fusion,
                         "{\"ligature\":1,\"input\":{\"shape\":[2,2]},\"ops\":[{\"op\":\"gelu\"}],"
                         "\"forbid\":[{\"fusion\":\"forward-linear-bias-activaton\"}]}",
                         -1, NULL));
  g_autofree char *type = in_folder ("wrong-type.lig");
  g_assert_true (g_file_set_contents (type,
                                      "{\"ligature\":1,\"input\":{\"shape\":[2,2],"
                                      "\"dtype\":\"bf61\"},\"ops\":[{\"op\":\"gelu\"}]}",
                                      -1, NULL));
  g_autofree char *plain = in_folder ("plain.md");
  g_assert_true (g_file_set_contents (plain, "# A title\n", -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (cases[i].code, cases[i].arguments, cases[i].message);
  /* The message suggests an input already. */
  g_auto (Outcome) input = shell ("lig check 'linear(3)'");
  assert_contains (input.err, "give --input, like 64x256");
  g_assert_null (strstr (input.err, "to fix it"));
  g_auto (Outcome) warning = shell ("lig check wrong-key.lig --input 2x2");
  assert_contains (warning.err,
                   "$.ops[0].ot-features: unknown key, kept; did you mean 'out-features'?");
}

/* Any option of the command may precede it. */
static void
test_order (void)
{
  static const struct {
    const char *before, *after;
  } lines[] = {
    {"--json fuse gelu --input 2x2 --device null", "fuse gelu --input 2x2 --device null --json"},
    {"--device null --json --input=2x2 fuse gelu", "fuse gelu --input 2x2 --device null --json"},
    {"--input 2x2 check gelu", "check gelu --input 2x2"},
    {"--no-pager --color never ops gelu", "ops gelu"},
    {"--help fuse", "fuse --help"},
    {"-h fuse", "fuse -h"},
    {"help fuse", "fuse --help"},
    {"fuse help", "fuse --help"},
    {"help runs list", "runs list --help"},
    {"runs help list", "runs list --help"},
    {"--json --version", "--version --json"},
    {"-h", "--help"},
    {"help", "--help"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autofree char *before = g_strconcat ("lig ", lines[i].before, NULL);
    g_autofree char *after = g_strconcat ("lig ", lines[i].after, NULL);
    g_test_message ("%s", before);
    g_auto (Outcome) one = shell (before), other = shell (after);
    g_assert_cmpint (one.code, ==, 0);
    g_assert_cmpint (other.code, ==, 0);
    g_assert_cmpstr (one.out, !=, "");
    g_assert_cmpstr (one.out, ==, other.out);
  }
  g_auto (Outcome) version = shell ("lig --version --json");
  g_assert_cmpstr (text_at (version.json, "version"), !=, "");
  g_auto (Outcome) alone = shell ("lig");
  g_assert_cmpint (alone.code, ==, USAGE);
  g_assert_cmpstr (alone.out, ==, "");
  assert_contains (alone.err, "Usage: lig ");
}

/* The exit code is 130 and the document complete, even if nothing had been printed. */
static void
test_interrupted (void)
{
  g_auto (Outcome) outcome =
    shell ("sleep 3 | timeout --preserve-status -s INT 0.5 lig check - --json");
  assert_failed (&outcome, 130, "cancelled", "interrupted");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/usage/wrong", test_wrong);
  g_test_add_func ("/usage/order", test_order);
  g_test_add_func ("/usage/interrupted", test_interrupted);
  return run_cli_tests ();
}
