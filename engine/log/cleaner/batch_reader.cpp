#include "log/cleaner/batch_reader.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::log {

using records::BatchCursor;
using records::Step;

BatchReader::BatchReader(const platform::File& file, uint64_t from, uint64_t end, size_t chunk, ByteVector& buffer,
                         std::function<Result<void>(size_t)> onRead, BatchCursor::Check check)
    : file_(file),
      end_(end),
      chunk_(std::max<size_t>(chunk, records::kBatchHeaderSize)),
      buffer_(buffer),
      onRead_(std::move(onRead)),
      check_(check),
      bufferStart_(from),
      wholeEnd_(from) {}

Result<bool> BatchReader::fill() {
  const uint64_t from = wholeEnd_;
  if (from >= end_) return false;
  size_t wanted = std::min<uint64_t>(chunk_, end_ - from);
  while (true) {
    buffer_.resize(wanted);
    TIDEMARK_ASSIGN(const size_t got, file_.readAt(from, buffer_));
    TIDEMARK_TRY(onRead_(got));
    const ByteView bytes = ByteView(buffer_).first(got);
    BatchCursor ahead(bytes);
    while (ahead.next() == Step::Next) {
    }
    if (ahead.position() > 0) {
      bufferStart_ = from;
      wholeEnd_ = from + ahead.position();
      cursor_ = BatchCursor(bytes.first(ahead.position()), check_);
      return true;
    }
    const auto length = got < records::kSizeAndMagic ? 0 : readBigEndian<int32_t>(bytes.data() + records::kLengthAt);
    const uint64_t claimed = length <= 0 ? 0 : records::kLogOverhead + static_cast<uint64_t>(length);
    if (claimed <= wanted || claimed > end_ - from)
      return fail(ErrorCode::CorruptMessage, fmt::format("{}: there is no whole batch at byte {} ({})", file_.path(),
                                                         from, records::describe(ahead.reason())));
    wanted = claimed;
  }
}

Result<Step> BatchReader::next() {
  while (true) {
    const Step step = cursor_.next();
    if (step == Step::Next) return step;
    if (step == Step::Corrupt)
      return fail(ErrorCode::CorruptMessage,
                  fmt::format("{}: the batch at byte {} is damaged ({})", file_.path(),
                              bufferStart_ + cursor_.position(), records::describe(cursor_.reason())));
    TIDEMARK_ASSIGN(const bool more, fill());
    if (!more) return Step::End;
  }
}

}  // namespace tidemark::log
