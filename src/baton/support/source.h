#pragma once
// Source texts and positions. Lines and columns are 1-based, columns in bytes.
#include <cstdint>
#include <string>
#include <string_view>

#include "baton/support/ref.h"

namespace baton {

/// A named source text: a file, a Python string, or a module printed by Baton.
class Source : public RefCounted {
 public:
  Source(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}
  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  /// Line `number` (1-based) without its newline; empty when there is none.
  std::string_view line(uint32_t number) const;

 private:
  std::string name_, text_;
};

/// A half-open range in a source, from line:column to end_line:end_column. Line 0: unknown.
struct Span {
  Ref<const Source> source;
  uint32_t line = 0, column = 0, end_line = 0, end_column = 0;
  /// The position in TVM 0.11.1's counting, as printed (`span=`; text/tvm_position.h); line 0: as above. Only
  /// the parser may change it after construction, e.g. to the last reference of a variable.
  mutable uint32_t shown_line = 0, shown_column = 0;

  static constexpr uint32_t kNowhere = UINT32_MAX;  ///< for shown_line: no position is printed

  void show_at(uint32_t at_line, uint32_t at_column) const {
    shown_line = at_line;
    shown_column = at_column;
  }
  explicit operator bool() const { return line != 0; }
  /// The smallest range that covers both (of the same source; else `*this`).
  Span merge(const Span& other) const;
  /// "name:line:column"
  std::string text() const;
  /// The same with TVM's position.
  std::string shown_text() const;
};

}  // namespace baton
