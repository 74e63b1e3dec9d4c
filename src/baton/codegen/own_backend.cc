#include "baton/codegen/own_backend.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>

#include <dlfcn.h>

#include "baton/byoc/region_json.h"
#include "baton/codegen/backend.h"
#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/op.h"
#include "baton/pass/inline_call.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/runtime/plugin.h"
#include "baton/support/base/environment.h"
#include "baton/support/error.h"
#include "baton/text/printer.h"

namespace baton {
namespace {

constexpr const char* kRegionJson = "RegionJSON";  // attribute of a kernel: what its backend compiles
constexpr const char* kRegionText = "RegionRelay";

/// Parses the pattern of a composite: `nn.relu(add(nn.dense(*, *), const))`.
class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : all_(text), rest_(text) {}

  DFPattern read() {
    DFPattern pattern = value();
    blanks();
    if (!rest_.empty()) refuse("does not end where it should");
    if (pattern->kind() != DFPatternKind::kCall) refuse("is no call");
    return pattern;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error("the pattern \"" + std::string(all_) + "\" " + what + ", at \"" + std::string(rest_) + "\"");
  }
  void blanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool accept(char token) {
    blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  DFPattern value() {
    if (accept('*')) return wildcard();
    const size_t end = std::min(rest_.find_first_of(" (),"), rest_.size());
    const std::string name(rest_.substr(0, end));
    if (name == "const") {
      rest_.remove_prefix(end);
      return is_constant();
    }
    if (!find_op(name)) refuse("names no operator");
    if (++depth_ > 64) refuse("is too deep");
    rest_.remove_prefix(end);
    if (!accept('(')) refuse("has an operator without arguments");
    std::vector<DFPattern> args;
    if (!accept(')')) {
      do {
        args.push_back(value());
      } while (accept(','));
      if (!accept(')')) refuse("lacks a )");
    }
    --depth_;
    return is_op(name)->call(std::move(args));
  }

  std::string_view all_, rest_;
  int depth_ = 0;
};

/// A region in the form of the C interface, with what its pointers refer to.
class CRegion {
 public:
  CRegion(std::string symbol, std::string json, std::string relay, std::vector<NDArray> constants)
      : symbol_(std::move(symbol)),
        json_(std::move(json)),
        relay_(std::move(relay)),
        arrays_(std::move(constants)) {
    for (size_t i = 0; i < arrays_.size(); ++i) {
      names_.push_back(symbol_ + "_const_" + std::to_string(i));
      dtypes_.push_back(arrays_[i].dtype().str());
    }
    for (size_t i = 0; i < arrays_.size(); ++i)
      constants_.push_back({names_[i].c_str(), dtypes_[i].c_str(), static_cast<int32_t>(arrays_[i].ndim()),
                            arrays_[i].shape().data(), arrays_[i].data(), arrays_[i].bytes()});
  }
  CRegion(const CRegion&) = delete;
  CRegion& operator=(const CRegion&) = delete;

  baton_region c() const {
    return {symbol_.c_str(), json_.c_str(), relay_.c_str(), constants_.data(), constants_.size()};
  }

 private:
  const std::string symbol_, json_, relay_;
  const std::vector<NDArray> arrays_;
  std::vector<std::string> names_, dtypes_;
  std::vector<baton_constant> constants_;
};

std::string text_of(const char* text) { return text ? text : ""; }

std::string relay_of(const Function& function) { return astext(Expr(function), /*show_meta_data=*/false); }

class OwnBackend {
 public:
  explicit OwnBackend(const baton_compiler& table) : table_(table) {}

  std::string refuses(const CallNode& call) const {
    if (!table_.refuses) return "";
    std::vector<Var> params;
    std::vector<Expr> args;
    for (const Expr& arg : call.args()) {
      if (as<ConstantNode>(arg)) {
        args.push_back(arg);
        continue;
      }
      const Type& type = type_of(arg);
      params.push_back(
          make_var("p" + std::to_string(params.size()), type, NodeInfo(OriginSet::none(), {}, type)));
      args.emplace_back(params.back());
    }
    const Type& type = call.checked_type();
    const Function function = make_function(
        params,
        make_call(call.callee(), std::move(args), call.attrs(), NodeInfo(OriginSet::none(), {}, type)), type,
        {}, NodeInfo(OriginSet::none()));
    try {
      const CRegion region("call", region_json(*function, "call", *function), relay_of(function),
                           region_constants(*function));
      const baton_region asked = region.c();
      return text_of(table_.refuses(&asked));
    } catch (const NotSupported& error) {
      return error.what();
    }
  }

