/* SPDX-License-Identifier: MIT */
/* Reports as one self-contained HTML file with text and pictures. It embeds the JSON document of
 * the format json for scripts. */
#include "engine/draw/canvas.h"
#include "engine/report/paper-kinds.h"

#include <glib/gi18n-lib.h>

extern LIG_REPORT_FORMAT (json);

/* The pictures use the colours of the page; printed pages use the light ones. */
static const char style[] =
  "* { box-sizing: border-box; }\n"
  "body { margin: 0; background: var(--lig-ground); color: var(--lig-ink);\n"
  "  font: 15px/1.5 " LIG_FONT "; }\n"
  "main { max-width: 1060px; margin: 0 auto; padding: 24px 30px 60px; }\n"
  "h1 { font-size: 26px; line-height: 1.25; margin: 0 0 18px; overflow-wrap: anywhere; }\n"
  "h1 .kind { display: block; font-size: 13px; font-weight: normal; color: var(--lig-dim); }\n"
  "h2 { font-size: 18px; margin: 36px 0 12px; }\n"
  "p { margin: 12px 0; }\n"
  "pre { background: var(--lig-card); border: 1px solid var(--lig-line); border-radius: 8px;\n"
  "  padding: 12px; overflow-x: auto; font: 13px/1.45 monospace; }\n"
  "figure { margin: 0 0 18px; }\n"
  "figcaption { color: var(--lig-dim); font-size: 13px; }\n"
  "svg { display: block; max-width: 100%; height: auto; }\n"
  ".wide { overflow-x: auto; }\n"
  "table { border-collapse: collapse; font-size: 13px; width: 100%; }\n"
  "table.facts { width: auto; }\n"
  "th { text-align: left; color: var(--lig-dim); font-weight: normal; }\n"
  "thead th { font-weight: bold; white-space: nowrap; }\n"
  "th, td { padding: 4px 12px 4px 0; vertical-align: top;\n"
  "  border-bottom: 1px solid var(--lig-line); }\n"
  ".facts th { white-space: nowrap; padding-right: 24px; }\n"
  "td { overflow-wrap: break-word; }\n"
  ".facts td { overflow-wrap: anywhere; }\n"
  ".pairs { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr));"
  " }\n"
  ".number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }\n"
  "@media print { main { max-width: none; padding: 0; } body { background: none; font-size: 11px; "
  "}\n"
  "  figure, tr { break-inside: avoid; } h2 { break-after: avoid; }\n"
  "  pre { white-space: pre-wrap; } .wide { overflow: visible; } }\n";

static void
append_style (GString *to)
{
  g_autofree char *light = lig_colours_to_style (lig_colours (LIG_COLOURS_LIGHT));
  g_autofree char *dark = lig_colours_to_style (lig_colours (LIG_COLOURS_DARK));
  g_autofree char *light_contrast = lig_colours_to_style (lig_colours (LIG_COLOURS_LIGHT_CONTRAST));
  g_autofree char *dark_contrast = lig_colours_to_style (lig_colours (LIG_COLOURS_DARK_CONTRAST));
  g_string_append_printf (to,
                          "<style>\n"
                          ":root { color-scheme: light dark; %s }\n"
                          "@media (prefers-contrast: more) { :root { %s } }\n"
                          "@media screen and (prefers-color-scheme: dark) { :root { %s } }\n"
                          "@media screen and (prefers-color-scheme: dark) and "
                          "(prefers-contrast: more) { :root { %s } }\n"
                          "%s</style>\n",
                          light, light_contrast, dark, dark_contrast, style);
}

void
lig_html_begin_page (GString *to, const char *title)
{
  /* Translators: the language into which you translate, as in the headers of files: de, pt-BR. */
  const char *language = C_ ("language", "en");
  g_string_append_printf (to, "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n", language);
  g_string_append (to, "<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width\">\n"
                       "<meta name=\"generator\" content=\"Ligature " LIG_VERSION "\">\n<title>");
  lig_svg_append_text (to, title);
  g_string_append (to, "</title>\n");
  append_style (to);
  g_string_append (to, "</head>\n<body>\n<main>\n");
}

/* Appends the document, unless it is empty, with each `<` escaped, because the text `</script>`
 * would end the element. */
void
lig_html_end_page (GString *to, const GString *json)
{
  if (json->len == 0) {
    g_string_append (to, "</main>\n</body>\n</html>\n");
    return;
  }
  g_string_append (to, "</main>\n<script type=\"application/json\" id=\"document\">\n");
  for (const char *at = json->str; *at; at++)
    if (*at == '<')
      g_string_append (to, "\\u003c");
    else
      g_string_append_c (to, *at);
  g_string_append (to, "</script>\n</body>\n</html>\n");
}

static gboolean
write_plan (GString *to, LigPlan *plan, const char *command, GError **error)
{
  g_auto (LigPicture) picture;
  g_autoptr (GString) json = g_string_new (NULL);
  LigPaper paper = {.text = to, .html = TRUE, .picture = &picture};
  lig_picture_init_plan (&picture, plan);
  if (!lig_paper_is_long (plan) && !lig_report_format_json.plan (json, plan, command, error))
    return FALSE;
  lig_html_begin_page (to, picture.title);
  lig_paper_plan (&paper, plan, command);
  lig_paper_clear (&paper);
  lig_html_end_page (to, json);
  return TRUE;
}

static gboolean
write_run (GString *to, const LigReportRun *run, GError **error)
{
  g_auto (LigPicture) picture;
  g_autoptr (GString) json = g_string_new (NULL);
  LigPaper paper = {.text = to, .html = TRUE, .picture = &picture};
  lig_picture_init_run (&picture, run);
  if (!lig_report_format_json.run (json, run, error))
    return FALSE;
  lig_html_begin_page (to, picture.title);
  lig_paper_run (&paper, run);
  lig_paper_clear (&paper);
  lig_html_end_page (to, json);
  return TRUE;
}

static gboolean
write_pair (GString *to, const LigReportPair *pair, GError **error)
{
  g_auto (LigPicture) picture;
  g_autoptr (GString) json = g_string_new (NULL);
  LigPaper paper = {.text = to, .html = TRUE, .picture = &picture};
  lig_picture_init_pair (&picture, pair);
  if (!lig_report_format_json.pair (json, pair, error))
    return FALSE;
  lig_html_begin_page (to, picture.title);
  lig_paper_pair (&paper, pair);
  lig_paper_clear (&paper);
  lig_html_end_page (to, json);
  return TRUE;
}

LIG_REPORT_FORMAT (html) = {
  .name = "html",
  .title = N_ ("Web page"),
  .help = N_ ("One file with the pictures, the verdicts and the command"),
  .plan = write_plan,
  .run = write_run,
  .pair = write_pair,
};
