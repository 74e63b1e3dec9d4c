#include "baton/profile/record/record.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "baton/codegen/backend.h"
#include "baton/ir/extents/kernel_extents.h"
#include "baton/profile/record/set_time.h"
#include "baton/profile/record/work.h"
#include "baton/runtime/baton_backend.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/text/parser.h"
#include "baton/types/function_text.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

constexpr char kProfile[] = "profile", kComparison[] = "compare", kProgram[] = "program";  // protocols
constexpr char kUnfused[] = "unfused", kAlone[] = "alone", kCompare[] = "compare";

/// The time of a kernel of either build.
template <class Row>
Estimate time_of(const Row& row) {
  Estimate time;
  time.us = row.median_us;
  time.plus_minus_us = row.plus_minus_us;
  time.samples_us = row.samples_us;
  time.disturbed_us = row.disturbed_us;
  time.core_ns = row.core_ns;
  time.under_load = row.under_load;
  return time;
}
Estimate time_of(const ProfileReport& report) {
  Estimate time;
  time.us = report.end_to_end_us;
  time.plus_minus_us = report.end_to_end_plus_minus_us;
  time.samples_us = report.plain_us;
  time.disturbed_us = report.disturbed_us;
  time.core_ns = report.core_ns;
  time.under_load = report.under_load;
  return time;
}
Estimate time_of(const ComparedFunction& function) {
  Estimate time;
  time.us = function.own_us;
  time.plus_minus_us = rounds_interval(function.rounds_us);
  time.samples_us = function.rounds_us;
  time.core_ns = function.core_ns;
  time.under_load = function.under_load;
  return time;
}

std::string kind_of_target(const std::string& target) { return target.substr(0, target.find_first_of(" ,")); }

/// What the operators of the program say of a kernel whose text cannot be read again.
Work work_by_origins(const ProfileReport& report, const std::string& text, const std::string& brief,
                     const std::vector<uint32_t>& ids) {
  Work work;
  work.text = text;
  work.brief = brief;
  for (const uint32_t id : ids) {
    const OperatorRow& row = report.operators.at(id);
    work.operators.push_back({row.op, "{}", row.input_types, row.type});
  }
  return work;
}

/// Of a program: the shapes that its time is for.
void add_inputs(Work& model, const ProfileReport& report) {
  for (const InputRow& input : report.inputs) {
    const bool first = &input == &report.inputs.front();
    model.text += (first ? "\non " : ", ") + input.type;
    model.brief += (first ? " on " : ", ") + input.name + " " + input.type;
  }
}

/// A kernel for all extents is not the static one of the same function.
void mark_symbolic(BuildFacts& facts) {
  auto schedule = Json::parse(facts.parameters);
  schedule["symbolic_extents"] = 1;
  facts.parameters = schedule.dump();
}

/// Calls of a kernel of a program on tensors of the same shapes: the time of one, and how many a run has.
struct ShapeCalls {
  Function function;  ///< static
  bool symbolic = false;
  Estimate time;
  double count = 0;
};

std::vector<ShapeCalls> calls_by_shape(const KernelRow& row, const ProfileReport& report,
                                       const RecordSource& source) {
  const ProgramSource* const program = source.program;
  if (row.samples_us.empty() || row.calls <= 0 || (program && !program->is_kernel[row.node])) return {};
  Function function = program ? program->functions[row.node] : Function();
  const auto known = report.functions.find(row.func_name);
  if (!program && known != report.functions.end() && !known->second.relay.empty())
    function = function_of_text(known->second.relay);
  if (!function) return {};
  const bool symbolic = !kernel_extents(*function).empty();
  if (symbolic && (!program || row.shapes.empty())) return {};
  const auto at = [&](const ShapeRow& shape) {
    return symbolic ? at_extents(*function, shape.extents) : function;
  };
  Estimate each = time_of(row);
  each.us /= row.calls;
  if (each.plus_minus_us) *each.plus_minus_us /= row.calls;
  for (std::vector<double>* samples : {&each.samples_us, &each.disturbed_us})
    for (double& us : *samples) us /= row.calls;
  if (row.shapes.size() < 2)
    return {{row.shapes.empty() ? function : at(row.shapes.front()), symbolic, each, row.calls}};
  // Of calls of several shapes only the mean of each is known.
  each.plus_minus_us.reset();
  each.samples_us.clear();
  each.disturbed_us.clear();
  std::vector<ShapeCalls> all;
  for (const ShapeRow& shape : row.shapes) {
    each.us = shape.us / shape.calls;
    all.push_back({at(shape), symbolic, each, shape.calls});
  }
  return all;
}

