// Maps source operators to kernels and back: the passes in between, fusion decisions, code.
#include <algorithm>
#include <optional>
#include <sstream>

#include "baton/cli/debug_flags.h"
#include "baton/cli/explain/explain_asm.h"
#include "baton/cli/explain/explain_bytecode.h"
#include "baton/cli/explain/explain_json.h"
#include "baton/cli/explain/explain_text.h"
#include "baton/driver/cut/node_selection.h"
#include "baton/driver/initialize.h"
#include "baton/driver/mapping/mapping.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/profile/write/alternatives_text.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

class ExplainVerb final : public Verb {
 public:
  ExplainVerb()
      : Verb("explain",
             "Follow an operator through the passes of a build to its kernels, or a kernel back to its "
             "operators.") {}

  void flags(Flags& flags) override {
    flags_.add(flags);
    flags_.add_target(flags);
    debug_.add(flags);
    flags.at("MODEL").doc = "workload name, .relay file, or a .baton artifact";
    Flags& one = flags.one_of("what", "one of these; without any, one line for each operator");
    one.option(
        "operator", &operator_,
        "%12 (as `baton print` numbers it), a line, line:column, a source name, an operator's name, or as "
        "reports write it: \"conv2d 3x3 + relu, line 14\"");
    one.option("kernel", &kernel_, "a func_name of graph.json, or the name of a node");
    one.option("node", &node_, "a node of graph.json: its number or name");
    bytecode_.add(flags);
    asm_.add(flags);
    flags.option("backends", &backends_,
                 "dnnl,opencl: also whether each of these takes an operator (AnnotateTarget), and why not");
    flags.option("mapping", &mapping_,
                 "a file of `baton map -o`: where the operator sits, and what it would cost elsewhere");
    flags.flag("json", &json_, "the result as JSON on standard output (docs/design/0009-explain-json.md)");
  }

  int run(Io& io) override {
    apply(debug_, flags_);
    if (!mapping_.empty()) return of_mapping(io);
    std::vector<std::string> backends;
    std::istringstream list(backends_);
    for (std::string name; std::getline(list, name, ',');) backends.push_back(name);
    if (flags_.model.ends_with(".baton")) {
      const std::string why = flags_.model + " is an artifact, which `baton build` made";
      refuse_build_options(io, why, /*shapes=*/!bytecode_.on);
      refuse_options(io, {"debug-dir"}, why);
    }
    if (asm_.timed && !asm_.on && !bytecode_.on) throw UsageError("--time needs --asm or --bytecode");
    if (bytecode_.on) {
      if (operator_ || kernel_ || node_ || json_ || asm_.on || !backends.empty())
        throw UsageError("--bytecode shows the whole program: leave the other choices out");
      if (flags_.model.ends_with(".baton") && !is_program_file(flags_.model))
        throw UsageError(flags_.model +
                         " has a plan, and no program of the virtual machine: --bytecode takes "
                         "the model that it was built from");
      bytecode_.timed = asm_.timed;
      write_bytecode(io, flags_, bytecode_);
      return 0;
    }
    const Subject subject = load_subject(flags_, backends);
    std::vector<uint32_t> nodes, operators;
    if (kernel_) nodes = subject.map.nodes_of_kernel(*kernel_);
    if (node_) nodes = {subject.map.node(*node_)};
    for (const uint32_t node : nodes) subject.map.kernel_node(node);  // throws for inputs and constants
    if (asm_.on) {
      if (nodes.empty()) throw UsageError("--asm shows one kernel: name it with --kernel or --node");
      write_asm(io, subject, flags_, asm_, nodes.front(), debug_.folder(), json_);
      return 0;
    }
    if (operator_) operators = subject.map.operators_called(*operator_);
    // Nodes that share a kernel are named after it, and one may have the name of another kernel.
    const std::optional<uint32_t> namesake = kernel_ ? subject.map.namesake(*kernel_) : std::nullopt;
    if (json_ && namesake) nodes.push_back(*namesake);
    if (json_) return write_json(io, subject, nodes, operators);
    for (const uint32_t id : operators) io.out << operator_section(subject, id);
    if (!nodes.empty()) io.out << kernel_section(subject, nodes);
    if (namesake)
      io.out << "\n`" << *kernel_ << "` is also the name of node " << *namesake
             << ", which calls another kernel:\n\n"
             << kernel_section(subject, {*namesake});
    if (nodes.empty() && operators.empty())
      for (const OperatorRecord& entry : subject.map.operators()) io.out << summary_line(subject, entry.id);
    return 0;
  }

 private:
  /// Nothing is built.
  int of_mapping(Io& io) const {
    if (kernel_ || node_ || asm_.on || json_)
      throw UsageError("--mapping explains operators: give --operator, or nothing for all of them");
    refuse_options(io,
                   {"params", "input-name", "opt-level", "precision", "target", "strict", "debug-lines",
                    "debug-dir", "backends"},
                   "--mapping explains what the file says, and builds nothing");
    initialize();
    const Mapping mapping = load_mapping(mapping_);
    const LoadedModel model = load_model(flags_.model, flags_.shapes);
    check_mapping(mapping, model.module, mapping_);
    const OriginTable& table = model.module->origins();
    if (!operator_) {
      for (const MappedOperator& each : mapping.operators) io.out << alternatives_text(each);
      return 0;
    }
    for (const Origin* origin : select_operators(table, *operator_))
      io.out << alternatives_text(mapping.operators[index(*table.find(origin))]);
    return 0;
  }

  int write_json(Io& io, const Subject& subject, std::vector<uint32_t> nodes,
                 std::vector<uint32_t> operators) const {
    const bool code = !nodes.empty(), all = nodes.empty() && operators.empty();
    if (all) {
      for (const OperatorRecord& entry : subject.map.operators()) operators.push_back(entry.id);
      for (uint32_t node = 0; node < subject.map.plan().nodes.size(); ++node)
        if (subject.map.plan().nodes[node].kind != PlanNode::Kind::kInput) nodes.push_back(node);
    } else if (code) {
      operators = subject.map.operators_of(nodes);
    } else {
      std::vector<bool> met(subject.map.plan().nodes.size());
      for (const uint32_t id : operators)
        for (const uint32_t node : subject.map.at(id).nodes) {
          if (!met[node]) nodes.push_back(node);
          met[node] = true;
        }
    }
    Json json = explain_head(subject);
    json["operators"] = Json::array();
    json["kernels"] = Json::array();
    for (const uint32_t id : operators) json["operators"].push_back(operator_json(subject, id));
    for (const uint32_t node : nodes) json["kernels"].push_back(kernel_json(subject, node, code));
    io.out << json.dump() << '\n';
    return 0;
  }

  ModelFlags flags_;
  DebugFlags debug_;
  std::optional<std::string> operator_, kernel_, node_;
  AsmFlags asm_;
  BytecodeFlags bytecode_;
  std::string backends_, mapping_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> explain_verb() { return std::make_unique<ExplainVerb>(); }

}  // namespace baton::cli
