#pragma once
// Ref: a pointer to an object that counts its references: T has retain() and release().
#include <cstddef>
#include <string_view>  // std::hash
#include <type_traits>
#include <utility>
#include <vector>

namespace baton {

/// A counted pointer; null by default. Equality is identity.
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

/// Calls delete_one(object), which may release further objects through this function: they are deleted one
/// after the other, not within each other, so that long chains do not take the stack.
template <class T, class DeleteOne>
void delete_in_turn(const T* object, DeleteOne delete_one) {
  thread_local std::vector<const T*>* pending = nullptr;
  if (pending) {
    pending->push_back(object);
    return;
  }
  std::vector<const T*> list{object};
  pending = &list;
  while (!list.empty()) {
    const T* next = list.back();
    list.pop_back();
    delete_one(next);
  }
  pending = nullptr;
}

}  // namespace baton

template <class T>
struct std::hash<baton::Ref<T>> {
  size_t operator()(const baton::Ref<T>& ref) const { return std::hash<const void*>()(ref.get()); }
};
