/* SPDX-License-Identifier: MIT */
/* Functions that tests of reports share. */
#pragma once

#include "tests/base/contains.h"
#include "tests/store/case.h"
#include <ligature/report.h>

#include <string.h>

/* Returns the report of a run; (transfer full). */
static inline char *
report (LigStore *store, const char *run, const char *format)
{
  g_autoptr (GError) error = NULL;
  gsize size;
  g_autoptr (GBytes) bytes = lig_report_run (store, run, format, &error);
  g_assert_no_error (error);
  const char *text = g_bytes_get_data (bytes, &size);
  return g_strndup (text, size);
}
