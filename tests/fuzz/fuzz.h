/* SPDX-License-Identifier: MIT */
/* What every fuzz target shares: a file that lies in memory, and seeds made in code, so that a run
 * needs no corpus. */
#pragma once

#include "engine/error.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t limit, unsigned int seed);
size_t LLVMFuzzerMutate (uint8_t *data, size_t size, size_t limit);

/* A file of these bytes; `path` gets its name. Close what is returned. */
static inline int
fuzz_file (const uint8_t *data, size_t size, char path[32])
{
  int fd = memfd_create ("fuzz", MFD_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, data, size), ==, (gssize) size);
  g_snprintf (path, 32, "/proc/self/fd/%d", fd);
  return fd;
}

/* A message can be shown, whatever the file holds. */
static inline void
fuzz_check_error (const GError *error)
{
  g_assert_true (error->domain == LIG_ERROR);
  g_assert_true (*error->message && g_utf8_validate (error->message, -1, NULL));
}

/* Starts from a well-formed file wherever libFuzzer has nothing to start from. */
static inline size_t
fuzz_mutate (
  uint8_t *data, size_t size, size_t limit, unsigned int random, const void *seed, size_t length)
{
  if ((size < 4 || random % 256 == 0) && length <= limit)
    memcpy (data, seed, size = length);
  return LLVMFuzzerMutate (data, size, limit);
}
