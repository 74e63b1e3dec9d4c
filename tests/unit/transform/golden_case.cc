#include "transform/golden_case.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "baton/byoc/pattern_table.h"
#include "baton/byoc/target_rules.h"
#include "baton/codegen/backend.h"
#include "baton/driver/pipeline.h"
#include "baton/ir/visit.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/rewriter.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/transform/gradient/gradient.h"
#include "baton/types/infer_type.h"

#include "text/reference.h"
#include "transform/program_interpreter.h"

namespace baton::golden {

namespace {

AttrValue value_of(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  AttrList list;
  if (value.is_array())
    for (const Json& item : value) list.push_back(value_of(item));
  else
    for (const auto& [key, item] : value.items()) list.push_back(AttrList{key, value_of(item)});
  return list;
}

std::string shown(const IRModule& module) {
  PrintOptions options;
  options.version = options.types = options.spans = false;
  options.metadata = PrintOptions::Metadata::kNone;
  return print(*module, options);
}

IRModule infer(const IRModule& module) { return (*make_pass("InferType"))(module, host_context()); }

// Whether a parameter of a printed model is its input: variables of one name are told apart by numbers in
// text.
bool is_model_input(const std::string& name) {
  return name.starts_with("data") && name.find_first_not_of("0123456789", 4) == std::string::npos;
}

// Parameters of main become constants by the rule of tests/reference.
IRModule bind_params(const IRModule& module, const std::vector<std::string>& names, bool all) {
  const Function main = module->find("main");
  std::unordered_map<const ExprNode*, Expr> values;
  std::vector<Var> left;
  for (const Var& param : main->params()) {
    const bool bound =
        all ? !is_model_input(param->name()) : std::count(names.begin(), names.end(), param->name()) > 0;
    const auto* type = as_type<TensorTypeNode>(param->checked_type());
    if (!bound || !type || !type->is_static()) {
      left.push_back(param);
      continue;
    }
    NDArray value = parameter_value(param->name(), type->extents(), type->dtype());
    values.emplace(param.get(), Expr(make_constant(std::move(value), NodeInfo(OriginSet::none()))));
  }
  if (values.empty()) return module;
  const IRModule bound = module->copy();
  bound->set("main", make_function(left, substitute(main->body(), values), main->ret_type(), main->attrs(),
                                   NodeInfo(main->origins(), main->span())));
  return infer(bound);
}

struct ConstantFacts {
  std::string shape, dtype;
  double mean = 0, rms = 0;
  auto key() const { return std::tuple(shape, dtype, std::round(mean * 1e4), std::round(rms * 1e4)); }
};

std::vector<ConstantFacts> constants_of(const IRModuleNode& module) {
  std::vector<ConstantFacts> all;
  for (const auto& [name, function] : module.functions()) {
    post_order(Expr(function), [&](const Expr& node) {
      const auto* constant = as<ConstantNode>(node);
      if (!constant || constant->is_scalar()) return;
      const NDArray& value = constant->value();
      ConstantFacts facts{Json(value.shape()).dump(), value.dtype().str(), 0, 0};
      for (int64_t i = 0; i < value.size(); ++i) {
        const double x = run::element(value, i);
        facts.mean += x;
        facts.rms += x * x;
      }
      if (value.size() > 0) {
        facts.mean /= static_cast<double>(value.size());
        facts.rms = std::sqrt(facts.rms / static_cast<double>(value.size()));
      }
      all.push_back(facts);
    });
  }
  return all;
}

bool near(double a, double b) { return std::fabs(a - b) <= 1e-5 + 1e-3 * std::fabs(b); }

std::string compare_constants(const Json& expected, const IRModuleNode& module) {
  std::vector<ConstantFacts> want, got = constants_of(module);
  for (const Json& one : expected)
    want.push_back({one["shape"].dump(), one["dtype"].get<std::string>(), one["mean"].get<double>(),
                    one["rms"].get<double>()});
  if (want.size() != got.size())
    return std::to_string(got.size()) + " constants instead of " + std::to_string(want.size());
  const auto less = [](const ConstantFacts& a, const ConstantFacts& b) { return a.key() < b.key(); };
  std::sort(want.begin(), want.end(), less);
  std::sort(got.begin(), got.end(), less);
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i].shape != got[i].shape || want[i].dtype != got[i].dtype || !near(got[i].mean, want[i].mean) ||
        !near(got[i].rms, want[i].rms))
      return "constant " + got[i].dtype + got[i].shape + " has other values, or should be " + want[i].dtype +
             want[i].shape;
  }
  return "";
}

bool exists(const std::string& pass) {
  if (pass == "optimize") return true;
  static const std::set<std::string> names = [] {
    const auto all = pass_names();
    return std::set<std::string>(all.begin(), all.end());
  }();
  return names.count(pass) > 0;
}

