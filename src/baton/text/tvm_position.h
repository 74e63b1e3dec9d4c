#pragma once
// Positions as counted by TVM 0.11.1. Printed text uses them (`span=from_string:3:12`) to equal TVM's; errors
// and origins have true positions. TVM's columns drift along a line: at the beginning of each word it looks
// ahead for `meta[` and `inff`, and the matched prefix is counted twice.
#include <cstdint>
#include <string_view>

#include "baton/text/token.h"

namespace baton::text {

/// The number of characters at the beginning of `word` that are counted twice.
inline uint32_t counted_twice(std::string_view word) {
  const std::string_view looked_for = word.starts_with('m') ? "meta[" : word.starts_with('i') ? "inff" : "";
  uint32_t count = 0;
  while (count < looked_for.size() && count < word.size() && word[count] == looked_for[count]) ++count;
  return count;
}

/// Sets the column of `token` in TVM's counting, and advances `drift`, which is 0 at the beginning of each
/// line.
inline void count_like_tvm(Token& token, uint32_t& drift) {
  const auto length = static_cast<uint32_t>(token.text.size());
  switch (token.kind) {
    case TokenKind::kLocal:
    case TokenKind::kGlobal:
      token.shown = token.column + drift;
      drift += counted_twice(token.text.substr(1));
      return;
    case TokenKind::kNumber:  // positioned after the token
    case TokenKind::kString:
      token.shown = token.column + drift + length;
      return;
    case TokenKind::kMeta:
      token.shown = token.column + drift + 5;
      return;
    case TokenKind::kMinus:
      token.shown = token.column + drift + 1;
      return;
    default:
      break;
  }
  token.shown = token.column + drift;
  if (token.text.empty() ||
      !((token.text[0] >= 'a' && token.text[0] <= 'z') || token.text[0] == 'T' || token.text[0] == 'F'))
    return;
  // A word; of a dotted name each part, the first before the position is recorded.
  token.shown += counted_twice(token.text);
  for (std::string_view rest = token.text;;) {
    drift += counted_twice(rest);
    const size_t dot = rest.find('.');
    if (dot == std::string_view::npos) return;
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace baton::text
