#pragma once
// A callable that is used during a call only: two pointers, where std::function would own a copy of it and
// bring <functional> to every header that takes one.
#include <type_traits>
#include <utility>

namespace baton {

template <class Signature>
class FunctionRef;

/// What it was made from must live as long as it is called: it is for parameters.
template <class R, class... A>
class FunctionRef<R(A...)> {
 public:
  FunctionRef() = default;  ///< none
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& callable)
      : object_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* object, A... args) -> R {
          auto& function = *static_cast<std::remove_reference_t<F>*>(object);
          if constexpr (std::is_void_v<R>)
            function(std::forward<A>(args)...);
          else
            return function(std::forward<A>(args)...);
        }) {}

  explicit operator bool() const { return call_ != nullptr; }
  R operator()(A... args) const { return call_(object_, std::forward<A>(args)...); }

 private:
  void* object_ = nullptr;
  R (*call_)(void*, A...) = nullptr;
};

}  // namespace baton
