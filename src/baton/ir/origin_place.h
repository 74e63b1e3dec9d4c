#pragma once
// Where an operator is in what the user wrote, beyond the text that it was read from: its module, and the
// line of Python that called it. See docs/design/0045-views.md.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "baton/support/ref.h"

namespace baton {

/// A line of the user's program.
struct SourceLine {
  std::string file = {};  ///< as it was recorded, perhaps on another machine; empty: not known
  uint32_t line = 0;
  std::string function = {};  ///< "forward"; empty: not known
  std::string text = {};      ///< of the line, without blanks around it; empty: not known

  explicit operator bool() const { return !file.empty() && line > 0; }
  auto operator<=>(const SourceLine&) const = default;
};

/// Operators at one place share it, so that each takes a pointer. Immutable.
class OriginPlace final : public RefCounted {
 public:
  explicit OriginPlace(std::string module, SourceLine line = {})
      : module_(std::move(module)), line_(std::move(line)) {}
  const std::string& module() const { return module_; }  ///< "layer1/0/conv1"; empty: none
  const SourceLine& line() const { return line_; }

 private:
  std::string module_;
  SourceLine line_;
};

/// Gives equal places one object.
class PlaceTable {
 public:
  /// Null where nothing is known.
  Ref<const OriginPlace> place(std::string_view module, SourceLine line);

 private:
  std::map<std::pair<std::string, SourceLine>, Ref<const OriginPlace>> known_;
};

/// "encoder/layer0" of "encoder" and "layer0"; either may be empty.
std::string joined_path(std::string_view outer, std::string_view inner);

}  // namespace baton
