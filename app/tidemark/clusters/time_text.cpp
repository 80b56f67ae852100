#include "tidemark/clusters/time_text.h"

#include <charconv>
#include <chrono>

#include <fmt/format.h>

namespace tidemark::app {
namespace {

/// No record of a log is older than a hundred years.
constexpr int64_t kLongestMs = int64_t{100} * 366 * 86'400'000;

/// Takes from the front of a text; fails for good at the first thing that is not there.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}
  bool ok() const { return ok_; }
  bool atEnd() const { return rest_.empty(); }
  char next() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool take(char wanted) {
    if (next() != wanted || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void need(char wanted) { ok_ = take(wanted) && ok_; }
  /// Exactly so many digits; 0: as many as there are.
  int64_t number(size_t digits) {
    size_t length = 0;
    while (length < rest_.size() && rest_[length] >= '0' && rest_[length] <= '9' && (digits == 0 || length < digits))
      ++length;
    int64_t value = 0;
    if (length == 0 || (digits != 0 && length != digits) || length > 12) ok_ = false;
    if (ok_) std::from_chars(rest_.data(), rest_.data() + length, value);
    rest_.remove_prefix(length);
    return value;
  }
  /// What stands behind a point, as thousandths.
  int64_t thousandths() {
    int64_t value = 0;
    int64_t unit = 100;
    if (next() < '0' || next() > '9') ok_ = false;
    while (next() >= '0' && next() <= '9') {
      value += (next() - '0') * unit;
      unit /= 10;
      rest_.remove_prefix(1);
    }
    return value;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

std::optional<int64_t> parseDatetime(std::string_view text) {
  using namespace std::chrono;
  Scanner in(text);
  const int64_t yearNumber = in.number(4);
  in.need('-');
  const int64_t monthNumber = in.number(2);
  in.need('-');
  const int64_t dayNumber = in.number(2);
  int64_t inDay = 0;
  if (in.ok() && in.take('T')) {
    const int64_t hour = in.number(2);
    in.need(':');
    const int64_t minute = in.number(2);
    int64_t second = 0, thousandth = 0;
    if (in.take(':')) {
      second = in.number(2);
      if (in.take('.')) thousandth = in.thousandths();
    }
    if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
    inDay = ((hour * 60 + minute) * 60 + second) * 1000 + thousandth;
  }
  if (in.ok() && !in.take('Z') && (in.next() == '+' || in.next() == '-')) {
    const int64_t sign = in.take('+') ? 1 : (in.take('-'), -1);
    const int64_t hours = in.number(2);
    in.take(':');
    inDay -= sign * (hours * 60 + in.number(2)) * 60'000;
  }
  const year_month_day date{year(static_cast<int>(yearNumber)), month(static_cast<unsigned>(monthNumber)),
                            day(static_cast<unsigned>(dayNumber))};
  if (!in.ok() || !in.atEnd() || !date.ok()) return std::nullopt;
  return duration_cast<milliseconds>(sys_days(date).time_since_epoch()).count() + inDay;
}

std::optional<int64_t> parseDuration(std::string_view text) {
  Scanner in(text);
  in.need('P');
  int64_t total = 0;
  bool any = false, inTime = false, isLong = false;
  while (in.ok() && !in.atEnd()) {
    if (!inTime && in.take('T')) {
      inTime = true;
      continue;
    }
    const int64_t count = in.number(0);
    const int64_t thousandth = in.take('.') ? in.thousandths() : 0;
    const auto add = [&](int64_t milliseconds) {
      // A number of so many digits has no place in milliseconds.
      isLong |= count > kLongestMs / milliseconds;
      if (!isLong) total += count * milliseconds + thousandth * milliseconds / 1000;
      isLong |= total > kLongestMs;
      any = true;
    };
    if (!inTime && in.take('D'))
      add(86'400'000);
    else if (inTime && in.take('H'))
      add(3'600'000);
    else if (inTime && in.take('M'))
      add(60'000);
    else if (inTime && in.take('S'))
      add(1000);
    else
      return std::nullopt;
  }
  return in.ok() && any && !isLong ? std::optional(total) : std::nullopt;
}

std::string datetimeText(int64_t millisecondsSince1970) {
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds(millisecondsSince1970)};
  const auto midnight = floor<days>(time);
  const year_month_day date{midnight};
  const hh_mm_ss<milliseconds> of{time - midnight};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), of.hours().count(),
                     of.minutes().count(), of.seconds().count(), of.subseconds().count());
}

}  // namespace tidemark::app
