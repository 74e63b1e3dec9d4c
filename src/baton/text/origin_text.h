#pragma once
// Origins in text. Behind what carries them stands `/* from=4:8,5:8 made_for=6:8 "reason" */`, and behind a
// module's functions a table that says what these names are:
//
//   /* origins
//    * 4:8 = nn.dense(units=128) at "mlp.relay":4:8-4:16 name "fc1"
//    * 7:3 = nn.dropout(rate=0.5) at "mlp.relay":7:3-7:13 retired by "SimplifyInference" "dropout is the
//    identity"
//    */
//
// Comments to everybody else. A text with the table has, read again, the same origins in the same order.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "baton/ir/module.h"

namespace baton::text {

/// Gives origins their names in one text, and writes the comments.
class OriginWriter {
 public:
  /// The names of a module's origins, in the order of its table.
  void add_table(const OriginTable& table);
  /// Appends ` /* from=... */`; nothing for an empty set.
  void comment(const OriginSet& origins, std::string& out);
  /// Appends the table of `table`; nothing when it is empty.
  void append_table(const OriginTable& table, std::string& out);

 private:
  const std::string& name(const Origin& origin);
  void names(std::span<const Origin* const> origins, std::string& out);
  std::unordered_map<const Origin*, std::string> names_;
  std::unordered_map<std::string, int> taken_;
};

/// Reads them.
class OriginReader {
 public:
  /// Reads `key=value, key=value` (text::parse_attributes, which is above this file).
  using ReadAttributes = FunctionAttrs (*)(std::string text, std::string source_name);
  /// Looks for the table in `text`; without one the comments mean nothing.
  OriginReader(std::string_view text, ReadAttributes read_attributes);
  bool has_table() const { return !origins_.empty(); }
  /// What the comment ` from=...` says; nothing when it names no origin of the table.
  std::optional<OriginSet> read(std::string_view comment) const;
  /// Makes the origins those of `module`, which must be new.
  void enter(IRModuleNode& module) const;

 private:
  std::vector<Ref<const Origin>> lookup(std::string_view list) const;
  std::vector<Ref<const Origin>> origins_;
  std::map<std::string, Ref<const Origin>, std::less<>> by_name_;
  std::vector<std::pair<size_t, Retired>> retired_;
};

/// Whether a comment's text, behind `/*`, is one of these.
inline bool is_origin_comment(std::string_view text) {
  return text.starts_with(" from=") || text.starts_with(" made_for=");
}

}  // namespace baton::text
