/* SPDX-License-Identifier: MIT */
/* Bad arguments of lig train: data, checkpoints, stores, words. Each gives one sentence that names
 * the thing and the right exit code, and nothing is written or lost. */
#include "tests/cli/case.h"

#include <ligature/tensor-file.h>

#include <json-glib/json-glib.h>
#include <sqlite3.h>
#include <unistd.h>

#define LINE "linear(1) ! mean-squared-error"
#define BYTES "embedding(4) ! reshape([-1, 32]) ! linear(256) ! cross-entropy"

static void
write_file (const char *name, const char *bytes, gssize length)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder (name);
  g_file_set_contents (path, bytes, length, &error);
  g_assert_no_error (error);
}

static char *
read_file (const char *name, gsize *length)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder (name);
  char *bytes = NULL;
  g_file_get_contents (path, &bytes, length, &error);
  g_assert_no_error (error);
  return bytes;
}

static guint
count_runs (void)
{
  g_auto (Outcome) list = lig ("runs", "list", "--json", NULL);
  g_assert_cmpint (list.code, ==, 0);
  return json_array_get_length (json_node_get_array (list.json));
}

/* Lines before the message are remarks about the machine. */
static void
assert_one_sentence (const Outcome *outcome, const char *message)
{
  g_auto (GStrv) lines = g_strsplit (outcome->err, "\n", -1);
  guint count = 0;
  for (char **line = lines; *line; line++)
    count += strstr (*line, message) != NULL;
  g_assert_cmpuint (count, ==, 1);
  g_assert_cmpuint (g_strv_length (lines), <=, 3);
  g_assert_null (strstr (outcome->err, "CRITICAL"));
}

static void
make_data (void)
{
  static const char binary[] = "1,2\n3,\0\x01\x02\n";
  const gint32 header[] = {20240520, 1, 40};
  char tokens[1024 + 80] = {0};
  memcpy (tokens, header, sizeof header);
  memcpy (tokens + 1024 + 20, (guint16[]){300}, 2);
  write_file ("good.csv", "a,b\n1,2\n3,4\n5,6\n", -1);
  write_file ("empty.csv", "", -1);
  write_file ("header.csv", "a,b\n", -1);
  write_file ("ragged.csv", "a,b\n1,2\n3\n", -1);
  write_file ("nan.csv", "a,b\n1,2\n3,nan\n", -1);
  write_file ("word.csv", "a,b\n1,2\nx,5\n", -1);
  write_file ("binary.csv", binary, sizeof binary - 1);
  write_file ("empty.txt", "", -1);
  write_file ("short.txt", "abc", -1);
  write_file ("text.txt", "a text that is long enough for some windows of eight bytes\n", -1);
  write_file ("tokens.bin", tokens, sizeof tokens);
  write_file ("cut.bin", tokens, sizeof tokens - 2);
  write_file ("a-images-idx3-ubyte",
              "\0\0\x08\x03\0\0\0\x01\0\0\0\x02\0\0\0\x02"
              "abc",
              19);
  write_file ("b-images-idx3-ubyte",
              "\0\0\x08\x01\0\0\0\x01\0\0\0\x02\0\0\0\x02"
              "abcd",
              20);
  g_autofree char *hollow = in_folder ("hollow");
  g_mkdir (hollow, 0755);
}

