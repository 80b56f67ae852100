#include "records/codec.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <lz4frame.h>
#include <lz4hc.h>
#include <snappy-sinksource.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include "base/invariant.h"

namespace tidemark::records {
namespace {

constexpr std::array<std::string_view, 5> kNames{"none", "gzip", "snappy", "lz4", "zstd"};

/// The frame of xerial's snappy-java, which Kafka's clients write: this header, then blocks of i32 length + raw snappy.
constexpr std::array<uint8_t, 8> kXerialMagic{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
constexpr size_t kXerialHeaderSize = 16;
constexpr size_t kXerialBlockSize = 32 << 10;

constexpr size_t kLz4DescriptorSize = 3;
constexpr size_t kLz4HeaderSize = 4 + kLz4DescriptorSize;
constexpr uint8_t kLz4IndependentBlocks = 0x20;

/// Frames that tell their size up to here are decompressed in one step.
constexpr size_t kOneStepLimit = 1u << 20;

std::unexpected<Error> corrupt(Codec codec, std::string_view what) {
  return fail(ErrorCode::CorruptMessage,
              fmt::format("{} data of a record batch are damaged: {}", codecName(codec), what));
}

/// The caller's buffer as an output that grows up to a limit.
class Output {
 public:
  Output(ByteVector& buffer, size_t limit, size_t inputSize) : buffer_(buffer), limit_(limit) {
    // One byte more than the limit, to tell "exactly at the limit" from "above it".
    const size_t first = std::min(limit_ + 1, std::max<size_t>(4096, inputSize * 4));
    if (buffer_.size() < first) buffer_.resize(first);
  }

  /// Where to write next: at least one byte.
  MutableBytes room() {
    if (used_ == capacity()) buffer_.resize(std::min(limit_ + 1, std::max<size_t>(buffer_.size() * 2, 4096)));
    return MutableBytes(buffer_).subspan(used_, capacity() - used_);
  }
  /// Room for `count` bytes in one piece, or nothing if that goes beyond the limit.
  std::optional<MutableBytes> room(size_t count) {
    if (count > limit_ - used_) return std::nullopt;
    if (buffer_.size() < used_ + count) buffer_.resize(used_ + count);
    return MutableBytes(buffer_).subspan(used_, count);
  }
  /// False once more than the limit was written.
  bool wrote(size_t count) {
    used_ += count;
    return used_ <= limit_;
  }
  ByteView view() const { return ByteView(buffer_).first(used_); }
  std::unexpected<Error> tooLarge() const {
    return fail(ErrorCode::RecordListTooLarge,
                fmt::format("a record batch decompresses to more than the limit of {} bytes", limit_));
  }

 private:
  size_t capacity() const { return std::min(buffer_.size(), limit_ + 1); }

  ByteVector& buffer_;
  size_t limit_;
  size_t used_ = 0;
};

// ---- gzip

Result<void> compressGzip(int level, ByteView input, ByteVector& output) {
  z_stream stream{};
  // 15 bits of window, 16 more for the gzip header.
  if (deflateInit2(&stream, level == kDefaultLevel ? Z_DEFAULT_COMPRESSION : level, Z_DEFLATED, 15 + 16, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return fail(ErrorCode::InvalidConfig, fmt::format("gzip has no compression level {}", level));
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, deflateEnd);
  const size_t start = output.size();
  output.resize(start + deflateBound(&stream, input.size()));
  stream.next_in = const_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = output.data() + start;
  stream.avail_out = static_cast<uInt>(output.size() - start);
  const int result = deflate(&stream, Z_FINISH);
  TIDEMARK_INVARIANT(result == Z_STREAM_END, fmt::format("deflate ended with {}", result));
  output.resize(output.size() - stream.avail_out);
  return {};
}

Result<ByteView> decompressGzip(ByteView input, Output output) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return fail(ErrorCode::UnknownServerError, "no memory for gzip");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  stream.next_in = const_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  while (true) {
    const MutableBytes room = output.room();
    stream.next_out = room.data();
    stream.avail_out = static_cast<uInt>(room.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (!output.wrote(room.size() - stream.avail_out)) return output.tooLarge();
    if (result == Z_STREAM_END) {
      if (stream.avail_in == 0) return output.view();
      inflateReset(&stream);  // members may follow one another
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return corrupt(Codec::Gzip, stream.msg == nullptr ? "not a gzip stream" : stream.msg);
    } else if (stream.avail_in == 0 && stream.avail_out != 0) {
      return corrupt(Codec::Gzip, "they are cut off");
    }
  }
}

// ---- snappy

void compressSnappy(ByteView input, ByteVector& output) {
  output.insert(output.end(), kXerialMagic.begin(), kXerialMagic.end());
  for (int i = 0; i < 2; ++i) output.insert(output.end(), {0, 0, 0, 1});  // version, oldest compatible version
  while (!input.empty()) {
    const ByteView block = input.first(std::min(input.size(), kXerialBlockSize));
    const size_t start = output.size();
    output.resize(start + 4 + snappy::MaxCompressedLength(block.size()));
    size_t written = 0;
    snappy::RawCompress(reinterpret_cast<const char*>(block.data()), block.size(),
                        reinterpret_cast<char*>(output.data() + start + 4), &written);
    writeBigEndian<int32_t>(output.data() + start, static_cast<int32_t>(written));
    output.resize(start + 4 + written);
    input = input.subspan(block.size());
  }
}

Result<void> uncompressSnappyBlock(ByteView block, Output& output) {
  size_t size = 0;
  const char* data = reinterpret_cast<const char*>(block.data());
  if (!snappy::GetUncompressedLength(data, block.size(), &size)) return corrupt(Codec::Snappy, "no length");
  // Three bytes give at most 64: a length beyond that is a lie, not worth its memory.
  if (size > block.size() * 64) return corrupt(Codec::Snappy, "an impossible length");
  const std::optional<MutableBytes> room = output.room(size);
  if (!room) return output.tooLarge();
  if (!snappy::RawUncompress(data, block.size(), reinterpret_cast<char*>(room->data()))) {
    return corrupt(Codec::Snappy, "a block does not decompress");
  }
  output.wrote(size);
  return {};
}

Result<ByteView> decompressSnappy(ByteView input, Output output) {
  const auto isXerial = [](ByteView bytes) {
    return bytes.size() >= kXerialHeaderSize && std::equal(kXerialMagic.begin(), kXerialMagic.end(), bytes.begin());
  };
  if (!isXerial(input)) {
    TIDEMARK_TRY(uncompressSnappyBlock(input, output));
    return output.view();
  }
  input = input.subspan(kXerialHeaderSize);
  while (!input.empty()) {
    if (isXerial(input)) {  // streams may follow one another
      input = input.subspan(kXerialHeaderSize);
      continue;
    }
    if (input.size() < 4) return corrupt(Codec::Snappy, "a block's length is cut off");
    const int32_t size = readBigEndian<int32_t>(input.data());
    input = input.subspan(4);
    if (size < 0 || static_cast<size_t>(size) > input.size()) return corrupt(Codec::Snappy, "a block is cut off");
    TIDEMARK_TRY(uncompressSnappyBlock(input.first(static_cast<size_t>(size)), output));
    input = input.subspan(static_cast<size_t>(size));
  }
  return output.view();
}

// ---- lz4

Result<void> compressLz4(int level, ByteView input, ByteVector& output) {
  if (level != kDefaultLevel && (level < 1 || level > 17)) {
    return fail(ErrorCode::InvalidConfig, fmt::format("lz4 has no compression level {}", level));
  }
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;  // Kafka's Java reader knows no other
  // As Kafka does: the fast compressor at its default level 9, the thorough one at any other.
  preferences.compressionLevel =
      level == kDefaultLevel || level == 9 ? 0 : std::clamp(level, LZ4HC_CLEVEL_MIN, LZ4HC_CLEVEL_MAX);
  const size_t start = output.size();
  output.resize(start + LZ4F_compressFrameBound(input.size(), &preferences));
  const size_t written =
      LZ4F_compressFrame(output.data() + start, output.size() - start, input.data(), input.size(), &preferences);
  TIDEMARK_INVARIANT(LZ4F_isError(written) == 0, std::string(LZ4F_getErrorName(written)));
  output.resize(start + written);
  return {};
}

Result<ByteView> decompressLz4(std::array<ByteView, 2> pieces, Output output) {
  LZ4F_dctx* made = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION)) != 0) {
    return fail(ErrorCode::UnknownServerError, "no memory for lz4");
  }
  const std::unique_ptr<LZ4F_dctx, LZ4F_errorCode_t (*)(LZ4F_dctx*)> context(made, LZ4F_freeDecompressionContext);
  bool ended = false;
  for (ByteView input : pieces) {
    while (!input.empty()) {
      if (ended) return corrupt(Codec::Lz4, "bytes follow the frame");
      const MutableBytes room = output.room();
      size_t written = room.size();
      size_t taken = input.size();
      const size_t hint = LZ4F_decompress(context.get(), room.data(), &written, input.data(), &taken, nullptr);
      if (LZ4F_isError(hint) != 0) return corrupt(Codec::Lz4, LZ4F_getErrorName(hint));
      if (!output.wrote(written)) return output.tooLarge();
      input = input.subspan(taken);
      ended = hint == 0;
      // All input is inside the context, but there was no room for all output: go on without input.
      while (!ended && input.empty() && written == room.size()) {
        const MutableBytes more = output.room();
        written = more.size();
        taken = 0;
        const size_t rest = LZ4F_decompress(context.get(), more.data(), &written, input.data(), &taken, nullptr);
        if (LZ4F_isError(rest) != 0) return corrupt(Codec::Lz4, LZ4F_getErrorName(rest));
        if (!output.wrote(written)) return output.tooLarge();
        ended = rest == 0;
        if (written < more.size()) break;
      }
    }
  }
  if (!ended) return corrupt(Codec::Lz4, "they are cut off");
  return output.view();
}

/// xxHash32 with seed 0 of fewer than 16 bytes: what guards the frame descriptor.
uint32_t shortXxHash32(ByteView bytes) {
  constexpr uint32_t kPrime1 = 2654435761u, kPrime2 = 2246822519u, kPrime3 = 3266489917u, kPrime4 = 668265263u,
                     kPrime5 = 374761393u;
  const auto rotate = [](uint32_t value, int by) { return (value << by) | (value >> (32 - by)); };
  uint32_t hash = kPrime5 + static_cast<uint32_t>(bytes.size());
  for (; bytes.size() >= 4; bytes = bytes.subspan(4)) {
    const uint32_t word = __builtin_bswap32(readBigEndian<uint32_t>(bytes.data()));
    hash = rotate(hash + word * kPrime3, 17) * kPrime4;
  }
  for (const uint8_t byte : bytes) hash = rotate(hash + byte * kPrime5, 11) * kPrime1;
  hash = (hash ^ (hash >> 15)) * kPrime2;
  hash = (hash ^ (hash >> 13)) * kPrime3;
  return hash ^ (hash >> 16);
}

Result<void> checkLz4Header(ByteView input) {
  if (input.size() < kLz4HeaderSize) return corrupt(Codec::Lz4, "no frame header");
  if ((input[4] & kLz4IndependentBlocks) == 0) return corrupt(Codec::Lz4, "blocks depend on one another");
  return {};
}

// ---- zstd

Result<void> compressZstd(int level, ByteView input, ByteVector& output) {
  const size_t start = output.size();
  output.resize(start + ZSTD_compressBound(input.size()));
  const int used = level == kDefaultLevel ? 3 : level;
  if (used < ZSTD_minCLevel() || used > ZSTD_maxCLevel()) {
    output.resize(start);
    return fail(ErrorCode::InvalidConfig, fmt::format("zstd has no compression level {}", level));
  }
  const size_t written = ZSTD_compress(output.data() + start, output.size() - start, input.data(), input.size(), used);
  TIDEMARK_INVARIANT(ZSTD_isError(written) == 0, std::string(ZSTD_getErrorName(written)));
  output.resize(start + written);
  return {};
}

Result<ByteView> decompressZstd(ByteView input, Output output) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (!context) return fail(ErrorCode::UnknownServerError, "no memory for zstd");
  const unsigned long long told = ZSTD_getFrameContentSize(input.data(), input.size());
  if (told <= kOneStepLimit && ZSTD_findFrameCompressedSize(input.data(), input.size()) == input.size()) {
    const std::optional<MutableBytes> room = output.room(static_cast<size_t>(told));
    if (!room) return output.tooLarge();
    const size_t written = ZSTD_decompressDCtx(context.get(), room->data(), room->size(), input.data(), input.size());
    if (ZSTD_isError(written) != 0) return corrupt(Codec::Zstd, ZSTD_getErrorName(written));
    output.wrote(written);
    return output.view();
  }
  ZSTD_inBuffer from{input.data(), input.size(), 0};
  while (true) {
    const MutableBytes room = output.room();
    ZSTD_outBuffer to{room.data(), room.size(), 0};
    const size_t hint = ZSTD_decompressStream(context.get(), &to, &from);
    if (ZSTD_isError(hint) != 0) return corrupt(Codec::Zstd, ZSTD_getErrorName(hint));
    if (!output.wrote(to.pos)) return output.tooLarge();
    if (hint == 0 && from.pos == from.size) return output.view();
    if (from.pos == from.size && to.pos < to.size) return corrupt(Codec::Zstd, "they are cut off");
  }
}

}  // namespace

