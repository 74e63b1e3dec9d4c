#pragma once
// Attributes of annotation.compiler_begin and annotation.compiler_end.
#include <string>

#include "baton/ir/attrs.h"

namespace baton {

struct CompilerAttrs {
  std::string compiler = {};
};

}  // namespace baton
