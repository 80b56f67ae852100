#include "metadata/snapshot_generator.h"

#include <utility>

#include "metadata/image_writer.h"
#include "platform/logger.h"
#include "platform/process.h"

namespace tidemark::metadata {

SnapshotGenerator::SnapshotGenerator(Setup setup)
    : setup_(std::move(setup)), last_(setup_.process->clock().monotonic()) {}

SnapshotGenerator::~SnapshotGenerator() = default;

void SnapshotGenerator::onCommitted(const CommittedState& state) {
  bytesRead_ = state.bytesRead;
}

void SnapshotGenerator::onUpdate(const Delta& delta, ImagePtr image) {
  const platform::MonotonicTime now = setup_.process->clock().monotonic();
  if (delta.isSnapshot()) {
    // There is one, and it is this.
    bytesAtLast_ = bytesRead_;
    last_ = now;
    return;
  }
  const bool enoughBytes = bytesRead_ - bytesAtLast_ >= setup_.maxBytes;
  const bool enoughTime = setup_.maxInterval > platform::Duration(0) && now - last_ >= setup_.maxInterval;
  if (!enoughBytes && !enoughTime) return;
  // What is not written now is noticed with the next commit.
  if (underWay_.exchange(true)) return;
  bytesAtLast_ = bytesRead_;
  last_ = now;
  begin(std::move(image));
}

void SnapshotGenerator::begin(ImagePtr image) {
  setup_.executor->post([this, image = std::move(image)] {
    if (const Result<void> written = write(*image); !written)
      setup_.process->log().warning("metadata", "No snapshot at offset {}: {}", image->provenance.lastContainedOffset,
                                    written.error().message);
    underWay_.store(false);
  });
}

Result<void> SnapshotGenerator::write(const Image& image) const {
  const Provenance& at = image.provenance;
  TIDEMARK_ASSIGN(const auto writer,
                  setup_.create({at.lastContainedOffset.next(), at.lastContainedEpoch}, at.lastContainedLogTimeMs));
  if (!writer) return {};
  TIDEMARK_ASSIGN(const std::vector<ByteVector> records, encodeRecords(writeRecords(image)));
  TIDEMARK_TRY(writer->append(records));
  return writer->freeze();
}

}  // namespace tidemark::metadata
