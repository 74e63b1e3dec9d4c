#pragma once
// Source texts and positions in them. Lines and columns count from 1, columns in bytes.
#include <cstdint>
#include <string>
#include <string_view>

#include "baton/support/ref.h"

namespace baton {

/// A named text that was read: a file, a string given in Python, or a module printed by us.
class Source : public RefCounted {
 public:
  Source(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}
  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  /// Line `number` (from 1) without its end; empty when there is none.
  std::string_view line(uint32_t number) const;

 private:
  std::string name_, text_;
};

/// A range in a source: from line:column up to, not including, end_line:end_column. Unknown: line 0.
struct Span {
  Ref<const Source> source;
  uint32_t line = 0, column = 0, end_line = 0, end_column = 0;
  /// Where TVM 0.11.1 says that it is, which printed text repeats (`span=`; text/tvm_position.h); line 0: as
  /// above. The parser moves it after the node was made: to the last reference of a variable, for one.
  /// Nothing else may.
  mutable uint32_t shown_line = 0, shown_column = 0;

  static constexpr uint32_t kNowhere = UINT32_MAX;  ///< as shown_line: printed text says nothing

  void show_at(uint32_t at_line, uint32_t at_column) const {
    shown_line = at_line;
    shown_column = at_column;
  }
  explicit operator bool() const { return line != 0; }
  /// The smallest range that holds both (of the same source; else `*this`).
  Span merge(const Span& other) const;
  /// "name:line:column"
  std::string text() const;
  /// The same with TVM's position.
  std::string shown_text() const;
};

}  // namespace baton
