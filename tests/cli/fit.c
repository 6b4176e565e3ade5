/* SPDX-License-Identifier: MIT */
/* Tests that check, fuse and plan agree on whether a plan fits in the memory of a device, and on
 * the recomputation times. */
#include "tests/cli/case.h"

#include <math.h>

/* This sequence needs more memory without fusions than with them, and even more without
 * recomputation. */
#define MODEL "block(4) { layer-norm ! linear(512) ! gelu ! linear(128) }"
#define INPUT "--input", "65536x128", "--dtype", "bf16"

static double
number_at (JsonNode *node, const char *place)
{
  return json_node_get_double (at (node, place));
}

/* Writes the shipped description with another memory size (transfer full). */
static char *
describe_card (gint64 memory)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *source =
    g_build_filename (g_getenv ("LIGATURE_SOURCE"), "data", "devices", "h200.json", NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  char *path = in_folder ("card.json");
  json_parser_load_from_file (parser, source, &error);
  g_assert_no_error (error);
  json_object_set_int_member (json_node_get_object (json_parser_get_root (parser)), "memory",
                              memory);
  json_generator_set_root (generator, json_parser_get_root (parser));
  json_generator_to_file (generator, path, &error);
  g_assert_no_error (error);
  return path;
}

/* Asserts that the three commands give the same answer for a device with that memory. */
static void
check_answers (gint64 memory, gboolean fits)
{
  static const char *const commands[] = {"check", "fuse", "plan"};
  g_autofree char *card = describe_card (memory);
  g_autofree char *device = g_strconcat ("null:", card, NULL);
  g_autofree char *both = g_strconcat ("null:b200,", device, NULL);
  g_auto (Outcome) pair = lig ("fuse", MODEL, INPUT, "--device", both, NULL);
  g_assert_cmpint (pair.code, ==, fits ? 0 : 1);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_auto (Outcome) json = lig (commands[i], MODEL, INPUT, "--device", device, "--json", NULL);
    g_auto (Outcome) text = lig (commands[i], MODEL, INPUT, "--device", device, NULL);
    g_assert_cmpint (json.code, ==, fits ? 0 : 1);
    g_assert_cmpint (text.code, ==, json.code);
    g_assert_true (json_node_get_boolean (at (json.json, "fit.fits")) == fits);
    g_assert_true (JSON_NODE_HOLDS_NULL (at (json.json, "problem")) == fits);
    g_assert_true ((strstr (text.out, "does not fit") == NULL) == fits);
    g_assert_cmpfloat (number_at (json.json, "fit.device_bytes"), ==, (double) memory);
  }
}

/* The plan fits if it leaves a sixteenth of a small device's memory, or 1 GiB of a large one's. */
static void
test_boundary (void)
{
  static const char *const commands[] = {"check", "fuse"};
  const double workspace = 32 << 20;
  g_auto (Outcome) plan = lig ("plan", MODEL, INPUT, "--device", "null:h200", "--json", NULL);
  double needed = number_at (plan.json, "fit.needed_bytes");
  double lanes =
    (needed - number_at (plan.json, "arena_bytes") - number_at (plan.json, "state_bytes")) /
    workspace;
  g_assert_true (lanes == 1 || lanes == 2);
  g_assert_cmpfloat (number_at (plan.json, "fit.reserve_bytes"), ==, (double) (1 << 30));
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_auto (Outcome) other =
      lig (commands[i], MODEL, INPUT, "--device", "null:h200", "--json", NULL);
    g_assert_cmpfloat (number_at (other.json, "fit.needed_bytes"), ==, needed);
  }
  gint64 min = (gint64) ceil (needed * 16 / 15);
  check_answers (min, TRUE);
  check_answers (min - 16, FALSE);
}

/* The document's times are the sums of the steps that `lig plan` lists. */
static void
test_predicted (void)
{
  static const char *const levels[] = {"none", "cheap", "all"};
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++) {
    double sums[4] = {0};
    g_auto (Outcome) plan = lig ("plan", MODEL, INPUT, "--device", "null:h200", "--optimizer",
                                 "adamw", "--recompute", levels[i], "--json", NULL);
    g_auto (Outcome) fuse = lig ("fuse", MODEL, INPUT, "--device", "null:h200", "--optimizer",
                                 "adamw", "--recompute", levels[i], "--json", NULL);
    for (guint j = 0; j < length_at (plan.json, "steps"); j++) {
      JsonNode *step = json_array_get_element (json_node_get_array (at (plan.json, "steps")), j);
      const char *pass = text_at (step, "pass");
      double time = number_at (step, "predicted_us");
      sums[g_str_equal (pass, "forward") ? 0 : g_str_equal (pass, "backward") ? 1 : 2] += time;
      sums[3] += json_node_get_boolean (at (step, "again")) ? time : 0;
    }
    static const char *const places[] = {"predicted.forward_us", "predicted.backward_us",
                                         "predicted.update_us", "predicted.recomputed_us"};
    for (guint j = 0; j < G_N_ELEMENTS (places); j++)
      g_assert_cmpfloat_with_epsilon (number_at (fuse.json, places[j]), sums[j], 1e-6 * sums[1]);
    g_assert_cmpfloat_with_epsilon (number_at (fuse.json, "predicted.step_us"),
                                    sums[0] + sums[1] + sums[2], 1e-6 * sums[1]);
    g_assert_true ((sums[3] > 0) == (i > 0));
    g_assert_cmpfloat (sums[2], >, 0);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/fit/boundary", test_boundary);
  g_test_add_func ("/cli/fit/predicted", test_predicted);
  return run_cli_tests ();
}
