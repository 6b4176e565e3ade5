/* SPDX-License-Identifier: MIT */
/* TCP connections between rank 0 and each other rank, separate from MPI's: the system closes the
 * connection of a process that ends for any reason. */
#pragma once

#include "engine/ranks/ranks-private.h"

G_BEGIN_DECLS

/* The messages, one byte each. Those with a text are followed by its length and the text. */
typedef enum {
  LIG_LINK_SIGN = 's',
  LIG_LINK_GOODBYE = 'g',
  LIG_LINK_END = 'e',     /* the sender ends all ranks, and has printed the reason */
  LIG_LINK_FAILURE = 'f', /* with the reason */
  LIG_LINK_ABANDON = 'a', /* with the number of the work */
} LigLinkMessage;

typedef struct {
  int rank, socket; /* -1: closed */
  gboolean left;    /* the goodbye was received */
  gint64 quiet;     /* the time that the watch has run since the last message, in microseconds */
  GString *received;
} LigLink;

/* Connects the ranks, which all call it. Returns the links to the other ranks on rank 0, the link
 * to rank 0 elsewhere; on failure null with an error set, on all ranks. */
LigLink *lig_link_all (LigRanks *ranks, int *count, GError **error);

/* Sends a message without waiting: it is lost if the other side does not read. `text` is null for
 * messages without one. */
void lig_link_send (LigLink *self, LigLinkMessage message, const char *text);

/* Receives the available bytes; closes the link if the other side did. */
void lig_link_receive (LigLink *self);

/* Takes the next complete message; returns 0 if there is none. Frees `text` and sets it to the
 * message's text, if any; (transfer full). */
int lig_link_take (LigLink *self, char **text);

void lig_link_close (LigLink *self);

G_END_DECLS
