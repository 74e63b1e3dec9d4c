#include "codegen/fuzz/changed_operands.h"

#include <algorithm>
#include <set>

#include "codegen/fuzz/kernel_case.h"
#include "codegen/fuzz/random_case.h"

namespace baton::fuzz {
namespace {

std::vector<Shape> other_shapes(const Shape& shape) {
  std::vector<Shape> all{Shape{}, Shape(shape.size(), 1)};
  const auto add = [&](auto&& change) {
    all.push_back(shape);
    change(all.back());
  };
  add([](Shape& s) { s.insert(s.begin(), 2); });
  add([](Shape& s) { s.push_back(2); });
  if (!shape.empty()) {
    add([](Shape& s) { s.erase(s.begin()); });
    add([](Shape& s) { s.pop_back(); });
    for (const int64_t by : {1, -1}) {
      add([by](Shape& s) { s.front() += by; });
      add([by](Shape& s) { s.back() += by; });
      add([by](Shape& s) { s[s.size() / 2] += by; });
    }
    add([](Shape& s) { s.front() = 0; });
    add([](Shape& s) { s.back() = 0; });
  }
  std::erase_if(all, [](const Shape& s) { return std::ranges::any_of(s, [](int64_t n) { return n < 0; }); });
  return all;
}

std::vector<std::string> other_values(const std::string& value) {
  if (value.empty()) return {};
  if (value[0] == '[') {
    const std::vector<std::string> items = split_list(value.substr(1, value.size() - 2));
    const auto text_of = [](const std::vector<std::string>& all) {
      std::string text;
      for (const std::string& item : all) text += (text.empty() ? "" : ", ") + item;
      return "[" + text + "]";
    };
    std::vector<std::string> all{"[]"};
    if (items.empty()) return {"[1]", "[2, 2]"};
    all.push_back(text_of({items.begin() + 1, items.end()}));
    std::vector<std::string> longer = items;
    longer.push_back(items.back());
    all.push_back(text_of(longer));
    for (const size_t at : {size_t{0}, items.size() - 1})
      for (const std::string& item : other_values(items[at])) {
        all.push_back(value);
        std::vector<std::string> changed = items;
        changed[at] = item;
        all.back() = text_of(changed);
      }
    return all;
  }
  if (value == "True" || value == "False") return {value == "True" ? "False" : "True"};
  const bool number = std::isdigit(static_cast<unsigned char>(value[0])) || value[0] == '-';
  if (!number || value.find_first_of(".ef") != std::string::npos) return {};
  return {"-2", "-1", "0", "1", "3", "9"};
}

}  // namespace

std::vector<std::string> changed_operands() {
  std::vector<std::string> all;
  std::set<std::string> known;
  const auto add = [&](const CaseCall& call) {
    const std::string text = case_text({call});
    if (known.insert(text).second) all.push_back(text);
  };
  for (const CaseCall& call : base_calls()) {
    for (size_t a = 0; a < call.args.size(); ++a)
      for (size_t t = 0; t < call.args[a].tensors.size(); ++t) {
        CaseCall changed = call;
        CaseTensor& tensor = changed.args[a].tensors[t];
        const CaseTensor was = tensor;
        for (const Shape& shape : other_shapes(was.shape)) {
          tensor = was;
          tensor.shape = shape;
          keep_values_valid(tensor, INT64_MAX);
          add(changed);
        }
        tensor = was;
        tensor.element = was.element[0] == 'f' ? "i32" : "f32";
        add(changed);
      }
    for (size_t k = 0; k < call.attrs.size(); ++k)
      for (const std::string& value : other_values(call.attrs[k].second)) {
        CaseCall changed = call;
        changed.attrs[k].second = value;
        add(changed);
      }
  }
  return all;
}

}  // namespace baton::fuzz