// The pattern tables of the goldens' README, by name.
void register_golden_tables() {
  static const bool once = [] {
    const auto op = [](const char* name, std::vector<DFPattern> args) {
      return is_op(name)->call(std::move(args));
    };
    const auto conv = [&] { return op("nn.conv2d", {wildcard(), wildcard()}); };
    const auto bias = [&](const DFPattern& data) { return op("nn.bias_add", {data, wildcard()}); };
    const auto relu = [&](const DFPattern& data) { return op("nn.relu", {data}); };
    const auto dense = [&] { return op("nn.dense", {wildcard(), wildcard()}); };
    const auto add = [&] { return op("add", {wildcard(), wildcard()}); };
    register_pattern_table("conv2d_bias_relu", {{"byoc.conv2d_bias_relu", relu(bias(conv())), {}}});
    register_pattern_table("conv2d_relu", {{"byoc.conv2d_relu", relu(conv()), {}}});
    register_pattern_table("dense_bias",
                           {{"byoc.dense_bias", bias(dense()), {}}, {"byoc.dense", dense(), {}}});
    register_pattern_table("add_relu", {{"byoc.add_relu", relu(add()), {}}, {"byoc.add", add(), {}}});
    register_pattern_table("optional_bn", {{"byoc.conv_opt", conv()->optional(bias)->optional(relu), {}}});
    register_pattern_table("seed_cuda", {{"cuda.conv2d_relu_with_bias", relu(bias(conv())), {}},
                                         {"cuda.conv2d_relu_wo_bias", relu(conv()), {}}});
    return true;
  }();
  static_cast<void>(once);
}

// One step. "gradient" is no pass there: main is given a new function, as relay.transform.gradient makes it.
IRModule step_done(const Json& step, const IRModule& module, const BuildContext& context) {
  if (step[0] == "optimize") return optimize_as_tvm(module, step[1]["target"].get<std::string>(), context);
  if (step[0] != "gradient")
    return (*make_pass(step[0].get<std::string>(), pass_args(step[1])))(module, context);
  const IRModule result = module->copy();
  result->set("main",
              gradient(result->find("main"), result, gradient_mode(step[1].value("mode", "higher_order"))));
  infer_types(result);
  verify_origins(*result, "gradient");
  return result;
}

// Where two texts part, with a little before it.
std::string difference(const std::string& got, const std::string& want) {
  const auto [a, b] = std::mismatch(got.begin(), got.end(), want.begin(), want.end());
  const auto at = static_cast<size_t>(a - got.begin());
  const size_t from = at > 40 ? at - 40 : 0;
  return "got ..." + got.substr(from, 120) + "... instead of ..." + want.substr(from, 120) + "...";
}

}  // namespace

PassCases::PassCases() : cases_(text::reference("passes.jsonl.gz")) {
  register_golden_tables();
  for (const Json& input : text::reference("passes_inputs.jsonl"))
    texts_[input["id"].get<std::string>().substr(std::string("module/").size())] = input;
  for (const Json& model : text::reference("text.jsonl.gz")) {
    const std::string id = model["id"].get<std::string>();
    const size_t slash = id.rfind('/');
    if (model.value("kind", "") == "model")
      texts_["model:" + id.substr(slash + 1)] = {{"text", model["typed"]}};
  }
}

IRModule PassCases::input(const Json& which, std::string& why) {
  const std::string name = which["module"].get<std::string>();
  const bool all = which.contains("bind") && which["bind"].is_string();
  auto [at, fresh] = inputs_.try_emplace(name + (all ? "|bound" : ""));
  Input& input = at->second;
  if (fresh) {
    const auto text = texts_.find(name);
    if (text == texts_.end()) throw Error("no module " + name);
    try {
      input.module = infer(parse_module(text->second["text"].get<std::string>(), "from_string"));
      const auto names = text->second.value("bind", std::vector<std::string>());
      if (all || !names.empty()) input.module = bind_params(input.module, names, all);
    } catch (const Error& error) {
      input.module = {};
      input.why = error.what();
    }
  }
  why = input.why;
  return input.module;
}

IRModule PassCases::untyped_input(const Json& which) const {
  return parse_module(texts_.at(which["module"].get<std::string>())["text"].get<std::string>(),
                      "from_string");
}