static const struct {
  const char *arguments, *code, *message;
} bad[] = {
  {"'" LINE "' --batch 2 --data csv:missing.csv", "file", "missing.csv': No such file"},
  {"'" LINE "' --batch 2 --data csv:hollow", "file", "hollow' is a folder, expected"},
  {"'" LINE "' --batch 2 --data csv:empty.csv", "format", "empty.csv: is empty"},
  {"'" LINE "' --batch 2 --data csv:header.csv", "format", "header.csv: has a header and no rows"},
  {"'" LINE "' --batch 2 --data csv:ragged.csv", "format", "ragged.csv:3: has 1 field, the first"},
  {"'" LINE "' --batch 2 --data csv:nan.csv", "format", "nan.csv:3: column 2 (b) is 'nan'"},
  {"'" LINE "' --batch 2 --data csv:word.csv", "format", "word.csv:3: column 1 (a) is 'x'"},
  {"'" LINE "' --batch 2 --data csv:binary.csv", "format", "binary.csv: byte 6 is 0, a csv"},
  {"'" LINE "' --batch 2 --data csv:good.csv?validation=1", "usage", "validation is '1'"},
  {"'" LINE "' --batch 2 --data csv:good.csv?validaton=0", "usage", "did you mean 'validation'?"},
  {"'" LINE "' --batch 2 --data csv:good.csv?target=c", "value",
   "target 'c' is neither the name of a"},
  {"'" LINE "' --batch 2 --data good.csv", "usage", "names no kind of dataset"},
  {"'" LINE "' --batch 2 --data csv", "usage", "needs a path, as in csv:PATH"},
  {"'" LINE "' --input 2x3 --data csv:good.csv", "shape",
   "the input is 2x3 and does not match the data, whose batches are 2x1"},
  {"'" LINE "'", "usage", "training needs data; give --data, such as --data csv:FILE"},
  {"'" BYTES "' --input 2x8 --data text:empty.txt", "format", "empty.txt: is empty"},
  {"'" BYTES "' --input 2x8 --data text:hollow", "format", "the folder contains no file"},
  {"'" BYTES "' --input 2x8 --data text:short.txt", "shape",
   "2 tokens for training are too few for a window of"
   " 8 and the token after it"},
  {"'" BYTES "' --batch 2 --data text:text.txt", "shape",
   "text gives windows and requires BATCHxLENGTH"},
  {"'" BYTES "' --input 2x8 --data tokens:cut.bin", "format",
   "claims 40 tokens, which are 80 bytes,"
   " 78 follow"},
  {"'" BYTES "' --input 2x8 --data tokens:text.txt", "format", "a token file begins with 20240520"},
  {"'" BYTES "' --input 2x8 --data tokens:tokens.bin", "value",
   "offset 10 (byte 1044): token 300 is beyond the prediction's 256 classes"},
  {"'embedding(4, vocabulary=300) ! reshape([-1, 32]) ! linear(301) ! cross-entropy' --input 2x8"
   " --data tokens:tokens.bin",
   "value",
   "embedding at 0: the data has token 300, the vocabulary has"
   " 300"},
  {"'" LINE "' --batch 2 --data idx:a-images-idx3-ubyte", "format", "the header claims 4 bytes, 3"},
  {"'" LINE "' --batch 2 --data idx:b-images-idx3-ubyte", "format",
   "the magic number is 0x00000801,"
   " expected 0x00000803"},
  {"'linear(1) ! gelu' --batch 2 --data csv:good.csv", "op",
   "ends with gelu at 1, expected a loss"},
  {"'linear(1, in-features=7) ! mean-squared-error' --batch 2 --data csv:good.csv", "shape",
   "linear at 0: input has 1 feature, expected 7"},
  {"'linear(9) ! mean-squared-error' --batch 2 --data csv:good.csv", "shape", "has 9 features"},
  {"'liner(1) ! mean-squared-error' --batch 2 --data csv:good.csv", "op", "op 'liner' is unknown"},
  {"'' --batch 2 --data csv:good.csv", "format", "the expression is empty"},
  {"missing.lig --batch 2 --data csv:good.csv", "file", "cannot open 'missing.lig'"},
  {"'" LINE "' --batch 2 --data csv:good.csv --lr abc", "usage",
   "--lr is 'abc', expected a number"},
  {"'" LINE "' --batch 2 --data csv:good.csv --steps 0", "usage",
   "--steps is '0', expected a whole"},
  {"'" LINE "' --batch -2 --data csv:good.csv", "usage",
   "--batch is '-2', expected a whole number"},
  {"'" LINE "' --batch 2 --data csv:good.csv --optimizer adam", "usage", "did you mean 'adamw'?"},
  {"'" LINE "' --batch 2 --data csv:good.csv --dtype fp9", "usage",
   "dtype is 'fp9', expected fp32"},
  {"'" LINE "' --batch 2 --data csv:good.csv --device gpu", "usage", "device 'gpu' is unknown"},
  {"'" LINE "' --batch 2 --data csv:good.csv --device null:h200", "usage",
   "device 'null:h200' is only a description"},
  {"'" LINE "' --batch 2 --data csv:good.csv --input 2xx", "usage",
   "--input: shape '2xx': axis 1 is '', expected a length"},
  {"'" LINE "' --batch 2 --data csv:good.csv --init missing", "file", "cannot open 'missing'"},
  {"'" LINE "' --batch 2 --data csv:good.csv --init good.csv", "format", "truncated"},
  {"'" LINE "' --batch 2 --data csv:good.csv --checkpoint /dev/full", "file",
   "cannot write the checkpoint '/dev/full': it is not a regular file"},
  {"'" LINE "' --batch 2 --data csv:good.csv --checkpoint no/where", "file",
   "where': No such file or directory"},
  {"--resume missing", "store", "has no run 'missing'"},
  {"--resume good.csv", "format", "truncated"},
  {"'" LINE "' --resume last", "usage",
   "cannot be combined with --resume, which has its own sequence"},
  {"--steps 4", "usage", "train needs a sequence P or --resume FILE|RUN"},
  {"a b --data csv:good.csv", "usage", "argument 'b' is unexpected; write an expression in quotes"},
  {"'" LINE "' --dta csv:good.csv", "usage", "option --dta is unknown; did you mean --data?"},
};

