// Lists, options, trees, and functions on them. Semantically equal to Relay's standard library; order and
// layout differ.
#include "baton/text/std_library.h"

namespace baton::text {

// prelude.rly
const char* const kPrelude = R"relay(#[version = "0.0.5"]
type List[A] {
  Cons(A, List[A]),
  Nil,
}

type Option[A] {
  Some(A),
  None,
}

type Tree[A] {
  Rose(A, List[Tree[A]]),
}

def @compose[A, B, C](%f: fn (B) -> C, %g: fn (A) -> B) -> fn (A) -> C {
  fn (%x: A) -> C {
    %0 = %g(%x);
    %f(%0)
  }
}

def @concat[A](%xs: List[A], %ys: List[A]) -> List[A] {
  @foldr(Cons, %ys, %xs)
}

def @filter[A](%f: fn (A) -> bool, %xs: List[A]) -> List[A] {
  match (%xs) {
    Cons(%x: A, %rest: List[A]) => {
      %0 = %f(%x);
      if (%0) {
        %1 = @filter(%f, %rest);
        Cons(%x, %1)
      } else {
        @filter(%f, %rest)
      }
    },
    Nil => {
      Nil
    },
  }
}

def @flip[A, B, C](%f: fn (A, B) -> C) -> fn (B, A) -> C {
  fn (%b: B, %a: A) -> C {
    %f(%a, %b)
  }
}

def @foldl[A, B](%f: fn (A, B) -> A, %acc: A, %xs: List[B]) -> A {
  match (%xs) {
    Cons(%x: B, %rest: List[B]) => {
      %0 = %f(%acc, %x);
      @foldl(%f, %0, %rest)
    },
    Nil => {
      %acc
    },
  }
}

def @foldr[A, B](%f: fn (A, B) -> B, %acc: B, %xs: List[A]) -> B {
  match (%xs) {
    Cons(%x: A, %rest: List[A]) => {
      %0 = @foldr(%f, %acc, %rest);
      %f(%x, %0)
    },
    Nil => {
      %acc
    },
  }
}

def @foldr1[A](%f: fn (A, A) -> A, %xs: List[A]) -> A {
  match? (%xs) {
    Cons(%x: A, Nil) => {
      %x
    },
    Cons(%x: A, %rest: List[A]) => {
      %0 = @foldr1(%f, %rest);
      %f(%x, %0)
    },
  }
}

def @hd[A](%xs: List[A]) -> A {
  match? (%xs) {
    Cons(%x: A, _) => {
      %x
    },
  }
}

def @id[A](%x: A) -> A {
  %x
}

def @iterate[A](%f: fn (A) -> A, %n: int32) -> fn (A) -> A {
  %0 = equal(%n, 0);
  if (%0) {
    @id
  } else {
    %1 = subtract(%n, 1);
    %2 = @iterate(%f, %1);
    @compose(%f, %2)
  }
}

def @length[A](%xs: List[A]) -> int32 {
  match (%xs) {
    Cons(_, %rest: List[A]) => {
      %0 = @length(%rest);
      add(1, %0)
    },
    Nil => {
      0
    },
  }
}

def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {
  match (%xs) {
    Cons(%x: A, %rest: List[A]) => {
      %0 = %f(%x);
      %1 = @map(%f, %rest);
      Cons(%0, %1)
    },
    Nil => {
      Nil
    },
  }
}

def @map_accuml[A, B, C](%f: fn (A, B) -> (A, C), %init: A, %xs: List[B]) -> (A, List[C]) {
  let %updater: fn ((A, List[C]), B) -> (A, List[C]) = fn (%acc: (A, List[C]), %x: B) -> (A, List[C]) {
    %0 = %acc.0;
    let %f_out: (A, C) = %f(%0, %x);
    %1 = %f_out.1;
    %2 = %acc.1;
    %3 = %f_out.0;
    %4 = Cons(%1, %2);
    (%3, %4)
  };
  %5 = Nil;
  %6 = (%init, %5);
  @foldl(%updater, %6, %xs)
}

def @map_accumr[A, B, C](%f: fn (A, B) -> (A, C), %init: A, %xs: List[B]) -> (A, List[C]) {
  let %updater: fn (B, (A, List[C])) -> (A, List[C]) = fn (%x: B, %acc: (A, List[C])) -> (A, List[C]) {
    %0 = %acc.0;
    let %f_out: (A, C) = %f(%0, %x);
    %1 = %f_out.1;
    %2 = %acc.1;
    %3 = %f_out.0;
    %4 = Cons(%1, %2);
    (%3, %4)
  };
  %5 = Nil;
  %6 = (%init, %5);
  @foldr(%updater, %6, %xs)
}

def @nth[A](%xs: List[A], %n: int32) -> A {
  %0 = equal(%n, 0);
  if (%0) {
    @hd(%xs)
  } else {
    %1 = @tl(%xs);
    %2 = subtract(%n, 1);
    @nth(%1, %2)
  }
}

def @rev[A](%xs: List[A]) -> List[A] {
  %0 = fn (%h: A, %t: List[A]) -> List[A] {
    Cons(%h, %t)
  };
  %1 = @flip(%0);
  %2 = Nil;
  @foldl(%1, %2, %xs)
}

def @size[A](%t: Tree[A]) -> int32 {
  match (%t) {
    Rose(_, %sub_trees: List[Tree[A]]) => {
      %0 = @map(@size, %sub_trees);
      %1 = @sum(%0);
      add(1, %1)
    },
  }
}

def @sum(%xs: List[int32]) -> int32 {
  let %add_f: fn (int32, int32) -> int32 = fn (%x: int32, %y: int32) -> int32 {
    add(%x, %y)
  };
  @foldl(%add_f, 0, %xs)
}

def @tl[A](%xs: List[A]) -> List[A] {
  match? (%xs) {
    Cons(_, %rest: List[A]) => {
      %rest
    },
  }
}

def @tmap[A, B](%f: fn (A) -> B, %t: Tree[A]) -> Tree[B] {
  match (%t) {
    Rose(%v: A, %sub_trees: List[Tree[A]]) => {
      let %list_f: fn (Tree[A]) -> Tree[B] = fn (%tt: Tree[A]) -> Tree[B] {
        @tmap(%f, %tt)
      };
      %0 = %f(%v);
      %1 = @map(%list_f, %sub_trees);
      Rose(%0, %1)
    },
  }
}

def @unfoldl[A, B](%f: fn (A) -> Option[(A, B)], %seed: A) -> List[B] {
  %0 = @unfoldr(%f, %seed);
  @rev(%0)
}

def @unfoldr[A, B](%f: fn (A) -> Option[(A, B)], %seed: A) -> List[B] {
  %0 = %f(%seed);
  match (%0) {
    Some(%val: (A, B)) => {
      %1 = %val.0;
      %2 = %val.1;
      %3 = @unfoldr(%f, %1);
      Cons(%2, %3)
    },
    None => {
      Nil
    },
  }
}

def @update[A](%xs: List[A], %n: int32, %v: A) -> List[A] {
  %0 = equal(%n, 0);
  if (%0) {
    %1 = @tl(%xs);
    Cons(%v, %1)
  } else {
    %2 = @tl(%xs);
    %3 = subtract(%n, 1);
    %4 = @hd(%xs);
    %5 = @update(%2, %3, %v);
    Cons(%4, %5)
  }
}

def @zip[A, B](%xs: List[A], %ys: List[B]) -> List[(A, B)] {
  %0 = (%xs, %ys);
  match (%0) {
    (Cons(%x: A, %x_rest: List[A]), Cons(%y: B, %y_rest: List[B])) => {
      %1 = (%x, %y);
      %2 = @zip(%x_rest, %y_rest);
      Cons(%1, %2)
    },
    _ => {
      Nil
    },
  }
}
)relay";

}  // namespace baton::text