Result PassCases::run(const Json& which) {
  for (const Json& step : which["steps"])
    if (step[0] != "gradient" && !exists(step[0].get<std::string>()))
      return {Verdict::kSkipped, "no pass " + step[0].get<std::string>()};
  std::string why;
  IRModule module = input(which, why);
  if (!module) return {Verdict::kSkipped, "module " + which["module"].get<std::string>() + ": " + why};
  try {
    {
      const TargetRules rules(which);
      BuildContext under = host_context().with_passes(pass_context(which));
      const InstrumentScope scope(under.passes);
      if (which.contains("target") && which["target"].is_string())
        under.targets = {Target::parse(which["target"].get<std::string>())};
      for (const Json& step : which["steps"]) module = step_done(step, module, under);
    }
    // There the result is one function.
    if (which["steps"].back()[0] == "Defunctionalization")
      module = module_from_expr(Expr(module->find("main")));
    const std::string got = structure_of(shown(module)),
                      want = structure_of(which["output"].get<std::string>());
    bool same = got == want;
    if (!same && which.contains("output_typed"))
      same = structure_of(shown(infer(module))) == structure_of(which["output_typed"].get<std::string>());
    if (!same) return {Verdict::kFailed, difference(got, want)};
    if (which.contains("consts")) why = compare_constants(which["consts"], *module);
    return {why.empty() ? Verdict::kPassed : Verdict::kFailed, why};
  } catch (const NotSupported& error) {
    return {Verdict::kSkipped, error.what()};
  } catch (const std::exception& error) {
    return {Verdict::kFailed, error.what()};
  }
}

std::string structure_of(const std::string& given) {
  std::string text = given.substr(0, given.find("#[metadata]"));
  std::string plain;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "/*") == 0) {
      const size_t end = text.find("*/", i);
      i = end == std::string::npos ? text.size() : end + 2;
    } else if (text.compare(i, 9, "#[version") == 0) {
      i = std::min(text.find(']', i), text.size() - 1) + 1;
    } else {
      plain += text[i++];
    }
  }
  constexpr std::string_view kHash = "hash=\"";
  for (size_t at = 0; (at = plain.find(kHash, at)) != std::string::npos;) {
    at += kHash.size();
    const size_t end = std::min(plain.find_first_not_of("0123456789abcdef", at), plain.size());
    if (end - at >= 8 && end - at <= 16 && end < plain.size() && plain[end] == '"')
      plain.replace(at, end - at, "?");
  }
  // Functions that LambdaLift makes are named after their hash there; here by the order in which they appear.
  std::map<std::string, int> lifted;
  for (size_t at = 0; (at = plain.find("lifted_name", at)) != std::string::npos;) {
    at += std::string_view("lifted_name").size();
    const size_t end = std::min(plain.find_first_not_of("0123456789_", at), plain.size());
    const int number =
        lifted.try_emplace(plain.substr(at, end - at), static_cast<int>(lifted.size())).first->second;
    plain.replace(at, end - at, "_" + std::to_string(number));
  }
  std::map<std::string, int> numbers;
  std::string result;
  for (size_t i = 0; i < plain.size();) {
    if (std::isspace(static_cast<unsigned char>(plain[i]))) {
      ++i;
    } else if (plain[i] == '%') {
      size_t end = i + 1;
      while (end < plain.size() &&
             (std::isalnum(static_cast<unsigned char>(plain[end])) || plain[end] == '_' ||
              (plain[end] == '.' && !std::isdigit(static_cast<unsigned char>(plain[i + 1])))))
        ++end;
      const auto at = numbers.try_emplace(plain.substr(i, end - i), static_cast<int>(numbers.size())).first;
      result += "%v" + std::to_string(at->second) + "_";
      i = end;
    } else {
      result += plain[i++];
    }
  }
  return result;
}

TargetRules::TargetRules(const Json& which) {
  const Json rules = which.value("register", Json::object());
  for (const auto& [key, ops] : rules.items()) {
    for (const Json& op : ops) {
      rules_.emplace_back(op.get<std::string>(), key.substr(std::string("target.").size()));
      register_target_rule(rules_.back().first, rules_.back().second, [](const Expr&) { return true; });
    }
  }
}

TargetRules::~TargetRules() {
  for (const auto& [op, compiler] : rules_) reset_target_rule(op, compiler);
}

PassArgs pass_args(const Json& args) {
  PassArgs result;
  for (const auto& [name, value] : args.items())
    result.emplace_back(name == "table" ? "pattern_table" : name, value_of(value));
  return result;
}

PassContextRef pass_context(const Json& which) {
  auto context = std::make_shared<PassContext>();
  const Json ctx = which.value("ctx", Json::object());
  context->opt_level = ctx.value("opt_level", 3);
  context->required_pass = ctx.value("required", std::vector<std::string>());
  context->disabled_pass = ctx.value("disabled", std::vector<std::string>());
  const Json config = ctx.value("config", Json::object());
  for (const auto& [key, value] : config.items()) context->config.set(key, value_of(value));
  context->instruments = {std::make_shared<OriginVerifier>()};
  return context;
}

}  // namespace baton::golden
