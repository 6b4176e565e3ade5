/* SPDX-License-Identifier: MIT */
/* Sequences in .lig files: the canonical text is a fixed point, unknown keys survive, and the error
 * for a bad file contains the position. */
#include <ligature/json.h>
#include <ligature/sequence.h>

#include <fcntl.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "{\"ligature\":1,"
#define OPS(ops) HEAD "\"ops\":[" ops "]}"

static LigSequence *
parse (const char *json, GStrv *warnings)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = lig_sequence_from_json (json, -1, warnings, &error);
  g_assert_no_error (error);
  g_assert_nonnull (sequence);
  return sequence;
}

/* Reads `json` and checks that its canonical text is `wanted`, which reads as itself. */
static void
check (const char *json, const char *wanted)
{
  g_autoptr (LigSequence) first = parse (json, NULL);
  g_autofree char *text = lig_sequence_to_json (first);
  g_assert_cmpstr (text, ==, wanted);
  g_autoptr (LigSequence) second = parse (text, NULL);
  g_autofree char *again = lig_sequence_to_json (second);
  g_assert_cmpstr (again, ==, wanted);
}

static void
test_canonical (void)
{
  check ("\xef\xbb\xbf {\"ops\":[],\"ligature\":1}", "{\n"
                                                     "  \"ligature\": 1,\n"
                                                     "  \"ops\": []\n"
                                                     "}\n");
  check ("{\"train\":{\"steps\":1e2,\"lr\":3e-4},\"force\":[{\"at\":\"2.1.1\",\"fusion\":\"F\"}],"
         "\"forbid\":[{\"at\":\"0\",\"fusion\":\"B\"},{\"fusion\":\"A\"},{\"fusion\":\"A\"}],"
         "\"fences\":[\"2.3.1\",\"01\",\"1\"],\"ops\":["
         "{\"op\":\"layer-norm\",\"eps\":1e-5},"
         "{\"bias\":false,\"out-features\":4096.0,\"op\":\"linear\",\"init-std\":0.1},"
         "{\"op\":\"block\",\"repeat\":12,\"ops\":[{\"op\":\"gelu\"},"
         "{\"op\":\"reshape\",\"shape\":[2,-1]}]}],"
         "\"types\":{\"parameters\":\"fp32\",\"compute\":\"bf16\"},"
         "\"input\":{\"dtype\":\"bf16\",\"shape\":[16384,4096]},"
         "\"name\":\"a \\\"b\\\" \\u00e9\\n\",\"ligature\":1}",
         "{\n"
         "  \"ligature\": 1,\n"
         "  \"name\": \"a \\\"b\\\" é\\n\",\n"
         "  \"input\": {\"shape\": [16384, 4096], \"dtype\": \"bf16\"},\n"
         "  \"types\": {\"compute\": \"bf16\", \"parameters\": \"fp32\"},\n"
         "  \"ops\": [\n"
         "    {\"op\": \"layer-norm\"},\n"
         "    {\"op\": \"linear\", \"out-features\": 4096, \"init-std\": 0.1, \"bias\": false},\n"
         "    {\"op\": \"block\", \"repeat\": 12, \"ops\": [\n"
         "      {\"op\": \"gelu\"},\n"
         "      {\"op\": \"reshape\", \"shape\": [2, -1]}\n"
         "    ]}\n"
         "  ],\n"
         "  \"fences\": [\"1\", \"2.0.1\"],\n"
         "  \"forbid\": [\n"
         "    {\"fusion\": \"A\"},\n"
         "    {\"fusion\": \"B\", \"at\": \"0\"}\n"
         "  ],\n"
         "  \"force\": [\n"
         "    {\"fusion\": \"F\", \"at\": \"2.0.1\"}\n"
         "  ],\n"
         "  \"train\": {\"steps\": 100.0, \"lr\": 0.0003}\n"
         "}\n");
}