std::string_view codecName(Codec codec) noexcept {
  return kNames[static_cast<size_t>(codec)];
}

std::optional<Codec> codecByName(std::string_view name) noexcept {
  if (name == "uncompressed") return Codec::None;
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Codec>(found - kNames.begin());
}

std::optional<Codec> codecByNumber(int number) noexcept {
  if (number < 0 || number >= static_cast<int>(kNames.size())) return std::nullopt;
  return static_cast<Codec>(number);
}

Result<void> compress(Codec codec, int level, ByteView input, ByteVector& output) {
  switch (codec) {
    case Codec::None:
      output.insert(output.end(), input.begin(), input.end());
      return {};
    case Codec::Gzip:
      return compressGzip(level, input, output);
    case Codec::Snappy:
      compressSnappy(input, output);
      return {};
    case Codec::Lz4:
      return compressLz4(level, input, output);
    case Codec::Zstd:
      return compressZstd(level, input, output);
  }
  return {};
}

Result<ByteView> decompress(Codec codec, ByteView input, size_t limit, ByteVector& buffer) {
  switch (codec) {
    case Codec::None:
      return input;
    case Codec::Gzip:
      return decompressGzip(input, Output(buffer, limit, input.size()));
    case Codec::Snappy:
      return decompressSnappy(input, Output(buffer, limit, 0));
    case Codec::Lz4:
      TIDEMARK_TRY(checkLz4Header(input));
      return decompressLz4({input, ByteView()}, Output(buffer, limit, input.size()));
    case Codec::Zstd:
      return decompressZstd(input, Output(buffer, limit, input.size()));
  }
  return input;
}

Result<ByteView> decompressLz4OfFormat0(ByteView input, size_t limit, ByteVector& buffer) {
  TIDEMARK_TRY(checkLz4Header(input));
  // Those clients took the checksum over the magic as well. Feed a header with the right one, then the rest.
  std::array<uint8_t, kLz4HeaderSize> header;
  std::copy_n(input.begin(), header.size(), header.begin());
  const uint8_t wrong = static_cast<uint8_t>(shortXxHash32(input.first(kLz4HeaderSize - 1)) >> 8);
  if (header.back() == wrong) {
    header.back() = static_cast<uint8_t>(shortXxHash32(input.subspan(4, kLz4DescriptorSize - 1)) >> 8);
  }
  return decompressLz4({header, input.subspan(kLz4HeaderSize)}, Output(buffer, limit, input.size()));
}

}  // namespace tidemark::records
