#include "baton/frontend/onnx/module_path.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "baton/support/base/json.h"

namespace baton::onnx {

namespace {

constexpr size_t kMostText = 200;  // of a line of Python: exporters write generated code, too

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  const size_t end = text.find_last_not_of(kBlanks);
  return end == text.npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

/// At most `most` bytes of it, without those that are no UTF-8: reports and pages show it.
std::string readable(std::string_view text, size_t most = std::string_view::npos) {
  std::string kept;
  for (size_t size = 0; !text.empty(); text.remove_prefix(std::max<size_t>(size, 1))) {
    size = utf8_size(text);
    if (kept.size() + size > most) break;
    kept += text.substr(0, size);
  }
  return kept;
}

/// "layer1.0.conv1" -> "layer1/0/conv1".
std::string with_slashes(std::string_view name) {
  std::string path;
  for (const std::string_view part : split(name, '.')) path = joined_path(path, part);
  return path;
}

/// One path of scopes of which each may repeat the name of the one around it: "layer1", "layer1.0", "conv1".
std::string path_of_scopes(const std::vector<std::string_view>& scopes) {
  std::string path;
  std::string_view last;
  for (const std::string_view scope : scopes) {
    const bool repeats =
        !last.empty() && scope.size() > last.size() && scope.starts_with(last) && scope[last.size()] == '.';
    path = joined_path(path, with_slashes(repeats ? scope.substr(last.size() + 1) : scope));
    last = scope;
  }
  return path;
}

/// "['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d']": qualified names of modules, then the operator's.
std::optional<std::string> of_name_scopes(std::string_view text) {
  const std::vector<std::string> names = python_texts(text);
  if (names.empty()) return std::nullopt;
  return path_of_scopes({names.begin(), names.end() - 1});
}

/// ": net.Net/layer1: torch.nn.Sequential/conv2d: aten.conv2d.default", whose last part is the operator's; of
/// other exporters a path.
std::optional<std::string> of_namespace(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::vector<std::string_view> scopes = split(text, '/');
  const bool has_classes = text.find(": ") != text.npos;
  if (!has_classes) return path_of_scopes(scopes);
  scopes.pop_back();
  for (std::string_view& scope : scopes) scope = trimmed(scope.substr(0, scope.find(':')));
  return path_of_scopes(scopes);
}

/// "['net.Net', 'torch.nn.Linear', 'aten.linear.default']": what is known without names.
std::optional<std::string> of_classes(std::string_view text) {
  const std::vector<std::string> classes = python_texts(text);
  if (classes.empty()) return std::nullopt;
  std::string path;
  // The first is the model, the last the operator.
  for (size_t i = 1; i + 1 < classes.size(); ++i)
    path = joined_path(path, classes[i].substr(classes[i].find_last_of('.') + 1));
  return path;
}

/// "/layer1/layer1.0/conv1/Conv"; of a fused node, "a/b/BiasAdd;a/b/Conv2D", that of its first.
std::optional<std::string> of_name(std::string_view name) {
  name = name.substr(0, name.find(';'));
  if (name.find('/') == name.npos) return std::nullopt;
  std::vector<std::string_view> scopes = split(name, '/');
  scopes.pop_back();
  return path_of_scopes(scopes);
}

bool is_installed(std::string_view file) {
  for (const std::string_view part : {"-packages/", "/lib/python", "/jax/_src/", "/torch/"})
    if (file.find(part) != file.npos) return true;
  return file.starts_with('<');  // generated code
}

std::optional<uint32_t> number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

/// `File "net.py", line 31, in forward`, as Python writes tracebacks.
std::optional<SourceLine> python_frame(std::string_view line) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ", kIn = ", in ";
  if (!line.starts_with(kFile)) return std::nullopt;
  line.remove_prefix(kFile.size());
  const size_t end = line.rfind(kLine);
  if (end == line.npos) return std::nullopt;
  const std::string_view behind = line.substr(end + kLine.size());
  const std::optional<uint32_t> at = number(behind);
  if (!at) return std::nullopt;
  SourceLine frame{std::string(line.substr(0, end)), *at};
  if (const size_t in = behind.find(kIn); in != behind.npos) frame.function = behind.substr(in + kIn.size());
  return frame;
}

/// "net.py:31 in forward", "net.py:31:4 (forward)", as jax2onnx and JAX write them.
std::optional<SourceLine> short_frame(std::string_view line) {
  const size_t blank = line.find(' ', std::min(line.rfind(':'), line.size()));
  std::string_view place = line.substr(0, blank), function;
  if (blank != line.npos) function = trimmed(line.substr(blank));
  if (function.starts_with("in ")) function.remove_prefix(3);
  if (function.starts_with('(') && function.ends_with(')'))
    function = function.substr(1, function.size() - 2);
  std::vector<std::string_view> parts = split(place, ':');
  while (parts.size() > 2 && number(parts.back()) && number(parts[parts.size() - 2])) parts.pop_back();
  if (parts.size() < 2) return std::nullopt;
  const std::optional<uint32_t> at = number(parts.back());
  if (!at) return std::nullopt;
  const std::string_view file = place.substr(0, static_cast<size_t>(parts.back().data() - place.data()) - 1);
  return SourceLine{std::string(file), *at, std::string(function)};
}

std::vector<SourceLine> frames_of(std::string_view trace) {
  std::vector<SourceLine> frames;
  bool has_text = false;  // the next line may be the frame's
  for (const std::string_view each : split(trace, '\n')) {
    const std::string_view line = trimmed(each);
    if (std::optional<SourceLine> frame = python_frame(line)) {
      frames.push_back(std::move(*frame));
      has_text = true;
    } else if (has_text) {
      frames.back().text = readable(line, kMostText);
      has_text = false;
    } else if ((frame = short_frame(line))) {
      frames.push_back(std::move(*frame));
    }
  }
  return frames;
}

template <class Frames>
SourceLine first_of_user(const Frames& frames) {
  for (const SourceLine& frame : frames)
    if (frame && !is_installed(frame.file))
      return {readable(frame.file), frame.line, readable(frame.function), frame.text};
  return {};
}

}  // namespace

