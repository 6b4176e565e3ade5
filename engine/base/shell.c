/* SPDX-License-Identifier: MIT */
/* Appends words to command lines, quoted only where a shell requires it. */
#include <ligature/shell.h>

#include <string.h>

void
lig_shell_append (GString *to, const char *word)
{
  static const char plain[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  g_autofree char *quoted = g_shell_quote (word);
  g_string_append_c (to, ' ');
  g_string_append (to, *word && strspn (word, plain) == strlen (word) ? word : quoted);
}

void
lig_shell_append_option (GString *to, const char *name, const char *value)
{
  if (!value)
    return;
  g_string_append_printf (to, " --%s", name);
  lig_shell_append (to, value);
}
