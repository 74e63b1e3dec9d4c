#pragma once
// The children of a node: like a constant std::vector, with conversions from and to it, but allocated from
// the node pool (node_pool.h) and without spare capacity.
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "baton/support/node_pool.h"

namespace baton {

template <class T>
class NodeList {
 public:
  using value_type = T;
  using const_iterator = const T*;
  using iterator = const_iterator;

  NodeList() = default;
  NodeList(std::vector<T> from) : NodeList(from.size()) {
    std::uninitialized_move(from.begin(), from.end(), items_);
  }
  NodeList(std::initializer_list<T> from) : NodeList(from.size()) {
    std::uninitialized_copy(from.begin(), from.end(), items_);
  }
  NodeList(const NodeList& other) : NodeList(other.size()) {
    std::uninitialized_copy(other.begin(), other.end(), items_);
  }
  NodeList(NodeList&& other) noexcept
      : items_(std::exchange(other.items_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  NodeList& operator=(NodeList other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~NodeList() {
    if (!items_) return;
    std::destroy_n(items_, size_);
    node_pool::give(items_, size_ * sizeof(T));
  }
  operator std::vector<T>() const { return std::vector<T>(begin(), end()); }

  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }
  const T* data() const { return items_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t i) const { return items_[i]; }
  /// Throws std::out_of_range.
  const T& at(size_t i) const {
    if (i >= size_) throw std::out_of_range("child " + std::to_string(i) + " of " + std::to_string(size_));
    return items_[i];
  }
  const T& front() const { return items_[0]; }
  const T& back() const { return items_[size_ - 1]; }

  friend bool operator==(const NodeList& a, const NodeList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator==(const NodeList& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  explicit NodeList(size_t size)
      : items_(size ? static_cast<T*>(node_pool::take(size * sizeof(T))) : nullptr),
        size_(static_cast<uint32_t>(size)) {}

  T* items_ = nullptr;
  uint32_t size_ = 0;
};

}  // namespace baton
