#include "codegen/fuzz/kernel_case.h"

#include <algorithm>
#include <stdexcept>

namespace baton::fuzz {
namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

CaseTensor parse_tensor(const std::string& text) {
  const size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string::npos)
    throw std::runtime_error("no tensor: " + text);
  CaseTensor tensor;
  for (const std::string& extent : split_list(text.substr(1, end - 1)))
    tensor.shape.push_back(std::stoll(extent));
  size_t at = end + 1;
  while (at < text.size() && std::isalnum(static_cast<unsigned char>(text[at]))) tensor.element += text[at++];
  if (at < text.size() && text[at] == '=') tensor.constant = true, ++at;
  tensor.values = text.substr(at);
  return tensor;
}

std::string tensor_text(const CaseTensor& tensor) {
  std::string text = "(";
  for (const int64_t extent : tensor.shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ")" + tensor.element + (tensor.constant ? "=" : "") + tensor.values;
}

CaseArg parse_arg(const std::string& text) {
  CaseArg arg;
  if (text[0] == '_') {
    arg.previous = text;
  } else if (text[0] == '[') {
    arg.tuple = true;
    for (const std::string& field : split_list(text.substr(1, text.size() - 2)))
      arg.tensors.push_back(parse_tensor(field));
  } else {
    arg.tensors.push_back(parse_tensor(text));
  }
  return arg;
}

/// The calls of a chain are separated by ` | ` outside of quotes.
std::vector<std::string> split_calls(const std::string& text) {
  std::vector<std::string> calls{""};
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == '|' && !quoted)
      calls.emplace_back();
    else
      calls.back() += c;
  }
  return calls;
}

}  // namespace

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '(' || c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ')' || c == ']' || c == '}')) --depth;
    if (c == ',' && depth == 0 && !quoted) {
      parts.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  return parts;
}

KernelCase parse_case(const std::string& text) {
  KernelCase chain;
  for (const std::string& written : split_calls(text)) {
    const size_t colon = written.find(':');
    if (colon == std::string::npos) throw std::runtime_error("`OPERATOR: ARGUMENTS` is expected: " + written);
    CaseCall call;
    call.op = trimmed(written.substr(0, colon));
    for (const std::string& part : split_list(written.substr(colon + 1))) {
      const bool attr = std::isalpha(static_cast<unsigned char>(part[0]));
      const size_t equals = part.find('=');
      if (attr && equals != std::string::npos)
        call.attrs.emplace_back(trimmed(part.substr(0, equals)), trimmed(part.substr(equals + 1)));
      else
        call.args.push_back(parse_arg(part));
    }
    chain.push_back(std::move(call));
  }
  return chain;
}

std::string arguments_text(const CaseCall& call) {
  std::vector<std::string> parts;
  for (const CaseArg& arg : call.args) {
    if (!arg.previous.empty()) {
      parts.push_back(arg.previous);
      continue;
    }
    std::string fields;
    for (const CaseTensor& tensor : arg.tensors) fields += (fields.empty() ? "" : ", ") + tensor_text(tensor);
    parts.push_back(arg.tuple ? "[" + fields + "]" : fields);
  }
  for (const auto& [name, value] : call.attrs) parts.push_back(name + "=" + value);
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string case_text(const KernelCase& chain) {
  std::string text;
  for (const CaseCall& call : chain)
    text += (text.empty() ? "" : " | ") + call.op + ": " + arguments_text(call);
  return text;
}

}  // namespace baton::fuzz
