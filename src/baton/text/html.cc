#include "baton/text/html.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include "baton/ir/visit.h"
#include "baton/text/literal.h"
#include "baton/text/printer.h"

namespace baton {
namespace {

constexpr size_t kLines = 5000;
constexpr int kFirstValues = 8;
constexpr size_t kLongParameters = 300;  // in characters: a longer list is collapsed

// Delimiters of the index of a constant in the text. Printed text contains no control characters.
constexpr char kOpen = '\x01', kClose = '\x02';

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
}

std::string span_of(const char* kind, std::string_view text) {
  return std::string("<span class=\"") + kind + "\">" + html_escaped(text) + "</span>";
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// The element at `i` as a double; nullopt for types without a plain C++ number.
std::optional<double> element(const NDArray& array, int64_t i) {
  const DType type = array.dtype();
  const void* data = array.data();
  if (type.lanes != 1) return std::nullopt;
  const auto at = [&]<class T>(T) { return static_cast<double>(static_cast<const T*>(data)[i]); };
  if (type.is_float() && type.bits == 32) return at(float{});
  if (type.is_float() && type.bits == 64) return at(double{});
  if (type.is_int() && type.bits == 8) return at(int8_t{});
  if (type.is_int() && type.bits == 16) return at(int16_t{});
  if (type.is_int() && type.bits == 32) return at(int32_t{});
  if (type.is_int() && type.bits == 64) return at(int64_t{});
  if (type.is_uint() && type.bits <= 8) return at(uint8_t{});
  if (type.is_uint() && type.bits == 16) return at(uint16_t{});
  if (type.is_uint() && type.bits == 32) return at(uint32_t{});
  return std::nullopt;
}

/// "6 values in [0, 5]: 0, 1, 2, 3, 4, 5"
std::string values_text(const NDArray& value) {
  std::string text = counted(static_cast<size_t>(value.size()), "value");
  if (value.size() == 0 || !element(value, 0)) return text;
  double low = INFINITY, high = -INFINITY;
  bool nan = false;
  std::string first;
  for (int64_t i = 0; i < value.size(); ++i) {
    const double each = *element(value, i);
    nan |= std::isnan(each);
    low = std::fmin(low, each);  // ignores NaN
    high = std::fmax(high, each);
    if (i < kFirstValues) first += (i ? ", " : "") + number_text(each);
  }
  if (low <= high) text += " in [" + number_text(low) + ", " + number_text(high) + "]";
  if (nan) text += low <= high ? " and NaN" : ", all NaN";
  return text + ": " + first + (value.size() > kFirstValues ? ", ..." : "");
}

/// The external compilers in module order, and their functions.
struct Regions {
  std::map<std::string, size_t> colour_of;         // by compiler
  std::map<std::string, std::string> compiler_of;  // by function name
};

Regions regions_of(const IRModuleNode& module) {
  Regions regions;
  for (const auto& [name, function] : module.functions()) {
    const AttrValue* value = function->attr("Compiler");
    const std::string* compiler = value ? value->as<std::string>() : nullptr;
    if (!compiler) continue;
    regions.colour_of.emplace(*compiler, regions.colour_of.size());
    regions.compiler_of.emplace(name, *compiler);
  }
  return regions;
}

/// The position of the closing quote of the string that begins at `i`.
size_t string_end(std::string_view text, size_t i) {
  for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
  return std::min(i, text.size() - 1);
}

/// Converts printed text to HTML.
class Highlighter {
 public:
  Highlighter(std::string_view text, const std::vector<Constant>& constants, const Regions& regions)
      : text_(text), constants_(constants), regions_(regions) {}

  std::string run() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view take(size_t length) {
    const std::string_view taken = text_.substr(at_, length);
    at_ += taken.size();
    return taken;
  }
  std::string_view name(size_t skip) {
    size_t end = at_ + skip;
    while (end < text_.size() && is_name(text_[end])) ++end;
    return take(end - at_);
  }

  void step() {
    const char c = peek();
    if (c == '/' && peek(1) == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      out_ += span_of("c", take(end == std::string_view::npos ? text_.size() : end + 2 - at_));
    } else if (c == '"') {
      string();
    } else if (c == '%') {
      out_ += span_of("v", name(1));
    } else if (c == '@') {
      global();
    } else if (c == '#' && peek(1) == '[') {
      out_ += span_of("c", take(std::min(text_.find('\n', at_), text_.size()) - at_));
    } else if (c == kOpen) {
      constant();
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      out_ += span_of("n", number());
    } else if (is_name(c)) {
      word();
    } else {
      out_ += html_escaped(take(1));
    }
  }

  void string() { out_ += span_of("s", take(string_end(text_, at_) + 1 - at_)); }

  void global() {
    const std::string_view whole = name(1);
    const auto region = regions_.compiler_of.find(std::string(whole.substr(1)));
    if (region == regions_.compiler_of.end()) {
      out_ += span_of("g", whole);
      return;
    }
    out_ += "<span class=\"b\" title=\"" + html_escaped(region->second) +
            "\" style=\"background:" + html_colour(regions_.colour_of.at(region->second)) + "\">" +
            html_escaped(whole) + "</span>";
  }

  std::string_view number() {
    size_t end = at_;
    while (end < text_.size() &&
           (is_name(text_[end]) || ((text_[end] == '-' || text_[end] == '+') && text_[end - 1] == 'e')))
      ++end;
    return take(end - at_);
  }

  void word() {
    static const std::set<std::string_view> keywords = {"def",   "fn",   "if",     "else",    "let",
                                                        "match", "type", "extern", "free_var"};
    const std::string_view found = name(0);
    if (keywords.count(found))
      out_ += span_of("k", found);
    else if (peek() == '(')
      out_ += span_of("o", found);
    else if (peek() == '=')
      out_ += span_of("a", found);
    else
      out_ += html_escaped(found);
  }

  // A constant, placed right after its name so that both collapse together.
  void constant() {
    const size_t end = text_.find(kClose, at_);
    const size_t index = std::stoul(std::string(text_.substr(at_ + 1, end - at_ - 1)));
    at_ = end + 1;
    const NDArray& value = constants_[index]->value();
    out_ += "<details class=\"w\"><summary>" +
            html_escaped(type_text(tensor_type(value.shape(), value.dtype()))) + "</summary> " +
            html_escaped(values_text(value)) + "</details>";
  }

  std::string_view text_;
  const std::vector<Constant>& constants_;
  const Regions& regions_;
  size_t at_ = 0;
  std::string out_;
};

PrintOptions options_for(std::vector<Constant>& constants) {
  PrintOptions options;
  options.version = false;
  options.metadata = PrintOptions::Metadata::kNone;
  options.annotate = [&constants](const Expr& expr) -> std::string {
    if (Constant constant = as_ref<ConstantNode>(expr)) {
      if (constant->value().shape().empty()) return "";
      constants.push_back(std::move(constant));
      return kOpen + std::to_string(constants.size() - 1) + kClose;
    }
    if (expr->kind() != ExprKind::kCall || !expr->checked_type()) return "";
    return " /* ty=" + type_text(expr->checked_type()) + " */";
  };
  return options;
}

size_t calls_in(const Expr& expr) {
  size_t calls = 0;
  post_order(expr, [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    calls += call && call->op();
  });
  return calls;
}

/// The first `lines` lines of the text; `more` is the number of remaining lines.
std::string_view first_lines(std::string_view text, size_t lines, size_t& more) {
  size_t end = 0;
  for (; lines > 0 && end < text.size(); --lines) end = std::min(text.find('\n', end), text.size() - 1) + 1;
  more = static_cast<size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n'));
  return text.substr(0, end);
}

/// `text` without trailing blank lines.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

/// Wraps lines in blocks, so that CSS can indent the continuation of long ones. Newlines are kept for readers
/// without CSS.
std::string lines_of(std::string_view highlighted) {
  std::string out;
  while (!highlighted.empty()) {
    const size_t end = std::min(highlighted.find('\n'), highlighted.size());
    out += "<span class=\"l\">" + std::string(highlighted.substr(0, end)) + "\n</span>";
    highlighted.remove_prefix(std::min(end + 1, highlighted.size()));
  }
  return out;
}

/// The position of the bracket that closes the one at `open`; npos when there is none.
size_t closing(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '"') {
      i = string_end(text, i);
    } else if (text[i] == '(' || text[i] == '[') {
      ++depth;
    } else if ((text[i] == ')' || text[i] == ']') && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

/// Parameters on separate lines.
std::string listed(std::string_view parameters) {
  std::string out = "\n    ";
  int depth = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const char c = parameters[i];
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    out += c;
    if (c == '"') {
      const size_t end = string_end(parameters, i);
      out += parameters.substr(i + 1, end - i);
      i = end;
    } else if (c == ',' && depth == 0) {
      out += "\n    ";
      while (i + 1 < parameters.size() && parameters[i + 1] == ' ') ++i;
    }
  }
  return out + "\n";
}

/// A function's text, with long parameter lists collapsed.
std::string program(std::string_view text, size_t parameters, const std::vector<Constant>& constants,
                    const Regions& regions) {
  const auto highlighted = [&](std::string_view part) { return Highlighter(part, constants, regions).run(); };
  size_t open = text.find_first_of("([");
  if (open != std::string_view::npos && text[open] == '[')
    open = text.find('(', std::min(closing(text, open), text.size()));
  const size_t close = open == std::string_view::npos ? open : closing(text, open);
  if (close == std::string_view::npos || close - open < kLongParameters || parameters < 2)
    return "<pre>" + lines_of(highlighted(text)) + "</pre>";
  const size_t line_end = std::min(text.find('\n', close), text.size());
  return "<pre><span class=\"h\">" + highlighted(text.substr(0, open + 1)) +
         "<details class=\"p\"><summary>" + counted(parameters, "parameter") + "</summary>" +
         highlighted(listed(text.substr(open + 1, close - open - 1))) + "</details>" +
         highlighted(text.substr(close, line_end - close)) + "\n</span>" +
         lines_of(highlighted(text.substr(std::min(line_end + 1, text.size())))) + "</pre>";
}

std::string block(std::string_view text, const IRModuleNode& module, const std::vector<Constant>& constants,
                  const Regions& regions) {
  const std::string name =
      text.starts_with("def @") ? std::string(text.substr(5, text.find_first_of("([ ", 5) - 5)) : "";
  const Function function = name.empty() ? nullptr : module.find(name);
  const std::string body =
      program(trimmed(text), function ? function->params().size() : 0, constants, regions);
  if (!function) return body;
  const auto region = regions.compiler_of.find(name);
  std::string open = "<details open>", badge;
  if (region != regions.compiler_of.end()) {
    const std::string colour = html_colour(regions.colour_of.at(region->second));
    open = "<details open class=\"r\" style=\"border-color:" + colour + "\">";
    badge =
        " <span class=\"b\" style=\"background:" + colour + "\">" + html_escaped(region->second) + "</span>";
  }
  return open + "<summary>" + span_of("g", "@" + name) + ": " +
         counted(function->params().size(), "parameter") + ", " +
         counted(calls_in(function->body()), "operator") + badge + "</summary>" + body + "</details>";
}

}  // namespace

std::string html(const IRModuleNode& module) {
  const Regions regions = regions_of(module);
  std::vector<Constant> constants;
  const std::string printed = print(module, options_for(constants));
  size_t more = 0;
  const std::string_view text = first_lines(printed, kLines, more);
  std::string out = "<div class=\"baton\">" + html_style();
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find("\ndef @", begin), text.size());
    if (end != text.size()) ++end;
    if (!trimmed(text.substr(begin, end - begin)).empty())
      out += block(text.substr(begin, end - begin), module, constants, regions);
    begin = end;
  }
  if (more) out += "<p>" + counted(more, "more line") + ": print() shows all</p>";
  return out + "</div>";
}

std::string html(const Expr& expr) {
  std::vector<Constant> constants;
  const std::string printed = print(expr, options_for(constants));
  size_t more = 0;
  const std::string_view text = first_lines(printed, kLines, more);
  std::string out = "<div class=\"baton\">" + html_style() + "<pre>" +
                    lines_of(Highlighter(trimmed(text), constants, {}).run()) + "</pre>";
  if (more) out += "<p>" + counted(more, "more line") + ": print() shows all</p>";
  return out + "</div>";
}

}  // namespace baton