static void
test_bad (void)
{
  make_data ();
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *line = g_strconcat ("lig train ", bad[i].arguments, NULL);
    g_autofree char *json = g_strconcat (line, " --json", NULL);
    g_test_message ("%s", line);
    g_auto (Outcome) plain = shell (line);
    g_auto (Outcome) outcome = shell (json);
    int code = strcmp (bad[i].code, "usage") == 0 ? 2 : 1;
    assert_failed (&outcome, code, bad[i].code, bad[i].message);
    assert_one_sentence (&outcome, bad[i].message);
    g_assert_cmpint (plain.code, ==, code);
    g_assert_cmpstr (plain.out, ==, "");
    g_assert_cmpstr (plain.err, ==, outcome.err);
  }
  g_assert_cmpuint (count_runs (), ==, 0);
  g_autofree char *checkpoints = in_folder ("ligature/checkpoints");
  g_autoptr (GDir) dir = g_dir_open (checkpoints, 0, NULL);
  g_assert_null (dir ? g_dir_read_name (dir) : NULL);
}

static void
assert_resume_fails (const char *name, const char *part)
{
  gsize n_before, n_after;
  g_autofree char *before = read_file (name, &n_before);
  g_auto (Outcome) outcome =
    lig ("train", "--resume", name, "--steps", "20", "--json", "--store", "damaged.db", NULL);
  assert_failed (&outcome, 1, "format", part);
  assert_contains (outcome.err, name);
  g_autofree char *after = read_file (name, &n_after);
  g_assert_cmpmem (before, n_before, after, n_after);
}

/* Checkpoints damaged by a full disk, a bad copy or an attacker. */
static void
test_damaged_checkpoints (void)
{
  g_auto (Outcome) made = shell ("lig train '" LINE "' --input 2x4 --data synthetic?samples=20"
                                 " --steps 4 --store damaged.db --checkpoint whole.safetensors");
  g_assert_cmpint (made.code, ==, 0);
  gsize length;
  g_autofree char *bytes = read_file ("whole.safetensors", &length);
  write_file ("cut.safetensors", bytes, (gssize) length - 3);
  assert_resume_fails ("cut.safetensors", "truncated");
  write_file ("head.safetensors", bytes, 100);
  assert_resume_fails ("head.safetensors", "truncated");
  write_file ("none.safetensors", "", 0);
  assert_resume_fails ("none.safetensors", "");
  write_file ("huge.safetensors", "\xff\xff\xff\x7f\0\0\0\0{}", 10);
  assert_resume_fails ("huge.safetensors", "the header");
  /* The bytes of 0.weight overlap those of 0.bias. */
  guint64 header;
  memcpy (&header, bytes, sizeof header);
  char *second = g_strstr_len (bytes + 8, (gssize) header, "\"data_offsets\":[4,20]");
  g_assert_nonnull (second);
  memcpy (second, "\"data_offsets\":[0,16]", 21);
  write_file ("overlap.safetensors", bytes, (gssize) length);
  assert_resume_fails ("overlap.safetensors", "0.weight");
  g_auto (Outcome) fine =
    shell ("lig train --resume whole.safetensors --steps 6 --store damaged.db");
  g_assert_cmpint (fine.code, ==, 0);
}

