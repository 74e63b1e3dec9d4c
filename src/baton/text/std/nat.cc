// Natural numbers. Semantically equal to Relay's standard library; order and layout differ.
#include "baton/text/std_library.h"

namespace baton::text {

// nat.rly; requires the prelude
const char* const kNat = R"relay(#[version = "0.0.5"]
type nat {
  zero,
  succ(nat[]),
}

def @nat_add(%x: nat[], %y: nat[]) -> nat[] {
  match (%x) {
    zero => {
      %y
    },
    succ(%z: nat[]) => {
      %0 = @nat_add(%z, %y);
      succ(%0)
    },
  }
}

def @nat_double(%x: nat[]) -> nat[] {
  match (%x) {
    zero => {
      zero
    },
    succ(%y: nat[]) => {
      %0 = @nat_double(%y);
      %1 = succ(%0);
      succ(%1)
    },
  }
}

def @nat_iterate[A](%f: fn (A) -> A, %num: nat[]) -> fn (A) -> A {
  match (%num) {
    zero => {
      fn (%x: A) -> A {
        %x
      }
    },
    succ(%y: nat[]) => {
      fn (%i: A) -> A {
        %0 = @nat_iterate(%f, %y);
        %1 = %0(%i);
        %f(%1)
      }
    },
  }
}

def @nat_nth[A](%l: List[A], %n: nat[]) -> A {
  match (%n) {
    zero => {
      @hd(%l)
    },
    succ(%y: nat[]) => {
      %0 = @tl(%l);
      @nat_nth(%0, %y)
    },
  }
}

def @nat_update[A](%list: List[A], %index: nat[], %value: A) -> List[A] {
  match (%index) {
    zero => {
      %0 = @tl(%list);
      Cons(%value, %0)
    },
    succ(%index_pred: nat[]) => {
      %1 = @tl(%list);
      @nat_update(%1, %index_pred, %value)
    },
  }
}
)relay";

}  // namespace baton::text
