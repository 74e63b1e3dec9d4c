#pragma once
// The operator that one whose shape is a value becomes when the value is known. Attached through
// OpDef::rules, read by DynamicToStatic.
#include <string>
#include <vector>

namespace baton {

struct StaticFormRule {
  enum class Form { kInteger, kIntegers, kPairs, kNumber, kNumbers };
  /// An argument that turns into an attribute.
  struct Value {
    int arg;
    std::string attr;
    Form form = Form::kIntegers;
  };
  std::string op;             ///< "reshape"
  std::vector<Value> values;  ///< the other arguments stay, in order
};

}  // namespace baton
