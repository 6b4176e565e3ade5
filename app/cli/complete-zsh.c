/* SPDX-License-Identifier: MIT */
/* Completions for zsh. */
#include "app/cli/texts.h"

#include "app/cli/verbs.h"

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
append_zsh_positions (GString *to, guint first, char **positions)
{
  for (guint i = 0; positions[i]; i++) {
    g_autofree char *number = g_strdup_printf ("%u", first + i);
    g_string_append_printf (to, " \\\n        '%s:argument:_lig_values \"%s\"'",
                            positions[i + 1] ? number : "*", positions[i]);
  }
}

/* Appends the call of _arguments for a command, or for one of its verbs. */
static void
append_zsh_arguments (GString *to, const LigCliPage *page, const LigCliVerb *verb)
{
  g_string_append (to, "_arguments");
  for (guint i = 0; i < page->entries->len; i++) {
    const GOptionEntry *entry = &g_array_index (page->entries, GOptionEntry, i);
    if (lig_cli_verb_has (verb, page->groups->pdata[i], entry->long_name))
      append_zsh_option (to, entry);
  }
  if (verb) {
    g_auto (GStrv) positions = lig_cli_read_positions (verb->arguments);
    g_autofree char *verbs = lig_cli_join_verbs (page->command, "|");
    g_string_append_printf (to, " \\\n        '1:verb:_lig_values \"%s\"'", verbs);
    append_zsh_positions (to, 2, positions);
  } else {
    append_zsh_positions (to, 1, page->positions);
  }
  g_string_append (to, "\n      ;;\n");
}

static void
append_zsh_command (GString *to, const LigCliPage *page)
{
  const LigCliVerb *verb;
  g_string_append_printf (to, "    %s)\n      ", page->command->name);
  if (page->command->verb_nth) {
    g_string_append (to, "case $words[2] in\n");
    for (guint i = 0; (verb = page->command->verb_nth (i)); i++) {
      g_string_append_printf (to, "      %s) ", verb->name);
      append_zsh_arguments (to, page, verb);
    }
    g_string_append (to, "      *) ");
    append_zsh_arguments (to, page, NULL);
    g_string_append (to, "      esac\n      ;;\n");
  } else {
    append_zsh_arguments (to, page, NULL);
  }
}

/* Completes `lig help COMMAND VERB`. */
static void
append_zsh_help (GString *to, GPtrArray *pages)
{
  g_string_append (to,
                   "    help)\n      if (( CURRENT == 2 )); then\n"
                   "        _describe command commands\n      else\n        case $words[2] in\n");
  for (guint i = 0; i < pages->len; i++) {
    const LigCommand *command = ((const LigCliPage *) pages->pdata[i])->command;
    g_autofree char *verbs = command->verb_nth ? lig_cli_join_verbs (command, " ") : NULL;
    if (verbs)
      g_string_append_printf (to, "          %s) compadd -- %s ;;\n", command->name, verbs);
  }
  g_string_append (to, "        esac\n      fi\n      ;;\n");
}

void
lig_cli_append_zsh (GString *to, GPtrArray *pages)
{
  g_string_append (
    to, "#compdef lig\n# zsh completion for lig; made by lig --generate zsh\n\n"
        "# _arguments passes options for compadd before the kinds.\n"
        "_lig_values ()\n{\n  local kind\n  local -a more=(\"${@[1,-2]}\")\n"
        "  for kind in ${(s:|:)@[-1]}; do\n    case $kind in\n"
        "      -) ;;\n      FILE) _files \"$more[@]\" ;;\n"
        "      P) _files \"$more[@]\" -g '*.lig'; compadd \"$more[@]\" -- "
        "${(f)\"$(lig --values P 2> /dev/null)\"} ;;\n"
        "      [A-Z]*) compadd \"$more[@]\" -- ${(f)\"$(lig --values $kind 2> /dev/null)\"} ;;\n"
        "      *) compadd \"$more[@]\" -- $kind ;;\n    esac\n  done\n}\n\n_lig ()\n{\n"
        "  local -a commands=(\n");
  for (guint i = 0; i < pages->len; i++) {
    const LigCommand *command = ((const LigCliPage *) pages->pdata[i])->command;
    g_string_append_printf (to, "      '%s:", command->name);
    append_zsh_text (to, command->summary);
    g_string_append (to, "'\n");
  }
  g_string_append (
    to, "  )\n"
        "  # Options before the command are skipped; those with a value have it in the same word.\n"
        "  while (( CURRENT > 2 )) && [[ $words[2] == -* ]]; do\n"
        "    words[2]=()\n    (( CURRENT-- ))\n  done\n"
        "  if (( CURRENT == 2 )); then\n"
        "    _describe command commands\n    compadd -- help\n"
        "    [[ $PREFIX != -* ]] || compadd -- --help --version --json --no-pager --color\n"
        "    return\n  fi\n"
        "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
        "  case $command in\n");
  for (guint i = 0; i < pages->len; i++)
    append_zsh_command (to, pages->pdata[i]);
  append_zsh_help (to, pages);
  g_string_append (to, "  esac\n}\n\n_lig \"$@\"\n");
}
