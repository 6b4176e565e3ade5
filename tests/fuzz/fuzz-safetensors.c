/* SPDX-License-Identifier: MIT */
/* Loads arbitrary bytes as a safetensors file and reads every tensor of a file that loads. */
#include "tests/fuzz/fuzz.h"
#include <ligature/tensor-file.h>

static const char seed[] =
  "\305\0\0\0\0\0\0\0"
  "{\"__metadata__\":{\"format\":\"pt\"},"
  "\"a\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
  "\"b\":{\"dtype\":\"BF16\",\"shape\":[2,1],\"data_offsets\":[8,12]},"
  "\"c\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[12,13]}}\0\0\0\0\0\0\0\0abcd\1";

size_t
LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t limit, unsigned int random)
{
  size = fuzz_mutate (data, size, limit, random, seed, sizeof seed - 1);
  /* With a valid header length most inputs pass the first check. */
  guint64 length = size - MIN (size, 8 + random / 256 % 32);
  if (random % 4 > 0 && size > 8 && length > 0)
    memcpy (data, &length, sizeof length);
  return size;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char path[32];
  int fd = fuzz_file (data, size, path);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, &error);
  if (!file)
    fuzz_check_error (error);
  for (const char *const *name = file ? lig_tensor_file_get_names (file) : NULL; name && *name;
       name++) {
    g_autoptr (GError) why = NULL;
    g_autoptr (LigTensor) tensor = lig_tensor_file_get (file, *name, &why);
    if (!tensor)
      fuzz_check_error (why);
    else
      g_assert_cmpuint (lig_tensor_bytes (tensor), <=, size);
  }
  close (fd);
  return 0;
}
