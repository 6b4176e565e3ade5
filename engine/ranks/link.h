/* SPDX-License-Identifier: MIT */
/* Connections between rank 0 and each other rank, apart from MPI's: a process that ends closes its
 * connection, however it ends. */
#pragma once

#include "engine/ranks/ranks-private.h"

G_BEGIN_DECLS

/* The messages, a byte each. Those with a text are followed by its length and the text. */
typedef enum {
  LIG_LINK_SIGN = 's',
  LIG_LINK_GOODBYE = 'g',
  LIG_LINK_END = 'e',     /* the sender ends all, and has printed why */
  LIG_LINK_FAILURE = 'f', /* with the reason */
  LIG_LINK_ABANDON = 'a', /* with the number of the work */
} LigLinkMessage;

typedef struct {
  int rank, socket; /* -1: closed */
  gboolean left;    /* the goodbye came */
  gint64 quiet;     /* the microseconds that the watch ran since the last message */
  GString *received;
} LigLink;

/* Connects the ranks, which all call it. Returns the links to the other ranks on rank 0, the one to
 * rank 0 elsewhere; null with an error set, on all ranks alike. */
LigLink *lig_link_all (LigRanks *ranks, int *count, GError **error);

/* Sends a message without waiting: one that the other side does not read is lost. `text` is that of
 * a message with one, else null. */
void lig_link_send (LigLink *self, LigLinkMessage message, const char *text);

/* Receives what has come; closes the link if the other side did. */
void lig_link_receive (LigLink *self);

/* Takes the next whole message; returns 0 if none has come. `text`, which is freed before, is set
 * for one with a text; (transfer full). */
int lig_link_take (LigLink *self, char **text);

void lig_link_close (LigLink *self);

G_END_DECLS
