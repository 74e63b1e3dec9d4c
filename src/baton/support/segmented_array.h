#pragma once
// A growing array with stable references: segments of 64, 128, 256, ... elements. For walks over large
// graphs: growing never copies, and a reference to an element stays valid until the element is removed.
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace baton {

template <class T>
class SegmentedArray {
 public:
  SegmentedArray() = default;
  SegmentedArray(const SegmentedArray&) = delete;
  SegmentedArray& operator=(const SegmentedArray&) = delete;
  ~SegmentedArray() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      while (size_ > 0) pop_back();
    for (size_t i = 0; i < segments_.size() && segments_[i]; ++i)
      std::allocator<T>().deallocate(segments_[i], kFirst << i);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t index) { return *slot(index); }
  const T& operator[](size_t index) const { return *slot(index); }
  T& back() { return *slot(size_ - 1); }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    const size_t segment = segment_of(size_);
    if (!segments_[segment]) segments_[segment] = std::allocator<T>().allocate(kFirst << segment);
    T* made = std::construct_at(slot(size_), std::forward<Args>(args)...);
    ++size_;
    return *made;
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  /// Keeps the memory for later elements.
  void pop_back() {
    std::destroy_at(slot(size_ - 1));
    --size_;
  }

 private:
  static constexpr size_t kFirst = 64;
  static constexpr int kFirstWidth = std::bit_width(kFirst);

  // With the first segment's length added, the highest bit of an index gives its segment.
  static size_t segment_of(size_t index) {
    return static_cast<size_t>(std::bit_width(index + kFirst) - kFirstWidth);
  }
  T* slot(size_t index) const {
    const size_t segment = segment_of(index);
    return segments_[segment] + (index + kFirst - (kFirst << segment));
  }

  std::array<T*, 64 - kFirstWidth + 1> segments_{};
  size_t size_ = 0;
};

}  // namespace baton
