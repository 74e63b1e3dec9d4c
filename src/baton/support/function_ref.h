#pragma once
// A non-owning reference to a callable: two pointers, without the copy and the <functional> include of
// std::function.
#include <memory>
#include <type_traits>
#include <utility>

namespace baton {

template <class Signature>
class FunctionRef;

/// For parameters only: the referenced callable must outlive the calls.
template <class R, class... A>
class FunctionRef<R(A...)> {
 public:
  FunctionRef() = default;  ///< none
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& callable)
      : object_(address_of(callable)), call_([](void* object, A... args) -> R {
          using Callable = std::remove_reference_t<F>;
          if constexpr (std::is_function_v<Callable>)
            return static_cast<R>(reinterpret_cast<Callable*>(object)(std::forward<A>(args)...));
          else
            return static_cast<R>((*static_cast<Callable*>(object))(std::forward<A>(args)...));
        }) {}

  explicit operator bool() const { return call_ != nullptr; }
  R operator()(A... args) const { return call_(object_, std::forward<A>(args)...); }

 private:
  template <class F>
  static void* address_of(F& callable) {
    if constexpr (std::is_function_v<F>)
      return reinterpret_cast<void*>(&callable);
    else
      return const_cast<void*>(static_cast<const void*>(std::addressof(callable)));
  }

  void* object_ = nullptr;
  R (*call_)(void*, A...) = nullptr;
};

}  // namespace baton