std::vector<std::string> python_texts(std::string_view list) {
  std::vector<std::string> texts;
  list = trimmed(list);
  if (!list.starts_with('[') || !list.ends_with(']')) return texts;
  for (size_t at = 1; at + 1 < list.size(); ++at) {
    const char quote = list[at];
    if (quote != '\'' && quote != '"') continue;
    std::string text;
    for (++at; at + 1 < list.size() && list[at] != quote; ++at) {
      if (list[at] == '\\' && at + 2 < list.size()) ++at;
      text += list[at];
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string module_path(const NodeFile& node, std::string_view around) {
  while (around.ends_with('/')) around.remove_suffix(1);
  for (const std::optional<std::string>& path :
       {of_name_scopes(text_of(node.metadata, "pkg.torch.onnx.name_scopes")),
        of_namespace(text_of(node.metadata, "namespace")),
        of_classes(text_of(node.metadata, "pkg.torch.onnx.class_hierarchy")), of_name(node.name)})
    if (path) return readable(path->empty() ? around : *path);
  return readable(around);
}

SourceLine source_line(const NodeFile& node) {
  std::vector<SourceLine> frames = frames_of(text_of(node.metadata, "pkg.torch.onnx.stack_trace"));
  std::ranges::reverse(frames);  // the innermost comes last
  if (SourceLine line = first_of_user(frames)) return line;
  // The innermost comes first.
  if (SourceLine line = first_of_user(frames_of(text_of(node.metadata, "pkg.jax2onnx.jax_traceback"))))
    return line;
  frames = frames_of(text_of(node.metadata, "pkg.jax2onnx.stacktrace"));
  std::ranges::reverse(frames);
  return first_of_user(frames);
}

}  // namespace baton::onnx
