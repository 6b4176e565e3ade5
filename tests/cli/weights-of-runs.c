/* SPDX-License-Identifier: MIT */
/* Trains on a table, shows the run, and uses its weights in other commands: by the run, and with
 * the preprocessing of the table. Also tests files that are not replaced. */
#include "tests/cli/case.h"

#include <ligature/tensor-file.h>

#define MODEL "linear(3) ! cross-entropy"

/* Writes a table of 30 rows: x is 0 to 29, z is constant, and three labels. The mean of x is 14.5,
 * its variance (30^2 - 1) / 12, and its std 8.6554. */
static void
write_table (void)
{
  g_autoptr (GString) text = g_string_new ("x,z,kind\n");
  g_autofree char *path = in_folder ("t.csv");
  for (int i = 0; i < 30; i++)
    g_string_append_printf (text, "%d,7,%s\n", i, i < 10 ? "fox" : i < 20 ? "ant" : "cow");
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
}

#define DATA "csv:t.csv?validation=0&standardize=true"

static void
train (const char *name, const char *steps)
{
  g_auto (Outcome) done =
    lig ("train", MODEL, "--data", DATA, "--steps", steps, "--name", name, "--device", "cpu", NULL);
  g_assert_cmpint (done.code, ==, 0);
  assert_contains (done.err, "batch size 30 by default");
}

static void
write_input (void)
{
  static const float values[] = {0.5f, 1, -0.5f, 0};
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 2, (gint64) 2);
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, NULL);
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autofree char *path = in_folder ("x.safetensors");
  memcpy (tensor->data, values, sizeof values);
  lig_tensor_file_add (file, "input", tensor);
  g_assert_true (lig_tensor_file_save (file, path, NULL));
}

/* Mean, std and classes are shown, and are in the checkpoint. */
static void
test_shown (void)
{
  write_table ();
  train ("flowers", "5");
  g_auto (Outcome) shown = lig ("runs", "show", "flowers", NULL);
  assert_contains (shown.out, "Table (features are (x - mean) / std)");
  assert_contains (shown.out, "classes: 0 ant, 1 cow, 2 fox");
  g_auto (Outcome) json = lig ("runs", "show", "flowers", "--json", NULL);
  JsonNode *table = at (json.json, "inputs.table");
  g_assert_cmpstr (text_at (table, "features.0.name"), ==, "x");
  g_assert_cmpfloat (json_node_get_double (at (table, "features.0.mean")), ==, 14.5);
  g_assert_cmpfloat_with_epsilon (json_node_get_double (at (table, "features.0.std")), 8.655441448,
                                  1e-9);
  g_assert_cmpfloat (json_node_get_double (at (table, "features.1.std")), ==, 1);
  g_assert_cmpstr (text_at (table, "classes.2"), ==, "fox");
  g_assert_cmpstr (text_at (json.json, "settings.data") + strlen (folder) + 5, ==,
                   "t.csv?validation=0&standardize=true&split=random");
}

/* --weights and --init take a run as --resume does; its values are those of its file. */
static void
test_run (void)
{
  write_table ();
  write_input ();
  train ("flowers", "5");
  g_auto (Outcome) run = lig ("apply", "linear(3)", "--weights", "flowers", "--input",
                              "x.safetensors", "-o", "a.safetensors", NULL);
  g_assert_cmpint (run.code, ==, 0);
  assert_contains (run.err, "weights of ");
  assert_contains (run.err,
                   "trained on standardized rows; the rows of the input must be (x - "
                   "mean) / std, too, with these means and stds: x 14.5 8.65544145, z 7 1");
  g_auto (Outcome) show = lig ("runs", "show", "flowers", "--json", NULL);
  const char *file = text_at (show.json, "artifacts.0.path");
  g_auto (Outcome) path = lig ("apply", "linear(3)", "--weights", file, "--input", "x.safetensors",
                               "-o", "b.safetensors", NULL);
  g_assert_cmpint (path.code, ==, 0);
  g_auto (Outcome) same = shell ("cmp a.safetensors b.safetensors");
  g_assert_cmpint (same.code, ==, 0);
  g_auto (Outcome) init = lig ("train", MODEL, "--data", DATA, "--init", "flowers", "--steps", "2",
                               "--name", "more", "--device", "cpu", NULL);
  g_assert_cmpint (init.code, ==, 0);
  g_auto (Outcome) more = lig ("runs", "show", "more", "--json", NULL);
  g_assert_cmpstr (text_at (more.json, "inputs.init"), ==, file);
  g_auto (Outcome) exported = lig ("export-weights", "linear(3)", "--input", "2x2", "--weights",
                                   "flowers", "-o", "w.safetensors", NULL);
  g_assert_cmpint (exported.code, ==, 0);
  g_auto (Outcome) sweep = lig ("sweep", MODEL, "--data", DATA, "--init", "flowers", "--steps", "2",
                                "--over", "lr=0.1,0.2", "--device", "cpu", NULL);
  g_assert_cmpint (sweep.code, ==, 0);
  /* The exported weights keep the preprocessing of rows, both for a run and for a sequence with a
   * run's weights. */
  g_auto (Outcome) own = lig ("export-weights", "flowers", "-o", "own.safetensors", NULL);
  g_assert_cmpint (own.code, ==, 0);
  static const char *const files[] = {"own.safetensors", "w.safetensors"};
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_auto (Outcome) again = lig ("apply", "linear(3)", "--weights", files[i], "--input",
                                  "x.safetensors", "-o", "b.safetensors", NULL);
    assert_contains (again.err, "x 14.5 8.65544145");
  }
}

