#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

namespace tidemark::metadata {

/// An ordered map whose copies share everything: copying is O(1), a change copies the path to the changed entry (an AVL
/// tree). Entries never move or change once a copy was made, so a pointer into a copy stays valid while that copy
/// lives. Distinct copies may be used on different threads.
template <class Key, class Value, class Less = std::less<>>
class PersistentMap {
  struct Node;
  using Link = std::shared_ptr<const Node>;
  struct Node {
    std::pair<const Key, Value> entry;
    Link left;
    Link right;
    size_t size;
    int height;
    Node(std::pair<const Key, Value> e, Link l, Link r)
        : entry(std::move(e)),
          left(std::move(l)),
          right(std::move(r)),
          size(1 + sizeOf(left) + sizeOf(right)),
          height(1 + std::max(heightOf(left), heightOf(right))) {}
  };
  /// An AVL tree of that height would hold more than 2^40 entries.
  static constexpr size_t kMaxHeight = 60;

 public:
  using value_type = std::pair<const Key, Value>;

  /// In the order of keys. Valid while the map it came from (or a copy) lives.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = PersistentMap::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    Iterator() = default;
    reference operator*() const noexcept { return path_[depth_ - 1]->entry; }
    pointer operator->() const noexcept { return &path_[depth_ - 1]->entry; }
    Iterator& operator++() noexcept {
      const Node* node = path_[--depth_];
      pushLeft(node->right.get());
      return *this;
    }
    Iterator operator++(int) noexcept {
      Iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
      return a.depth_ == b.depth_ && (a.depth_ == 0 || a.path_[a.depth_ - 1] == b.path_[b.depth_ - 1]);
    }

   private:
    friend class PersistentMap;
    void pushLeft(const Node* node) noexcept {
      for (; node; node = node->left.get()) path_[depth_++] = node;
    }
    std::array<const Node*, kMaxHeight> path_{};
    size_t depth_ = 0;
  };
  using const_iterator = Iterator;

  size_t size() const noexcept { return sizeOf(root_); }
  bool empty() const noexcept { return !root_; }

  /// Nothing if there is no such key.
  template <class K>
  const Value* find(const K& key) const noexcept {
    for (const Node* node = root_.get(); node;) {
      if (Less{}(key, node->entry.first)) {
        node = node->left.get();
      } else if (Less{}(node->entry.first, key)) {
        node = node->right.get();
      } else {
        return &node->entry.second;
      }
    }
    return nullptr;
  }
  template <class K>
  bool contains(const K& key) const noexcept {
    return find(key) != nullptr;
  }

  void set(Key key, Value value) { root_ = inserted(root_, std::move(key), std::move(value)); }
  /// Whether there was such a key.
  template <class K>
  bool erase(const K& key) {
    if (!contains(key)) return false;
    root_ = erased(root_, key);
    return true;
  }
  void clear() noexcept { root_.reset(); }

  Iterator begin() const noexcept {
    Iterator it;
    it.pushLeft(root_.get());
    return it;
  }
  Iterator end() const noexcept { return {}; }
  /// The first entry whose key is not less than `key`.
  template <class K>
  Iterator lowerBound(const K& key) const noexcept {
    Iterator it;
    for (const Node* node = root_.get(); node;) {
      if (Less{}(node->entry.first, key)) {
        node = node->right.get();
      } else {
        it.path_[it.depth_++] = node;
        node = node->left.get();
      }
    }
    return it;
  }

  /// Whether both are the same tree (then equal in O(1); the reverse need not hold).
  bool sharesAllWith(const PersistentMap& other) const noexcept { return root_ == other.root_; }

  friend bool operator==(const PersistentMap& a, const PersistentMap& b) {
    return a.root_ == b.root_ || (a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin()));
  }

 private:
  static size_t sizeOf(const Link& link) noexcept { return link ? link->size : 0; }
  static int heightOf(const Link& link) noexcept { return link ? link->height : 0; }
  static Link make(value_type entry, Link left, Link right) {
    return std::make_shared<const Node>(std::move(entry), std::move(left), std::move(right));
  }

  /// A node of these three whose subtrees differ in height by at most two, balanced again.
  static Link balanced(const value_type& entry, Link left, Link right) {
    const int lean = heightOf(left) - heightOf(right);
    if (lean > 1) {
      if (heightOf(left->left) >= heightOf(left->right)) {
        return make(left->entry, left->left, make(entry, left->right, std::move(right)));
      }
      const Link& middle = left->right;
      return make(middle->entry, make(left->entry, left->left, middle->left),
                  make(entry, middle->right, std::move(right)));
    }
    if (lean < -1) {
      if (heightOf(right->right) >= heightOf(right->left)) {
        return make(right->entry, make(entry, std::move(left), right->left), right->right);
      }
      const Link& middle = right->left;
      return make(middle->entry, make(entry, std::move(left), middle->left),
                  make(right->entry, middle->right, right->right));
    }
    return make(entry, std::move(left), std::move(right));
  }

  static Link inserted(const Link& node, Key&& key, Value&& value) {
    if (!node) return make(value_type(std::move(key), std::move(value)), nullptr, nullptr);
    if (Less{}(key, node->entry.first)) {
      return balanced(node->entry, inserted(node->left, std::move(key), std::move(value)), node->right);
    }
    if (Less{}(node->entry.first, key)) {
      return balanced(node->entry, node->left, inserted(node->right, std::move(key), std::move(value)));
    }
    return make(value_type(std::move(key), std::move(value)), node->left, node->right);
  }

  template <class K>
  static Link erased(const Link& node, const K& key) {
    if (Less{}(key, node->entry.first)) return balanced(node->entry, erased(node->left, key), node->right);
    if (Less{}(node->entry.first, key)) return balanced(node->entry, node->left, erased(node->right, key));
    if (!node->left) return node->right;
    if (!node->right) return node->left;
    const Node* next = node->right.get();
    while (next->left) next = next->left.get();
    return balanced(next->entry, node->left, erased(node->right, next->entry.first));
  }

  Link root_;
};

}  // namespace tidemark::metadata