class Recorder {
 public:
  Recorder(const ProfileReport& report, const RecordSource& source) : report_(report), source_(source) {
    if (source.built)
      for (const BuiltKernel& kernel : source.built->kernels) built_[kernel.func_name] = &kernel;
    for (const KernelRow& row : report.kernels) ++calls_[row.func_name];
    if (const IRModule module = source.module ? source.module : module_of_text()) {
      model_ = model_work(module);
      model_.brief = report.model;
      add_inputs(model_, report);
      model_id_ = model_.id();
    }
  }

  std::vector<Measurement> all() {
    add_model();
    for (const KernelRow& row : report_.kernels) {
      if (report_.program)
        add_program_kernel(row);
      else if (!row.copied_from.empty())
        add_transfer(row);
      else
        add_kernel(row);
    }
    for (const UnfusedRow& row : report_.unfused) add_unfused(row);
    if (report_.comparison)
      for (const ComparedFunction& function : report_.comparison->functions) add_compared(function);
    return std::move(all_);
  }

 private:
  /// The Relay text in a saved report; null when there is none or it does not parse by itself.
  IRModule module_of_text() const {
    for (const SourceText& text : report_.sources) {
      if (!text.file.empty()) continue;
      try {
        return infer_types(parse_module(text.text));
      } catch (const Error&) {
        return {};
      }
    }
    return {};
  }

  DeviceSheet processor() const {
    if (report_.device) return *report_.device;
    if (report_.sheet) return *report_.sheet;
    DeviceSheet sheet;
    sheet.name = report_.machine;
    return sheet;
  }

  /// `device`: "cpu", or a kind of target.
  DeviceSheet sheet_of(const std::string& device) const {
    if (device.empty() || device == "cpu") return processor();
    if (source_.context)
      if (const DeviceSheet* sheet = source_.context->sheet_of(device)) return *sheet;
    DeviceSheet sheet;
    sheet.kind = sheet.name = device;
    return sheet;
  }

  /// A measurement with what all of this profile share.
  Measurement common() const {
    Measurement m;
    m.machine = source_.machine;
    m.protocol = report_.program ? kProgram : kProfile;
    m.threads = report_.threads;
    m.load = report_.load;
    m.others_busy = report_.others_busy;
    m.begun_s = source_.begun_s;
    m.model = report_.model;
    m.model_id = model_id_;
    m.family = source_.family;
    m.device = processor();
    m.build = facts(report_.target);
    return m;
  }

  BuildFacts facts(const std::string& target) const {
    BuildFacts facts;
    if (source_.built) facts = build_facts(*source_.built, report_.opt_level);
    if (!source_.built || target != report_.target) {
      facts.target = target;
      facts.backend = kind_of_target(target);
      facts.opt_level = report_.opt_level;
      if (!report_.precision.empty()) facts.precision = report_.precision;
      if (!source_.built) facts.compiler = source_.live ? code_version() : "baton " + report_.version;
    }
    return facts;
  }

  /// What the kernels of the processor are built for.
  std::string processor_target() const {
    for (const KernelRow& row : report_.kernels)
      if (row.device == "cpu" && row.copied_from.empty()) return row.target;
    return report_.target;
  }

