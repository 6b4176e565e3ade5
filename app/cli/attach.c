/* SPDX-License-Identifier: MIT */
/* Hands the standard streams of a `lig` to rank 0 through an abstract socket. */
#include "app/cli/attach.h"

#include "app/cli/live.h"

#include <ligature/error.h>

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { N_STREAMS = 3 };

/* The connection of rank 0 to the `lig` that started it, or -1. */
static int connection = -1;

static socklen_t
fill_address (struct sockaddr_un *address, const char *name)
{
  gsize length = MIN (strlen (name), sizeof address->sun_path - 1);
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  /* An address that begins with a zero byte is not a file name. */
  memcpy (address->sun_path + 1, name, length);
  return (socklen_t) (G_STRUCT_OFFSET (struct sockaddr_un, sun_path) + 1 + length);
}

/* Returns the process at the other end, or -1 if it is another user's. */
static pid_t
find_peer (int connected)
{
  struct ucred peer = {.pid = -1};
  socklen_t size = sizeof peer;
  gboolean known = getsockopt (connected, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return known && peer.uid == geteuid () ? peer.pid : -1;
}

/* --- In the `lig` that starts ranks -------------------------------------------------------- */

int
lig_cli_attach_listen (char **name, GError **error)
{
  struct sockaddr_un address;
  g_autofree char *unique = g_uuid_string_random ();
  g_autofree char *text = g_strconcat ("ligature-", unique, NULL);
  int listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  socklen_t size = fill_address (&address, text);
  if (listener >= 0 && bind (listener, (struct sockaddr *) &address, size) == 0 &&
      listen (listener, 4) == 0) {
    *name = g_steal_pointer (&text);
    return listener;
  }
  g_set_error (error, LIG_ERROR, LIG_ERROR_RANKS, "ranks: cannot create a socket: %s",
               g_strerror (errno));
  if (listener >= 0)
    close (listener);
  return -1;
}

static gboolean
send_streams (int to)
{
  int streams[N_STREAMS] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  union {
    char bytes[CMSG_SPACE (sizeof streams)];
    struct cmsghdr aligned;
  } control = {0};
  char byte = 0;
  struct iovec content = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &content,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  struct cmsghdr *header = CMSG_FIRSTHDR (&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN (sizeof streams);
  memcpy (CMSG_DATA (header), streams, sizeof streams);
  return sendmsg (to, &message, MSG_NOSIGNAL) == 1;
}

int
lig_cli_attach_accept (int listener, pid_t *process)
{
  int from = accept4 (listener, NULL, NULL, SOCK_CLOEXEC);
  if (from < 0)
    return -1;
  *process = find_peer (from);
  if (*process > 0 && send_streams (from))
    return from;
  close (from);
  return -1;
}

int
lig_cli_attach_read_code (int from)
{
  int code = -1;
  return recv (from, &code, sizeof code, MSG_WAITALL) == (gssize) sizeof code ? code : -1;
}

/* --- In rank 0 ----------------------------------------------------------------------------- */

static gboolean
receive_streams (int from, int *streams)
{
  union {
    char bytes[CMSG_SPACE (N_STREAMS * sizeof (int))];
    struct cmsghdr aligned;
  } control = {0};
  char byte;
  struct iovec content = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &content,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  if (recvmsg (from, &message, MSG_CMSG_CLOEXEC) != 1)
    return FALSE;
  struct cmsghdr *header = CMSG_FIRSTHDR (&message);
  if (!header || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN (N_STREAMS * sizeof (int)))
    return FALSE;
  memcpy (streams, CMSG_DATA (header), N_STREAMS * sizeof (int));
  return TRUE;
}

gboolean
lig_cli_attach_take (void)
{
  struct sockaddr_un address;
  int streams[N_STREAMS];
  const char *name = g_getenv (LIG_CLI_LAUNCHER);
  if (!name || connection >= 0)
    return name != NULL;
  socklen_t size = fill_address (&address, name);
  int to = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  pid_t launcher = -1;
  if (to >= 0 && connect (to, (struct sockaddr *) &address, size) == 0)
    launcher = find_peer (to);
  if (launcher <= 0 || !receive_streams (to, streams)) {
    close (to);
    return FALSE;
  }
  for (int i = 0; i < N_STREAMS; i++) {
    dup2 (streams[i], i);
    close (streams[i]);
  }
  connection = to;
  lig_cli_live_share (getpgid (launcher));
  return TRUE;
}

gboolean
lig_cli_attach_send_code (int code)
{
  if (connection < 0)
    return FALSE;
  gboolean sent = send (connection, &code, sizeof code, MSG_NOSIGNAL) == (gssize) sizeof code;
  close (connection);
  connection = -1;
  return sent;
}
