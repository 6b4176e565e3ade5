/* SPDX-License-Identifier: MIT */
/* Completions for bash. */
#include "app/cli/generate.h"

static void
append_bash_option (GString *to, const LigCliPage *page, const GOptionEntry *entry)
{
  if (entry->arg == G_OPTION_ARG_NONE)
    return;
  g_autofree char *kinds = lig_cli_get_kinds (entry);
  g_string_append_printf (to, "    %s\\ --%s", page->command->name, entry->long_name);
  if (entry->short_name)
    g_string_append_printf (to, " | %s\\ -%c", page->command->name, entry->short_name);
  g_string_append_printf (to, ") kinds='%s' ;;\n", kinds ? kinds : "-");
}

static void
append_bash_command (GString *to, const LigCliPage *page)
{
  g_string_append_printf (to, "    %s)\n      options='", page->command->name);
  for (guint i = 0; i < page->entries->len; i++)
    g_string_append_printf (to, "--%s ", g_array_index (page->entries, GOptionEntry, i).long_name);
  g_string_append (to, "'\n      positions=(");
  for (char **kinds = page->positions; *kinds; kinds++)
    g_string_append_printf (to, "%s'%s'", kinds == page->positions ? "" : " ", *kinds);
  g_string_append (to, ")\n      ;;\n");
}

/* Bash splits words at colons and equals signs, so the line is split here again. The text up to the
 * last of these characters is already on the line and is cut off each reply. */
static const char bash_values[] =
  "# Adds the lines of the standard input that begin with the word.\n"
  "_lig_add ()\n"
  "{\n"
  "  mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY\n"
  "}\n\n"
  "# Adds the values of kinds such as DEVICE or P|RUN that begin with the word.\n"
  "_lig_reply ()\n"
  "{\n"
  "  local kind word=$2\n"
  "  local -a all\n"
  "  IFS='|' read -r -a all <<< \"$1\"\n"
  "  for kind in \"${all[@]}\"; do\n"
  "    case $kind in\n"
  "      -) ;;\n"
  "      FILE)\n"
  "        _lig_add < <(compgen -f -- \"$word\")\n"
  "        files=1\n"
  "        ;;\n"
  "      P)\n"
  "        _lig_add < <(compgen -f -X '!*.lig' -- \"$word\"; compgen -d -- \"$word\")\n"
  "        _lig_add < <(compgen -W \"$(\"$lig\" --values P 2> /dev/null)\" -- \"$word\")\n"
  "        files=1\n"
  "        ;;\n"
  "      KIND)\n"
  "        if [[ $word == *:* ]]; then\n"
  "          _lig_add < <(compgen -P \"${word%%:*}:\" -f -- \"${word#*:}\")\n"
  "          files=1\n"
  "        else\n"
  "          _lig_add < <(compgen -W \"$(\"$lig\" --values KIND 2> /dev/null)\" -- \"$word\")\n"
  "        fi\n"
  "        ;;\n"
  "      [A-Z]*)\n"
  "        _lig_add < <(compgen -W \"$(\"$lig\" --values \"$kind\" 2> /dev/null)\" -- \"$word\")\n"
  "        ;;\n"
  "      *) _lig_add < <(compgen -W \"$kind\" -- \"$word\") ;;\n"
  "    esac\n"
  "  done\n"
  "}\n";

static const char bash_split[] =
  "_lig ()\n"
  "{\n"
  "  local lig=$1 line=${COMP_LINE:0:COMP_POINT} options='' kinds='' files='' i\n"
  "  local -a words positions=()\n"
  "  read -r -a words <<< \"$line\"\n"
  "  [[ $line == *[[:space:]] ]] && words+=('')\n"
  "  local word=${words[-1]} before=${words[-2]} command=${words[1]} count=${#words[@]}\n"
  "  local head=${word%\"${word##*[:=]}\"}\n"
  "  [[ $COMP_WORDBREAKS == *:* ]] || head=''\n"
  "  COMPREPLY=()\n"
  "  if [ \"$count\" -le 2 ]; then\n";

static const char bash_choose[] = "  if [[ $word == --*=* ]]; then\n"
                                  "    before=${word%%=*}\n"
                                  "    head=${head#\"$before=\"}\n"
                                  "    word=${word#*=}\n"
                                  "  fi\n"
                                  "  case \"$command $before\" in\n";

static const char bash_end[] =
  "  esac\n"
  "  if [ -z \"$kinds\" ] && [[ $word == -* ]]; then\n"
  "    _lig_add < <(compgen -W \"$options\" -- \"$word\")\n"
  "    return\n"
  "  fi\n"
  "  if [ -z \"$kinds\" ]; then\n"
  "    i=$((count - 3))\n"
  "    [ \"$i\" -lt \"${#positions[@]}\" ] || i=$((${#positions[@]} - 1))\n"
  "    [ \"$i\" -lt 0 ] || kinds=${positions[i]}\n"
  "  fi\n"
  "  _lig_reply \"$kinds\" \"$word\"\n"
  "  for i in \"${!COMPREPLY[@]}\"; do\n"
  "    COMPREPLY[i]=${COMPREPLY[i]#\"$head\"}\n"
  "  done\n"
  "  [ -z \"$files\" ] || compopt -o filenames 2> /dev/null\n"
  "}\n"
  "complete -F _lig lig\n";

void
lig_cli_append_bash (GString *to, GPtrArray *pages)
{
  g_string_append (to, "# bash completion for lig; made by lig --generate bash\n");
  g_string_append_printf (to, "%s\n%s", bash_values, bash_split);
  g_string_append (to, "    _lig_add < <(compgen -W '--help --version");
  for (guint i = 0; i < pages->len; i++)
    g_string_append_printf (to, " %s", ((const LigCliPage *) pages->pdata[i])->command->name);
  g_string_append (to, "' -- \"$word\")\n    return\n  fi\n  case $command in\n");
  for (guint i = 0; i < pages->len; i++)
    append_bash_command (to, pages->pdata[i]);
  g_string_append_printf (to, "  esac\n%s", bash_choose);
  lig_cli_for_each_option (to, pages, append_bash_option);
  g_string_append (to, bash_end);
}
