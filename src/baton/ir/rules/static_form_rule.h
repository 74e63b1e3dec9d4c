#pragma once
// The static form of an operator with a shape operand, used once that operand is constant. Attached through
// OpDef::rules, read by DynamicToStatic.
#include <string>
#include <vector>

namespace baton {

struct StaticFormRule {
  enum class Form { kInteger, kIntegers, kPairs, kNumber, kNumbers };
  /// An argument that becomes an attribute.
  struct Value {
    int arg;
    std::string attr;
    Form form = Form::kIntegers;
  };
  std::string op;             ///< "reshape"
  std::vector<Value> values;  ///< the other arguments are kept, in order
};

}  // namespace baton
