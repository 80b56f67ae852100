#include "platform/simulated/disk_tree.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace tidemark::platform {

void SimulatedMapping::put(uint64_t position, ByteView from) noexcept {
  if (position >= length_) return;
  const size_t count = std::min<uint64_t>(from.size(), length_ - position);
  if (count > 0) std::memcpy(bytes_.get() + position, from.data(), count);
}

void DiskNode::resize(uint64_t size) {
  *used_ += size;
  *used_ -= content.size();
  const uint64_t before = content.size();
  content.resize(size);
  if (size > before) {
    for (const auto& weak : mappings_) {
      if (const auto mapping = weak.lock()) mapping->put(before, ByteView(content).subspan(before));
    }
  }
}

void DiskNode::dirty(uint64_t from, uint64_t to) {
  const uint64_t durableEnd = std::min(to, durableSize_);
  for (uint64_t page = from / kPageSize; page * kPageSize < durableEnd; ++page) {
    if (dirty_.contains(page)) continue;
    if (auto lost = lost_.extract(page)) {
      dirty_.insert(std::move(lost));
      continue;
    }
    auto& before = dirty_[page].emplace();
    before.fill(0);
    const uint64_t start = page * kPageSize;
    const uint64_t end = std::min({start + kPageSize, durableSize_, static_cast<uint64_t>(content.size())});
    if (end > start) std::memcpy(before.data(), content.data() + start, end - start);
  }
  // Pages beyond the durable size that a failed sync gave up: written again, the next sync takes them.
  lost_.erase(lost_.lower_bound(std::max(from, durableEnd) / kPageSize),
              lost_.lower_bound((to + kPageSize - 1) / kPageSize));
}

