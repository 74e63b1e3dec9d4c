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

// Between these in the text stands the index of a constant. No printed text has control characters.
constexpr char kOpen = '\x01', kClose = '\x02';

constexpr const char* kStyle =
    "<style>.baton pre{margin:0 0 .5em;white-space:pre-wrap;line-height:1.35}.baton summary{cursor:pointer}"
    ".baton .k{color:#8250df}.baton .o{color:#0550ae}.baton .v{color:#953800}.baton .g{color:#116329;font-weight:600}"
    ".baton .s{color:#0a3069}.baton .n{color:#0550ae}.baton .c{color:#6e7781}.baton .a{color:#57606a}"
    ".baton details.w{display:inline-block;vertical-align:top;color:#6e7781}.baton details.w summary{display:inline}"
    ".baton .r{border-left:4px solid;padding-left:6px}.baton .b{padding:0 5px;border-radius:3px;color:#fff;font-size:85%}"
    "</style>";

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$'; }

std::string span_of(const char* kind, std::string_view text) {
  return std::string("<span class=\"") + kind + "\">" + html_escaped(text) + "</span>";
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// The element at `i` as a double; nothing for types without a plain C++ number.
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

std::string constant_text(const NDArray& value) {
  std::string text = type_text(tensor_type(value.shape(), value.dtype())) + ", " + std::to_string(value.size()) +
                     (value.size() == 1 ? " value" : " values");
  if (value.size() == 0 || !element(value, 0)) return text;
  double low = INFINITY, high = -INFINITY;
  std::string first;
  for (int64_t i = 0; i < value.size(); ++i) {
    const double each = *element(value, i);
    low = std::min(low, each);
    high = std::max(high, each);
    if (i < kFirstValues) first += (i ? ", " : "") + number_text(each);
  }
  return text + " in [" + number_text(low) + ", " + number_text(high) + "]: " + first +
         (value.size() > kFirstValues ? ", ..." : "");
}

/// Compilers in the order of the module, and what each was given.
struct Regions {
  std::map<std::string, size_t> colour_of;                 // of a compiler
  std::map<std::string, std::string> compiler_of;          // of a function by name
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

/// Printed text -> HTML.
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

  void string() {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    out_ += span_of("s", take(end + 1 - at_));
  }

  void global() {
    const std::string_view whole = name(1);
    const auto region = regions_.compiler_of.find(std::string(whole.substr(1)));
    if (region == regions_.compiler_of.end()) {
      out_ += span_of("g", whole);
      return;
    }
    out_ += "<span class=\"b\" title=\"" + html_escaped(region->second) + "\" style=\"background:" +
            html_colour(regions_.colour_of.at(region->second)) + "\">" + html_escaped(whole) + "</span>";
  }

  std::string_view number() {
    size_t end = at_;
    while (end < text_.size() && (is_name(text_[end]) ||
                                  ((text_[end] == '-' || text_[end] == '+') && text_[end - 1] == 'e')))
      ++end;
    return take(end - at_);
  }

  void word() {
    static const std::set<std::string_view> keywords = {"def", "fn", "if", "else", "let", "match", "type", "extern", "free_var"};
    const std::string_view found = name(0);
    if (keywords.count(found)) out_ += span_of("k", found);
    else if (peek() == '(') out_ += span_of("o", found);
    else if (peek() == '=') out_ += span_of("a", found);
    else out_ += html_escaped(found);
  }

  // Put right behind its name: that is folded with it.
  void constant() {
    const size_t end = text_.find(kClose, at_);
    const size_t index = std::stoul(std::string(text_.substr(at_ + 1, end - at_ - 1)));
    at_ = end + 1;
    out_ += "<details class=\"w\"><summary>&hellip;</summary>" + html_escaped(constant_text(constants_[index]->value())) + "</details>";
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

std::string counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// The text up to `lines` lines, and how many more there were.
std::string_view first_lines(std::string_view text, size_t lines, size_t& more) {
  size_t end = 0;
  for (; lines > 0 && end < text.size(); --lines) end = std::min(text.find('\n', end), text.size() - 1) + 1;
  more = static_cast<size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n'));
  return text.substr(0, end);
}

/// `text` without blank lines at its end.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

std::string block(std::string_view text, const IRModuleNode& module, const std::vector<Constant>& constants, const Regions& regions) {
  const std::string body = "<pre>" + Highlighter(trimmed(text), constants, regions).run() + "</pre>";
  if (!text.starts_with("def @")) return body;
  const std::string name(text.substr(5, text.find_first_of("([ ", 5) - 5));
  const Function function = module.find(name);
  if (!function) return body;
  const auto region = regions.compiler_of.find(name);
  std::string open = "<details open>", badge;
  if (region != regions.compiler_of.end()) {
    const std::string colour = html_colour(regions.colour_of.at(region->second));
    open = "<details open class=\"r\" style=\"border-color:" + colour + "\">";
    badge = " <span class=\"b\" style=\"background:" + colour + "\">" + html_escaped(region->second) + "</span>";
  }
  return open + "<summary>" + span_of("g", "@" + name) + ": " + counted(function->params().size(), "parameter") + ", " +
         counted(calls_in(function->body()), "operator") + badge + "</summary>" + body + "</details>";
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string html_colour(size_t index) {
  // Golden angle: neighbours differ, and there is no last one. Dark enough for white letters.
  return "hsl(" + std::to_string((index * 137 + 210) % 360) + ",55%,38%)";
}

std::string html(const IRModuleNode& module) {
  const Regions regions = regions_of(module);
  std::vector<Constant> constants;
  const std::string printed = print(module, options_for(constants));
  size_t more = 0;
  const std::string_view text = first_lines(printed, kLines, more);
  std::string out = std::string("<div class=\"baton\">") + kStyle;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find("\ndef @", begin), text.size());
    if (end != text.size()) ++end;
    if (!trimmed(text.substr(begin, end - begin)).empty()) out += block(text.substr(begin, end - begin), module, constants, regions);
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
  std::string out = std::string("<div class=\"baton\">") + kStyle + "<pre>" + Highlighter(trimmed(text), constants, {}).run() + "</pre>";
  if (more) out += "<p>" + counted(more, "more line") + ": print() shows all</p>";
  return out + "</div>";
}

}  // namespace baton