static void
test_read (void)
{
  g_autoptr (LigSequence) sequence =
    parse (HEAD "\"name\":\"n\",\"input\":{\"shape\":[2,3]},\"types\":{\"compute\":\"fp16\"},"
                "\"ops\":[{\"op\":\"gelu\"},{\"op\":\"relu\"}],\"fences\":[\"1\"],"
                "\"forbid\":[{\"fusion\":\"A\"},{\"fusion\":\"B\",\"at\":\"1\"}],"
                "\"force\":[{\"fusion\":\"C\",\"at\":\"0\"}],\"train\":{\"steps\":3}}",
           NULL);
  LigShape shape;
  LigDtype dtype;
  lig_sequence_get_input (sequence, &shape, &dtype);
  g_assert_cmpint (dtype, ==, LIG_FP32);
  g_assert_cmpint (shape.axes[1], ==, 3);
  g_assert_cmpint (lig_sequence_get_compute (sequence), ==, LIG_FP16);
  g_assert_cmpint (lig_sequence_get_parameters (sequence), ==, -1);
  g_assert_cmpstr (lig_sequence_get_name (sequence), ==, "n");
  g_assert_cmpstr (lig_sequence_get_train (sequence), ==, "{\"steps\": 3}");
  g_assert_cmpstr (lig_sequence_get_forbidden (sequence)[0], ==, "A");
  LigOp *first = lig_sequence_get (sequence, 0, NULL), *last = lig_sequence_get (sequence, 1, NULL);
  g_assert_cmpstr (lig_op_get_forced (first)[0], ==, "C");
  g_assert_cmpstr (lig_op_get_forbidden (last)[0], ==, "B");
  g_assert_false (lig_op_get_fence (first));
  g_assert_true (lig_op_get_fence (last));
}

