#pragma once
// Positions as TVM 0.11.1 counts them. Printed text shows them (`span=from_string:3:12`), so that it equals
// TVM's; errors and origins have true positions. TVM's columns drift along a line: at the beginning of each
// word it looks for `meta[` and `inff`, and what it has read of them before they turn out not to be there is
// counted twice.
#include <cstdint>
#include <string_view>

#include "baton/text/token.h"

namespace baton::text {

/// How many characters of the beginning of `word` are counted twice.
inline uint32_t counted_twice(std::string_view word) {
  const std::string_view looked_for = word.starts_with('m') ? "meta[" : word.starts_with('i') ? "inff" : "";
  uint32_t count = 0;
  while (count < looked_for.size() && count < word.size() && word[count] == looked_for[count]) ++count;
  return count;
}

/// Gives `token` its column as TVM counts it, and moves `drift`, which is 0 at the beginning of each line.
inline void count_like_tvm(Token& token, uint32_t& drift) {
  const auto length = static_cast<uint32_t>(token.text.size());
  switch (token.kind) {
    case TokenKind::kLocal:
    case TokenKind::kGlobal:
      token.shown = token.column + drift;
      drift += counted_twice(token.text.substr(1));
      return;
    case TokenKind::kNumber:  // located behind
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
  // A word; of a dotted name each part, the first of them before the place is taken.
  token.shown += counted_twice(token.text);
  for (std::string_view rest = token.text;;) {
    drift += counted_twice(rest);
    const size_t dot = rest.find('.');
    if (dot == std::string_view::npos) return;
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace baton::text