  BuildFacts facts_of(const KernelRow& row) const {
    if (const auto at = built_.find(row.func_name); at != built_.end())
      return build_facts(*at->second, *source_.built, report_.opt_level);
    BuildFacts facts = this->facts(row.compiler.empty() ? row.target : row.compiler);
    if (const auto at = report_.functions.find(row.func_name); at != report_.functions.end()) {
      facts.template_name = at->second.template_name;
      if (!at->second.params.empty()) facts.parameters = Json(at->second.params).dump();
    }
    return facts;
  }

  std::vector<WorkOrigin> origins(const std::vector<uint32_t>& ids) const {
    return work_origins(report_.operators, ids);
  }

  Work work_of_text(const std::string& relay, const std::string& brief, const std::vector<uint32_t>& ids,
                    double flops, double bytes) {
    const auto [at, is_new] = texts_.try_emplace(relay);
    if (is_new) {
      const Function function = relay.empty() ? Function() : function_of_text(relay);
      at->second = function ? kernel_work(function) : work_by_origins(report_, relay, brief, ids);
      if (!function) {
        at->second.flops = flops;
        at->second.bytes = bytes;
      }
    }
    return at->second;
  }

  Work work_of(const KernelRow& row) {
    if (const auto at = built_.find(row.func_name); at != built_.end() && at->second->function) {
      const auto [work, is_new] = works_.try_emplace(row.func_name);
      if (is_new) work->second = kernel_work(at->second->function);
      return work->second;
    }
    const auto at = report_.functions.find(row.func_name);
    const FunctionRow unknown;
    const FunctionRow& function = at == report_.functions.end() ? unknown : at->second;
    return work_of_text(function.relay, function.brief.empty() ? row.title : function.brief, row.origins,
                        row.flops, row.bytes);
  }

  void add_model() {
    if (report_.end_to_end_us <= 0 || model_id_.empty()) return;
    Measurement m = common();
    m.work = model_;
    // The device that computes, of a program for several the first that is not the processor.
    const auto other = std::find_if(report_.kernels.begin(), report_.kernels.end(),
                                    [](const KernelRow& row) { return row.device != "cpu"; });
    if (other != report_.kernels.end()) m.device = sheet_of(other->device);
    for (const KernelRow& row : report_.kernels) {
      m.work.flops += row.flops;
      m.work.bytes += row.bytes;
      if (!row.simulated.empty()) m.simulated = row.simulated;
    }
    m.cache = CacheState::kHot;
    set_time(m, time_of(report_));
    all_.push_back(std::move(m));
  }

  Measurement of_row(const KernelRow& row) {
    Measurement m = common();
    m.build = facts_of(row);
    m.device = sheet_of(row.device);
    m.cache = row.calls_per_sample > 1 ? CacheState::kHot : CacheState::kInModel;
    set_time(m, time_of(row));
    m.simulated = row.simulated;
    m.node = row.node;
    m.calls = calls_.at(row.func_name);
    m.origins = origins(row.origins);
    m.made_for = origins(row.made_for);
    return m;
  }

  void add_kernel(const KernelRow& row) {
    if (row.samples_us.empty()) return;
    Measurement m = of_row(row);
    m.work = work_of(row);
    const Work kernel = m.work;
    all_.push_back(m);
    for (const InsideRow& part : row.inside) {
      if (part.method == InsideMethod::kWhole) continue;  // the kernel again
      Measurement p = m;
      p.work = part_work(kernel, part.stage + (part.rest ? " rest" : ""), part.label);
      p.samples_us.clear();
      p.disturbed.clear();
      p.outliers.clear();
      p.cv = 0;
      p.cache = CacheState::kHot;
      p.median_us = part.us;
      p.share = part.share;
      p.plus_minus_us = part.plus_minus_us;
      p.method = method_name(part.method);
      p.origins = origins(part.ids);
      p.made_for = part.ids.empty() ? origins(row.origins) : std::vector<WorkOrigin>();
      if (part.below_noise) p.unreliable = "too small to be measured";
      all_.push_back(std::move(p));
    }
  }