/* The limit of a name is 200 characters, not bytes, so that a window can show it. */
static void
test_long_name (void)
{
  g_autoptr (GString) name = g_string_new (NULL);
  for (int i = 0; i < LIG_SEQUENCE_LONGEST_NAME; i++)
    g_string_append (name, "é");
  g_autofree char *fits = g_strdup_printf (HEAD "\"name\":\"%s\",\"ops\":[]}", name->str);
  g_autoptr (LigSequence) sequence = parse (fits, NULL);
  g_assert_cmpstr (lig_sequence_get_name (sequence), ==, name->str);
  g_string_append (name, "e");
  g_autofree char *longer = g_strdup_printf (HEAD "\"name\":\"%s\",\"ops\":[]}", name->str);
  g_autoptr (GError) error = NULL;
  g_assert_null (lig_sequence_from_json (longer, -1, NULL, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_cmpstr (error->message, ==,
                   "$.name: the name has 201 characters, at most 200 are allowed");
  lig_sequence_set_name (sequence, name->str);
  g_assert_cmpint (g_utf8_strlen (lig_sequence_get_name (sequence), -1), ==, 200);
}

/* JSON from a store or a clipboard is read as strictly as a file. */
static void
test_json (void)
{
  static const char *const bad[] = {"", "[", "0x10", "{\"a\":1,\"a\":2}", "\"\xc3\"", "1e999"};
  g_autofree char *deep = g_strnfill (2000000, '[');
  for (guint i = 0; i <= G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (lig_json_from_text (i < G_N_ELEMENTS (bad) ? bad[i] : deep, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  }
  g_autoptr (JsonNode) root = lig_json_from_text ("{\"s\":\"t\",\"n\":7,\"a\":[]}", NULL);
  JsonObject *object = json_node_get_object (root);
  g_assert_cmpstr (lig_json_get_string (object, "s", "-"), ==, "t");
  g_assert_cmpint (lig_json_get_int (object, "n", -1), ==, 7);
  const char *const other[] = {"n", "a", "none"};
  for (guint i = 0; i < G_N_ELEMENTS (other); i++)
    g_assert_cmpstr (lig_json_get_string (object, other[i], "-"), ==, "-");
  g_assert_cmpint (lig_json_get_int (object, "s", -1), ==, -1);
  g_assert_cmpint (lig_json_get_int (object, "a", -1), ==, -1);
}

static void
test_unknown (void)
{
  const char *json =
    HEAD "\"zeta\":[1,2.0,null,true,\"\\u0001\"],\"alpha\":{\"b\":1,\"a\":1e-7},"
         "\"input\":{\"shape\":[4],\"why\":1},\"types\":{\"why\":2},"
         "\"ops\":[{\"op\":\"gelu\",\"my colour\":\"red\",\"a\":1}],"
         "\"forbid\":[{\"fusion\":\"A\",\"why\":3},{\"fusion\":\"B\",\"at\":\"0\",\"why\":4}],"
         "\"force\":[{\"fusion\":\"C\",\"at\":\"0\",\"why\":5}]}";
  const char *wanted[] = {
    "$.input.why: unknown key, kept",
    "$.types.why: unknown key, kept",
    "$.ops[0][\"my colour\"]: unknown key, kept",
    "$.ops[0].a: unknown key, kept",
    "$.forbid[0].why: unknown key, kept",
    "$.forbid[1].why: unknown key, kept",
    "$.force[0].why: unknown key, kept",
    "$.zeta: unknown key, kept",
    "$.alpha: unknown key, kept",
    NULL,
  };
  g_auto (GStrv) warnings = NULL;
  g_autoptr (LigSequence) sequence = parse (json, &warnings);
  g_assert_nonnull (warnings);
  g_assert_cmpstrv (warnings, wanted);
  check (json, "{\n"
               "  \"ligature\": 1,\n"
               "  \"input\": {\"shape\": [4], \"dtype\": \"fp32\", \"why\": 1},\n"
               "  \"types\": {\"why\": 2},\n"
               "  \"ops\": [\n"
               "    {\"op\": \"gelu\", \"a\": 1, \"my colour\": \"red\"}\n"
               "  ],\n"
               "  \"forbid\": [\n"
               "    {\"fusion\": \"A\", \"why\": 3},\n"
               "    {\"fusion\": \"B\", \"at\": \"0\", \"why\": 4}\n"
               "  ],\n"
               "  \"force\": [\n"
               "    {\"fusion\": \"C\", \"at\": \"0\", \"why\": 5}\n"
               "  ],\n"
               "  \"alpha\": {\"b\": 1, \"a\": 1e-7},\n"
               "  \"zeta\": [1, 2.0, null, true, \"\\u0001\"]\n"
               "}\n");
}

static void
test_many_unknown (void)
{
  g_autoptr (GString) json = g_string_new (HEAD "\"ops\":[]");
  for (int i = 0; i < 150; i++)
    g_string_append_printf (json, ",\"k%d\":0", i);
  g_string_append_c (json, '}');
  g_auto (GStrv) warnings = NULL;
  g_autoptr (LigSequence) sequence = parse (json->str, &warnings);
  g_assert_cmpuint (g_strv_length (warnings), ==, 101);
  g_assert_cmpstr (warnings[100], ==, "50 more unknown keys, kept");
}

/* --- Bad files ---------------------------------------------------------------------------- */

static const struct {
  const char *json, *message;
} mistakes[] = {
  /* not JSON */
  {"", "the text is empty, expected a sequence"},
  {"  \n", "the text is empty, expected a sequence"},
  {"{\n  \"ligature\": 1,\n  \"ops\": [", "line 3, column 11: expected a value, got the end"},
  {"{\"ligature\": 1", "line 1, column 15: expected ',' or '}', got the end"},
  {"{\"ligature\": 1,}", "line 1, column 16: expected a string, got '}'"},
  {"{ligature: 1}", "line 1, column 2: expected a string, got 'l'"},
  {"{\"ligature\" 1}", "line 1, column 13: expected ':', got '1'"},
  {"{\"é\": \"é\" x", "line 1, column 11: expected ',' or '}', got 'x'"},
  {"[1 2]", "line 1, column 4: expected ',' or ']', got '2'"},
  {"[1]]", "line 1, column 4: expected the end, got ']'"},
  {"{\"a\": nan}", "line 1, column 7: expected a value, got 'n'"},
  {"// x", "line 1, column 1: expected a value, got '/'"},
  {"[01]", "line 1, column 3: expected ',' or ']', got '1'"},
  {"[0x10]", "line 1, column 3: expected ',' or ']', got 'x'"},
  {"[1.]", "line 1, column 4: expected a digit, got ']'"},
  {"[-]", "line 1, column 3: expected a digit, got ']'"},
  {"[1e+]", "line 1, column 5: expected a digit, got ']'"},
  {"[\"a\n\"]", "line 1, column 4: expected '\"', got the character U+000A"},
  {"[\"a", "line 1, column 4: expected '\"', got the end"},
  {"[\"\\x\"]", "line 1, column 4: expected an escape, one of \"\\/bfnrtu, got 'x'"},
  {"[\"\\u12g4\"]", "line 1, column 7: expected four hexadecimal digits, got 'g'"},
  {"[\"\\ud800\"]", "line 1, column 9: expected the second half of a surrogate pair, got '\"'"},
  {"[0, \"\\udc00\"]", "$[1]: a string holds half a surrogate pair"},
  {"[\"\\u0000\"]", "$[0]: a string holds the character U+0000"},
  {"{\"a\":{\"b\":1,\"\\u0062\":2}}", "$.a.b: the key is given twice"},
  {"{\"a\":[99999999999999999999]}", "$.a[0]: 99999999999999999999 does not fit 64 bits"},
  {"{\"a\":1e400}", "$.a: 1e400 does not fit 64 bits"},
  /* the whole file */
  {"[]", "$: expected an object, got an array"},
  {"7", "$: expected an object, got 7"},
  {"{}", "$.ligature: expected the version 1, got nothing"},
  {"{\"ligature\":\"1\"}", "$.ligature: expected the version 1, got \"1\""},
  {"{\"ligature\":2}", "$.ligature: version 2 is newer than 1, the newest that this library reads"},
  {"{\"ligature\":0}", "$.ligature: version 0, expected 1"},
  {"{\"ligature\":1}", "$.ops: expected an array, got nothing"},
  {HEAD "\"ops\":{}}", "$.ops: expected an array, got an object"},
  {HEAD "\"name\":7,\"ops\":[]}", "$.name: expected a string, got 7"},
  {HEAD "\"train\":[],\"ops\":[]}", "$.train: expected an object, got an array"},
  /* input and types */
  {HEAD "\"input\":null,\"ops\":[]}", "$.input: expected an object, got null"},
  {HEAD "\"input\":{},\"ops\":[]}", "$.input.shape: expected an array, got nothing"},
  {HEAD "\"input\":{\"shape\":[]},\"ops\":[]}",
   "$.input.shape: a shape has 0 axes, expected 1 to 8"},
  {HEAD "\"input\":{\"shape\":[4,\"x\"]},\"ops\":[]}",
   "$.input.shape[1]: expected a whole number, got \"x\""},
  {HEAD "\"input\":{\"shape\":[4,2.5]},\"ops\":[]}",
   "$.input.shape[1]: expected a whole number, got 2.5"},
  {HEAD "\"input\":{\"shape\":[[4]]},\"ops\":[]}",
   "$.input.shape[0]: expected a whole number, got an array"},
  {HEAD "\"input\":{\"shape\":[1,1,1,1,1,1,1,1,1]},\"ops\":[]}",
   "$.input.shape[8]: a shape has at least 9 axes, at most 8 are allowed"},
  {HEAD "\"input\":{\"shape\":[-1]},\"ops\":[]}",
   "$.input.shape: axis 0 has length -1, expected at least 0"},
  {HEAD "\"input\":{\"shape\":[1000000000000000000]},\"ops\":[]}",
   "$.input.shape: axis 0 has length 1000000000000000000, expected 0 to 2147483647"},
  {HEAD "\"input\":{\"shape\":[1e18]},\"ops\":[]}",
   "$.input.shape[0]: expected a whole number, got 1e18"},
  {HEAD "\"input\":{\"shape\":[1048577,1048576]},\"ops\":[]}",
   "$.input.shape: the first 2 axes have 1099512676352 elements, at most 1099511627776 are "
   "possible"},
  {HEAD "\"input\":{\"shape\":[4],\"dtype\":\"fp99\"},\"ops\":[]}",
   "$.input.dtype: element type 'fp99' is unknown"},
  {HEAD "\"types\":{\"compute\":\"fp8\"},\"ops\":[]}",
   "$.types.compute: element type 'fp8' is unknown; did you mean 'fp8e4m3'?"},
  {HEAD "\"types\":{\"parameters\":\"fp9\"},\"ops\":[]}",
   "$.types.parameters: element type 'fp9' is unknown"},
  {HEAD "\"types\":{\"compute\":\"int32\"},\"ops\":[]}",
   "$.types.compute: expected fp32, fp16 or bf16, got int32"},
  {HEAD "\"types\":{\"parameters\":32},\"ops\":[]}",
   "$.types.parameters: expected a string, got 32"},
  /* ops */
  {OPS ("7"), "$.ops[0]: expected an object, got 7"},
  {OPS ("{}"), "$.ops[0].op: expected a string, got nothing"},
  {OPS ("{\"op\":\"gelu\"},{\"op\":\"geluu\"}"),
   "$.ops[1].op: op 'geluu' is unknown; did you mean 'gelu'?"},
  {OPS ("{\"op\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}"),
   "$.ops[0].op: no op has a name of 72 bytes"},
  {OPS ("{\"op\":\"linear\",\"out-features\":3.5}"),
   "$.ops[0].out-features: expected a whole number, got 3.5"},
  {OPS ("{\"op\":\"linear\",\"out-features\":\"4\"}"),
   "$.ops[0].out-features: expected a whole number, got \"4\""},
  {OPS ("{\"op\":\"linear\",\"out-features\":null}"),
   "$.ops[0].out-features: expected a number, a string, true, false or an array, got null"},
  {OPS ("{\"op\":\"linear\",\"out-features\":1099511627776}"),
   "$.ops[0].out-features: linear: out-features is 1099511627776, expected 1 to 1000000000"},
  {OPS ("{\"op\":\"linear\",\"out-features\":0}"),
   "$.ops[0].out-features: linear: out-features is 0, expected 1 to 1000000000"},
  {OPS ("{\"op\":\"linear\",\"bias\":0}"), "$.ops[0].bias: expected true or false, got 0"},
  {OPS ("{\"op\":\"dropout\",\"p\":true}"), "$.ops[0].p: expected a number, got true"},
  {OPS ("{\"op\":\"dropout\",\"p\":1.5}"), "$.ops[0].p: dropout: p is 1.5, expected 0 to 1"},
  {OPS ("{\"op\":\"make-extra-output\",\"to\":7}"),
   "$.ops[0].to: expected a channel's name, got 7"},
  {OPS ("{\"op\":\"make-extra-output\",\"to\":\"\"}"),
   "$.ops[0].to: expected a channel's name, a non-empty string, got \"\""},
  {OPS ("{\"op\":\"make-extra-output\",\"to\":\"../../\"}"),
   "$.ops[0].to: expected a channel's name, a non-empty string, got \"../../\""},
  {OPS ("{\"op\":\"make-extra-output\",\"to\":\"a\\nb\"}"),
   "$.ops[0].to: a channel's name holds the control character 0x0a"},
  {OPS ("{\"op\":\"reshape\",\"shape\":[2,true]}"),
   "$.ops[0].shape[1]: expected a whole number, got true"},
  {OPS ("{\"op\":\"gelu\",\"ops\":[]}"), "$.ops[0].ops: only a block has ops, this is gelu"},
  /* blocks */
  {OPS ("{\"op\":\"block\"}"), "$.ops[0].ops: expected an array, got nothing"},
  {OPS ("{\"op\":\"block\",\"ops\":[{\"op\":\"gelu\"},{\"op\":1}]}"),
   "$.ops[0].ops[1].op: expected a string, got 1"},
  {OPS ("{\"op\":\"block\",\"offload\":true,\"ops\":[]}"),
   "$.ops[0].offload: reserved: not implemented yet"},
  {OPS ("{\"op\":\"block\",\"offload\":true,\"ops\":[]}"),
   "$.ops[0].offload: reserved: not implemented yet"},
  {OPS ("{\"op\":\"block\",\"recipe\":\"fp8\",\"ops\":[]}"),
   "$.ops[0].recipe: block: recipe is 'fp8', expected inherit, none, fp8-delayed, fp8-current, "
   "fp8-rows, fp8-block, mxfp8 or nvfp4; did you mean 'fp8-rows'?"},
  {OPS ("{\"op\":\"block\",\"repeat\":1000000000,\"ops\":[]}"),
   "$.ops[0].repeat: block: repeat is 1000000000, expected 1 to 1000000"},
  {OPS ("{\"op\":\"block\",\"repeat\":1000000,\"ops\":[{\"op\":\"gelu\"},{\"op\":\"gelu\"}]}"),
   "$.ops[0].repeat: with its blocks repeated the sequence has 2000000 ops up to here, at most "
   "1000000 are allowed"},
  {OPS ("{\"op\":\"block\",\"repeat\":1000000,\"ops\":[{\"op\":\"gelu\"}]},{\"op\":\"gelu\"}"),
   "$.ops[1]: with its blocks repeated the sequence has 1000001 ops up to here, at most "
   "1000000 are allowed"},
  /* fences, forbid and force */
  {HEAD "\"ops\":[],\"fences\":\"1\"}", "$.fences: expected an array, got \"1\""},
  {HEAD "\"ops\":[],\"fences\":[1]}", "$.fences[0]: expected a string, got 1"},
  {HEAD "\"ops\":[{\"op\":\"gelu\"}],\"fences\":[\"0\",\"1\"]}",
   "$.fences[1]: no op has the path '1'"},
  {HEAD "\"ops\":[{\"op\":\"gelu\"}],\"fences\":[\"0.0.0\"]}",
   "$.fences[0]: no op has the path '0.0.0'"},
  {HEAD "\"ops\":[],\"forbid\":[7]}", "$.forbid[0]: expected an object, got 7"},
  {HEAD "\"ops\":[],\"forbid\":[{}]}", "$.forbid[0].fusion: expected a string, got nothing"},
  {HEAD "\"ops\":[],\"forbid\":[{\"fusion\":\"\"}]}",
   "$.forbid[0].fusion: expected a fusion's name, got \"\""},
  {HEAD "\"ops\":[],\"forbid\":[{\"fusion\":\"A\",\"at\":\"0\"}]}",
   "$.forbid[0].at: no op has the path '0'"},
  {HEAD "\"ops\":[],\"forbid\":[{\"fusion\":\"A\",\"at\":0}]}",
   "$.forbid[0].at: expected a string, got 0"},
  {HEAD "\"ops\":[],\"force\":[{\"fusion\":\"A\"}]}",
   "$.force[0].at: expected a string, got nothing"},
};

static void
test_mistake (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) warnings = NULL;
  g_autoptr (LigSequence) sequence =
    lig_sequence_from_json (mistakes[i].json, -1, &warnings, &error);
  g_assert_null (sequence);
  g_assert_null (warnings);
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, mistakes[i].message);
}

static void
rejected (const char *text, gssize length, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (text, length, NULL, &error);
  g_assert_null (sequence);
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, message);
}

static void
test_bytes (void)
{
  static const char zero[] = HEAD "\"ops\":[\0]}";
  rejected (zero, sizeof zero - 1, "it is not UTF-8 text: byte 0x00 at offset 21");
  rejected ("\x89PNG\r\n", -1, "it is not UTF-8 text: byte 0x89 at offset 0");
  rejected ("{\"\xc3", -1, "it is not UTF-8 text: byte 0xc3 at offset 2");
  /* No byte beyond the given length is read. */
  g_autoptr (LigSequence) part =
    lig_sequence_from_json (OPS ("") "garbage", (gssize) strlen (OPS ("")), NULL, NULL);
  g_assert_nonnull (part);
}

static void
test_large (void)
{
  gsize length = ((gsize) 64 << 20) + 1;
  g_autofree char *text = g_malloc (length);
  memset (text, ' ', length);
  rejected (text, (gssize) length, "it has more than 67108864 bytes, the maximum for a sequence");
}

static void
test_deep (void)
{
  g_autofree char *open = g_strnfill (1000000, '[');
  g_autoptr (GString) message = g_string_new ("$");
  for (int i = 0; i < 64; i++)
    g_string_append (message, "[0]");
  g_string_append (message, ": arrays and objects nest 65 deep, at most 64 levels are allowed");
  rejected (open, -1, message->str);

  g_autoptr (GString) blocks = g_string_new ("{\"op\":\"gelu\"}");
  for (int i = 0; i < 17; i++) {
    g_string_prepend (blocks, "{\"op\":\"block\",\"ops\":[");
    g_string_append (blocks, "]}");
  }
  g_string_prepend (blocks, HEAD "\"ops\":[");
  g_string_append (blocks, "]}");
  g_string_assign (message, "$");
  for (int i = 0; i < 17; i++)
    g_string_append (message, ".ops[0]");
  g_string_append (message, ".ops: blocks nest 17 deep, at most 16 levels are allowed");
  rejected (blocks->str, -1, message->str);
}

static void
test_constraints_of_an_op (void)
{
  g_autoptr (GString) json = g_string_new (HEAD "\"ops\":[{\"op\":\"gelu\"}],\"forbid\":[");
  for (int i = 0; i < 65; i++)
    g_string_append_printf (json, "%s{\"fusion\":\"f%d\",\"at\":\"0\"}", i > 0 ? "," : "", i);
  g_string_append (json, "]}");
  rejected (json->str, -1, "$.forbid[64]: one op has 65 such fusions, at most 64 are allowed");
}

/* --- Files -------------------------------------------------------------------------------- */

static void
test_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lig-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "a.lig", NULL);
  g_autoptr (LigSequence) first = lig_sequence_from_expression ("linear(4) ! gelu", NULL);
  g_assert_true (lig_sequence_save (first, path, &error));
  g_autoptr (LigSequence) second = lig_sequence_load (path, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) third = lig_sequence_open (path, NULL, &error);
  g_assert_no_error (error);
  g_autofree char *text = lig_sequence_to_json (first);
  g_autofree char *again = lig_sequence_to_json (second);
  g_assert_cmpstr (again, ==, text);
  g_assert_cmpuint (lig_sequence_get_length (third), ==, 2);

  g_assert_true (g_file_set_contents (path, "{\n \"ligature\" 1}", -1, NULL));
  g_assert_null (lig_sequence_load (path, NULL, &error));
  g_autofree char *wanted = g_strconcat (path, ":2:13: expected ':', got '1'", NULL);
  g_assert_cmpstr (error->message, ==, wanted);
  g_clear_error (&error);

  g_assert_true (g_file_set_contents (path, "{\"ligature\": 3}", -1, NULL));
  g_assert_null (lig_sequence_load (path, NULL, &error));
  g_autofree char *newer = g_strconcat (
    path, ": $.ligature: version 3 is newer than 1, the newest that this library reads", NULL);
  g_assert_cmpstr (error->message, ==, newer);
  g_clear_error (&error);

  g_remove (path);
  g_assert_null (lig_sequence_open (path, NULL, &error));
  g_autofree char *missing = g_strconcat ("cannot open '", path, "': ", NULL);
  g_assert_true (g_str_has_prefix (error->message, missing));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  g_clear_error (&error);

  g_assert_null (lig_sequence_load (folder, NULL, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  g_clear_error (&error);

  g_autofree char *nowhere = g_build_filename (folder, "none", "a.lig", NULL);
  g_assert_false (lig_sequence_save (first, nowhere, &error));
  g_autofree char *unsaved = g_strconcat (nowhere, ": cannot be saved: ", NULL);
  g_assert_true (g_str_has_prefix (error->message, unsaved));
  g_rmdir (folder);
}

static gpointer
close_later (gpointer number)
{
  g_usleep (200000);
  close (GPOINTER_TO_INT (number));
  return NULL;
}

/* Replacing a pipe or a device by a file would destroy it for all others; a link stays a link. */
static void
test_save_special (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lig-XXXXXX", NULL);
  g_autofree char *pipe = g_build_filename (folder, "pipe.lig", NULL);
  g_autofree char *real = g_build_filename (folder, "real.lig", NULL);
  g_autofree char *link = g_build_filename (folder, "link.lig", NULL);
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression ("gelu", &error);
  g_assert_no_error (error);
  g_autofree char *json = lig_sequence_to_json (sequence);
  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  g_assert_false (lig_sequence_save (sequence, pipe, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, "the pipe has no reader"));
  g_clear_error (&error);

  int both = open (pipe, O_RDWR | O_CLOEXEC);
  char written[4096];
  g_assert_true (lig_sequence_save (sequence, pipe, &error));
  g_assert_no_error (error);
  g_assert_cmpint (read (both, written, sizeof written), ==, strlen (json));
  close (both);
  g_assert_false (g_file_test (pipe, G_FILE_TEST_IS_REGULAR));

  g_assert_true (g_file_set_contents (real, "old", -1, NULL));
  g_assert_cmpint (symlink ("real.lig", link), ==, 0);
  g_assert_true (lig_sequence_save (sequence, link, &error));
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_autofree char *saved = NULL;
  g_assert_true (g_file_get_contents (real, &saved, NULL, NULL));
  g_assert_cmpstr (saved, ==, json);
  g_remove (pipe);
  g_remove (link);
  g_remove (real);
  g_rmdir (folder);
}

/* A named pipe without a writer is read as an empty file; one with a writer as any file. */
static void
test_pipe (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lig-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "pipe.lig", NULL);
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  g_assert_null (lig_sequence_load (path, NULL, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, "the text is empty"));
  g_clear_error (&error);

  static const char text[] = OPS ("{\"op\":\"gelu\"}");
  int both = open (path, O_RDWR | O_CLOEXEC);
  int writer = open (path, O_WRONLY | O_CLOEXEC);
  g_assert_true (both >= 0 && writer >= 0);
  g_assert_cmpint (write (writer, text, strlen (text)), ==, (gssize) strlen (text));
  close (writer);
  /* The reader finds the end once the last writer has closed the pipe. */
  g_autoptr (GThread) closer = g_thread_new ("closer", close_later, GINT_TO_POINTER (both));
  g_autoptr (LigSequence) sequence = lig_sequence_load (path, NULL, &error);
  g_thread_join (g_steal_pointer (&closer));
  g_assert_no_error (error);
  g_assert_cmpuint (lig_sequence_get_length (sequence), ==, 1);
  g_remove (path);
  g_rmdir (folder);
}

