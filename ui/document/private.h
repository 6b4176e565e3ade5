/* SPDX-License-Identifier: MIT */
/* The internals of a document, shared by the files that implement document.h and by those that add
 * a part. */
#pragma once

#include "ui/document/document.h"
#include "ui/document/journal.h"
#include "ui/document/planner.h"
#include <ligature/plan.h>

/* preview.c: the previewed plan. */
typedef struct _LigPreview LigPreview;

/* times.c: the measured times. */
typedef struct _LigTimes LigTimes;
/* pin.c: the pinned plan. */
typedef struct _LigPin LigPin;

/* check.c: the check of the plan. */
typedef struct _LigChecks LigChecks;
typedef struct _LigSavings LigSavings;
/* loads.c: the recorded load of experts. */
typedef struct _LigLoads LigLoads;

/* One state of the sequence in the history. */
typedef struct {
  char *text;  /* of the .lig file */
  char *label; /* of the edit that made this state; null for the first */
  GStrv open;  /* the paths of the rows that were open when the history left this state; null before
                  that */
} LigDocumentState;

struct _LigDocument {
  GObject parent_instance;
  LigSession *session;
  LigSequence *sequence;
  char *path;
  LigJournal *journal;

  GPtrArray *states; /* of LigDocumentState */
  guint now, saved;  /* indexes of states; `saved` beyond them: none */
  char *merge;
  gint64 merged; /* monotonic, of the last edit */

  GArray *rows;        /* of LigRow */
  GHashTable *by_op;   /* LigOp: index of its row + 1 */
  GHashTable *by_path; /* char: the same */
  GHashTable *open;    /* LigOp: an opened block */
  GHashTable *chosen;  /* LigOp: in the selection */
  LigOp *cursor;
  const char *wanted; /* interned: the parameter that should get the focus */

  char *device;
  gboolean device_chosen; /* by the user */
  LigPolicy policy;
  int ranks, context, tensor, expert; /* chosen by the user: all ranks, and those of a group */
  LigLayout layout;                   /* of the ranks for which it was compiled last */
  LigPlanner *planner;
  guint64 request;
  LigPlan *plan;
  GHashTable *parts; /* path, of the plan: index of its first op + 1 */
  gboolean stale;
  char *measuring;
  gboolean measured;   /* whether the current request measured something */
  GPtrArray *problems; /* of LigProblem */
  GHashTable *faulty;  /* LigOp of a row: its first LigProblem; null: not known yet */
  LigPreview *preview; /* null before the first */
  LigTimes *times;     /* null before the first */
  LigPin *pin;         /* null before the first */
  LigChecks *checks;   /* null before the first */
  LigSavings *savings; /* null until they are wanted */
  LigLoads *loads;     /* null until they are read */
};

typedef enum {
  LIG_DOCUMENT_CHANGED,
  LIG_DOCUMENT_PLANNED,
  LIG_DOCUMENT_SELECTED,
  LIG_DOCUMENT_TITLED,
  LIG_DOCUMENT_SETTINGS,
  LIG_DOCUMENT_PREVIEWED,
  LIG_DOCUMENT_TIMED,
  LIG_DOCUMENT_PINNED,
  LIG_DOCUMENT_WANTED,
  LIG_DOCUMENT_SAVINGS,
  LIG_DOCUMENT_N_SIGNALS,
} LigDocumentSignal;

/* core.c. The type's signals, in the order of LigDocumentSignal. */
void lig_document_install_signals (GObjectClass *class);
void lig_document_emit (LigDocument *self, LigDocumentSignal signal);

/* core.c. Returns a phrase with a capital letter, for the label of an edit. */
char *lig_document_capitalize (const char *phrase);

/* rows.c. Building the rows keeps selection and cursor by their paths. */
void lig_document_init_rows (LigDocument *self);
void lig_document_clear_rows (LigDocument *self);
void lig_document_build_rows (LigDocument *self);

/* Opens in @next the blocks that are open in the current sequence. */
void lig_document_carry_open (LigDocument *self, LigSequence *next);

/* Returns the paths of the open rows, and opens rows with the same paths in @next. */
GStrv lig_document_list_open (LigDocument *self);
void lig_document_open_paths (LigDocument *self, LigSequence *next, const char *const *paths);
GStrv lig_document_remember_selection (LigDocument *self);
void lig_document_restore_selection (LigDocument *self, const char *const *paths);

/* plan.c */
void lig_document_init_plan (LigDocument *self);
void lig_document_clear_plan (LigDocument *self);
void lig_document_compile (LigDocument *self);

/* preview.c */
void lig_document_clear_preview (LigDocument *self);

/* times.c. Takes the unfused plan and the recorded times of an answer whose plan is that of the
 * document. @measured: whether the compilation measured times */
void
lig_document_take_plan_times (LigDocument *self, const LigPlannerAnswer *answer, gboolean measured);
void lig_document_clear_times (LigDocument *self);
void lig_document_clear_checks (LigDocument *self);

/* loads.c */
void lig_document_clear_loads (LigDocument *self);

/* savings.c */
void lig_document_clear_savings (LigDocument *self);

/* pin.c */
void lig_document_clear_pin (LigDocument *self);
