/* SPDX-License-Identifier: MIT */
/* Functions for all fuzz targets: a file in memory, and seeds made in code, so that a run needs no
 * corpus. */
#pragma once

#include <ligature/error.h>

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t limit, unsigned int seed);
size_t LLVMFuzzerMutate (uint8_t *data, size_t size, size_t limit);

/* Makes a file of these bytes and stores its name in `path`. Returns its descriptor, which the
 * caller closes. */
static inline int
fuzz_file (const uint8_t *data, size_t size, char path[32])
{
  int fd = memfd_create ("fuzz", MFD_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, data, size), ==, (gssize) size);
  g_snprintf (path, 32, "/proc/self/fd/%d", fd);
  return fd;
}

/* Checks that an error message is valid UTF-8. */
static inline void
fuzz_check_error (const GError *error)
{
  g_assert_true (error->domain == LIG_ERROR);
  g_assert_true (*error->message && g_utf8_validate (error->message, -1, NULL));
}

/* Mutates the data; starts from a well-formed file if libFuzzer has no input. */
static inline size_t
fuzz_mutate (
  uint8_t *data, size_t size, size_t limit, unsigned int random, const void *seed, size_t length)
{
  if ((size < 4 || random % 256 == 0) && length <= limit)
    memcpy (data, seed, size = length);
  return LLVMFuzzerMutate (data, size, limit);
}

/* Writes `word` over the token at a place chosen by `random`, or between two. */
static inline size_t
fuzz_put_word (uint8_t *data, size_t size, size_t limit, unsigned int random, const char *word)
{
  size_t length = strlen (word), from = random % (size + 1), to = from;
  while (random & 0x10000 && from > 0 &&
         (g_ascii_isalnum (data[from - 1]) || data[from - 1] == '-'))
    from--;
  while (random & 0x10000 && to < size && (g_ascii_isalnum (data[to]) || data[to] == '-'))
    to++;
  if (size - (to - from) + length > limit)
    return size;
  memmove (data + from + length, data + to, size - to);
  memcpy (data + from, word, length);
  return size - (to - from) + length;
}