static void
execute (const char *name, const char *sql)
{
  sqlite3 *db = NULL;
  g_autofree char *path = in_folder (name);
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
}

#define TRAIN \
  "lig train '" LINE "' --input 2x4 --data synthetic?samples=20 --steps 4 --json --store "

static void
test_stores (void)
{
  gsize n_before, n_after;
  g_auto (Outcome) made = shell (TRAIN "newer.db");
  g_assert_cmpint (made.code, ==, 0);
  execute ("newer.db", "PRAGMA journal_mode = delete; PRAGMA user_version = 999");
  g_autofree char *before = read_file ("newer.db", &n_before);
  g_auto (Outcome) newer = shell (TRAIN "newer.db");
  assert_failed (&newer, 1, "store", "999");
  assert_contains (newer.err, "newer.db");
  g_autofree char *after = read_file ("newer.db", &n_after);
  g_assert_cmpmem (before, n_before, after, n_after);

  static const char letter[] = "this is a letter to a friend, and no database at all";
  write_file ("letter.db", letter, -1);
  g_auto (Outcome) written = shell (TRAIN "letter.db");
  assert_failed (&written, 1, "store", "letter.db");
  g_auto (Outcome) same = shell ("cat letter.db*");
  g_assert_cmpstr (same.out, ==, letter);

  static const char damaged[] = "SQLite format 3\0this was a store, and is no database any more";
  write_file ("broken.db", damaged, sizeof damaged);
  g_auto (Outcome) broken = shell (TRAIN "broken.db");
  g_assert_cmpint (broken.code, ==, 0);
  assert_contains (broken.err, "broken.db");
  g_auto (Outcome) kept = shell ("cat broken.db.* | tr -d '\\0'; lig runs list --store broken.db");
  assert_contains (kept.out, "this was a store");
  assert_contains (kept.out, "done");

  g_auto (Outcome) nowhere = shell (TRAIN "/proc/no/where.db");
  assert_failed (&nowhere, 1, "store", "/proc/no");
}

/* Another user's store, and a folder in which no file can be made. Root may write everywhere, so
 * this test needs another user. */
static void
test_read_only (void)
{
  static const char become[] = "setpriv --reuid 65534 --regid 65534 --clear-groups ";
  g_autofree char *prefix = g_strdup (geteuid () == 0 ? become : "");
  g_autofree char *probe = g_strconcat (prefix, "lig --version", NULL);
  g_auto (Outcome) able = shell (probe);
  if (able.code != 0) {
    g_test_skip ("no other user may run lig here");
    return;
  }
  g_auto (Outcome) made = shell (TRAIN "mine.db && mkdir -p locked && mv mine.db* locked"
                                       " && chmod -R a-w,a+rX locked && chmod a+rx .");
  g_assert_cmpint (made.code, ==, 0);
  g_autofree char *store = g_strconcat (prefix, TRAIN "locked/mine.db", NULL);
  g_autofree char *place = g_strconcat ("mkdir -m 777 open; ", prefix,
                                        TRAIN "open/a.db --checkpoint locked/a.safetensors", NULL);
  g_auto (Outcome) rejected = shell (store);
  assert_failed (&rejected, 1, "store", "locked/mine.db");
  g_auto (Outcome) elsewhere = shell (place);
  assert_failed (&elsewhere, 1, "file", "locked/a.safetensors': Permission denied");
  g_auto (Outcome) list = lig ("runs", "list", "--json", "--store", "open/a.db", NULL);
  g_assert_cmpuint (json_array_get_length (json_node_get_array (list.json)), ==, 0);
  g_auto (Outcome) unlock = shell ("chmod -R u+w locked");
  g_assert_cmpint (unlock.code, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!g_getenv ("LIG")) {
    g_printerr ("LIG names no program\n");
    return 1;
  }
  g_test_add_func ("/train/bad", test_bad);
  g_test_add_func ("/train/damaged-checkpoints", test_damaged_checkpoints);
  g_test_add_func ("/train/stores", test_stores);
  g_test_add_func ("/train/read-only", test_read_only);
  return run_cli_tests ();
}
