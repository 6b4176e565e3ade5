/* SPDX-License-Identifier: MIT */
/* The connection between the `lig` that starts ranks and rank 0. Rank 0 receives its standard
 * streams, so that it writes to the user's terminal, file or pipe, which a launcher would replace
 * by pipes of its own. */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* The environment variable with the name of the connection. */
#define LIG_CLI_LAUNCHER "LIGATURE_LAUNCHER"

/* --- In the `lig` that starts ranks ---------------------------------------------------------- */

/* Listens on a new socket. Returns it and sets the name (transfer full), or returns -1 with an
 * error set. */
int lig_cli_attach_listen (char **name, GError **error);

/* Accepts a connection and sends the standard streams. Returns the socket, or -1 if the peer is not
 * rank 0; sets its process. */
int lig_cli_attach_accept (int listener, pid_t *process);

/* Returns the exit code that rank 0 has sent, or -1 if it ended without one. */
int lig_cli_attach_read_code (int socket);

/* --- In rank 0 ------------------------------------------------------------------------------- */

/* Takes over the standard streams of the `lig` that started this rank. Returns FALSE if none
 * did. */
gboolean lig_cli_attach_take (void);

/* Sends the exit code, once. Returns whether a `lig` got it. */
gboolean lig_cli_attach_send_code (int code);

G_END_DECLS
