/* SPDX-License-Identifier: MIT */
/* Tests the fabrics of device descriptions and the times of collectives on them. */
#include "engine/device/fabric.h"

#include <ligature/device.h>
#include <math.h>
#include <string.h>

static const LigFabric fabric = {4, 16, 0, {100e9, 2e-6}, {10e9, 5e-6}};

static void
assert_close (double seconds, double expected)
{
  g_assert_cmpfloat_with_epsilon (seconds, expected, 1e-9 * expected);
}

/* The expected values are computed by hand from the formulas. */
static void
test_formulas (void)
{
  static const struct {
    LigCollective collective;
    int ranks;
    double bytes, seconds;
  } cases[] = {
    {LIG_ALL_REDUCE, 1, 1e9, 0},
    /* Ring: 6 x (2 us + 1e9 / 4 / 100e9 s). */
    {LIG_ALL_REDUCE, 4, 1e9, 12e-6 + 15e-3},
    /* Trees: 2 x 2 x 2 us + 2 x 1000 / 100e9 s; the ring has 12 us. */
    {LIG_ALL_REDUCE, 4, 1000, 8e-6 + 20e-9},
    {LIG_REDUCE_SCATTER, 4, 1e9, 6e-6 + 7.5e-3},
    {LIG_ALL_GATHER, 2, 1e9, 2e-6 + 5e-3},
    /* Two machines: 15.012 ms inside, then 2 x (5 us + 0.25e9 / 2 / 10e9 s). */
    {LIG_ALL_REDUCE, 8, 1e9, 12e-6 + 15e-3 + 10e-6 + 25e-3},
    {LIG_ALL_GATHER, 8, 1e9, 6e-6 + 7.5e-3 + 5e-6 + 12.5e-3},
    /* All send at the same time: two machines by the link between them. */
    {LIG_RING_EXCHANGE, 4, 1e9, 2e-6 + 10e-3},
    {LIG_RING_EXCHANGE, 8, 1e9, 5e-6 + 100e-3},
    /* A quarter of the bytes to each of three others. */
    {LIG_ALL_TO_ALL, 4, 1e9, 4e-6 + 7.5e-3},
    /* An eighth to each of four on another machine takes longer than those to three here. */
    {LIG_ALL_TO_ALL, 8, 1e9, 9e-6 + 50e-3},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    double seconds =
      lig_fabric_predict (&fabric, cases[i].collective, cases[i].ranks, 1, cases[i].bytes);
    if (cases[i].seconds > 0)
      assert_close (seconds, cases[i].seconds);
    else
      g_assert_cmpfloat (seconds, ==, 0);
  }
  /* Every fourth rank: one per machine; every second one: two, so that two machines have four. */
  assert_close (lig_fabric_predict (&fabric, LIG_ALL_GATHER, 4, 4, 1e9), 15e-6 + 75e-3);
  assert_close (lig_fabric_predict (&fabric, LIG_ALL_GATHER, 4, 2, 1e9),
                2e-6 + 5e-3 + 5e-6 + 25e-3);
  LigFabric late = fabric;
  late.start = 30e-6;
  assert_close (lig_fabric_predict (&late, LIG_ALL_REDUCE, 4, 1, 1e9), 42e-6 + 15e-3);
  assert_close (lig_fabric_predict (&late, LIG_RING_EXCHANGE, 8, 1, 1e9), 35e-6 + 100e-3);
  g_assert_cmpfloat (lig_fabric_predict (&late, LIG_ALL_REDUCE, 1, 1, 1e9), ==, 0);
  const LigFabric unknown = {0};
  g_assert_cmpfloat (lig_fabric_predict (&unknown, LIG_ALL_REDUCE, 8, 1, 1e9), ==, 0);
}

/* More ranks are never faster, more bandwidth never slower. */
static void
test_monotonic (void)
{
  LigFabric wide = fabric, near = fabric;
  wide.between.bandwidth *= 2;
  near.inside.bandwidth *= 2;
  for (LigCollective i = 0; i < LIG_N_COLLECTIVES; i++)
    for (double bytes = 4; bytes < 1e10; bytes *= 64) {
      double before = 0;
      for (int ranks = 1; ranks <= 1024; ranks++) {
        double seconds = lig_fabric_predict (&fabric, i, ranks, 1, bytes);
        g_assert_cmpfloat (seconds, >=, before * (1 - 1e-12));
        g_assert_cmpfloat (lig_fabric_predict (&wide, i, ranks, 1, bytes), <=, seconds);
        g_assert_cmpfloat (lig_fabric_predict (&near, i, ranks, 1, bytes), <=, seconds);
        before = seconds;
      }
    }
}

#define DESCRIPTION(fabric) "{\"name\": \"x\", \"copy\": 1e12, \"fabric\": " fabric "}"
#define LINK "{\"bandwidth\": 1e9, \"latency\": 1e-6}"

static void
test_rejected (void)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    {DESCRIPTION ("3"), "fabric is not an object"},
    {DESCRIPTION ("{\"machines\": 2}"), "fabric: key 'machines' is unknown"},
    {DESCRIPTION ("{\"devices\": 0, \"multiprocessors\": 1}"), "fabric: devices"},
    {DESCRIPTION ("{\"devices\": 8, \"multiprocessors\": 1, \"inside\": " LINK "}"),
     "between is not an object"},
    {DESCRIPTION ("{\"devices\": 8, \"multiprocessors\": 1, \"inside\": {\"bandwidth\": 1e9, "
                  "\"latency\": 1e-6, \"speed\": 2}, \"between\": " LINK "}"),
     "fabric: inside: key 'speed' is unknown"},
    {DESCRIPTION ("{\"devices\": 8, \"multiprocessors\": 1, \"inside\": {\"bandwidth\": -1, "
                  "\"latency\": 1e-6}, \"between\": " LINK "}"),
     "fabric: inside: bandwidth"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigDeviceFacts facts;
    g_autoptr (GError) error = NULL;
    g_assert_false (lig_device_facts_from_json (cases[i].text, &facts, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
    g_assert_nonnull (strstr (error->message, cases[i].message));
  }
}

/* Each shipped description has a fabric, which survives being written and read. */
static void
test_shipped (void)
{
  static const char *const names[] = {"null:a100", "null:h100", "null:h200", "null:b200"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigDevice) device = lig_device_open (names[i], &error);
    g_assert_no_error (error);
    const LigDeviceFacts *facts = lig_device_get_facts (device);
    g_assert_cmpint (facts->fabric.devices, ==, 8);
    g_autofree char *text = lig_device_facts_to_json (facts);
    LigDeviceFacts again;
    lig_device_facts_from_json (text, &again, &error);
    g_assert_no_error (error);
    g_assert_cmpmem (&again.fabric, sizeof again.fabric, &facts->fabric, sizeof facts->fabric);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/device/fabric/formulas", test_formulas);
  g_test_add_func ("/device/fabric/monotonic", test_monotonic);
  g_test_add_func ("/device/fabric/rejected", test_rejected);
  g_test_add_func ("/device/fabric/shipped", test_shipped);
  return g_test_run ();
}
