/* SPDX-License-Identifier: MIT */
/* Shared by the tests of costs: the device descriptions of the data folder. */
#pragma once

#include "engine/device/costs.h"

#include <string.h>

static inline char *
read_profile (const char *name)
{
  g_autofree char *path = g_strdup_printf ("%s/devices/%s.json", g_getenv ("LIGATURE_DATA"), name);
  g_autoptr (GError) error = NULL;
  char *text = NULL;
  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return text;
}

static inline LigDeviceFacts
read_facts (const char *name)
{
  g_autofree char *text = read_profile (name);
  g_autoptr (GError) error = NULL;
  LigDeviceFacts facts;
  lig_device_facts_from_json (text, &facts, &error);
  g_assert_no_error (error);
  g_assert_true (facts.costs.known);
  return facts;
}

static inline void
check_rejected (const char *find, const char *replace, const char *text)
{
  g_autofree char *profile = read_profile ("h200");
  g_autoptr (GString) edited = g_string_new (profile);
  g_autoptr (GError) error = NULL;
  LigDeviceFacts facts;
  g_assert_cmpuint (g_string_replace (edited, find, replace, 1), ==, 1);
  g_assert_false (lig_device_facts_from_json (edited->str, &facts, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  if (!strstr (error->message, text))
    g_error ("%s\nexpected: %s", error->message, text);
}
