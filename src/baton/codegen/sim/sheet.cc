#include "baton/codegen/sim/sheet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "baton/codegen/kernel/kernel.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/read_rule.h"
#include "baton/support/base/dtype.h"
#include "baton/support/base/files.h"
#include "baton/support/base/json.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/support/require.h"

namespace baton {
namespace {

constexpr std::array<std::string_view, 7> kClasses = {"conv",   "dense", "pool", "elementwise",
                                                      "reduce", "move",  "other"};
constexpr std::string_view kAny = "any";
constexpr size_t kLongestName = 20;
constexpr uintmax_t kLargestFile = 1 << 20;
constexpr double kLargestNumber = 1e12;
constexpr double kMostMemory = 1125899906842624;  // 2^50

/// The names of each object that is open, and the last one that it had before.
struct RepeatedName final : JsonConsumer {
  bool take(const JsonToken& token) override {
    if (token.kind == JsonKind::kObject || token.kind == JsonKind::kArray) open.emplace_back();
    if (token.kind == JsonKind::kEnd) open.pop_back();
    if (token.kind == JsonKind::kName && !open.back().emplace(token.text).second) repeated = token.text;
    return true;
  }
  std::vector<std::set<std::string>> open;
  std::string repeated;
};

std::string repeated_name(std::string_view json) {
  RepeatedName names;
  scan_json(json, names);
  return names.repeated;
}

/// Reads one sheet; `origin` begins each of its errors.
class SheetReader {
 public:
  explicit SheetReader(const std::string& origin) { sheet_.origin = origin; }