  Built compile(std::span<const BackendFunction> functions) const {
    std::vector<std::unique_ptr<CRegion>> regions;
    Built built;
    for (const BackendFunction& each : functions) {
      std::string json = text_attr(*each.function, kRegionJson);
      // Its symbol is known only now: the name of the kernel in the plan.
      json = renamed(std::move(json), each.func_name);
      regions.push_back(std::make_unique<CRegion>(each.func_name, std::move(json),
                                                  text_attr(*each.function, kRegionText),
                                                  region_constants(*each.function)));
      built.kernels.push_back({each.func_name, each.function, {}, library_kernel(each, table_.name)});
    }
    built.blob = blob_of(regions);
    return built;
  }

  BuiltRegion region(const Function& function, const BuildContext& context) const {
    const Function open = without_attrs(function, {"Primitive"});  // otherwise passes would not enter it
    IRModule program = ::baton::make_module();
    program->set("main", as_ref<FunctionNode>(OpenCompositeInliner().run(Expr(open))));
    program = (*make_pass("InferType"))(program, context);
    const Function main = program->find("main");
    const std::string symbol = text_attr(*function, "global_symbol");
    std::string why;
    try {
      const std::string json = region_json(*function, kUnnamed, *main), relay = relay_of(open);
      std::vector<std::unique_ptr<CRegion>> one;
      one.push_back(std::make_unique<CRegion>(symbol, renamed(json, symbol), relay, region_constants(*main)));
      blob_of(one);  // what it claims and cannot compile is computed otherwise
      program->set("main", as_one_kernel(main, {{kRegionJson, json}, {kRegionText, relay}}));
      return {(*make_pass("InferType"))(program, context)};
    } catch (const NotSupported& error) {
      why = error.what();
    }
    return refused_region(table_.name, symbol, why, main, context);
  }

  const baton_compiler& table() const { return table_; }

 private:
  static constexpr const char* kUnnamed = "@region@";

  static std::string renamed(std::string json, const std::string& symbol) {
    const std::string from = kUnnamed;
    for (size_t at = 0; (at = json.find(from, at)) != std::string::npos; at += symbol.size())
      json.replace(at, from.size(), symbol);
    return json;
  }

  /// NotSupported with the library's own reason when it fails.
  std::string blob_of(const std::vector<std::unique_ptr<CRegion>>& regions) const {
    std::vector<baton_region> all;
    for (const auto& each : regions) all.push_back(each->c());
    void* blob = nullptr;
    size_t bytes = 0;
    if (const int code = table_.compile(all.data(), all.size(), &blob, &bytes)) {
      const std::string said = text_of(table_.last_error());
      throw NotSupported(said.empty() ? "its compiler gives code " + std::to_string(code) : said);
    }
    if (!blob || bytes == 0) throw NotSupported("its compiler gives an empty blob");
    const std::string made(static_cast<const char*>(blob), bytes);
    table_.release(blob);
    return made;
  }

  const baton_compiler& table_;
};

void check_name(const baton_compiler& table, const std::string& shown) {
  const std::string name = text_of(table.name);
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || name.size() > 24 || !std::ranges::all_of(name, fits))
    throw Error("the backend in " + shown + " is called `" + name +
                "`; a name has 1 to 24 lower case letters, digits and _");
  if (find_backend(name))
    throw Error("the backend in " + shown + " is called `" + name + "`, and there is one of that name");
}

PatternTable composites_of(const baton_compiler& table) {
  PatternTable patterns;
  for (const baton_composite* each = table.composites; each && each->name; ++each) {
    const std::string name = each->name;
    if (!name.starts_with(std::string(table.name) + "."))
      throw Error("the composite `" + name + "` does not begin with its backend's name, `" +
                  std::string(table.name) + ".`");
    patterns.push_back({name, PatternReader(text_of(each->pattern)).read(), {}});
  }
  return patterns;
}

}  // namespace

