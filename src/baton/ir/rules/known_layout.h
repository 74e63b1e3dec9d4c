#pragma once
// Layouts as the layout passes hold them: one object for each, compared by address.
#include <string_view>
#include <vector>

#include "baton/ir/layout.h"

namespace baton {

/// A layout that lives as long as its thread; equal ones are the same object there. Null: nobody said what
/// the axes mean.
using KnownLayout = const Layout*;
/// Null when `text` is no layout.
KnownLayout known_layout(std::string_view text);

/// How a tensor of the program lies. Both null: as in the program, and nobody said what its axes mean.
struct LayoutState {
  KnownLayout was = nullptr;  ///< the layout it has in the program
  KnownLayout now = nullptr;
  bool changed() const { return was && now && was != now; }
};
/// One per tensor, tuples flattened.
using LayoutStates = std::vector<LayoutState>;

}  // namespace baton
