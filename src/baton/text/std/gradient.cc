// Lazy gradients. Semantically equal to Relay's standard library; order and layout differ.
#include "baton/text/std_library.h"

namespace baton::text {

// gradient.rly
const char* const kGradient = R"relay(#[version = "0.0.5"]
type GradCell[T] {
  Raw(T),
  One(fn () -> T),
  Zero(fn () -> T),
}

def @AddGradCell[T](%add: fn (T, T) -> T, %l: GradCell[T], %r: GradCell[T]) -> GradCell[T] {
  %0 = (%l, %r);
  match (%0) {
    (Zero(_), _) => {
      %r
    },
    (_, Zero(_)) => {
      %l
    },
    _ => {
      %1 = @FromGradCell(%l);
      %2 = @FromGradCell(%r);
      %3 = %add(%1, %2);
      Raw(%3)
    },
  }
}

def @FromGradCell[T](%g: GradCell[T]) -> T {
  match (%g) {
    Raw(%x: T) => {
      %x
    },
    One(%x: fn () -> T) => {
      %x()
    },
    Zero(%x: fn () -> T) => {
      %x()
    },
  }
}

def @MultiplyGradCell[T](%multiply: fn (T, T) -> T, %l: GradCell[T], %r: GradCell[T]) -> GradCell[T] {
  %0 = (%l, %r);
  match (%0) {
    (Zero(_), _) => {
      %l
    },
    (_, Zero(_)) => {
      %r
    },
    (One(_), _) => {
      %r
    },
    (_, One(_)) => {
      %l
    },
    _ => {
      %1 = @FromGradCell(%l);
      %2 = @FromGradCell(%r);
      %3 = %multiply(%1, %2);
      Raw(%3)
    },
  }
}
)relay";

}  // namespace baton::text
