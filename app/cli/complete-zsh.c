/* SPDX-License-Identifier: MIT */
/* Completions for zsh. */
#include "app/cli/generate.h"

#include <string.h>

/* Appends a text within single quotes, with the brackets, colons and backslashes escaped that
 * _arguments would interpret. */
static void
append_zsh_text (GString *to, const char *text)
{
  for (const char *at = text; *at; at++) {
    if (strchr ("[]:\\", *at))
      g_string_append_c (to, '\\');
    if (*at == '\'')
      g_string_append (to, "'\\'");
    g_string_append_c (to, *at);
  }
}

static void
append_zsh_option (GString *to, const GOptionEntry *entry)
{
  gboolean takes = entry->arg != G_OPTION_ARG_NONE;
  const char *many = entry->arg == G_OPTION_ARG_STRING_ARRAY ? "*" : "";
  g_autofree char *kinds = takes ? lig_cli_get_kinds (entry) : NULL;
  g_string_append (to, " \\\n        ");
  if (entry->short_name)
    g_string_append_printf (to, "'(-%c --%s)'{-%c+,--%s=}'[", entry->short_name, entry->long_name,
                            entry->short_name, entry->long_name);
  else
    g_string_append_printf (to, "'%s--%s%s[", many, entry->long_name, takes ? "=" : "");
  append_zsh_text (to, entry->description);
  g_string_append (to, "]");
  if (takes) {
    g_string_append_c (to, ':');
    append_zsh_text (to, entry->arg_description ? entry->arg_description : "");
    g_string_append_printf (to, ":%s%s%s", kinds ? "_lig_values \"" : " ", kinds ? kinds : "",
                            kinds ? "\"" : "");
  }
  g_string_append_c (to, '\'');
}

static void
append_zsh_command (GString *to, const LigCliPage *page)
{
  g_string_append_printf (to, "    %s)\n      _arguments", page->command->name);
  for (guint i = 0; i < page->entries->len; i++)
    append_zsh_option (to, &g_array_index (page->entries, GOptionEntry, i));
  for (guint i = 0; page->positions[i]; i++) {
    g_autofree char *number = g_strdup_printf ("%u", i + 1);
    g_string_append_printf (to, " \\\n        '%s:argument:_lig_values \"%s\"'",
                            page->positions[i + 1] || i == 0 ? number : "*", page->positions[i]);
  }
  g_string_append (to, "\n      ;;\n");
}

void
lig_cli_append_zsh (GString *to, GPtrArray *pages)
{
  g_string_append (
    to,
    "#compdef lig\n# zsh completion for lig; made by lig --generate zsh\n\n"
    "_lig_values ()\n{\n  local kind\n  for kind in ${(s:|:)1}; do\n    case $kind in\n"
    "      FILE) _files ;;\n      P) _files -g '*.lig'; compadd -- ${(f)\"$(lig --values P "
    "2> /dev/null)\"} ;;\n      [A-Z]*) compadd -- ${(f)\"$(lig --values $kind 2> /dev/null)\"} "
    ";;\n      *) compadd -- $kind ;;\n    esac\n  done\n}\n\n_lig ()\n{\n  if (( CURRENT == 2 "
    ")); then\n    local -a commands=(\n");
  for (guint i = 0; i < pages->len; i++) {
    const LigCommand *command = ((const LigCliPage *) pages->pdata[i])->command;
    g_string_append_printf (to, "      '%s:", command->name);
    append_zsh_text (to, command->summary);
    g_string_append (to, "'\n");
  }
  g_string_append (to, "    )\n    _describe command commands\n    return\n  fi\n"
                       "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
                       "  case $command in\n");
  for (guint i = 0; i < pages->len; i++)
    append_zsh_command (to, pages->pdata[i]);
  g_string_append (to, "  esac\n}\n\n_lig \"$@\"\n");
}