static void
test_open (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) plain = lig_sequence_open ("gelu ! relu", NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (plain);
  /* A slash in a channel's name does not make an expression a file name. */
  g_autoptr (LigSequence) channel =
    lig_sequence_open ("block(2) { make-extra-output(../r) }", NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (channel);
}

static LigSequence *
load (const char *path)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = lig_sequence_load (path, NULL, &error);
  g_assert_no_error (error);
  return sequence;
}

/* Saves a sequence with that data in the first folder, and asserts what the file says, and what is
 * read from it after both were moved to the second folder. */
static void
check_moved (
  const char *folder, const char *moved, const char *data, const char *written, const char *read)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (folder, "model.lig", NULL), *text = NULL;
  g_autofree char *there = g_build_filename (moved, "model.lig", NULL);
  g_autofree char *train = g_strdup_printf ("{\"steps\": 3, \"data\": \"%s\"}", data);
  g_autofree char *expected = g_strdup_printf ("\"%s\"", written);
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression ("gelu", &error);
  lig_sequence_set_train (sequence, train);
  g_assert_true (lig_sequence_save (sequence, path, &error));
  g_assert_no_error (error);
  g_assert_nonnull (strstr (lig_sequence_get_train (sequence), data));
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, expected));
  g_assert_cmpint (g_rename (path, there), ==, 0);
  g_autoptr (LigSequence) loaded = load (there);
  g_assert_nonnull (strstr (lig_sequence_get_train (loaded), read));
  g_remove (there);
}