/* The names of a wrapped module are read without their prefix, and a note says so. */
static void
test_wrapped (void)
{
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autofree char *path = in_folder ("wrapped.safetensors");
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 3, (gint64) 2);
  g_autoptr (LigTensor) weight = lig_tensor_new (LIG_FP32, &shape, NULL);
  lig_shape_init (&shape, 1, (gint64) 3);
  g_autoptr (LigTensor) bias = lig_tensor_new (LIG_FP32, &shape, NULL);
  lig_tensor_file_add (file, "module.0.weight", weight);
  lig_tensor_file_add (file, "module.0.bias", bias);
  g_assert_true (lig_tensor_file_save (file, path, NULL));
  write_input ();
  g_auto (Outcome) run = lig ("apply", "linear(3)", "--weights", "wrapped.safetensors", "--input",
                              "x.safetensors", "-o", "y.safetensors", NULL);
  g_assert_cmpint (run.code, ==, 0);
  assert_contains (run.err, "wrapped.safetensors: names without the prefix module.");
}

static void
assert_kept (const char *name, const char *words)
{
  g_autofree char *path = in_folder (name), *before = NULL, *after = NULL;
  gsize length, same;
  g_assert_true (g_file_get_contents (path, &before, &length, NULL));
  g_auto (Outcome) apply = lig ("apply", "gelu", "--input", "x.safetensors", "-o", name, NULL);
  g_auto (Outcome) weights =
    lig ("export-weights", "linear(3)", "--input", "2x2", "-o", name, NULL);
  g_assert_cmpint (apply.code, !=, 0);
  g_assert_cmpint (weights.code, !=, 0);
  assert_contains (apply.err, words);
  assert_contains (weights.err, words);
  g_assert_true (g_file_get_contents (path, &after, &same, NULL));
  g_assert_cmpmem (before, length, after, same);
}

/* -o replaces only tensor files, and its ending must match. */
static void
test_outputs (void)
{
  g_autofree char *notes = in_folder ("notes"), *onnx = in_folder ("a.onnx");
  write_table ();
  write_input ();
  train ("flowers", "5");
  g_assert_true (g_file_set_contents (notes, "of three years", -1, NULL));
  g_assert_true (g_file_set_contents (onnx, "a model", -1, NULL));
  assert_kept ("notes", "the existing file is not a tensor file and would be lost");
  assert_kept ("t.csv",
               "-o t.csv ends in .csv, but safetensors are written; name it t.safetensors");
  assert_kept ("a.onnx", "ends in .onnx");
  g_auto (Outcome) copy =
    shell ("cp $(ls ligature/checkpoints/*.safetensors | head -n 1) c.safetensors");
  g_assert_cmpint (copy.code, ==, 0);
  assert_kept ("c.safetensors", "the existing file is a training checkpoint");
  g_auto (Outcome) new = lig ("apply", "gelu", "--input", "x.safetensors", "-o", "new.PT", NULL);
  assert_contains (new.err, "-o new.PT ends in .pt");
  for (int i = 0; i < 2; i++) {
    g_auto (Outcome) again =
      lig ("apply", "gelu", "--input", "x.safetensors", "-o", "y.safetensors", NULL);
    g_assert_cmpint (again.code, ==, 0);
  }
}

