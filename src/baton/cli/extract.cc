// Extracts a part of a model: a module that builds and runs alone, with its weights and actual inputs.
#include <filesystem>

#include "baton/cli/selection.h"
#include "baton/driver/case_file.h"
#include "baton/driver/cut/cut_kernel.h"
#include "baton/driver/cut/cut_text.h"
#include "baton/driver/cut/node_selection.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

/// The folders of a path that are not there yet: those still empty at the end are taken away again.
class NewFolders {
 public:
  explicit NewFolders(std::filesystem::path path) {
    std::error_code ignored;
    for (; !path.empty() && !std::filesystem::exists(path, ignored); path = path.parent_path())
      if (path.has_filename()) missing_.push_back(path);
  }
  ~NewFolders() {
    std::error_code ignored;  // also of folders that are not empty
    for (const auto& each : missing_)
      if (std::filesystem::is_directory(each, ignored)) std::filesystem::remove(each, ignored);
  }
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;

 private:
  std::vector<std::filesystem::path> missing_;  // the deepest first
};

class ExtractVerb final : public Verb {
 public:
  ExtractVerb()
      : Verb("extract", "Cut operators out of a model as a model of its own, with weights and real inputs.") {
  }

  void flags(Flags& flags) override {
    flags_.add(flags);
    selection_.add(flags);
    flags.flag("as-built", &as_built_,
               "with --kernel: the fused function as it was compiled, not the operators of the source");
    flags.option("inputs", &inputs_, "input values of the model from an .npz; the others by the tensor rule");
    flags.option("o,output", &output_,
                 "a folder, or the .relay file; its arrays go beside it as .npz (default: cut.relay)");
    flags.flag("json", &json_, "what was cut, as JSON on standard output");
  }

  int run(Io& io) override {
    if (as_built_ && selection_.selection.kernel.empty())
      throw UsageError("--as-built gives a kernel as it was compiled: name it with --kernel");
    const NewFolders folders(output_);
    static_cast<void>(paths());  // fail early on unwritable paths
    const NamedArrays inputs = inputs_.empty() ? NamedArrays() : read_inputs_file(inputs_);
    if (as_built_) return extract_kernel(inputs, io);
    const InterruptScope interrupt;
    Progress progress(io);
    const CutModel model = load_for_cut(flags_);
    CutProgram& program = *model.program;
    const std::vector<int> nodes = program.nodes(selection_.selection);
    const Cut cut = cut_out(program.graph(), program.choose(selection_.selection));
    BuildOptions options = program.options();
    options.context.interrupt = interrupt.flag();
    options.context.progress = [&](const std::string& phase, int done, int total) {
      progress.show(phase, done, total);
    };
    const CutArrays arrays = cut_arrays(program.graph(), cut, options, inputs);
    progress.clear();
    return write(model.model, model.model.module->origins(), nodes, cut, arrays, io);
  }

 private:
  int extract_kernel(const NamedArrays& inputs, Io& io) const {
    const BuiltModel built = build_model(flags_, io);
    const std::vector<int> nodes = select_kernel(built.build.plan, selection_.selection.kernel);
    const CutKernel kernel = cut_kernel(built.build, nodes.front(), inputs);
    return write(built.model, built.build.optimized->origins(), nodes, kernel.cut, kernel.arrays, io);
  }

  /// The paths of the .relay and .npz file.
  std::pair<std::string, std::string> paths() const {
    std::filesystem::path module = output_.empty() ? "cut.relay" : output_;
    if (module.extension() != ".relay") {
      std::error_code error;
      std::filesystem::create_directories(module, error);
      if (error)
        throw Error(output_ + ": no folder can be made there: " + error.message() +
                    " (a file would end in .relay)");
      module /= "cut.relay";
    }
    if (!module.parent_path().empty() && !std::filesystem::is_directory(module.parent_path()))
      throw Error(module.string() + ": there is no folder " + module.parent_path().string());
    std::filesystem::path arrays = module;
    return {module.string(), arrays.replace_extension(".npz").string()};
  }

  int write(const LoadedModel& model, const OriginTable& table, const std::vector<int>& nodes, const Cut& cut,
            const CutArrays& arrays, Io& io) const {
    const auto [module_path, arrays_path] = paths();
    const std::string title = "Cut from " + model.name + " by " + selection_.text() +
                              (as_built_ ? " --as-built" : "") + ", opt level " +
                              std::to_string(flags_.opt_level);
    write_case(module_path, cut_text(cut, title), arrays_path,
               {arrays.params, arrays.inputs, arrays.outputs});
    const std::string run =
        "baton run " + module_path + " --params " + arrays_path + " --inputs " + arrays_path;
    if (json_) {
      Json inputs = Json::array(), outputs = Json::array(), weights = Json::array();
      for (const CutParam& param : cut.params) {
        const std::string& name = param.var->name();
        const bool weight = std::any_of(arrays.params.begin(), arrays.params.end(),
                                        [&](const auto& each) { return each.first == name; });
        if (weight)
          weights.push_back(name);
        else
          inputs.push_back({{"name", name},
                            {"type", type_text(param.var->annotation())},
                            {"value_of", param.label.empty() ? Json(nullptr) : Json(param.label)}});
      }
      for (size_t i = 0; i < cut.outputs.size(); ++i)
        outputs.push_back({{"name", arrays.outputs[i].first},
                           {"type", type_text(tensor_type(arrays.outputs[i].second.shape(),
                                                          arrays.outputs[i].second.dtype()))},
                           {"value_of", cut.outputs[i].label}});
      io.out << Json{{"schema", 1},
                     {"model", model.name},
                     {"module", module_path},
                     {"arrays", arrays_path},
                     {"as_built", as_built_},
                     {"nodes", nodes},
                     {"operators", operators_json(table, cut.operators)},
                     {"left_out", operators_json(table, cut.left_out)},
                     {"inputs", inputs},
                     {"weights", weights},
                     {"outputs", outputs}}
                    .dump()
             << '\n';
      return 0;
    }
    io.out << module_path << ", " << arrays_path << ": " << cut.operators.size() << " operator"
           << (cut.operators.size() == 1 ? "" : "s") << " of " << model.name << '\n'
           << operator_lines(cut.operators);
    if (!cut.left_out.empty()) io.out << "left out\n" << operator_lines(cut.left_out);
    if (!selection_.selection.kernel.empty() && nodes.size() > 1)
      io.out << "the kernel is called by nodes " << node_list(nodes) << ": this is what node "
             << nodes.front() << " computes\n";
    io.out << "run it with\n  " << run << '\n';
    return 0;
  }

  ModelFlags flags_;
  SelectionFlags selection_;
  std::string inputs_, output_;
  bool as_built_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> extract_verb() { return std::make_unique<ExtractVerb>(); }

}  // namespace baton::cli
