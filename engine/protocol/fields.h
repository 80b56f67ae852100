#pragma once

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/formatting.h"
#include "base/uuid.h"

namespace tidemark::protocol {

/// Bytes of a string at most: Kafka bounds each by the old form's int16, in flexible versions too.
inline constexpr size_t kMaxStringSize = 32767;

namespace detail {

/// Bytes that are borrowed from a frame or owned. Copying always gives an owned copy, moving keeps what was.
class Held {
 public:
  Held() noexcept = default;
  Held(const Held& other) : Held(other.data_, other.size_) {}
  Held(Held&& other) noexcept : data_(other.data_), size_(other.size_), owned_(other.owned_) { other.forget(); }
  Held& operator=(const Held& other);
  Held& operator=(Held&& other) noexcept;
  ~Held() {
    if (owned_) release();
  }

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// Whether the bytes belong to somebody else, who must outlive this.
  bool isBorrowed() const noexcept { return !owned_ && size_ != 0; }

 protected:
  /// Owns a copy.
  Held(const void* data, size_t size);
  struct Borrow {};
  Held(Borrow, const void* data, size_t size) noexcept
      : data_(static_cast<const uint8_t*>(data)), size_(static_cast<uint32_t>(size)) {}

  const uint8_t* data_ = nullptr;
  uint32_t size_ = 0;
  bool owned_ = false;

 private:
  void release() noexcept;
  void forget() noexcept {
    data_ = nullptr;
    size_ = 0;
    owned_ = false;
  }
};

}  // namespace detail

/// A string of a message (UTF-8, not checked). What a Reader gives borrows from its frame; what is built from a string
/// owns. COPIES ALWAYS OWN, moves keep the borrow: copy what shall outlive the frame. No thread safety of its own.
class Text : public detail::Held {
 public:
  Text() noexcept = default;
  Text(std::string_view text) : Held(text.data(), text.size()) {}    // NOLINT(google-explicit-constructor)
  Text(const std::string& text) : Held(text.data(), text.size()) {}  // NOLINT(google-explicit-constructor)
  Text(const char* text) : Text(std::string_view(text)) {}           // NOLINT(google-explicit-constructor)
  /// Refers to `text`, which must outlive it.
  static Text borrowed(std::string_view text) noexcept { return Text(Borrow(), text); }

  std::string_view view() const noexcept { return {reinterpret_cast<const char*>(data_), size_}; }
  std::string str() const { return std::string(view()); }
  operator std::string_view() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)

  friend bool operator==(const Text& a, const Text& b) noexcept { return a.view() == b.view(); }
  friend bool operator==(const Text& a, std::string_view b) noexcept { return a.view() == b; }
  friend bool operator==(const Text& a, const std::string& b) noexcept { return a.view() == b; }
  friend bool operator==(const Text& a, const char* b) noexcept { return a.view() == b; }
  friend auto operator<=>(const Text& a, const Text& b) noexcept { return a.view() <=> b.view(); }
  friend auto operator<=>(const Text& a, std::string_view b) noexcept { return a.view() <=> b; }

 private:
  Text(Borrow borrow, std::string_view text) noexcept : Held(borrow, text.data(), text.size()) {}
};

/// Bytes of a message; the same rules as for Text.
class Blob : public detail::Held {
 public:
  Blob() noexcept = default;
  Blob(ByteView bytes) : Held(bytes.data(), bytes.size()) {}           // NOLINT(google-explicit-constructor)
  Blob(const ByteVector& bytes) : Held(bytes.data(), bytes.size()) {}  // NOLINT(google-explicit-constructor)
  /// Refers to `bytes`, which must outlive it.
  static Blob borrowed(ByteView bytes) noexcept { return Blob(Borrow(), bytes); }

  ByteView view() const noexcept { return {data_, size_}; }
  ByteVector bytes() const { return {data_, data_ + size_}; }
  operator ByteView() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)

  friend bool operator==(const Blob& a, const Blob& b) noexcept { return asText(a.view()) == asText(b.view()); }

 private:
  Blob(Borrow borrow, ByteView bytes) noexcept : Held(borrow, bytes.data(), bytes.size()) {}
};

/// How GoogleTest shows them.
void PrintTo(const Text& text, std::ostream* out);
void PrintTo(const Blob& blob, std::ostream* out);

class Reader;
class FrameWriter;
struct MessageSchema;

/// `flexibleVersions none`.
inline constexpr int16_t kNeverFlexible = 32767;

}  // namespace tidemark::protocol

template <>
struct std::hash<tidemark::protocol::Text> {
  size_t operator()(const tidemark::protocol::Text& text) const noexcept {
    return std::hash<std::string_view>{}(text.view());
  }
};
template <>
struct fmt::formatter<tidemark::protocol::Text> : tidemark::PlainFormatter {
  auto format(const tidemark::protocol::Text& text, format_context& context) const { return put(text.view(), context); }
};
