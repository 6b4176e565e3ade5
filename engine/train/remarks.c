/* SPDX-License-Identifier: MIT */
/* The choices that a run has made by itself, in sentences for the user. */
#include "engine/train/run-private.h"

void
lig_run_remark (LigRun *self, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  /* Remarks are inserted before the null at the end. */
  g_ptr_array_insert (self->remarks, (gint) self->remarks->len - 1,
                      g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

const char *const *
lig_run_get_remarks (LigRun *self)
{
  return (const char *const *) self->remarks->pdata;
}
