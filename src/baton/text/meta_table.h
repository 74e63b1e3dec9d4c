#pragma once
// Metadata objects passed to the parser, for `meta[...]` references.
#include <map>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

/// The object `meta[type_key][index]`: attributes of a call, or any other value (ir/attr_objects.h for
/// expressions).
struct MetaObject {
  AttrValue value;
  Attrs attrs = {};
};
using MetaTable = std::map<std::string, std::vector<MetaObject>>;

}  // namespace baton