void add_compiler(const baton_compiler& table, const std::string& shown) {
  if (table.abi_version != BATON_COMPILER_ABI || table.struct_bytes != sizeof(baton_compiler))
    throw Error("the backend in " + shown + " was built for version " + std::to_string(table.abi_version) +
                " of the interface of compilers, this is version " + std::to_string(BATON_COMPILER_ABI) +
                ": build it again with these headers");
  check_name(table, shown);
  const std::pair<const char*, bool> needed[] = {{"operators", table.operators != nullptr},
                                                 {"compile", table.compile != nullptr},
                                                 {"release", table.release != nullptr},
                                                 {"last_error", table.last_error != nullptr}};
  for (const auto& [member, there] : needed)
    if (!there) throw Error("the backend in " + shown + " has no `" + member + "`");
  const auto own = std::make_shared<const OwnBackend>(table);
  Backend record = {
      .name = table.name,
      .doc = text_of(table.doc),
      .takes =
          [](const FunctionNode& function, const DeviceSheet&) {
            return std::string(function.attr(kRegionJson) ? ""
                                                          : "it is no region that was partitioned for it");
          },
      .compile = [own](std::span<const BackendFunction> functions, const DeviceSheet&,
                       const BuildContext&) { return own->compile(functions); },
      .region = [own](const Function& region,
                      const BuildContext& context) { return own->region(region, context); },
  };
  for (const char* const* op = table.operators; *op; ++op) {
    if (!find_op(*op))
      throw Error("the backend `" + record.name + "` takes `" + *op + "`, which is no operator");
    record.operators.push_back({*op, [own](const CallNode& call) { return own->refuses(call); }});
  }
  const PatternTable patterns = composites_of(table);
  if (!patterns.empty()) record.patterns = [patterns] { return patterns; };
  install_backend(std::move(record));
}

std::string load_backend(const std::string& path) {
  static std::mutex mutex;
  static auto* const loaded = new std::map<std::string, std::string>;  // path -> name
  const std::lock_guard lock(mutex);
  const std::string whole = std::filesystem::absolute(path).lexically_normal().string();
  if (const auto at = loaded->find(whole); at != loaded->end()) return at->second;
  // Never closed: the registered record has its functions.
  void* const handle = dlopen(whole.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    const char* reason = dlerror();
    throw Error("cannot load the backend `" + path + "`: " + (reason ? reason : "unknown reason"));
  }
  const auto entry = reinterpret_cast<baton_compiler_entry_function>(dlsym(handle, "baton_compiler_entry"));
  const bool runs = dlsym(handle, "baton_backend_entry") != nullptr;
  if (!entry && !runs)
    throw Error("the library `" + path +
                "` is no backend of Baton (it exports neither baton_compiler_entry nor baton_backend_entry)");
  const Plugin* plugin = nullptr;
  if (runs) {
    const Result<const Plugin*> found = Plugin::load(whole);
    if (!found.ok()) throw Error(found.status().message);
    plugin = *found;
  }
  std::string name = plugin ? plugin->name() : "";
  if (entry) {
    const baton_compiler* const table = entry();
    if (!table) throw Error("the backend `" + path + "` refuses to work here (it gives no table)");
    if (plugin && table->abi_version == BATON_COMPILER_ABI && plugin->name() != text_of(table->name))
      throw Error("the halves of `" + path + "` have two names: `" + text_of(table->name) + "` and `" +
                  plugin->name() + "`");
    add_compiler(*table, "`" + path + "`");
    name = table->name;
  }
  return loaded->emplace(whole, name).first->second;
}

void load_listed_backends() {
  for (const std::string& library : listed(environment()->backends)) {
    try {
      load_backend(library);
    } catch (const Error& error) {
      std::fprintf(stderr, "baton: warning: BATON_BACKENDS: %s\n", error.what());
    }
  }
}

}  // namespace baton
