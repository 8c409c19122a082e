/* strftime_now: dates as strftime writes them in the C locale. */
#include "text/jinja/jinja_run.h"
#include <stdio.h>
#include <time.h>

typedef struct date {
  int year, month, day, hour, minute, second, micro; /* month and day from 1 */
  int weekday, yearday;                              /* from Sunday 0; from 0 */
} date;

static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                   "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};

static bool is_leap(int year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int month_days(int year, int month) {
  return month == 2 ? 28 + is_leap(year) : 30 + ((month + (month > 7)) & 1);
}

/* Days from a Sunday before the year 1. */
static int64_t day_number(int year, int month, int day) {
  int64_t y = year - 1, n = y * 365 + y / 4 - y / 100 + y / 400 + day;
  for (int m = 1; m < month; m++) n += month_days(year, m);
  return n;
}

/* "2026-01-15T12:34:56", with a blank for T and a fraction of seconds allowed. */
static bool read_date(const char *text, date *ret) {
  *ret = (date){0};
  int n = 0;
  char t = 0;
  if (sscanf(text, "%4d-%2d-%2d%n", &ret->year, &ret->month, &ret->day, &n) != 3) return false;
  if (text[n]) {
    int more = 0;
    if (sscanf(text + n, "%c%2d:%2d:%2d%n", &t, &ret->hour, &ret->minute, &ret->second, &more) != 4)
      return false;
    n += more;
    if (t != 'T' && t != ' ') return false;
  }
  if (text[n] == '.') {
    int scale = 100000;
    for (n++; text[n] >= '0' && text[n] <= '9'; n++, scale /= 10)
      ret->micro += (text[n] - '0') * scale;
  }
  return !text[n] && ret->year >= 1 && ret->month >= 1 && ret->month <= 12 && ret->day >= 1 &&
         ret->day <= month_days(ret->year, ret->month) && ret->hour >= 0 && ret->hour < 24 &&
         ret->minute >= 0 && ret->minute < 60 && ret->second >= 0 && ret->second < 60;
}

static bool read_clock(date *ret) {
  time_t now = time(NULL);
  struct tm tm;
#if defined(_WIN32)
  if (localtime_s(&tm, &now)) return false;
#else
  if (!localtime_r(&now, &tm)) return false;
#endif
  *ret = (date){.year = tm.tm_year + 1900,
                .month = tm.tm_mon + 1,
                .day = tm.tm_mday,
                .hour = tm.tm_hour,
                .minute = tm.tm_min,
                .second = tm.tm_sec};
  return true;
}

/* The week of ISO 8601 and its year. */
static int iso_week(const date *d, int *ret_year) {
  int monday = (d->weekday + 6) % 7, week = (d->yearday - monday + 10) / 7;
  int jan1 = (int)(day_number(d->year, 1, 1) % 7), length = 365 + is_leap(d->year);
  *ret_year = d->year;
  if (week < 1) {
    date last = {.year = d->year - 1, .month = 12, .day = 31};
    last.weekday = (jan1 + 6) % 7, last.yearday = 364 + is_leap(last.year);
    return iso_week(&last, ret_year);
  }
  if (week == 53 && length - d->yearday <= 3 - monday) return *ret_year = d->year + 1, 1;
  return week;
}

static bool write_number(kr_jctx *c, int n, int width, char pad) {
  char text[16];
  snprintf(text, sizeof text, pad == ' ' ? "%*d" : "%0*d", width, n);
  return kr_jout_text(c, text);
}

static bool write_format(kr_jctx *c, const date *d, const char *format, size_t n);

/* One directive; flag is '-' or '_' or '0' between the sign and it, or 0. *ret_known is false when
 * there is none of this letter. */
static bool write_directive(kr_jctx *c, const date *d, char letter, char flag, bool *ret_known) {
  int hour12 = d->hour % 12 ? d->hour % 12 : 12, iso_year, iso = iso_week(d, &iso_year);
  const struct {
    char letter;
    int value, width;
    char pad;
  } numbers[] = {
      {'d', d->day, 2, '0'},
      {'e', d->day, 2, ' '},
      {'m', d->month, 2, '0'},
      {'Y', d->year, 1, '0'},
      {'y', d->year % 100, 2, '0'},
      {'C', d->year / 100, 2, '0'},
      {'H', d->hour, 2, '0'},
      {'k', d->hour, 2, ' '},
      {'I', hour12, 2, '0'},
      {'l', hour12, 2, ' '},
      {'M', d->minute, 2, '0'},
      {'S', d->second, 2, '0'},
      {'f', d->micro, 6, '0'},
      {'j', d->yearday + 1, 3, '0'},
      {'u', d->weekday ? d->weekday : 7, 1, '0'},
      {'w', d->weekday, 1, '0'},
      {'G', iso_year, 1, '0'},
      {'g', iso_year % 100, 2, '0'},
      {'V', iso, 2, '0'},
      {'U', (d->yearday + 7 - d->weekday) / 7, 2, '0'},
      {'W', (d->yearday + 7 - (d->weekday + 6) % 7) / 7, 2, '0'},
  };
  static const struct {
    char letter;
    const char *format;
  } compound[] = {{'c', "%a %b %e %H:%M:%S %Y"},
                  {'D', "%m/%d/%y"},
                  {'F', "%Y-%m-%d"},
                  {'R', "%H:%M"},
                  {'T', "%H:%M:%S"},
                  {'X', "%H:%M:%S"},
                  {'x', "%m/%d/%y"},
                  {'r', "%I:%M:%S %p"}};
  *ret_known = true;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (numbers[i].letter != letter) continue;
    return write_number(c, numbers[i].value, flag == '-' ? 1 : numbers[i].width,
                        flag == '_'   ? ' '
                        : flag == '0' ? '0'
                                      : numbers[i].pad);
  }
  for (size_t i = 0; i < sizeof compound / sizeof *compound; i++)
    if (compound[i].letter == letter)
      return write_format(c, d, compound[i].format, strlen(compound[i].format));
  switch (letter) {
  case 'A':
    return kr_jout_text(c, days[d->weekday]);
  case 'a':
    return kr_jout(c, days[d->weekday], 3);
  case 'B':
    return kr_jout_text(c, months[d->month - 1]);
  case 'b':
  case 'h':
    return kr_jout(c, months[d->month - 1], 3);
  case 'p':
    return kr_jout_text(c, d->hour < 12 ? "AM" : "PM");
  case 'P':
    return kr_jout_text(c, d->hour < 12 ? "am" : "pm");
  case 'n':
    return kr_jout_text(c, "\n");
  case 't':
    return kr_jout_text(c, "\t");
  case '%':
    return kr_jout_text(c, "%");
  case 'Z': /* a time without a zone has no name of one */
  case 'z':
    return true;
  default:
    *ret_known = false;
    return true;
  }
}