static void
write_files (const char *folder, gboolean there)
{
  static const char *const names[] = {"rows.csv", "odd?rows.csv", "held out.csv"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = g_build_filename (folder, names[i], NULL);
    if (there)
      g_assert_true (g_file_set_contents (path, "a,b\n1,2\n", -1, NULL));
    else
      g_remove (path);
  }
}

/* Data in the folder of a file moves with it; other paths stay as they are. */
static void
test_data_path (void)
{
  g_autofree char *folder = g_dir_make_tmp ("lig-XXXXXX", NULL);
  g_autofree char *moved = g_dir_make_tmp ("lig-XXXXXX", NULL);
  write_files (folder, TRUE);
  write_files (moved, TRUE);
  g_autofree char *own =
    g_strdup_printf ("csv:%s/rows.csv?target=b&validation=%s/held%%20out.csv", folder, folder);
  g_autofree char *other =
    g_strdup_printf ("csv:%s/rows.csv?target=b&validation=%s/held%%20out.csv", moved, moved);
  g_autofree char *strange = g_strdup_printf ("csv:%s/odd?rows.csv", folder);
  g_autofree char *strange_moved = g_strdup_printf ("csv:%s/odd?rows.csv", moved);
  g_autofree char *pattern = g_strdup_printf ("tokens:%s/*.bin", folder);
  g_autofree char *absent = g_strdup_printf ("csv:%s/absent.csv", folder);
  check_moved (folder, moved, own, "csv:rows.csv?target=b&validation=held%20out.csv", other);
  check_moved (folder, moved, strange, "csv:odd?rows.csv", strange_moved);
  check_moved (folder, moved, pattern, pattern, pattern);
  check_moved (folder, moved, absent, absent, absent);
  check_moved (folder, moved, "csv:/elsewhere/rows.csv", "csv:/elsewhere/rows.csv",
               "csv:/elsewhere/rows.csv");
  check_moved (folder, moved, "csv:absent.csv", "csv:absent.csv", "csv:absent.csv");
  check_moved (folder, moved, "csv:rows.csv?validation=0.25", "csv:rows.csv?validation=0.25",
               "rows.csv?validation=0.25");
  check_moved (folder, moved, "synthetic?samples=5", "synthetic?samples=5", "synthetic?samples=5");
  write_files (folder, FALSE);
  write_files (moved, FALSE);
  g_rmdir (folder);
  g_rmdir (moved);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/file/canonical", test_canonical);
  g_test_add_func ("/file/read", test_read);
  g_test_add_func ("/file/long-name", test_long_name);
  g_test_add_func ("/file/json", test_json);
  g_test_add_func ("/file/unknown", test_unknown);
  g_test_add_func ("/file/many-unknown", test_many_unknown);
  g_test_add_func ("/file/bytes", test_bytes);
  g_test_add_func ("/file/large", test_large);
  g_test_add_func ("/file/deep", test_deep);
  g_test_add_func ("/file/wishes-of-an-op", test_constraints_of_an_op);
  g_test_add_func ("/file/files", test_files);
  g_test_add_func ("/file/pipe", test_pipe);
  g_test_add_func ("/file/save-special", test_save_special);
  g_test_add_func ("/file/open", test_open);
  g_test_add_func ("/file/data-path", test_data_path);
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++) {
    g_autofree char *path = g_strdup_printf ("/file/mistake/%u", i);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_mistake);
  }
  return g_test_run ();
}