void DiskNode::write(uint64_t position, ByteView bytes) {
  if (bytes.empty()) return;
  const uint64_t end = position + bytes.size();
  dirty(std::min<uint64_t>(position, content.size()), end);
  if (end > content.size()) resize(end);
  std::memcpy(content.data() + position, bytes.data(), bytes.size());
  for (size_t i = 0; i < mappings_.size();) {
    if (const auto mapping = mappings_[i].lock()) {
      mapping->put(position, bytes);
      ++i;
    } else {
      mappings_.erase(mappings_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

void DiskNode::truncate(uint64_t size) {
  if (size < content.size()) dirty(size, content.size());
  resize(size);
}

void DiskNode::sync() {
  dirty_.clear();
  durableSize_ = content.size();
}

void DiskNode::failSync() {
  lost_.merge(dirty_);
  dirty_.clear();
  for (uint64_t page = (durableSize_ + kPageSize - 1) / kPageSize; page * kPageSize < content.size(); ++page) {
    lost_.try_emplace(page);
  }
}

void DiskNode::losePower(Generator& choices, size_t sectorSize, DiskDamage& damage) {
  const uint64_t size = content.size();
  uint64_t survived = size;
  if (size != durableSize_) {
    const uint64_t low = std::min(size, durableSize_);
    const uint64_t high = std::max(size, durableSize_);
    switch (choices.below(4)) {
      case 0:
        survived = durableSize_;
        break;
      case 1:
        break;
      default: {
        const uint64_t sectors = (high - low) / sectorSize;
        survived = low + (sectors == 0 ? choices.below(high - low + 1) : choices.below(sectors + 1) * sectorSize);
        break;
      }
    }
  }
  ByteVector after(survived, 0);
  std::copy_n(content.begin(), std::min(survived, size), after.begin());
  const auto restore = [&](uint64_t from, uint64_t to, const DurablePage& page) {
    to = std::min(to, survived);
    if (from >= to) return;
    if (page) {
      std::memcpy(after.data() + from, page->data() + from % kPageSize, to - from);
    } else {
      std::memset(after.data() + from, 0, to - from);
    }
  };
  static const DurablePage kZeros;
  bool lost = false;
  bool kept = false;
  bool reordered = false;
  const auto note = [&](uint64_t from, uint64_t to) {
    to = std::min({to, survived, size});
    if (from >= to) return;
    const bool same =
        std::equal(after.begin() + static_cast<std::ptrdiff_t>(from), after.begin() + static_cast<std::ptrdiff_t>(to),
                   content.begin() + static_cast<std::ptrdiff_t>(from));
    reordered = reordered || (same && lost);
    (same ? kept : lost) = true;
  };
  const auto differs = [&](uint64_t sector, uint64_t count, const auto& durable) {
    const uint64_t to = std::min({sector + count, survived, size});
    return sector < to && std::memcmp(content.data() + sector, durable.data() + sector % kPageSize, to - sector) != 0;
  };
  for (uint64_t start = 0; start < survived; start += kPageSize) {
    const uint64_t page = start / kPageSize;
    if (const auto gone = lost_.find(page); gone != lost_.end()) {
      restore(start, start + kPageSize, gone->second);
      note(start, start + kPageSize);
      continue;
    }
    const auto dirty = dirty_.find(page);
    if (dirty == dirty_.end() && start + kPageSize <= durableSize_) continue;
    for (uint64_t sector = start; sector < start + kPageSize && sector < survived; sector += sectorSize) {
      if (dirty != dirty_.end()) {
        // What was cut off cannot have been written in its new form.
        const uint64_t from = choices.chance(50) ? sector : std::max(sector, size);
        restore(from, sector + sectorSize, dirty->second);
      } else if (sector >= durableSize_ && choices.chance(50)) {
        restore(sector, sector + sectorSize, kZeros);
      }
      // What the disk held in any case is neither kept nor lost.
      if (dirty == dirty_.end() ? sector + sectorSize > durableSize_ : differs(sector, sectorSize, *dirty->second))
        note(sector, sector + sectorSize);
    }
  }
  lost = lost || survived < size;
  damage.lost += lost;
  damage.torn += lost && kept;
  damage.reordered += reordered;
  resize(survived);
  content = std::move(after);
  dirty_.clear();
  lost_.clear();
  durableSize_ = survived;
  mappings_.clear();
}

std::shared_ptr<const Mapping> DiskNode::map(uint64_t length) {
  auto mapping = std::make_shared<SimulatedMapping>(length);
  mapping->put(0, content);
  mappings_.push_back(mapping);
  return mapping;
}

DiskTree::DiskTree(uint64_t seed) : root_(std::make_shared<DiskNode>(true, used)), choices_(seed) {}

Result<DiskTree::Place> DiskTree::find(const std::string& path) const {
  std::vector<std::string_view> parts;
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const auto part = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  Place place{nullptr, "", root_};
  for (const auto part : parts) {
    if (!place.node) return fail(ErrorCode::KafkaStorageError, fmt::format("{}: no such file or directory", path));
    if (!place.node->directory) return fail(ErrorCode::KafkaStorageError, fmt::format("{}: not a directory", path));
    place.directory = place.node;
    place.name = part;
    const auto found = place.directory->entries.find(place.name);
    place.node = found == place.directory->entries.end() ? nullptr : found->second;
  }
  return place;
}

DiskTree::Node DiskTree::create(const Place& place, bool directory) {
  auto node = std::make_shared<DiskNode>(directory, used);
  apply({{place.directory, place.name, node}});
  return node;
}

void DiskTree::remove(const Place& place) {
  apply({{place.directory, place.name, nullptr}});
}

void DiskTree::rename(const Place& from, const Place& to) {
  apply({{from.directory, from.name, nullptr}, {to.directory, to.name, from.node}});
}

void DiskTree::apply(Change change) {
  for (const auto& entry : change) {
    if (entry.node) {
      entry.directory->entries[entry.name] = entry.node;
    } else {
      entry.directory->entries.erase(entry.name);
    }
  }
  changes_.push_back(std::move(change));
  if (changes_.size() > kMaxUncertain) {
    makeDurable(changes_.front());
    changes_.pop_front();
  }
}

void DiskTree::makeDurable(const Change& change) {
  for (const auto& entry : change) {
    if (entry.node) {
      entry.directory->durableEntries[entry.name] = entry.node;
    } else {
      entry.directory->durableEntries.erase(entry.name);
    }
  }
}

void DiskTree::syncDirectory(const Node& directory) {
  // A change that touches two directories is certain in both or in neither, and so is what came before it there.
  std::vector<Node> touched{directory};
  const auto isTouched = [&](const Node& node) {
    return std::find(touched.begin(), touched.end(), node) != touched.end();
  };
  std::vector<bool> certain(changes_.size());
  for (size_t i = changes_.size(); i-- > 0;) {
    const auto& change = changes_[i];
    if (std::none_of(change.begin(), change.end(), [&](const Entry& entry) { return isTouched(entry.directory); }))
      continue;
    certain[i] = true;
    for (const auto& entry : change) {
      if (!isTouched(entry.directory)) touched.push_back(entry.directory);
    }
  }
  std::deque<Change> left;
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (certain[i]) {
      makeDurable(changes_[i]);
    } else {
      left.push_back(std::move(changes_[i]));
    }
  }
  changes_ = std::move(left);
}

void DiskTree::losePower() {
  const uint64_t survived = strictDirectories || choices_.chance(50) ? 0 : choices_.below(changes_.size() + 1);
  for (uint64_t i = 0; i < survived; ++i) makeDurable(changes_[i]);
  changes_.clear();
  std::vector<Node> open{root_};
  while (!open.empty()) {
    const Node node = std::move(open.back());
    open.pop_back();
    if (node->directory) {
      node->entries = node->durableEntries;
      for (const auto& [name, child] : node->entries) open.push_back(child);
    } else {
      node->losePower(choices_, sectorSize, damage);
    }
  }
}

uint64_t DiskTree::room(uint64_t bytes) const noexcept {
  return *used >= capacity ? 0 : std::min(bytes, capacity - *used);
}

void SimulatedDisk::setCapacity(uint64_t bytes) {
  tree_->capacity = bytes;
}
uint64_t SimulatedDisk::used() const noexcept {
  return *tree_->used;
}
const DiskDamage& SimulatedDisk::damage() const noexcept {
  return tree_->damage;
}
void SimulatedDisk::failWhen(std::function<bool(FileCall, const std::string&)> predicate) {
  tree_->failWhen = std::move(predicate);
}
void SimulatedDisk::losePower() {
  tree_->losePower();
}
bool SimulatedDisk::isDurable(const std::string& path) const {
  const auto place = tree_->find(path);
  if (!place || !place->node || !place->node->isDurable()) return false;
  const auto name = place->directory->durableEntries.find(place->name);
  return name != place->directory->durableEntries.end() && name->second == place->node;
}
void SimulatedDisk::setStrictDirectories(bool strict) noexcept {
  tree_->strictDirectories = strict;
}
void SimulatedDisk::setSectorSize(size_t bytes) noexcept {
  tree_->sectorSize = bytes;
}

}  // namespace tidemark::platform
