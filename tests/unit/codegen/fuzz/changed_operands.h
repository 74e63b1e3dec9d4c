#pragma once
// The calls of all operators' `.test_shapes` with one thing changed: an operand's shape, its element type, an
// attribute. What a type relation lets pass, a compute must be able to index or refuse.
#include <string>
#include <vector>

namespace baton::fuzz {

/// Case texts, in a fixed order. Most are ill typed.
std::vector<std::string> changed_operands();

}  // namespace baton::fuzz
