/* SPDX-License-Identifier: MIT */
/* The help texts as JSON documents. */
#include "app/cli/help-json.h"

#include "app/cli/commands.h"
#include "app/cli/verbs.h"

#include <string.h>

void
lig_cli_print_commands_json (void)
{
  const LigCommand *command;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_begin_array (builder, "commands");
  for (guint i = 0; (command = lig_cli_command_nth (i)); i++) {
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "command", command->name);
    lig_json_add_text (builder, "usage", command->usage);
    lig_json_add_text (builder, "summary", command->summary);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  lig_cli_print_document ("help", json_builder_get_root (builder));
}

static void
add_verbs (JsonBuilder *builder, const LigCommand *command)
{
  const LigCliVerb *verb;
  lig_json_begin_array (builder, "verbs");
  for (guint i = 0; command->verb_nth && (verb = command->verb_nth (i)); i++) {
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "verb", verb->name);
    lig_json_add_text (builder, "usage", verb->arguments);
    lig_json_add_text (builder, "summary", verb->summary);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

/* Adds the description without its end, such as `[default: 1000]`, and the default as a member of
 * its own. */
static void
add_description (JsonBuilder *builder, const char *text)
{
  static const char mark[] = " [default: ";
  const char *at = strstr (text, mark);
  g_autofree char *description = at ? g_strndup (text, (gsize) (at - text)) : g_strdup (text);
  g_autofree char *usual = at ? g_strdup (at + strlen (mark)) : NULL;
  if (usual && g_str_has_suffix (usual, "]"))
    usual[strlen (usual) - 1] = '\0';
  lig_json_add_text (builder, "description", description);
  lig_json_add_text (builder, "default", usual);
}

static void
add_option (JsonBuilder *builder, const char *group, const GOptionEntry *entry)
{
  const char letter[] = {entry->short_name, '\0'};
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "option", entry->long_name);
  lig_json_add_text (builder, "short", *letter ? letter : NULL);
  lig_json_add_text (builder, "value", entry->arg_description);
  lig_json_add_text (builder, "group", group);
  add_description (builder, entry->description);
  json_builder_end_object (builder);
}

void
lig_cli_print_help_json (const LigCommand *command,
                         const LigCliVerb *verb,
                         const GOptionEntry *entries)
{
  const char *group = LIG_CLI_OPTIONS;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "command", command->name);
  lig_json_add_text (builder, "verb", verb ? verb->name : NULL);
  lig_json_add_text (builder, "usage", verb ? verb->arguments : command->usage);
  lig_json_add_text (builder, "summary", verb ? verb->summary : command->summary);
  lig_json_add_text (builder, "example", command->example);
  add_verbs (builder, command);
  lig_json_begin_array (builder, "options");
  for (; entries->long_name; entries++)
    if (lig_cli_is_group (entries))
      group = entries->description;
    else if (lig_cli_verb_has (verb, group, entries->long_name))
      add_option (builder, group, entries);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  lig_cli_print_document ("help-command", json_builder_get_root (builder));
}
