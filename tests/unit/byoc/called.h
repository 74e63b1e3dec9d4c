#pragma once
#include "baton/byoc/dataflow_pattern.h"

namespace baton {

/// The pattern of a call of that operator.
inline DFPattern called(const char* op, std::vector<DFPattern> args) {
  return is_op(op)->call(std::move(args));
}

}  // namespace baton
