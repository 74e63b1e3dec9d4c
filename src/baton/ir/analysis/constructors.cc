#include "baton/ir/analysis/constructors.h"

#include "baton/support/error.h"
#include "baton/support/hash.h"

namespace baton {

int32_t constructor_tag(const ConstructorNode& constructor) {
  if (constructor.tag() < 0) return -1;
  Hasher hasher;
  hasher.add_text(constructor.belongs_to()->name());
  const uint64_t byte = (hasher.value() >> 32) & 0x7f;  // a positive number
  return static_cast<int32_t>(byte << 24) | constructor.tag();
}

Constructor find_constructor(const IRModuleNode& module, int32_t tag) {
  Constructor found;
  for (const auto& [name, type] : module.type_defs()) {
    for (const Constructor& each : type->constructors()) {
      if (constructor_tag(*each) != tag) continue;
      if (found)
        throw Error("constructors " + found->belongs_to()->name() + "." + found->name() + " and " + name +
                    "." + each->name() + " share the tag " + std::to_string(tag) + ": ask by type and name");
      found = each;
    }
  }
  if (!found) throw Error("there is no constructor with the tag " + std::to_string(tag) + " in the module");
  return found;
}

Constructor find_constructor(const IRModuleNode& module, const std::string& type, const std::string& name) {
  const TypeData data = module.find_type(type);
  if (!data) throw Error("there is no data type " + type + " in the module");
  std::string names;
  for (const Constructor& each : data->constructors()) {
    if (each->name() == name) return each;
    names += (names.empty() ? "" : ", ") + each->name();
  }
  throw Error("data type " + type + " has no constructor " + name + ": it has " +
              (names.empty() ? "none" : names));
}

}  // namespace baton
