#include "baton/map/measure/map_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>

#include "baton/driver/cut/cut_values.h"
#include "baton/driver/partition_for.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/map/frontier.h"
#include "baton/map/measure/alternatives.h"
#include "baton/map/measure/links.h"
#include "baton/map/measure/model_prices.h"
#include "baton/map/measure/piece_prices.h"
#include "baton/map/measure/rules.h"
#include "baton/map/measure/subject.h"
#include "baton/map/milp.h"
#include "baton/map/model_problem.h"
#include "baton/profile/compare/compare.h"
#include "baton/profile/conditions/energy_counter.h"
#include "baton/profile/report/device_rates.h"
#include "baton/runtime/baton_backend.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/support/version.h"
#include "baton/text/origin_label.h"
#include "baton/transform/layout/alter_op_layout.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

using MapClock = std::chrono::steady_clock;
double since_s(MapClock::time_point start) {
  return std::chrono::duration<double>(MapClock::now() - start).count();
}

// Parts of the time for measuring: each backend at first, each new mapping, and all of them at the end.
constexpr double kForPrices = 0.3, kForVariants = 0.15, kForMappings = 0.2, kForCheck = 0.35;
// For parts of groups, compiling included: a part of that time, and this.
constexpr double kForPieces = 0.1, kPieceSeconds = 5;
constexpr int kMostMeasuredPieces = 16;
constexpr double kMilpSeconds = 20;
// Of each search for queues side by side: a second per hundred nodes.
constexpr double kNodesPerSecond = 100, kLeastObjectiveS = 1, kMostObjectiveS = 5;
constexpr double kAlternativeSeconds = 10;
// Mappings that could save less than this part of their time side by side say nothing about how much they do.
constexpr double kLeastHidden = 0.05;
constexpr int kRounds = 6;
constexpr size_t kMostPortions = 8;
constexpr double kPortionSeconds = 20;  // no further one after that: simulated runs of large models are slow
// Times beyond which a change of layout costs nothing.
constexpr MappingConversion kUsualLayout{0.3, 1e-4};

class Mapper {
 public:
  Mapper(const IRModule& module, const MapOptions& options)
      : options_(options),
        program_(program_hash(module)),
        module_(bind_params(infer_types(module->copy()), options.build.params)) {
    options_.build.params.clear();
    report_.predicted = !options.measures;
    if (report_.predicted && !options.prices.any())
      throw UsageError("without measuring, costs come from a predictor or a store: give one of them");
    report_.objective = options.objective;
    report_.machine = options.build.context.host().name;
    if (report_.predicted && options.prices.predictor) report_.machine = options.prices.device.title;
    host_ = backend_of_kind(options.build.context.host().kind)->name;
  }

  MapResult run() {
    find_backends();
    if (options_.objective == MapObjective::kEnergy) check_energy();
    check_rules(options_.rules, report_.backends, module_->origins());
    price_singles();
    find_links();
    price_variants();
    add_given();
    price_pieces();
    search_and_measure();
    check_by_clock();
    choose();
    return finish();
  }

 private:
  const BuildContext& context() const { return options_.build.context; }
  void show(const std::string& phase, int done, int total) const {
    if (options_.progress) options_.progress(phase, done, total);
  }

  // ---- Backends.

  void find_backends() {
    std::vector<std::string> names{host_};
    for (const std::string& name : options_.backends)
      if (std::ranges::count(names, name) == 0) names.push_back(name);
    if (names.size() < 2)
      throw UsageError(
          "a mapping needs two backends at least: --targets llvm,dnnl (baton targets lists them)");
    for (const std::string& name : names) {
      if (report_.predicted) {
        const BackendRef record = find_backend(name);
        if (!record) compared_backend(name, context());  // throws, with the nearest name
        add_backend(name, record->kind.empty() ? context().host().device_type : record->device_type);
        continue;
      }
      add_backend(name, compared_backend(name, context()).device_type);
    }
  }

