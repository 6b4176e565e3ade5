/* SPDX-License-Identifier: MIT */
/* Parses dates and times as git does for --since. */
#include "app/cli/dates.h"

#include <string.h>

#define MAX_UNITS 1000000

static gint64
to_microseconds (GDateTime *moment)
{
  return g_date_time_to_unix (moment) * G_USEC_PER_SEC + g_date_time_get_microsecond (moment);
}

/* Returns the midnight at the start of the day that is `days` before the given one. */
static GDateTime *
find_midnight (GDateTime *now, int days)
{
  g_autoptr (GDateTime) day = g_date_time_add_days (now, -days);
  return g_date_time_new_local (g_date_time_get_year (day), g_date_time_get_month (day),
                                g_date_time_get_day_of_month (day), 0, 0, 0);
}

static GDateTime *
parse_day (const char *text, GDateTime *now)
{
  static const char *const days[] = {"monday", "tuesday",  "wednesday", "thursday",
                                     "friday", "saturday", "sunday"};
  if (strcmp (text, "now") == 0)
    return g_date_time_ref (now);
  if (strcmp (text, "today") == 0)
    return find_midnight (now, 0);
  if (strcmp (text, "yesterday") == 0)
    return find_midnight (now, 1);
  for (int i = 0; i < (int) G_N_ELEMENTS (days); i++)
    if (strcmp (text, days[i]) == 0)
      return find_midnight (now, (g_date_time_get_day_of_week (now) - i - 1 + 7) % 7);
  return NULL;
}

/* Parses `14:30` and `14:30:05`, a time of today. */
static GDateTime *
parse_clock (const char *text, GDateTime *now)
{
  static const char pattern[] = "^([0-9]{1,2}):([0-9]{2})(:([0-9]{2}))?$";
  g_autoptr (GRegex) regex = g_regex_new (pattern, 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  if (!g_regex_match (regex, text, 0, &match))
    return NULL;
  g_autofree char *hour = g_match_info_fetch (match, 1), *minute = g_match_info_fetch (match, 2),
                  *second = g_match_info_fetch (match, 4);
  return g_date_time_new_local (
    g_date_time_get_year (now), g_date_time_get_month (now), g_date_time_get_day_of_month (now),
    (int) g_ascii_strtoll (hour, NULL, 10), (int) g_ascii_strtoll (minute, NULL, 10),
    second ? (double) g_ascii_strtoll (second, NULL, 10) : 0);
}

/* Completes a date without a time, or a time without seconds, and reads it as ISO 8601. */
static GDateTime *
parse_iso (const char *text)
{
  static const char pattern[] =
    "^([0-9]{4}-[0-9]{2}-[0-9]{2})"
    "([ T]([0-9]{2}:[0-9]{2})(:[0-9]{2}(\\.[0-9]+)?)?)? ?(Z|[+-][0-9]{2}:?[0-9]{2})?$";
  g_autoptr (GRegex) regex = g_regex_new (pattern, G_REGEX_CASELESS, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autoptr (GTimeZone) zone = g_time_zone_new_local ();
  if (!g_regex_match (regex, text, 0, &match))
    return NULL;
  g_autofree char *day = g_match_info_fetch (match, 1), *minutes = g_match_info_fetch (match, 3),
                  *seconds = g_match_info_fetch (match, 4), *offset = g_match_info_fetch (match, 6);
  g_autofree char *upper = g_ascii_strup (offset ? offset : "", -1);
  g_autofree char *whole = g_strconcat (day, "T", minutes && *minutes ? minutes : "00:00",
                                        seconds && *seconds ? seconds : ":00", upper, NULL);
  return g_date_time_new_from_iso8601 (whole, zone);
}

/* Parses a duration before now: `2 days`, `2.days.ago`, `36h`. */
static GDateTime *
parse_duration (const char *text, GDateTime *now)
{
  static const struct {
    const char *name, *brief;
    GDateTime *(*add) (GDateTime *moment, int count);
  } units[] = {
    {"minute", "min", g_date_time_add_minutes}, {"hour", "h", g_date_time_add_hours},
    {"day", "d", g_date_time_add_days},         {"week", "w", g_date_time_add_weeks},
    {"month", NULL, g_date_time_add_months},    {"year", "y", g_date_time_add_years},
  };
  char *end;
  guint64 count = g_ascii_strtoull (text, &end, 10);
  if (!g_ascii_isdigit (*text) || count > MAX_UNITS)
    return NULL;
  g_autofree char *rest = g_strstrip (g_strdelimit (g_strdup (end), ".", ' '));
  if (g_str_has_suffix (rest, " ago"))
    g_strchomp (rest)[strlen (rest) - strlen (" ago")] = '\0';
  for (guint i = 0; i < G_N_ELEMENTS (units); i++) {
    g_autofree char *plural = g_strconcat (units[i].name, "s", NULL);
    if (strcmp (rest, units[i].name) == 0 || strcmp (rest, plural) == 0 ||
        g_strcmp0 (rest, units[i].brief) == 0)
      return units[i].add (now, -(int) count);
  }
  return NULL;
}

gboolean
lig_cli_parse_date (const char *text, gint64 now, gint64 *when)
{
  g_autofree char *word = g_strstrip (g_ascii_strdown (text, -1));
  g_autofree char *original = g_strstrip (g_strdup (text));
  g_autoptr (GDateTime) seconds = g_date_time_new_from_unix_local (now / G_USEC_PER_SEC);
  g_autoptr (GDateTime) present = g_date_time_add (seconds, now % G_USEC_PER_SEC);
  g_autoptr (GDateTime) found = parse_day (word, present);
  if (!found)
    found = parse_clock (word, present);
  if (!found)
    found = parse_iso (original);
  if (!found)
    found = parse_duration (word, present);
  if (found)
    *when = to_microseconds (found);
  return found != NULL;
}
