#pragma once
// Intrusive reference counting. Releasing the head of a long chain destroys it with a worklist instead of
// recursion: a million calls are freed on the default stack.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>  // std::hash
#include <type_traits>
#include <utility>

#include "baton/support/node_pool.h"

namespace baton {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  virtual ~RefCounted() = default;

  static void* operator new(size_t bytes) { return node_pool::take(bytes); }
  static void operator delete(void* memory, size_t bytes) { node_pool::give(memory, bytes); }

  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(this);
  }
  uint32_t use_count() const { return count_.load(std::memory_order_relaxed); }

 private:
  static void destroy(const RefCounted* object);
  mutable std::atomic<uint32_t> count_{0};
};

/// A counted pointer to a RefCounted; null by default. Equality is identity.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* object) : object_(object) {
    if (object_) object_->retain();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  Ref(const Ref<U>& other) : Ref(static_cast<T*>(other.get())) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  Ref(Ref<U>&& other) noexcept : object_(other.detach()) {}
  ~Ref() {
    if (object_) object_->release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  /// Returns the pointer without decrementing the count.
  T* detach() { return std::exchange(object_, nullptr); }

  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }
  friend bool operator==(const Ref& a, std::nullptr_t) { return a.object_ == nullptr; }

 private:
  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace baton

template <class T>
struct std::hash<baton::Ref<T>> {
  size_t operator()(const baton::Ref<T>& ref) const { return std::hash<const void*>()(ref.get()); }
};
