/* SPDX-License-Identifier: MIT */
/* The functions of paper.h for each markup: HTML and Markdown. */
#pragma once

#include "engine/report/paper.h"

void lig_markdown_title (GString *to, const char *kind, const char *text);
void lig_markdown_heading (GString *to, const char *text);
void lig_markdown_say (GString *to, const char *text);
void lig_markdown_block (GString *to, const char *language, const char *text);
void lig_markdown_head (GString *to, char *const *names);
void lig_markdown_row (GString *to, const char *const *cells);

/* Write the beginning of a page with its style, and its end with a document for scripts. */
void lig_html_begin_page (GString *to, const char *title);
void lig_html_end_page (GString *to, const GString *json);

void lig_html_title (GString *to, const char *kind, const char *text);
void lig_html_heading (GString *to, const char *text);
void lig_html_say (GString *to, const char *text);
void lig_html_block (GString *to, const char *language, const char *text);
void lig_html_head (GString *to, char *const *names);
void lig_html_row (GString *to, char *const *columns, const char *const *cells);
void lig_html_end_table (GString *to);
gboolean lig_html_figure (GString *to, const LigPicture *picture, LigFigure figure);
