/* SPDX-License-Identifier: MIT */
/* Pages: one view of the window each. A page is a file pair, NAME-page.c and NAME-page.ui, and one
 * word in ui/meson.build; it defines `const LigPageInfo lig_page_NAME`. The window creates one of
 * each, in the order of that list. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

typedef struct _LigDocument LigDocument;
typedef struct _LigSession LigSession;

#define LIG_TYPE_PAGE (lig_page_get_type ())
G_DECLARE_DERIVABLE_TYPE (LigPage, lig_page, LIG, PAGE, AdwBin)

/* Construct-only properties: `document` and `session`, available from `constructed` on.
 *
 * Signal: `edited` when the edits that a page with its own history can undo or redo have
 * changed. */
struct _LigPageClass {
  AdwBinClass parent_class;

  /* Adds the page's actions to the window, as `win.NAME`; called once. May be null. */
  void (*add_actions) (LigPage *self, GActionMap *map);

  /* Moves the focus to the page's search. May be null. */
  void (*find) (LigPage *self);

  /* Returns: (transfer full): the labels of the edits that can be undone, or redone, the next one
   *   first. May be null, like the next one: then the page undoes the document's edits. */
  GStrv (*list_edits) (LigPage *self, gboolean redo);

  /* Undoes @steps edits, or redoes them if it is negative. */
  void (*step) (LigPage *self, int steps);

  /* Returns: (transfer full) (nullable): the equivalent command. May be null, which means `lig
   * fuse` of the document. */
  char *(*to_command) (LigPage *self);

  /* Returns: (transfer full) (nullable): the uuid of the run that the page shows, which reports
   * describe. May be null: reports then describe the document's plan. @title: (out) (transfer
   * full) */
  char *(*find_run) (LigPage *self, char **title);

  /* The same for a sweep. May be null. */
  char *(*find_sweep) (LigPage *self, char **title);

  /* Returns: (transfer none): the place for toasts above the controls at the page's lower edge. May
   *   be null: toasts are then below the page. */
  AdwBin *(*get_toast_place) (LigPage *self);
};

typedef struct {
  const char *name;  /* `history`: of the page in the stack, and of win.page's target */
  const char *title; /* N_() */
  const char *icon;  /* a symbolic icon's name */
  GType (*get_type) (void);
} LigPageInfo;

#define LIG_PAGE_INFO(name) const LigPageInfo lig_page_##name

/* Returns: (nullable): a page by its place in the window; null after the last. */
const LigPageInfo *lig_page_info_nth (guint n);

LigDocument *lig_page_get_document (LigPage *self);
LigSession *lig_page_get_session (LigPage *self);

void lig_page_add_actions (LigPage *self, GActionMap *map);

/* Returns: (nullable): the map that the page's actions were added to. */
GActionMap *lig_page_get_actions (LigPage *self);

/* Returns whether the page has its own edits, which Ctrl+Z undoes while it is shown. */
gboolean lig_page_has_edits (LigPage *self);
GStrv lig_page_list_edits (LigPage *self, gboolean redo);
void lig_page_step (LigPage *self, int steps);

/* Returns whether the page has a search. */
gboolean lig_page_find (LigPage *self);

/* Returns: (transfer full) (nullable): the run that the page shows. @title: (out) (transfer full)
 *   (nullable): its name */
char *lig_page_find_run (LigPage *self, char **title);

/* Returns: (transfer full) (nullable): the sweep that the page shows. @title: as above */
char *lig_page_find_sweep (LigPage *self, char **title);

/* Returns: (transfer none) (nullable): the page's own place for toasts. */
AdwBin *lig_page_get_toast_place (LigPage *self);

/* Returns: (transfer full) (nullable): null for an empty document, which no command can show. */
char *lig_page_to_command (LigPage *self);

G_END_DECLS