  void add_backend(const std::string& name, int device_type) {
    MappedBackend backend{name, 0, kUsualLayout};
    device_names_.emplace(device_type, device_type == context().host().device_type ? "cpu" : name);
    if (prices_.devices.empty()) {
      prices_.devices = {"cpu"};
      prices_.memory_limits = {0};
    }
    if (device_type != context().host().device_type) {
      backend.device = static_cast<int>(prices_.devices.size());
      prices_.devices.push_back(name);
      const BackendRef record = find_backend(name);
      const DeviceSheet* sheet = context().sheet_of(record->kind);
      const auto asked = options_.memory_bytes.find(name);
      prices_.memory_limits.push_back(asked != options_.memory_bytes.end() ? asked->second
                                      : sheet ? static_cast<double>(sheet->memory_bytes)
                                              : 0);
    } else if (options_.memory_bytes.count(name)) {
      throw UsageError("--memory " + name + ": it computes in the memory of the processor; limits are for " +
                       "devices with memory of their own");
    }
    prices_.backends.push_back(backend);
    report_.backends.push_back(name);
  }

  bool any_simulated() const { return device_names_.rbegin()->first >= BATON_FIRST_SIMULATED_KIND; }

  /// Before anything is built.
  void check_energy() const {
    if (report_.predicted)
      throw UsageError("--objective energy: energy is measured, predictors know times only");
    if (any_simulated()) throw UsageError("--objective energy: simulated devices use none");
    EnergyCounter counter;  // throws where there is none
  }

  // ---- Builds.

  std::vector<std::string> names_of(const std::vector<int>& backend_of) const {
    std::vector<std::string> names;
    for (const int each : backend_of)
      names.push_back(each < 0 ? "" : report_.backends[static_cast<size_t>(each)]);
    return names;
  }