/* No command's output replaces tensors or a store. */
static void
test_documents (void)
{
  static const char *const kept[] = {"w.safetensors", "runs.db"};
  static const char *const words[] = {"the existing file has tensors and would be lost",
                                      "the existing file is a database and would be lost"};
  write_table ();
  train ("flowers", "5");
  g_auto (Outcome) weights = lig ("export-weights", "flowers", "-o", "w.safetensors", NULL);
  g_assert_cmpint (weights.code, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++) {
    g_autofree char *path = in_folder (kept[i]), *before = NULL, *after = NULL;
    gsize length, same;
    g_assert_true (g_file_get_contents (path, &before, &length, NULL));
    g_auto (Outcome) report = lig ("report", "flowers", "--format", "html", "-o", kept[i], NULL);
    g_auto (Outcome) metrics =
      lig ("runs", "export", "flowers", "--format", "csv", "-o", kept[i], NULL);
    g_assert_cmpint (report.code, ==, 1);
    g_assert_cmpint (metrics.code, ==, 1);
    assert_contains (report.err, words[i]);
    assert_contains (metrics.err, words[i]);
    g_assert_true (g_file_get_contents (path, &after, &same, NULL));
    g_assert_cmpmem (before, length, after, same);
  }
}

/* Few steps shorten the warm-up of a file proportionally; a misspelt key is rejected. */
static void
test_train_object (void)
{
  static const char head[] = "{\"ligature\":1,\"ops\":[{\"op\":\"linear\",\"out-features\":3},"
                             "{\"op\":\"cross-entropy\"}],\"train\":{";
  g_autofree char *path = in_folder ("m.lig");
  g_autofree char *long_one =
    g_strconcat (head, "\"data\":\"" DATA "\",\"steps\":10000,\"warmup\":700}}", NULL);
  g_autofree char *misspelt = g_strconcat (head, "\"data\":\"" DATA "\",\"warm-up\":7}}", NULL);
  write_table ();
  g_assert_true (g_file_set_contents (path, long_one, -1, NULL));
  g_auto (Outcome) few =
    lig ("train", "m.lig", "--steps", "30", "--name", "few", "--device", "cpu", NULL);
  g_assert_cmpint (few.code, ==, 0);
  assert_contains (few.err, "warmup is 700 in the file, too many for 30 steps: reduced to 2");
  g_auto (Outcome) show = lig ("runs", "show", "few", "--json", NULL);
  g_assert_cmpint (int_at (show.json, "settings.warmup"), ==, 2);
  g_auto (Outcome) given = lig ("train", "m.lig", "--steps", "30", "--warmup", "70", NULL);
  g_assert_cmpint (given.code, !=, 0);
  assert_contains (given.err, "warmup is 70, expected a whole number from 0 to");
  g_assert_true (g_file_set_contents (path, misspelt, -1, NULL));
  g_auto (Outcome) bad = lig ("train", "m.lig", "--device", "cpu", "--json", NULL);
  g_assert_cmpint (bad.code, !=, 0);
  assert_contains (bad.err, "$.train.warm-up: unknown key; did you mean 'warmup'?");
}

/* A learning rate given with --resume makes a new run, and a message says so. */
static void
test_resume (void)
{
  write_table ();
  train ("flowers", "5");
  g_auto (Outcome) more = lig ("train", "--resume", "flowers", "--steps", "8", "--lr", "0.5", NULL);
  g_assert_cmpint (more.code, ==, 0);
  assert_contains (more.err, "settings that differ from the checkpoint's: lr 0.5 (was 0.001)");
  assert_contains (more.err, "the checkpoint continues as a new run");
  /* A repetition from the beginning would be a different run. */
  g_auto (Outcome) repeat = lig ("runs", "repeat", "last", NULL);
  g_assert_cmpint (repeat.code, !=, 0);
  assert_contains (repeat.err, "continued another run with different settings from step 5");
  g_auto (Outcome) seed = lig ("train", "--resume", "flowers", "--steps", "8", "--seed", "9", NULL);
  assert_contains (seed.err, "seed 9 does not match the checkpoint, which has 0; omit it, or start "
                             "a new run from its weights");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/weights-of-runs/shown", test_shown);
  g_test_add_func ("/weights-of-runs/run", test_run);
  g_test_add_func ("/weights-of-runs/wrapped", test_wrapped);
  g_test_add_func ("/weights-of-runs/outputs", test_outputs);
  g_test_add_func ("/weights-of-runs/documents", test_documents);
  g_test_add_func ("/weights-of-runs/train-object", test_train_object);
  g_test_add_func ("/weights-of-runs/resume", test_resume);
  return run_cli_tests ();
}
