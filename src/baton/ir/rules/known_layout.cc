#include "baton/ir/rules/known_layout.h"

#include <memory>
#include <string>
#include <unordered_map>

namespace baton {

KnownLayout known_layout(std::string_view text) {
  // Programs use few distinct layouts, so the table stays small. Invalid layouts map to null.
  thread_local std::unordered_map<std::string, std::unique_ptr<const Layout>> known;
  const auto [at, fresh] = known.try_emplace(std::string(text));
  if (fresh)
    if (auto layout = Layout::parse(text)) at->second = std::make_unique<const Layout>(std::move(*layout));
  return at->second.get();
}

}  // namespace baton