  SimSheet read(std::string_view text) {
    const Json json = parsed(text);
    check_keys(json, "", {"name", "doc", "memory", "launch_us", "link", "element_types", "gops"});
    sheet_.name = name(json);
    sheet_.doc = text_of(json, "doc");
    const Json& memory = part(json, "memory");
    check_keys(memory, "memory.", {"bytes", "gbytes_per_s"});
    const double bytes = number(memory, "memory.", "bytes", /*may_be_zero=*/false, kMostMemory);
    if (bytes != std::floor(bytes)) refuse("`memory.bytes` is not an integer: " + memory["bytes"].dump());
    sheet_.memory_bytes = static_cast<int64_t>(bytes);
    sheet_.memory_gbytes_per_s = number(memory, "memory.", "gbytes_per_s", false);
    sheet_.launch_us = number(json, "", "launch_us", true);
    const Json& link = part(json, "link");
    check_keys(link, "link.", {"latency_us", "gbytes_per_s"});
    sheet_.link_latency_us = number(link, "link.", "latency_us", true);
    sheet_.link_gbytes_per_s = number(link, "link.", "gbytes_per_s", false);
    read_types(json.at("element_types"));
    read_rates(part(json, "gops"));
    return std::move(sheet_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError("device sheet " + sheet_.origin + ": " + what);
  }

  Json parsed(std::string_view text) const {
    Json json;
    try {
      json = Json::parse(text);
    } catch (const JsonError& error) {
      refuse("it is no JSON: " + std::string(error.what()));
    }
    if (const std::string twice = repeated_name(text); !twice.empty())
      refuse("the key `" + twice + "` is there twice");
    if (!json.is_object()) refuse("it is no JSON object");
    return json;
  }

  void check_keys(const Json& object, const std::string& within,
                  const std::vector<std::string>& known) const {
    for (const auto& [key, value] : object.items()) {
      if (std::ranges::count(known, key)) continue;
      const std::string near = did_you_mean(key, known);
      refuse("there is no key `" + within + key + "`" +
             (near.empty() ? "" : "; did you mean `" + within + near + "`?"));
    }
    for (const std::string& key : known)
      if (!object.contains(key)) refuse("the key `" + within + key + "` is missing");
  }

  const Json& part(const Json& json, const char* key) const {
    const Json& value = json.at(key);
    if (!value.is_object()) refuse("`" + std::string(key) + "` is no object: " + value.dump());
    return value;
  }

  std::string text_of(const Json& json, const char* key) const {
    const Json& value = json.at(key);
    if (!value.is_string()) refuse("`" + std::string(key) + "` is no text: " + value.dump());
    return value.get<std::string>();
  }

  std::string name(const Json& json) const {
    std::string name = text_of(json, "name");
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    if (name.empty() || name.size() > kLongestName || !(name[0] >= 'a' && name[0] <= 'z') ||
        !std::ranges::all_of(name, fits))
      refuse("`name` is " + json.at("name").dump() +
             "; a name has 1 to 20 lower case letters, digits and _, a letter first");
    return name;
  }

  double checked(const Json& value, const std::string& key, bool may_be_zero, double most) const {
    if (!value.is_number()) refuse("`" + key + "` is no number: " + value.dump());
    const double number = value.get<double>();
    if (!std::isfinite(number) || number < 0 || (number == 0 && !may_be_zero) || number > most)
      refuse("`" + key + "` is " + value.dump() + (may_be_zero ? ", not 0 or more" : ", not more than 0") +
             (number > most ? " and at most " + Json(most).dump() : ""));
    return number;
  }
  double number(const Json& json, const std::string& within, const char* key, bool may_be_zero,
                double most = kLargestNumber) const {
    return checked(json.at(key), within + key, may_be_zero, most);
  }

  void read_types(const Json& list) {
    if (!list.is_array() || list.empty())
      refuse("`element_types` is no list of element types: " + list.dump());
    for (const Json& each : list) {
      const std::string type = each.is_string() ? each.get<std::string>() : each.dump();
      if (!each.is_string() || !DType::parse(type))
        refuse("`element_types` has " + each.dump() + ", which is no element type");
      sheet_.element_types.push_back(type);
    }
  }

  void read_rates(const Json& gops) {
    if (gops.empty()) refuse("`gops` names no operator: nothing could run there");
    for (const auto& [key, value] : gops.items()) {
      check_operator(key);
      SimRate& rate = sheet_.rates[key];
      if (value.is_boolean() && value.get<bool>()) {
        rate.free = true;
      } else if (value.is_object() && !value.empty()) {
        for (const auto& [type, each] : value.items()) {
          if (type != kAny && !std::ranges::count(sheet_.element_types, type))
            refuse("`gops." + key + "." + type + "`: " + type + " is not among its element types");
          rate.gops[type] = checked(each, "gops." + key + "." + type, false, kLargestNumber);
        }
      } else if (value.is_number()) {
        rate.gops[std::string(kAny)] = checked(value, "gops." + key, false, kLargestNumber);
      } else {
        refuse("`gops." + key + "` is " + value.dump() +
               "; it is a number, numbers by element type, or true where only moving bytes takes time");
      }
    }
  }

  void check_operator(const std::string& key) const {
    if (std::ranges::count(kClasses, key) || find_op(key)) return;
    std::vector<std::string> known(kClasses.begin(), kClasses.end());
    for (const OpDef* op : all_ops()) known.push_back(op->name);
    const std::string near = did_you_mean(key, known);
    refuse("`gops." + key + "`: there is no operator `" + key + "` and no class of that name" +
           (near.empty() ? " (classes: conv, dense, pool, elementwise, reduce, move, other)"
                         : "; did you mean `" + near + "`?"));
  }

  SimSheet sheet_;
};

std::string element_type(const TensorTypeNode& tensor) { return tensor.dtype().str(); }

/// The entry for an operator; null when there is none.
const SimRate* rate_of(const SimSheet& sheet, const OpDef& op) {
  auto at = sheet.rates.find(op.name);
  if (at == sheet.rates.end()) at = sheet.rates.find(std::string(cost_class(op)));
  return at == sheet.rates.end() ? nullptr : &at->second;
}

/// Its tensors: those of the operands, then of the result.
std::vector<const TensorTypeNode*> tensors_of(const CallNode& call) {
  std::vector<const TensorTypeNode*> all;
  for (const Expr& arg : call.args())
    for (const TensorTypeNode* type : flat_types(type_of(arg))) all.push_back(type);
  for (const TensorTypeNode* type : flat_types(call.checked_type())) all.push_back(type);
  return all;
}

/// Billions of operations per second of a call; 0: not supported for its element type.
double gops_of(const SimRate& rate, const std::vector<const TensorTypeNode*>& tensors) {
  auto at = tensors.empty() ? rate.gops.end() : rate.gops.find(element_type(*tensors.front()));
  if (at == rate.gops.end()) at = rate.gops.find(std::string(kAny));
  return at == rate.gops.end() ? 0 : at->second;
}

}  // namespace

SimSheet parse_sim_sheet(std::string_view json, const std::string& origin) {
  return SheetReader(origin).read(json);
}

std::string sim_sheet_text(const std::string& path) {
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(path, failed);
  if (failed) throw UsageError("device sheet " + path + " cannot be read: " + failed.message());
  if (bytes > kLargestFile)
    throw UsageError("device sheet " + path + " has " + std::to_string(bytes) +
                     " bytes; sheets are small JSON files");
  const Result<std::string> text = read_file(path);
  if (!text.ok()) throw UsageError("device sheet " + path + " cannot be read: " + text.status().message);
  return *text;
}

std::string sim_refusal(const SimSheet& sheet, const CallNode& call) {
  const OpDef* op = call.op();
  if (!op) return "it is not a call of an operator";
  if (!op->compute || op->non_computational) return "`" + op->name + "` has no kernel";
  const SimRate* rate = rate_of(sheet, *op);
  if (!rate)
    return "the sheet of " + sheet.name + " has neither `" + op->name + "` nor its class, " +
           std::string(cost_class(*op));
  const std::vector<const TensorTypeNode*> tensors = tensors_of(call);
  for (const TensorTypeNode* tensor : tensors) {
    if (!tensor->is_static()) return "a shape is not known: " + type_text(Type(tensor));
    if (!std::ranges::count(sheet.element_types, element_type(*tensor)))
      return sheet.name + " has no elements of type " + element_type(*tensor);
  }
  if (!rate->free && gops_of(*rate, tensors) == 0)
    return sheet.name + " does not compute `" + op->name + "` of " +
           (tensors.empty() ? "no operands" : element_type(*tensors.front()));
  const double bytes = bytes_held(call);
  if (bytes > static_cast<double>(sheet.memory_bytes))
    return "its tensors have " + std::to_string(static_cast<int64_t>(bytes)) + " bytes, the memory of " +
           sheet.name + " " + std::to_string(sheet.memory_bytes);
  return "";
}

std::string sim_refusal(const SimSheet& sheet, const FunctionNode& function) {
  for (const KernelBlock& block : kernel_blocks(function))
    if (std::string why = sim_refusal(sheet, *block.call); !why.empty()) return why;
  return "";
}

double sim_kernel_ns(const SimSheet& sheet, const FunctionNode& function) {
  double compute_ns = 0;
  std::vector<CostFacts> costs;
  for (const KernelBlock& block : kernel_blocks(function)) {
    costs.push_back(cost_of_call(*block.call));
    const SimRate* rate = rate_of(sheet, *block.call->op());
    const double gops = rate && !rate->free ? gops_of(*rate, tensors_of(*block.call)) : 0;
    if (gops > 0) compute_ns += costs.back().flops / gops;
  }
  const double move_ns = cost_of_function(function, costs).bytes / sheet.memory_gbytes_per_s;
  return sheet.launch_us * 1e3 + std::max(compute_ns, move_ns);
}

}  // namespace baton