  /// Builds the model so divided, runs it, and compares its results with the processor's. Null, with why_not,
  /// when it cannot be used.
  std::unique_ptr<MapSubject> made(MappedModel& model) {
    const auto start = MapClock::now();
    std::unique_ptr<MapSubject> subject;
    try {
      context().stop_if_asked();
      const IRModule split =
          apply_mapping(module_, names_of(model.backend_of),
                        model.pinned ? model.variant_of : std::vector<LayerVariant>(), host_, context());
      for (const auto& [name, function] : split->functions())
        model.regions += function->attr("Compiler") ? 1 : 0;
      subject = std::make_unique<MapSubject>(split, options_.build, options_.threads, !report_.predicted);
      if (!report_.predicted) {
        const std::vector<NDArray> results = subject->results();
        double largest = 0;
        if (expected_.empty()) expected_ = results;
        for (size_t i = 0; i < results.size() && model.why_not.empty(); ++i)
          model.why_not = difference_of(expected_[i], results[i], largest);
        if (!model.why_not.empty()) model.why_not = "its results are not the processor's: " + model.why_not;
      }
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {  // also of code generators in Python, and of drivers
      model.why_not = std::string(error.what()).substr(0, std::string_view(error.what()).find('\n'));
    }
    report_.build_s += since_s(start);
    if (!model.why_not.empty()) report_.notes.push_back(model.name + " cannot be used: " + model.why_not);
    return model.why_not.empty() ? std::move(subject) : nullptr;
  }

  void price_singles() {
    const size_t operators = module_->origins().size();
    std::vector<size_t> fresh, too_large;
    for (size_t b = 0; b < report_.backends.size(); ++b) {
      show("building for " + report_.backends[b], static_cast<int>(b),
           static_cast<int>(report_.backends.size()));
      MappedModel model{.name = report_.backends[b], .single = true};
      model.backend_of.assign(operators, static_cast<int>(b));
      restrict_to_rules(options_.rules, report_.backends, model.backend_of);
      const bool usable = add_model(std::move(model));
      if (b == 0 && !usable)
        throw Error("the model cannot be built for the processor: " + report_.models.back().why_not);
      if (usable && keeps_memory(b))
        fresh.push_back(b);
      else if (usable || report_.models.back().regions > 0)
        too_large.push_back(b);
    }
    // Now that the models of all backends have the numbers of these.
    for (const size_t b : too_large) add_portions(b, 0);
    if (fresh.size() < 2 && portions_.empty())
      report_.notes.push_back("no other backend takes a part of this model");
    measure(fresh, options_.max_seconds * kForPrices, "measuring backends");
    for (const size_t each : fresh) add_build(each);
    require_pins();
  }

  /// Whether the last build keeps the limit that was asked for; one that does not cannot be used.
  bool keeps_memory(size_t backend) {
    const auto asked = options_.memory_bytes.find(report_.backends[backend]);
    if (asked == options_.memory_bytes.end()) return true;
    const double bytes = bytes_on(subjects_.back()->build("", report_.backends), backend);
    if (bytes <= asked->second) return true;
    MappedModel& model = report_.models.back();
    model.why_not = "all that it takes needs " + std::to_string(static_cast<int64_t>(bytes)) +
                    " bytes, and it may have " + std::to_string(static_cast<int64_t>(asked->second)) +
                    " (--memory)";
    report_.notes.push_back(model.name + " cannot be used: " + model.why_not);
    subjects_.back() = nullptr;
    return false;
  }

  /// Builds the model. False: it cannot be used, and the reason is kept.
  bool add_model(MappedModel model) {
    auto subject = made(model);
    if (subject && model.single && model.name != host_ && model.regions == 0) {
      model.why_not = "it takes no operator of this model";
      report_.notes.push_back(model.name + " takes no operator of this model");
      subject = nullptr;
    }
    if (subject) {
      // What a backend does not take is the processor's.
      model.backend_of = subject->owners(report_.backends, model.backend_of.size());
      model.variant_of = subject->variants(model.backend_of.size());
    }
    report_.models.push_back(std::move(model));
    subjects_.push_back(std::move(subject));
    return subjects_.back() != nullptr;
  }

  /// A device that has no room for all it takes gets the model in portions that fit, so that each has a
  /// price.
  void add_portions(size_t backend, size_t whole) {
    const double limit = prices_.memory_limits[static_cast<size_t>(prices_.backends[backend].device)];
    if (limit <= 0) return;
    const std::vector<std::vector<uint32_t>> portions = subjects_[whole]->portions(limit);
    if (portions.empty())
      report_.notes.push_back(report_.backends[backend] +
                              " has no room for any kernel of this model: its memory is " +
                              std::to_string(static_cast<int64_t>(limit)) + " bytes (--memory)");
    const auto start = MapClock::now();
    size_t i = 0;
    for (; i < portions.size() && i < kMostPortions; ++i) {
      if (i > 0 && since_s(start) > kPortionSeconds) break;
      MappedModel model{.name = report_.backends[backend] + ", part " + std::to_string(i + 1)};
      model.backend_of.assign(module_->origins().size(), 0);
      for (const uint32_t id : portions[i]) model.backend_of[id] = static_cast<int>(backend);
      restrict_to_rules(options_.rules, report_.backends, model.backend_of);
      if (!add_model(std::move(model))) continue;
      const size_t here = report_.models.size() - 1;
      measure({here}, options_.max_seconds * kForPrices / static_cast<double>(kMostPortions),
              "measuring portions");
      portions_.push_back(subjects_[here]->build(report_.models[here].name, report_.backends));
      subjects_[here] = nullptr;  // the next one needs its memory
    }
    if (portions.size() > i)
      report_.notes.push_back(report_.backends[backend] + " was priced for the first " + std::to_string(i) +
                              " of " + std::to_string(portions.size()) +
                              " portions of the model that fit its memory");
  }

  /// The processor's builds with all layers in one variant: what differs from its own choice is a candidate.
  void price_variants() {
    const bool changes_layouts = context().passes->pass_enabled(fast_layouts()->info());
    if (!options_.variants || !changes_layouts || !report_.partial.empty()) return;
    const size_t operators = module_->origins().size();
    std::set<uint64_t> known{subjects_.front()->kernels_hash()};
    std::vector<size_t> fresh;
    for (const LayerVariant each : kLayerVariants) {
      show("building " + variant_name(each) + " layers", static_cast<int>(fresh.size()),
           static_cast<int>(std::size(kLayerVariants)));
      MappedModel model{.name = host_ + ", " + variant_name(each), .pinned = true};
      model.backend_of.assign(operators, 0);
      model.variant_of.assign(operators, each);
      restrict_to_rules(options_.rules, report_.backends, model.backend_of);
      if (!add_model(std::move(model))) continue;
      if (known.insert(subjects_.back()->kernels_hash()).second) {
        fresh.push_back(report_.models.size() - 1);
        continue;
      }
      report_.models.pop_back();
      subjects_.pop_back();
    }
    measure(fresh, options_.max_seconds * kForVariants, "measuring variants");
    for (const size_t each : fresh) add_build(each);
  }

  /// Prices of those parts of groups that could make a mapping faster: at the least that they could cost, the
  /// best mapping would use them.
  void price_pieces() {
    if (!report_.partial.empty()) return;
    PiecePrices alone(module_, {.build = options_.build,
                                .host = host_,
                                .threads = options_.threads,
                                .prices = options_.prices,
                                .measures = options_.measures,
                                .seconds = options_.max_seconds * kForPieces / kMostMeasuredPieces,
                                .system = options_.system});
    const auto start = MapClock::now();
    const double limit_s = kPieceSeconds + options_.max_seconds * kForPieces;
    try {
      for (;;) {
        const ModelProblem model = priced(/*guesses=*/true);
        const auto best = search_frontier(model.problem, {.interrupt = context().interrupt});
        bool any = false;
        for (const int c : best ? best->chosen : std::vector<int>()) {
          const ModelProblem::Candidate& candidate = model.candidates[static_cast<size_t>(c)];
          if (!candidate.guessed) continue;
          if (since_s(start) > limit_s || alone.measured() >= kMostMeasuredPieces) {
            report_.notes.push_back("some parts of fused groups have no price: the time for them was over");
            return;
          }
          any = true;
          show("pricing parts of kernels", static_cast<int>(since_s(start)), static_cast<int>(limit_s) + 1);
          const std::vector<uint32_t> operators = model.operators_of(c);
          pieces_[{candidate.backend, operators}] =
              alone.price(report_.backends[candidate.backend], operators);
        }
        if (!any) return;
      }
    } catch (const Interrupted&) {
      report_.partial = "interrupted";
    }
  }

  /// Of a backend, or as many as there are: it is none of the targets.
  int number_of(const std::string& backend) const {
    return static_cast<int>(std::ranges::find(report_.backends, backend) - report_.backends.begin());
  }

  /// Operators that are pinned to a backend that does not take them.
  void require_pins() const {
    for (const MapRule& rule : options_.rules) {
      const auto id = report_.unkept_pin(rule);
      if (!id) continue;
      std::string why = report_.models[static_cast<size_t>(number_of(rule.backend))].why_not;
      if (why.empty()) why = taken_operators(module_, *find_backend(rule.backend), context()).at(*id).how;
      throw UsageError(rule.text + ": " + rule.backend + " does not compute " +
                       origin_label(module_->origins().at(OriginId(*id))) + (why.empty() ? "" : ": " + why));
    }
  }

  // ---- Prices.

  void measure(std::vector<size_t> which, double seconds, const std::string& phase) {
    std::erase_if(which, [&](size_t each) { return !subjects_[each]; });
    if (which.empty()) return;
    if (report_.predicted) {
      for (const size_t each : which) subjects_[each]->predict(options_.prices, options_.threads, context());
      return;
    }
    const auto start = MapClock::now();
    std::vector<MeasuredModel> models;
    for (const size_t each : which) models.push_back(subjects_[each]->measured(run_objective()));
    MeasureOptions how;
    how.rounds = kRounds;
    how.max_seconds = seconds;
    how.min_seconds = seconds / static_cast<double>(which.size()) / 2;
    how.interrupt = context().interrupt;
    how.system = options_.system;
    how.progress = [&](double done) { show(phase, static_cast<int>(done * 100), 100); };
    std::vector<FusedTimes> times;
    try {
      times = measure_in_turns(models, how);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      drop_failing(which, error.what());
      measure(which, seconds, phase);
      return;
    }
    for (size_t i = 0; i < which.size(); ++i) {
      subjects_[which[i]]->set_times(times[i]);
      MappedModel& model = report_.models[which[i]];
      const double part = objective_part(subjects_[which[i]]->queues(device_names_), times[i].plain.us);
      model.set_times(times[i], part);
      if (times[i].other.us > 0) {
        model.runs_overlap = run_objective() != MapObjective::kEnergy;
      } else if (options_.objective == MapObjective::kEnergy) {
        throw Error("the counters of energy (" + powercap_folder() + ") did not move while the model ran");
      } else if (run_objective() != MapObjective::kSerial) {
        std::string note = model.name + ": there is no memory to run it with its devices side by side; " +
                           "what overlaps is computed";
        if (!std::ranges::count(report_.notes, note)) report_.notes.push_back(std::move(note));
      }
      if (times[i].interrupted) report_.partial = "interrupted";
    }
    // What was found until then is still brought to an end.
    if (!report_.partial.empty()) options_.build.context.interrupt = nullptr;
    learn_overlap();
    report_.threads = subjects_[which.front()]->threads();
    report_.measure_s += since_s(start);
  }

  /// By the objective, with everything side by side that can be.
  double least_us(const PlanQueues& queues) const {
    return options_.objective == MapObjective::kLatency ? queues.latency_us : queues.interval_us;
  }

  /// How much of what could overlap really does, by the runs of all mappings so far.
  void learn_overlap() {
    std::vector<double> shares;
    for (size_t i = 0; i < subjects_.size(); ++i) {
      const MappedModel& model = report_.models[i];
      if (!subjects_[i] || !model.runs_overlap) continue;
      const PlanQueues queues = subjects_[i]->queues(device_names_);
      const double hidden_us = queues.serial_us - least_us(queues);
      if (hidden_us > kLeastHidden * queues.serial_us)
        shares.push_back(std::clamp((queues.serial_us - model.measured_us) / hidden_us, 0.0, 1.0));
    }
    if (!shares.empty()) report_.overlap_share = median(shares);
  }

  /// The objective by which builds are run. Simulated time does not pass: there kernels are timed alone, and
  /// what overlaps is computed.
  MapObjective run_objective() const {
    return report_.predicted || any_simulated() ? MapObjective::kSerial : options_.objective;
  }

  /// A target that failed in the middle is left out, the others go on. At least one is; throws where that is
  /// the processor.
  void drop_failing(const std::vector<size_t>& which, const std::string& seen) {
    size_t dropped = 0;
    const auto drop = [&](size_t each, const std::string& why) {
      MappedModel& model = report_.models[each];
      if (each == 0) throw Error("the processor's build failed while it was measured: " + why);
      model.why_not = "it failed while it was measured: " + why.substr(0, why.find('\n'));
      model.measured_us = model.serial_us = 0;
      model.rounds_us.clear();
      report_.notes.push_back(model.name + " cannot be used: " + model.why_not);
      subjects_[each] = nullptr;
      ++dropped;
    };
    for (const size_t each : which) try {
        MeasureOptions how;
        how.rounds = how.min_runs = 1;
        how.max_seconds = how.min_seconds = 1e-3;
        how.interrupt = context().interrupt;
        how.system = options_.system;
        how.exchange = [](int) { return std::nullopt; };
        const std::vector<MeasuredModel> alone{subjects_[each]->measured(MapObjective::kSerial)};
        measure_in_turns(alone, how);
      } catch (const Interrupted&) {
        throw;
      } catch (const Error& error) {
        drop(each, error.what());
      }
    // All run again alone, so that it is not known which of them failed: what is not the processor's goes.
    for (size_t i = which.size(); i-- > 0 && dropped == 0;)
      if (which[i] != 0 && report_.models[which[i]].regions > 0) drop(which[i], seen);
    if (dropped == 0) throw Error(seen);
  }

  /// The share of a usual run that remains by the objective, as computed. Calls for real devices are
  /// enqueued, so that a usual run overlaps, too: there it is no measure of the sum of its kernels.
  double objective_part(const PlanQueues& queues, double run_us) const {
    if (queues.serial_us <= 0 || run_us <= 0 || options_.objective == MapObjective::kSerial ||
        options_.objective == MapObjective::kEnergy)
      return 1;
    const double whole_us = run_objective() == MapObjective::kSerial ? queues.serial_us : run_us;
    return least_us(queues) / whole_us;
  }

  void add_build(size_t which) {
    if (!subjects_[which]) return;
    builds_.push_back(subjects_[which]->build(report_.models[which].name, report_.backends));
    build_of_.push_back(which);
    // Layouts cost what they were measured to cost.
    for (size_t b = 0; b < prices_.backends.size(); ++b)
      if (const auto rate = layout_rate(builds_, b)) prices_.backends[b].layout.us_per_byte = *rate;
  }

  void find_links() {
    const size_t count = prices_.devices.size();
    prices_.links.assign(count, std::vector<std::optional<MappingConversion>>(count));
    if (count < 2) return;
    const auto end = [&](const std::string& backend) {
      return report_.predicted ? FoundTarget() : find_target(find_backend(backend), context());
    };
    const FoundTarget host = end(host_);
    for (size_t d = 1; d < count; ++d) {
      show("measuring links", static_cast<int>(d - 1), static_cast<int>(count - 1));
      const FoundTarget device = end(prices_.devices[d]);
      for (const bool in : {true, false}) {
        const size_t from = in ? 0 : d, to = in ? d : 0;
        const std::string &source = prices_.devices[from], &target = prices_.devices[to];
        const MappingConversion link =
            report_.predicted ? predicted_link(source, target, context(), options_.prices.predictor)
            : in              ? measured_link(host, device)
                              : measured_link(device, host);
        prices_.links[from][to] = link;
        report_.links.push_back(
            {source, target, link.fixed_us, link.us_per_byte > 0 ? 1e-3 / link.us_per_byte : 0});
      }
    }
  }

  /// Mappings from files.
  void add_given() {
    std::vector<size_t> fresh;
    for (const Mapping& mapping : options_.also) {
      MappedModel model{.name = mapping.model};
      for (const MappedOperator& each : mapping.operators) {
        model.backend_of.push_back(each.backend.empty() ? -1 : number_of(each.backend));
        if (model.backend_of.back() == static_cast<int>(report_.backends.size()))
          throw UsageError("--also " + mapping.model + ": " + each.backend +
                           " is not among the targets of this mapping (--targets)");
        model.variant_of.push_back(parse_variant(each.variant).value_or(LayerVariant::kByCost));
        model.pinned = model.pinned || model.variant_of.back() != LayerVariant::kByCost;
      }
      if (add_model(std::move(model))) fresh.push_back(report_.models.size() - 1);
    }
    measure(fresh, options_.max_seconds * kForMappings / options_.tries, "measuring mappings");
    for (const size_t each : fresh) add_build(each);
  }

  // ---- Search.

  ModelProblem priced(bool guesses = false) {
    ModelPrices prices = prices_;
    prices.piece_us = [this](size_t backend, const std::vector<uint32_t>& operators) {
      const auto at = pieces_.find({backend, operators});
      return at == pieces_.end() ? std::nullopt : at->second;
    };
    if (guesses)
      prices.guesses_piece = [this](size_t backend, const std::vector<uint32_t>& operators) {
        return pieces_.count({backend, operators}) == 0;
      };
    prices.allowed = [this](size_t backend, uint32_t id) { return is_allowed(backend, id); };
    std::vector<MeasuredBuild> all = builds_;
    all.insert(all.end(), portions_.begin(), portions_.end());
    ModelProblem model = model_problem(all, prices);
    model.problem.overlap = report_.overlap_share;
    if (options_.objective == MapObjective::kEnergy) to_energy(model, watts());
    return model;
  }

  /// By backend: the power of the machine while it computes all that it takes; 0: it was not measured.
  std::vector<double> watts() const {
    std::vector<double> all;
    for (size_t b = 0; b < report_.backends.size(); ++b) {
      const MappedModel& single = report_.models[b];
      all.push_back(single.serial_us > 0 ? single.measured_us / single.serial_us : 0);
    }
    return all;
  }

  bool is_allowed(size_t backend, uint32_t id) const {
    return allows(options_.rules, report_.backends[backend], id) && banned_.count({backend, id}) == 0;
  }

  MappingSolution searched(const MappingProblem& problem) {
    const auto start = MapClock::now();
    std::optional<MappingSolution> best = search_frontier(problem, {.interrupt = context().interrupt});
    const bool limited = std::ranges::any_of(problem.memory_limits, [](double each) { return each > 0; });
    // Limits are kept along the graph, but not exactly.
    if (limited && (!best || best->gap() > 1e-3)) {
      MilpOptions exact{.seconds = kMilpSeconds, .start = best};
      const MilpResult found = solve_milp(problem, exact);
      if (found.solution && (!best || found.solution->us < best->us)) best = found.solution;
      if (best) best->bound_us = std::max(best->bound_us, std::min(found.bound_us, best->us));
    }
    const double seconds = std::clamp(problem.nodes / kNodesPerSecond, kLeastObjectiveS, kMostObjectiveS);
    if (best) best = search_objective(problem, *best, options_.objective, seconds, context().interrupt);
    report_.search_s += since_s(start);
    if (!best) throw Error(no_mapping_text(options_.rules, prices_));
    return *best;
  }

  /// The best mapping found; with few regions, by giving back the one that costs least, again and again.
  std::pair<ModelProblem, MappingSolution> solved() {
    ModelProblem model = priced();
    MappingSolution best = searched(model.problem);
    const size_t operators = module_->origins().size();
    while (options_.max_regions > 0) {
      const std::vector<int> owner = model.backend_of(best.chosen, operators);
      const auto regions = regions_of(owner, builds_.front().origins);
      if (regions.size() <= static_cast<size_t>(options_.max_regions)) break;
      std::optional<std::pair<ModelProblem, MappingSolution>> cheapest;
      std::set<std::pair<size_t, uint32_t>> cheapest_ban;
      const auto before = banned_;
      for (const std::set<uint32_t>& region : regions) {
        for (const uint32_t id : region) banned_.insert({static_cast<size_t>(owner[id]), id});
        try {
          ModelProblem without = priced();
          MappingSolution found = searched(without.problem);
          if (!cheapest || found.us < cheapest->second.us) {
            cheapest.emplace(std::move(without), std::move(found));
            cheapest_ban = banned_;
          }
        } catch (const Interrupted&) {
          throw;
        } catch (const Error&) {  // a rule needs the region
        }
        banned_ = before;
      }
      if (!cheapest)
        throw Error("the rules need more than " + std::to_string(options_.max_regions) +
                    " regions (--max-regions)");
      banned_ = cheapest_ban;
      model = std::move(cheapest->first);
      best = std::move(cheapest->second);
    }
    return {std::move(model), std::move(best)};
  }

  /// Until the search finds nothing new: what it finds is built and measured, and its times are prices, too.
  void search_and_measure() {
    for (int made_count = 0; report_.partial.empty(); ++made_count) {
      show("searching", made_count, options_.tries);
      auto [model, best] = solved();
      const std::vector<int> backend_of = model.backend_of(best.chosen, module_->origins().size());
      report_.bound_us = best.bound_us;
      report_.method = best.method;
      MappedModel mapping{.name = "mapping " + std::to_string(made_count + 1), .backend_of = backend_of};
      choose_variants(mapping, model, best.chosen);
      const bool known =
          std::ranges::any_of(report_.models, [&](const MappedModel& each) { return each.is_same(mapping); });
      if (known || made_count == options_.tries) {
        set_model(std::move(model), std::move(best));
        return;
      }
      mapping.modelled_us = best.us;
      const bool usable = add_model(std::move(mapping));
      if (!usable) {
        set_model(std::move(model), std::move(best));
        return;
      }
      measure({report_.models.size() - 1}, options_.max_seconds * kForMappings / options_.tries,
              "measuring mappings");
      add_build(report_.models.size() - 1);
    }
    auto [model, best] = solved();
    set_model(std::move(model), std::move(best));
  }

  bool is_layer(uint32_t id) const {
    const OpDef* op = find_op(builds_.front().origins.operators[id].op);
    return op && op->rules.get<LayerKind>();
  }

  /// How the layers of a choice are computed. Where all kernels are of builds that chose for themselves, a
  /// build may choose again, beside its new neighbours.
  void choose_variants(MappedModel& mapping, const ModelProblem& model,
                       const std::vector<int>& chosen) const {
    mapping.variant_of.assign(mapping.backend_of.size(), LayerVariant::kByCost);
    for (const int c : chosen) {
      const ModelProblem::Candidate& each = model.candidates[static_cast<size_t>(c)];
      if (each.backend != 0 || each.variant == LayerVariant::kByCost) continue;
      const bool portion = each.build >= builds_.size();
      mapping.pinned = mapping.pinned || (!portion && report_.models[build_of_[each.build]].pinned);
      for (const uint32_t id : model.operators_of(c))
        if (is_layer(id)) mapping.variant_of[id] = each.variant;
    }
  }

  /// The prices at the end; what each build costs by them.
  void set_model(ModelProblem model, MappingSolution best) {
    model_ = std::move(model);
    best_ = std::move(best);
    for (size_t b = 0; b < builds_.size(); ++b) {
      MappedModel& mapped = report_.models[build_of_[b]];
      if (model_.whole[b].empty()) continue;
      const auto cost = price(model_.problem, model_.whole[b]);
      if (!cost) continue;
      mapped.modelled_us = objective_us(model_.problem, *cost, options_.objective);
      if (mapped.modelled_us >= best_.us) continue;  // the search for queues side by side is not exact
      best_.chosen = cost->chosen;
      best_.steps = cost->steps;
      best_.us = mapped.modelled_us;
    }
  }

  // ---- The check.

  void check_by_clock() {
    if (report_.predicted || !report_.partial.empty()) return;
    std::vector<size_t> all;
    for (size_t i = 0; i < subjects_.size(); ++i)
      if (subjects_[i]) all.push_back(i);
    measure(all, options_.max_seconds * kForCheck, "measuring all in turn");
    // These times were taken in turn, so they replace those from before.
    builds_.clear();
    build_of_.clear();
    for (const size_t each : all) add_build(each);
    ModelProblem model = priced();
    MappingSolution best = searched(model.problem);
    report_.bound_us = best.bound_us;
    set_model(std::move(model), std::move(best));
  }

  void choose() {
    std::vector<bool> usable;
    for (const auto& subject : subjects_) usable.push_back(subject != nullptr);
    report_.choose(usable);
    report_.note_load();
  }

  // ---- The result.

  MapResult finish() {
    AlternativeOptions how{.backends = report_.backends,
                           .layers = std::vector<bool>(module_->origins().size()),
                           .objective = options_.objective,
                           .seconds = kAlternativeSeconds,
                           .interrupt = context().interrupt};
    for (uint32_t id = 0; id < how.layers.size(); ++id) how.layers[id] = is_layer(id);
    const Alternatives alternatives =
        options_.objective == MapObjective::kEnergy  // which has no prices of kernels elsewhere
            ? Alternatives{std::vector<std::vector<MappedAlternative>>(how.layers.size())}
            : find_alternatives(model_, best_, how);
    if (!alternatives.complete)
      report_.notes.push_back("the alternatives of some operators were not computed: there are too many");
    if (prices_.devices.size() > 1 && options_.objective == MapObjective::kSerial)
      report_.without_links_us = us_without_links(model_.problem, context().interrupt);
    report_.queues = subjects_[report_.chosen]->queues(device_names_);
    report_.overlap_measured =
        run_objective() == MapObjective::kLatency || run_objective() == MapObjective::kThroughput;
    // The time of each kernel, split over its operators by what they compute.
    const std::vector<double> operator_us = subjects_[report_.chosen]->operator_us(module_->origins().size());
    MappedModel& chosen = report_.models[report_.chosen];
    Mapping& mapping = report_.mapping;
    mapping.version = version();
    mapping.program = program_;
    mapping.machine = report_.machine;
    mapping.threads = report_.threads;
    mapping.opt_level = context().passes->opt_level;
    mapping.host = host_;
    const bool energy = options_.objective == MapObjective::kEnergy;
    mapping.modelled_us = energy ? 0 : chosen.modelled_us;
    mapping.measured_us = energy ? chosen.serial_us : chosen.measured_us;
    const OriginTable& table = module_->origins();
    for (uint32_t id = 0; id < table.size(); ++id)
      mapping.operators.push_back(
          {id, origin_label(table.at(OriginId(id))),
           chosen.backend_of[id] < 0 ? "" : report_.backends[static_cast<size_t>(chosen.backend_of[id])],
           chosen.pinned ? variant_name(chosen.variant_of[id]) : "", operator_us[id],
           alternatives.by_operator[id]});
    IRModule split = apply_mapping(module_, mapping, context());
    std::vector<std::vector<int>> singles(report_.backends.size()), known;
    for (size_t b = 0; b < builds_.size(); ++b) {
      if (!model_.whole[b].empty()) known.push_back(model_.whole[b]);
      if (report_.models[build_of_[b]].single) singles[build_of_[b]] = model_.whole[b];
    }
    return {.report = std::move(report_),
            .priced = std::move(model_),
            .singles = std::move(singles),
            .known = std::move(known),
            .origins = builds_.front().origins,
            .module = std::move(split)};
  }

  MapOptions options_;
  const uint64_t program_;
  const IRModule module_;
  std::string host_;
  MapReport report_;
  ModelPrices prices_;
  std::map<int, std::string> device_names_;            ///< by type
  std::vector<std::unique_ptr<MapSubject>> subjects_;  ///< of report_.models; null: cannot be used
  std::vector<MeasuredBuild> builds_;
  std::vector<MeasuredBuild> portions_;  ///< of devices without room for all; their programs are gone
  std::vector<size_t> build_of_;         ///< by build: index into report_.models
  /// Prices of parts of groups, by backend and operators; nullopt: there is none.
  std::map<std::pair<size_t, std::vector<uint32_t>>, std::optional<double>> pieces_;
  std::set<std::pair<size_t, uint32_t>> banned_;
  std::vector<NDArray> expected_;
  ModelProblem model_;
  MappingSolution best_;
};

}  // namespace

MapResult map_model(const IRModule& module, const MapOptions& options) {
  return Mapper(module, options).run();
}

}  // namespace baton
