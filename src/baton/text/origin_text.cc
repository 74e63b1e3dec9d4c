#include "baton/text/origin_text.h"

#include <charconv>

#include "baton/ir/op.h"
#include "baton/support/diagnostic.h"
#include "baton/text/literal.h"
#include "baton/text/origin_label.h"

namespace baton::text {

namespace {

constexpr std::string_view kTable = "/* origins\n";

// Escapes comment ends inside names.
std::string harmless(std::string text) {
  for (size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text.insert(at + 1, " ");
  for (size_t at = 0; (at = text.find("/*", at)) != std::string::npos;) text.insert(at + 1, " ");
  return text;
}

std::string in_quotes(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return harmless(std::move(out));
}

// The position after the closing quote of the string that begins at `at`; npos when it is not closed.
size_t string_end(std::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return std::string_view::npos;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

std::optional<uint32_t> take_number(std::string_view& text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

std::optional<std::string> take_string(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  const size_t end = string_end(text, 0);
  if (end == std::string_view::npos) return std::nullopt;
  std::string value = unquote(text.substr(0, end));
  text.remove_prefix(end);
  return value;
}

// The position of the parenthesis that closes the one at 0.
size_t closing(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      i = string_end(text, i);
      if (i == std::string_view::npos) return i;
      --i;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

// name:1:2-3:4
std::optional<Span> take_span(std::string_view& text,
                              std::map<std::string, Ref<const Source>, std::less<>>& sources) {
  auto name = take_string(text);
  if (!name || !take(text, ":")) return std::nullopt;
  Span span;
  uint32_t* const parts[] = {&span.line, &span.column, &span.end_line, &span.end_column};
  const char* const between[] = {":", "-", ":", ""};
  for (int i = 0; i < 4; ++i) {
    const auto number = take_number(text);
    if (!number || !take(text, between[i])) return std::nullopt;
    *parts[i] = *number;
  }
  auto& source = sources[*name];
  if (!source) source = make_ref<const Source>(*name, "");
  span.source = source;
  return span;
}

// ` in "layer1/0" written "net.py":31 "forward" "x = self.conv(x)"`, as far as it is known.
std::string place_text(const OriginPlace* place) {
  std::string text;
  if (!place) return text;
  if (!place->module().empty()) text += " in " + in_quotes(place->module());
  if (const SourceLine& line = place->line())
    text += " written " + in_quotes(line.file) + ":" + std::to_string(line.line) + " " +
            in_quotes(line.function) + " " + in_quotes(line.text);
  return text;
}

Ref<const OriginPlace> take_place(std::string_view& text, PlaceTable& places) {
  std::string module;
  SourceLine line;
  if (take(text, " in ")) module = take_string(text).value_or("");
  if (take(text, " written ")) {
    line.file = take_string(text).value_or("");
    if (take(text, ":")) line.line = take_number(text).value_or(0);
    if (take(text, " ")) line.function = take_string(text).value_or("");
    if (take(text, " ")) line.text = take_string(text).value_or("");
  }
  return places.place(module, std::move(line));
}

std::string attrs_text(const Attrs& attrs) {
  std::string text;
  if (!attrs) return text;
  for (const AttrField& field : attrs->schema().fields) {
    const AttrValue value = field.get(attrs->data());
    if (field.default_value && *field.default_value == value) continue;
    if (value.as<AttrObjectRef>()) continue;  // has no literal
    text += (text.empty() ? "" : ", ") + field.name + "=" + attr_text(value);
  }
  return text;
}

Attrs read_attrs(const std::string& op, std::string_view text, OriginReader::ReadAttributes read) {
  const OpDef* def = find_op(op);
  if (!def || !def->attrs) return {};
  try {
    return make_attrs(*def->attrs, read(std::string(text), "origins"));
  } catch (const Error&) {
    return {};  // written by another version: the origin keeps its position only
  }
}

}  // namespace

// ---- Writing

const std::string& OriginWriter::name(const Origin& origin) {
  std::string& known = names_[&origin];
  if (!known.empty()) return known;
  std::string name = origin.op();
  if (origin.span() && origin.span().column == 0)
    name = in_quotes(origin_name(origin));
  else if (origin.span())
    name = std::to_string(origin.span().line) + ":" + std::to_string(origin.span().column);
  else if (!origin.source_name().empty())
    name = in_quotes(origin.source_name());
  const int count = ++taken_[name];
  known = count == 1 ? name : name + "#" + std::to_string(count);
  return known;
}

void OriginWriter::add_table(const OriginTable& table) {
  for (uint32_t id = 0; id < table.size(); ++id) name(table.at(OriginId(id)));
}

void OriginWriter::names(std::span<const Origin* const> origins, std::string& out) {
  for (size_t i = 0; i < origins.size(); ++i) {
    if (i) out += ',';
    out += name(*origins[i]);
  }
}

void OriginWriter::comment(const OriginSet& origins, std::string& out) {
  if (origins.empty()) return;
  out += " /*";
  if (!origins.origins().empty()) {
    out += " from=";
    names(origins.origins(), out);
  }
  if (!origins.causes().empty()) {
    out += " made_for=";
    names(origins.causes(), out);
  }
  if (!origins.reason().empty()) out += ' ' + in_quotes(origins.reason());
  out += " */";
}

void OriginWriter::append_table(const OriginTable& table, std::string& out) {
  if (table.size() == 0) return;
  out += "\n/* origins\n";
  for (uint32_t id = 0; id < table.size(); ++id) {
    const Origin& origin = table.at(OriginId(id));
    out += " * " + name(origin) + " = " + origin.op() + "(" + harmless(attrs_text(origin.attrs())) + ")";
    if (const Span& span = origin.span())
      out += " at " + in_quotes(span.source ? span.source->name() : "") + ":" + std::to_string(span.line) +
             ":" + std::to_string(span.column) + "-" + std::to_string(span.end_line) + ":" +
             std::to_string(span.end_column);
    if (!origin.source_name().empty()) out += " name " + in_quotes(origin.source_name());
    out += place_text(origin.place());
    if (const Retired* retired = table.retired(OriginId(id)))
      out += " retired by " + in_quotes(retired->pass) + " " + in_quotes(retired->reason);
    out += '\n';
  }
  out += " */\n";
}

// ---- Reading

OriginReader::OriginReader(std::string_view text, ReadAttributes read_attributes) {
  const size_t start = text.rfind(kTable);
  if (start == std::string_view::npos || (start > 0 && text[start - 1] != '\n')) return;
  text.remove_prefix(start + kTable.size());
  std::map<std::string, Ref<const Source>, std::less<>> sources;
  PlaceTable places;
  while (take(text, " * ")) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t name_end = line.starts_with('"') ? string_end(line, 0) : 0;
    if (name_end == std::string_view::npos) continue;
    const size_t equals = line.find(" = ", name_end);
    if (equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals);
    line.remove_prefix(equals + 3);
    const size_t open = line.find('('),
                 close = open == std::string_view::npos ? open : closing(line.substr(open));
    if (close == std::string_view::npos) continue;
    std::string op(line.substr(0, open));
    Attrs attrs = read_attrs(op, line.substr(open + 1, close - 1), read_attributes);
    line.remove_prefix(open + close + 1);
    Span span;
    std::string source_name;
    if (take(line, " at ")) span = take_span(line, sources).value_or(Span());
    if (take(line, " name ")) source_name = take_string(line).value_or("");
    Ref<const OriginPlace> place = take_place(line, places);
    if (take(line, " retired by ")) {
      Retired retired{take_string(line).value_or(""), ""};
      if (take(line, " ")) retired.reason = take_string(line).value_or("");
      retired_.emplace_back(origins_.size(), std::move(retired));
    }
    origins_.push_back(Origin::create(std::move(op), std::move(attrs), std::move(span),
                                      std::move(source_name), std::move(place)));
    by_name_.emplace(name, origins_.back());
  }
}

std::vector<Ref<const Origin>> OriginReader::lookup(std::string_view list) const {
  std::vector<Ref<const Origin>> found;
  while (!list.empty()) {
    const size_t quote_end = list.starts_with('"') ? string_end(list, 0) : 0;
    if (quote_end == std::string_view::npos) break;
    const size_t end = std::min(list.find(',', quote_end), list.size());
    if (const auto at = by_name_.find(list.substr(0, end)); at != by_name_.end()) found.push_back(at->second);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return found;
}

std::optional<OriginSet> OriginReader::read(std::string_view comment) const {
  // Names contain no blanks unless they are quoted.
  const auto take_list = [&] {
    size_t end = 0;
    while (end < comment.size() && comment[end] != ' ') {
      if (comment[end] == '"')
        end = std::min(string_end(comment, end), comment.size());
      else
        ++end;
    }
    const std::string_view list = comment.substr(0, end);
    comment.remove_prefix(end);
    return lookup(list);
  };
  std::vector<OriginSet> sets;
  if (take(comment, " from="))
    for (const auto& origin : take_list()) sets.push_back(OriginSet::of(origin));
  if (take(comment, " made_for=")) {
    std::vector<OriginSet> causes;
    for (const auto& origin : take_list()) causes.push_back(OriginSet::of(origin));
    std::optional<std::string> reason;
    if (take(comment, " ")) reason = take_string(comment);
    if (!causes.empty() && reason && !reason->empty())
      sets.push_back(OriginSet::made_for(OriginSet::merge_all(causes), *reason));
  }
  if (sets.empty()) return std::nullopt;
  return OriginSet::merge_all(sets);
}

void OriginReader::enter(IRModuleNode& module) const {
  for (const auto& origin : origins_) module.origins().add(origin);
  for (const auto& [index, retired] : retired_)
    if (const auto id = module.origins().find(origins_[index].get())) module.origins().retire(*id, retired);
}

}  // namespace baton::text
