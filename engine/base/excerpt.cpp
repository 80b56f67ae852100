#include "base/excerpt.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace tidemark {
namespace {

constexpr size_t kEnd = 50;

}  // namespace

std::string excerpt(std::string_view text) {
  if (text.size() <= kLongestExcerpt) return std::string(text);
  const size_t head = utf8::boundaryBefore(text, kLongestExcerpt - kEnd);
  const size_t tail = utf8::boundaryBehind(text, text.size() - kEnd);
  return fmt::format("{} … {} bytes … {}", text.substr(0, head), tail - head, text.substr(tail));
}

}  // namespace tidemark
