/* SPDX-License-Identifier: MIT */
/* Makes the connections between rank 0 and the others. */
#include "engine/ranks/link.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* The timeouts for all connections, and for one attempt, in milliseconds. */
enum { LONGEST = 30000, LONGEST_ATTEMPT = 3000 };

enum { MAX_ADDRESSES = 16 };

/* The address and port of rank 0. */
typedef struct {
  guint8 secret[16]; /* connections that do not begin with it are closed */
  int port;          /* 0: rank 0 cannot listen, with `code` as the reason */
  int code;
  int n_addresses;
  struct in6_addr addresses[MAX_ADDRESSES];
} Invitation;

/* The first bytes of a connection. */
typedef struct {
  guint8 secret[16];
  gint32 rank;
} Greeting;

static gint64
left_of (gint64 deadline)
{
  return MAX ((deadline - g_get_monotonic_time ()) / 1000, 0);
}

static gboolean
is_same_host (LigRanks *ranks, int rank)
{
  return strcmp (ranks->places[rank].host, ranks->places[0].host) == 0;
}

static gboolean
is_one_host (LigRanks *ranks)
{
  for (int rank = 1; rank < ranks->count; rank++)
    if (!is_same_host (ranks, rank))
      return FALSE;
  return TRUE;
}

/* --- Rank 0 -------------------------------------------------------------------------------- */

/* Adds an IPv4 address in its IPv6-mapped form. */
static void
add_address (Invitation *invitation, const struct sockaddr *address)
{
  struct in6_addr *to = &invitation->addresses[invitation->n_addresses];
  if (invitation->n_addresses == MAX_ADDRESSES)
    return;
  if (address->sa_family == AF_INET) {
    memset (to, 0, sizeof *to);
    to->s6_addr[10] = to->s6_addr[11] = 0xff;
    memcpy (to->s6_addr + 12, &((const struct sockaddr_in *) (gconstpointer) address)->sin_addr, 4);
  } else {
    *to = ((const struct sockaddr_in6 *) (gconstpointer) address)->sin6_addr;
  }
  invitation->n_addresses++;
}

static void
find_addresses (Invitation *invitation)
{
  struct ifaddrs *all = NULL;
  if (getifaddrs (&all) != 0)
    return;
  for (struct ifaddrs *at = all; at; at = at->ifa_next) {
    int family = at->ifa_addr ? at->ifa_addr->sa_family : AF_UNSPEC;
    const struct sockaddr_in6 *six = (gconstpointer) at->ifa_addr;
    gboolean reachable = at->ifa_flags & IFF_UP && !(at->ifa_flags & IFF_LOOPBACK);
    if (reachable &&
        (family == AF_INET || (family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL (&six->sin6_addr))))
      add_address (invitation, at->ifa_addr);
  }
  freeifaddrs (all);
}

/* Listens on all addresses, or only on the loopback address; a machine may have no IPv6. */
static int
listen_on (gboolean everywhere, Invitation *invitation)
{
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
  struct sockaddr_in four = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl (everywhere ? INADDR_ANY : INADDR_LOOPBACK)};
  socklen_t size = sizeof six;
  int off = 0, type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  int listener = everywhere ? socket (AF_INET6, type, 0) : -1;
  if (listener >= 0 && (setsockopt (listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0 ||
                        bind (listener, (struct sockaddr *) &six, sizeof six) != 0)) {
    close (listener);
    listener = -1;
  }
  if (listener < 0) {
    listener = socket (AF_INET, type, 0);
    if (listener < 0 || bind (listener, (struct sockaddr *) &four, sizeof four) != 0)
      return -1;
  }
  if (listen (listener, SOMAXCONN) != 0 ||
      getsockname (listener, (struct sockaddr *) &six, &size) != 0)
    return -1;
  /* The port has the same offset in both kinds of addresses. */
  invitation->port = ntohs (six.sin6_port);
  return listener;
}

static int
invite (LigRanks *ranks, Invitation *invitation)
{
  gboolean everywhere = !is_one_host (ranks);
  int listener = getrandom (invitation->secret, sizeof invitation->secret, 0) ==
                     (gssize) sizeof invitation->secret
                   ? listen_on (everywhere, invitation)
                   : -1;
  if (listener < 0)
    *invitation = (Invitation){.code = errno};
  else if (everywhere)
    find_addresses (invitation);
  return listener;
}

/* Receives the greeting, with a short timeout for strangers. Returns the rank, or -1. */
static int
greet (int from, const Invitation *invitation, int count)
{
  Greeting greeting;
  struct timeval moment = {.tv_sec = 2};
  setsockopt (from, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof moment);
  if (recv (from, &greeting, sizeof greeting, MSG_WAITALL) != (gssize) sizeof greeting ||
      memcmp (greeting.secret, invitation->secret, sizeof greeting.secret) != 0 ||
      greeting.rank < 1 || greeting.rank >= count)
    return -1;
  return greeting.rank;
}

