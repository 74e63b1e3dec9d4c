#include "baton/ir/origin_place.h"

namespace baton {

Ref<const OriginPlace> PlaceTable::place(std::string_view module, SourceLine line) {
  if (module.empty() && !line) return {};
  Ref<const OriginPlace>& known = known_[{std::string(module), line}];
  if (!known) known = make_ref<const OriginPlace>(std::string(module), std::move(line));
  return known;
}

std::string joined_path(std::string_view outer, std::string_view inner) {
  std::string path(outer);
  if (!outer.empty() && !inner.empty()) path += '/';
  return path.append(inner);
}

}  // namespace baton
