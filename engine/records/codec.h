#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace tidemark::records {

/// How a batch's records are compressed; the numbers are those of the batch attributes' lowest three bits.
enum class Codec : uint8_t { None = 0, Gzip = 1, Snappy = 2, Lz4 = 3, Zstd = 4 };

/// Kafka's names of the codecs as in `compression.type`: "none", "gzip", "snappy", "lz4", "zstd".
std::string_view codecName(Codec codec) noexcept;
/// Also understands "uncompressed". Nothing for any other text ("producer" is not a codec).
std::optional<Codec> codecByName(std::string_view name) noexcept;
/// Nothing for the numbers 5 to 7, which no codec has.
std::optional<Codec> codecByNumber(int number) noexcept;

/// The codec's own default level (gzip −1, lz4 9, zstd 3, as Kafka's `compression.*.level`).
inline constexpr int kDefaultLevel = INT32_MIN;

/// Most bytes that one batch may decompress to when the caller names no limit.
inline constexpr size_t kDefaultDecompressedLimit = 128u << 20;

/// Compresses `input` behind what `output` holds already. Snappy is written with xerial's framing and lz4 in its frame
/// format, both as Kafka's clients do. Fails only if a library refuses the level.
Result<void> compress(Codec codec, int level, ByteView input, ByteVector& output);

/// Decompresses all of `input` into `buffer`, whose old contents are lost, and returns the part that was filled. The
/// buffer only grows, by doubling and never past `limit`, so that one buffer may serve many calls. Snappy: raw and
/// xerial. Errors: CorruptMessage for damaged input, RecordListTooLarge if the output would exceed `limit`.
/// With Codec::None the input itself is returned.
Result<ByteView> decompress(Codec codec, ByteView input, size_t limit, ByteVector& buffer);

/// As decompress() for lz4, but accepts the frame header checksum that Kafka's clients wrote in message format 0.
Result<ByteView> decompressLz4OfFormat0(ByteView input, size_t limit, ByteVector& buffer);

}  // namespace tidemark::records
