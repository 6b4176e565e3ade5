/* SPDX-License-Identifier: MIT */
/* Completions for bash. */
#include "app/cli/texts.h"

#include "app/cli/verbs.h"

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
append_positions (GString *to, const char *first, char **kinds)
{
  g_string_append_printf (to, "positions=(%s", first ? first : "");
  for (; *kinds; kinds++)
    g_string_append_printf (to, " '%s'", *kinds);
  g_string_append (to, ")\n");
}

static void
append_bash_verbs (GString *to, const LigCliPage *page)
{
  const LigCliVerb *verb;
  g_autofree char *names = lig_cli_join_verbs (page->command, "|");
  g_string_append (to, "      case $verb in\n");
  for (guint i = 0; (verb = page->command->verb_nth (i)); i++) {
    g_auto (GStrv) positions = lig_cli_read_positions (verb->arguments);
    g_autofree char *first = g_strdup_printf ("'%s'", names);
    g_string_append_printf (to, "        %s)\n          options='", verb->name);
    lig_cli_append_options (to, page, verb, " ");
    g_string_append (to, "'\n          ");
    append_positions (to, first, positions);
    g_string_append (to, "          ;;\n");
  }
  g_string_append (to, "      esac\n");
}

static void
append_bash_command (GString *to, const LigCliPage *page)
{
  g_string_append_printf (to, "    %s)\n      options='", page->command->name);
  lig_cli_append_options (to, page, NULL, " ");
  g_string_append (to, "'\n      ");
  append_positions (to, NULL, page->positions);
  if (page->command->verb_nth)
    append_bash_verbs (to, page);
  g_string_append (to, "      ;;\n");
}

/* Completes `lig help COMMAND VERB`. */
static void
append_bash_help (GString *to, GPtrArray *pages)
{
  g_autofree char *commands = lig_cli_join_commands ("|");
  g_string_append_printf (to, "    help)\n      positions=('%s' '-')\n      case $verb in\n",
                          commands);
  for (guint i = 0; i < pages->len; i++) {
    const LigCommand *command = ((const LigCliPage *) pages->pdata[i])->command;
    g_autofree char *verbs = command->verb_nth ? lig_cli_join_verbs (command, "|") : NULL;
    if (verbs)
      g_string_append_printf (to, "        %s) positions=('%s' '%s' '-') ;;\n", command->name,
                              commands, verbs);
  }
  g_string_append (to, "      esac\n      ;;\n");
}

/* Appends the options that take a value, which are skipped to find the command. */
static void
append_bash_valued (GString *to, GPtrArray *pages)
{
  g_string_append (to, "  local valued=' ");
  for (guint i = 0; i < pages->len; i++) {
    const LigCliPage *page = pages->pdata[i];
    for (guint j = 0; j < page->entries->len; j++) {
      const GOptionEntry *entry = &g_array_index (page->entries, GOptionEntry, j);
      if (entry->arg == G_OPTION_ARG_NONE)
        continue;
      g_string_append_printf (to, "--%s ", entry->long_name);
      if (entry->short_name)
        g_string_append_printf (to, "-%c ", entry->short_name);
    }
  }
  g_string_append (to, "'\n");
}

/* Appends the values of an option before the command. */
static void
append_bash_early (GString *to, const LigCliPage *page, const GOptionEntry *entry)
{
  g_autofree char *kinds = entry->arg != G_OPTION_ARG_NONE ? lig_cli_get_kinds (entry) : NULL;
  if (kinds)
    g_string_append_printf (to, "    \\ --%s) kinds='%s' ;;\n", entry->long_name, kinds);
}

/* Bash splits words at colons and equals signs, so the line is split here again. The text up to the
 * last of these characters is already on the line, so it is removed from each reply. */
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
  "  local lig=$1 line=${COMP_LINE:0:COMP_POINT} options='' kinds='' files='' i n=0\n";

static const char bash_find[] =
  "  local -a words positions=()\n"
  "  read -r -a words <<< \"$line\"\n"
  "  [[ $line == *[[:space:]] ]] && words+=('')\n"
  "  local word=${words[-1]} before=${words[-2]} command='' verb=''\n"
  "  local head=${word%\"${word##*[:=]}\"}\n"
  "  [[ $COMP_WORDBREAKS == *:* ]] || head=''\n"
  "  COMPREPLY=()\n"
  "  # The first words that are neither options nor their values are the command and its verb.\n"
  "  for ((i = 1; i < ${#words[@]} - 1; i++)); do\n"
  "    if [[ ${words[i]} == -* ]]; then\n"
  "      [[ $valued != *\" ${words[i]} \"* ]] || i=$((i + 1))\n"
  "    elif [ -z \"$command\" ]; then\n"
  "      command=${words[i]}\n"
  "    else\n"
  "      [ \"$n\" -gt 0 ] || verb=${words[i]}\n"
  "      n=$((n + 1))\n"
  "    fi\n"
  "  done\n"
  "  if [ -z \"$command\" ] && [[ $word != --*=* && $valued != *\" $before \"* ]]; then\n";

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
  "    i=$n\n"
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
  g_autofree char *commands = lig_cli_join_commands (" ");
  g_string_append (to, "# bash completion for lig; made by lig --generate bash\n");
  g_string_append_printf (to, "%s\n%s", bash_values, bash_split);
  append_bash_valued (to, pages);
  g_string_append_printf (to,
                          "%s    _lig_add < <(compgen -W '%s help --version --help --json "
                          "--no-pager --color' -- \"$word\")\n    return\n  fi\n  case $command "
                          "in\n",
                          bash_find, commands);
  for (guint i = 0; i < pages->len; i++)
    append_bash_command (to, pages->pdata[i]);
  append_bash_help (to, pages);
  g_string_append_printf (to, "  esac\n%s", bash_choose);
  lig_cli_for_each_option (to, pages, append_bash_option);
  lig_cli_for_each_option (to, pages, append_bash_early);
  g_string_append (to, bash_end);
}