  void add_program_kernel(const KernelRow& row) {
    for (const ShapeCalls& calls : calls_by_shape(row, report_, source_)) {
      Measurement m = of_row(row);
      m.work = kernel_work(calls.function);
      if (calls.symbolic) mark_symbolic(m.build);
      m.calls = static_cast<int>(std::lround(calls.count));
      set_time(m, calls.time);
      all_.push_back(std::move(m));
    }
  }

  void add_transfer(const KernelRow& row) {
    if (row.samples_us.empty()) return;
    Measurement m = of_row(row);
    const std::string& other = row.device == "cpu" ? row.copied_from : row.device;
    m.device = sheet_of(other);
    m.build.backend = m.build.target = other;
    m.build.template_name.clear();
    m.build.parameters = "{}";
    m.work = transfer_work(row.result_bytes, row.copied_from, row.device);
    m.calls = 1;
    all_.push_back(std::move(m));
  }

  void add_unfused(const UnfusedRow& row) {
    if (row.relay.empty() || row.samples_us.empty()) return;
    Measurement m = common();
    m.work = work_of_text(row.relay, row.name, row.origins, row.flops, row.bytes);
    if (!row.backend.empty()) {
      m.build = facts(row.backend);
      m.device = sheet_of(row.backend);
    } else {
      m.build = facts(processor_target());
    }
    m.build.template_name = row.template_name;
    if (!row.params.empty()) m.build.parameters = Json(row.params).dump();
    m.cache = CacheState::kInModel;
    set_time(m, time_of(row));
    m.simulated = row.simulated;
    m.origins = origins(row.origins);
    m.made_for = origins(row.made_for);
    m.method = kUnfused;
    all_.push_back(std::move(m));
  }

  void add_compared(const ComparedFunction& function) {
    const auto row = std::find_if(report_.kernels.begin(), report_.kernels.end(),
                                  [&](const KernelRow& each) { return each.node == function.node; });
    if (row == report_.kernels.end() || !function.why.empty() || function.rounds_us.empty()) return;
    Measurement own = of_row(*row);
    own.work = work_of(*row);
    own.cache = CacheState::kHot;
    own.method = kAlone;
    own.protocol = kComparison;
    own.calls = static_cast<int>(function.nodes.size());
    set_time(own, time_of(function));
    all_.push_back(own);
    for (const OffloadRow& other : function.others) {
      if (other.verdict == OffloadVerdict::kNotTaken || other.verdict == OffloadVerdict::kWrong ||
          other.verdict == OffloadVerdict::kNotMeasured || other.kernels_us <= 0)
        continue;
      Measurement m = own;
      m.build = facts(other.backend);
      m.device =
          sheet_of(source_.context && source_.context->sheet_of(other.backend) ? other.backend : "cpu");
      m.method = kCompare;
      Estimate time = time_of(function);
      time.us = other.kernels_us;
      // Rounds are of kernels, copies and changes of layout together.
      const bool alone = other.copies_us == 0 && other.layouts_us == 0;
      time.samples_us = alone ? other.rounds_us : std::vector<double>();
      time.plus_minus_us = rounds_interval(time.samples_us);
      set_time(m, time);
      if (other.verdict == OffloadVerdict::kUnreliable) m.unreliable = other.why;
      const BackendRef there = find_backend(other.backend);
      m.simulated = there && there->device_type >= BATON_FIRST_SIMULATED_KIND ? other.backend : "";
      all_.push_back(std::move(m));
    }
  }

  const ProfileReport& report_;
  const RecordSource& source_;
  Work model_;
  std::string model_id_;
  std::map<std::string, const BuiltKernel*> built_;  // by func_name
  std::map<std::string, Work> works_;                // by func_name
  std::map<std::string, Work> texts_;                // by Relay text
  std::map<std::string, int> calls_;
  std::vector<Measurement> all_;
};

}  // namespace

std::vector<Measurement> measurements_of(const ProfileReport& report, const RecordSource& source) {
  return Recorder(report, source).all();
}

std::string family_of_workload(const std::string& model) {
  if (model.find_first_of("./") != std::string::npos) return "";
  const size_t number = model.find('-');
  return model.substr(0, number);
}

}  // namespace baton