/* Waits until all others are connected. Returns the number of missing ones. */
static int
accept_all (LigRanks *ranks, int listener, const Invitation *invitation, LigLink *links)
{
  gint64 deadline = g_get_monotonic_time () + LONGEST * (gint64) 1000;
  int missing = ranks->count - 1;
  while (missing > 0 && left_of (deadline) > 0) {
    struct pollfd waited = {.fd = listener, .events = POLLIN};
    int from = poll (&waited, 1, (int) left_of (deadline)) > 0
                 ? accept4 (listener, NULL, NULL, SOCK_CLOEXEC)
                 : -1;
    int rank = from >= 0 ? greet (from, invitation, ranks->count) : -1;
    if (rank > 0 && links[rank - 1].socket < 0) {
      links[rank - 1].socket = from;
      missing--;
    } else if (from >= 0) {
      close (from);
    }
  }
  return missing;
}

/* --- The others ---------------------------------------------------------------------------- */

static int
connect_to (const struct in6_addr *address, int port, int milliseconds)
{
  struct sockaddr_in6 six = {
    .sin6_family = AF_INET6, .sin6_port = htons ((guint16) port), .sin6_addr = *address};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons ((guint16) port)};
  gboolean is_four = IN6_IS_ADDR_V4MAPPED (address);
  memcpy (&four.sin_addr, address->s6_addr + 12, 4);
  int to = socket (is_four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (to < 0)
    return -1;
  struct pollfd waited = {.fd = to, .events = POLLOUT};
  int failed = is_four ? connect (to, (struct sockaddr *) &four, sizeof four)
                       : connect (to, (struct sockaddr *) &six, sizeof six);
  socklen_t size = sizeof failed;
  if (failed && (errno != EINPROGRESS || poll (&waited, 1, milliseconds) <= 0 ||
                 getsockopt (to, SOL_SOCKET, SO_ERROR, &failed, &size) != 0 || failed)) {
    close (to);
    return -1;
  }
  return to;
}

static int
accept_invitation (LigRanks *ranks, const Invitation *invitation)
{
  struct in6_addr here = IN6ADDR_ANY_INIT;
  gint64 deadline = g_get_monotonic_time () + LONGEST * (gint64) 1000;
  Greeting greeting = {.rank = ranks->rank};
  int to = -1;
  here.s6_addr[10] = here.s6_addr[11] = 0xff;
  here.s6_addr[12] = 127;
  here.s6_addr[15] = 1;
  memcpy (greeting.secret, invitation->secret, sizeof greeting.secret);
  while (to < 0 && left_of (deadline) > 0) {
    int attempt = (int) MIN (left_of (deadline), LONGEST_ATTEMPT);
    if (is_same_host (ranks, ranks->rank))
      to = connect_to (&here, invitation->port, attempt);
    for (int i = 0; to < 0 && i < invitation->n_addresses; i++)
      to = connect_to (&invitation->addresses[i], invitation->port, attempt);
    if (to < 0)
      g_usleep (100000);
  }
  if (to >= 0 && send (to, &greeting, sizeof greeting, MSG_NOSIGNAL) != (gssize) sizeof greeting) {
    close (to);
    return -1;
  }
  return to;
}

/* --- All ----------------------------------------------------------------------------------- */

static LigLink *
new_links (LigRanks *ranks, int *count)
{
  *count = ranks->rank == 0 ? ranks->count - 1 : 1;
  LigLink *links = g_new0 (LigLink, (gsize) *count);
  for (int i = 0; i < *count; i++)
    links[i] = (LigLink){
      .rank = ranks->rank == 0 ? i + 1 : 0, .socket = -1, .received = g_string_new (NULL)};
  return links;
}

/* Prepares connected links for the watch. */
static void
prepare (LigLink *links, int count)
{
  int on = 1;
  for (int i = 0; i < count; i++) {
    fcntl (links[i].socket, F_SETFL, fcntl (links[i].socket, F_GETFL) | O_NONBLOCK);
    setsockopt (links[i].socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
}

static void
free_links (LigLink *links, int count)
{
  for (int i = 0; i < count; i++) {
    lig_link_close (&links[i]);
    g_string_free (links[i].received, TRUE);
  }
  g_free (links);
}

LigLink *
lig_link_all (LigRanks *ranks, int *count, GError **error)
{
  Invitation invitation = {0};
  LigLink *links = new_links (ranks, count);
  int listener = ranks->rank == 0 ? invite (ranks, &invitation) : -1;
  double missing = 0;
  gboolean spread = lig_ranks_broadcast (ranks, &invitation, sizeof invitation, error);
  if (spread && invitation.port > 0 && ranks->rank == 0)
    missing = accept_all (ranks, listener, &invitation, links);
  else if (spread && invitation.port > 0)
    links[0].socket = accept_invitation (ranks, &invitation);
  if (listener >= 0)
    close (listener);
  /* Only rank 0 knows which ranks are missing. */
  if (spread && lig_ranks_broadcast (ranks, &missing, sizeof missing, error)) {
    if (missing == 0 && invitation.port > 0 && links[0].socket >= 0) {
      prepare (links, *count);
      return links;
    }
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_DEVICE,
      _ ("ranks: rank 0 on %s was reached by %d of %d: %s; let all others connect to it by TCP"),
      ranks->places[0].host, invitation.port > 0 ? ranks->count - 1 - (int) missing : 0,
      ranks->count - 1, g_strerror (invitation.code ? invitation.code : ETIMEDOUT));
  }
  free_links (links, *count);
  return NULL;
}
