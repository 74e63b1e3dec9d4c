#pragma once
// Interned layouts, compared by address.
#include <string_view>
#include <vector>

#include "baton/ir/layout.h"

namespace baton {

/// A layout that lives as long as its thread; equal layouts are the same object within a thread. Null:
/// unknown.
using KnownLayout = const Layout*;
/// The interned layout; null when `text` is not a layout.
KnownLayout known_layout(std::string_view text);

/// The current and original layout of a tensor. Both null: unchanged and unknown.
struct LayoutState {
  KnownLayout was = nullptr;  ///< the layout in the original program
  KnownLayout now = nullptr;
  bool changed() const { return was && now && was != now; }
};
/// One per tensor, tuples flattened.
using LayoutStates = std::vector<LayoutState>;

}  // namespace baton