static bool write_format(kr_jctx *c, const date *d, const char *format, size_t n) {
  for (size_t i = 0; i < n; i++) {
    size_t start = i;
    bool known = false;
    if (format[i] == '%' && i + 1 < n) {
      char flag = strchr("-_0", format[i + 1]) && format[i + 1] ? format[++i] : 0;
      if (i + 1 < n && !write_directive(c, d, format[++i], flag, &known)) return false;
    }
    if (!known && !kr_jout(c, format + start, i + 1 - start)) return false;
  }
  return true;
}

bool kr_jstrftime(kr_jctx *c, const char *now, const kr_jstring *format, kr_jvalue *ret) {
  date d;
  size_t mark = c->n_out;
  if (now && !read_date(now, &d))
    return kr_jfail_code(c, KR_E_ARGUMENT, "\"now\" is no time like 2026-01-15T12:34:56");
  if (!now && !read_clock(&d)) return kr_jfail_code(c, KR_E_IO, "the time cannot be read");
  d.weekday = (int)(day_number(d.year, d.month, d.day) % 7);
  d.yearday = (int)(day_number(d.year, d.month, d.day) - day_number(d.year, 1, 1));
  if (!write_format(c, &d, format->p, format->n)) return false;
  return kr_jtake(c, mark, ret);
}
