#include "baton/map/frontier.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "baton/support/error.h"
#include "baton/support/hash.h"
#include "baton/support/interrupt.h"

namespace baton {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostFormats = 32, kMostPending = 32;

using Mask = uint32_t;

// The cheapest ways of a value between any two formats, in several steps.
class Ways {
 public:
  Ways(const MappingProblem& problem, int value) : count_(static_cast<int>(problem.formats.size())) {
    const auto n = static_cast<size_t>(count_);
    us_.assign(n * n, kInfinity);
    next_.assign(n * n, -1);
    for (int f = 0; f < count_; ++f) {
      for (int g = 0; g < count_; ++g)
        if (f != g) {
          us_[at(f, g)] = problem.conversion_us(value, f, g);
          if (us_[at(f, g)] < kInfinity) next_[at(f, g)] = g;
        }
      us_[at(f, f)] = 0;
    }
    for (int k = 0; k < count_; ++k)
      for (int f = 0; f < count_; ++f)
        for (int g = 0; g < count_; ++g)
          if (us_[at(f, k)] + us_[at(k, g)] < us_[at(f, g)]) {
            us_[at(f, g)] = us_[at(f, k)] + us_[at(k, g)];
            next_[at(f, g)] = next_[at(f, k)];
          }
  }

  /// Whether the steps of all cheapest ways form a tree: then ways that are found one after the other share
  /// all that a cheapest tree shares.
  bool tree() const {
    std::vector<int> root(static_cast<size_t>(count_));
    for (int f = 0; f < count_; ++f) root[static_cast<size_t>(f)] = f;
    const auto find = [&](int f) {
      while (root[static_cast<size_t>(f)] != f) f = root[static_cast<size_t>(f)];
      return f;
    };
    for (int f = 0; f < count_; ++f)
      for (int g = f + 1; g < count_; ++g) {
        if (next_[at(f, g)] != g && next_[at(g, f)] != f) continue;
        if (find(f) == find(g)) return false;
        root[static_cast<size_t>(find(f))] = find(g);
      }
    return true;
  }

  /// Every new format costs at least its cheapest direct step.
  double least(int format) const {
    double us = kInfinity;
    for (int f = 0; f < count_; ++f)
      if (f != format) us = std::min(us, us_[at(f, format)]);
    return us;
  }

  /// Makes `format` available, from the nearest of `available`; returns the price, infinity: impossible.
  double reach(int format, Mask& available) const {
    if (available >> format & 1) return 0;
    int best = -1;
    for (int f = 0; f < count_; ++f)
      if (available >> f & 1 && (best < 0 || us_[at(f, format)] < us_[at(best, format)])) best = f;
    if (best < 0 || us_[at(best, format)] == kInfinity) return kInfinity;
    const double us = us_[at(best, format)];
    while (best != format) available |= Mask{1} << (best = next_[at(best, format)]);
    return us;
  }

 private:
  size_t at(int f, int g) const { return static_cast<size_t>(f * count_ + g); }

  int count_;
  std::vector<double> us_;
  std::vector<int> next_;
};

// A value that is still needed.
struct Live {
  Mask available = 0;  ///< formats
  Mask behind = 0;     ///< positions in State::pending that must be complete before it exists
  friend bool operator==(const Live&, const Live&) = default;
};

// A candidate of which some nodes are still to come.
struct Pending {
  int candidate = 0;
  Mask behind = 0;  ///< others that must be complete before it can run
  friend bool operator==(const Pending&, const Pending&) = default;
};

struct State {
  std::vector<Live> live;        ///< of the live values, ascending: the same values in every state of a level
  std::vector<Pending> pending;  ///< by candidate
  double us = 0;
  std::vector<double> memory;  ///< used, per device with a limit
  int chosen = 0;
  int history = -1;  ///< index of the last choice
};

struct Choice {
  int before, candidate;
};

bool same_shape(const State& a, const State& b) { return a.live == b.live && a.pending == b.pending; }

size_t shape_hash(const State& state) {
  Hasher hash;
  for (const Live& live : state.live) hash.add((uint64_t{live.available} << 32) | live.behind);
  for (const Pending& pending : state.pending)
    hash.add((static_cast<uint64_t>(pending.candidate) << 32) | pending.behind);
  return hash.value();
}

template <class Change>
void change_masks(State& state, const Change& change) {
  for (Live& live : state.live) live.behind = change(live.behind);
  for (Pending& pending : state.pending) pending.behind = change(pending.behind);
}

/// Makes room for candidate `c` among the pending ones, and for its bit in all masks.
void add_pending(State& state, int c) {
  const auto at = std::lower_bound(state.pending.begin(), state.pending.end(), c,
                                   [](const Pending& p, int candidate) { return p.candidate < candidate; });
  const auto slot = static_cast<size_t>(at - state.pending.begin());
  state.pending.insert(at, {c, 0});
  change_masks(state, [&](Mask mask) {
    const Mask low = (Mask{1} << slot) - 1;
    return (mask & low) | ((mask & ~low) << 1);
  });
}

/// The pending candidate at `slot` is complete: nothing waits for it any more.
void remove_pending(State& state, size_t slot) {
  state.pending.erase(state.pending.begin() + static_cast<std::ptrdiff_t>(slot));
  change_masks(state, [&](Mask mask) {
    const Mask low = (Mask{1} << slot) - 1;
    return (mask & low) | ((mask >> 1) & ~low);
  });
}

size_t slot_of(const State& state, int c) {
  size_t slot = 0;
  while (state.pending[slot].candidate != c) ++slot;
  return slot;
}

bool same_pending(const State& a, const State& b) {
  return std::equal(a.pending.begin(), a.pending.end(), b.pending.begin(), b.pending.end(),
                    [](const Pending& x, const Pending& y) { return x.candidate == y.candidate; });
}

class Search {
 public:
  /// `merge`: join states instead of leaving them out; the result is then a bound, not a mapping.
  Search(const MappingProblem& problem, const FrontierOptions& options, bool merge)
      : problem_(problem), options_(options), merge_(merge), index_(problem) {
    if (problem.formats.size() > kMostFormats)
      throw Error("a mapping over " + std::to_string(problem.formats.size()) + " formats: at most " +
                  std::to_string(kMostFormats) + " are possible");
    first_.resize(static_cast<size_t>(problem.nodes));
    for (size_t c = 0; c < problem.candidates.size(); ++c) {
      first_[static_cast<size_t>(problem.candidates[c].nodes.front())].push_back(static_cast<int>(c));
      values_.push_back(index_.values_of(problem.candidates[c].nodes));
    }
    std::map<double, size_t> ways_by_bytes;
    for (size_t v = 0; v < problem.values.size(); ++v) {
      const MappingValue& value = problem.values[v];
      const auto [known, fresh] = ways_by_bytes.emplace(value.bytes, ways_.size());
      if (fresh) {
        ways_.emplace_back(problem, static_cast<int>(v));
        trees_ = trees_ && ways_.back().tree();
      }
      ways_of_.push_back(known->second);
      last_.push_back(value.consumers.empty() ? value.producer : value.consumers.back());
    }
    limited_ = !merge && (problem.max_candidates > 0 ||
                          std::any_of(problem.memory_limits.begin(), problem.memory_limits.end(),
                                      [](double limit) { return limit > 0; }));
  }

  /// The cheapest final state; nullopt: none.
  std::optional<State> run() {
    std::vector<State> states(1);
    states[0].memory.resize(problem_.memory_limits.size());
    for (size_t v = 0; v < problem_.values.size(); ++v) {
      const MappingValue& value = problem_.values[v];
      if (value.producer >= 0) continue;
      Live live{Mask{1} << value.given};
      states[0].us += deliver(static_cast<int>(v), live.available);
      if (value.consumers.empty()) continue;
      live_.push_back(static_cast<int>(v));
      states[0].live.push_back(live);
    }
    if (states[0].us == kInfinity) return std::nullopt;
    for (int node = 0; node < problem_.nodes; ++node) {
      if (options_.interrupt && *options_.interrupt) throw Interrupted("interrupted");
      states = advanced(states, node);
      if (states.empty()) return std::nullopt;
    }
    return *std::min_element(states.begin(), states.end(),
                             [](const State& a, const State& b) { return a.us < b.us; });
  }

  std::vector<int> chosen(const State& state) const {
    std::vector<int> list;
    for (int at = state.history; at >= 0; at = choices_[static_cast<size_t>(at)].before)
      list.push_back(choices_[static_cast<size_t>(at)].candidate);
    std::reverse(list.begin(), list.end());
    return list;
  }

  bool left_out() const { return left_out_; }
  bool trees() const { return trees_; }
  bool limited() const { return limited_; }

 private:
  double deliver(int value, Mask& available) const {
    double us = 0;
    for (const int format : problem_.values[static_cast<size_t>(value)].required)
      us += reach(value, format, available);
    return us;
  }

  double reach(int value, int format, Mask& available) const {
    const Ways& ways = ways_[ways_of_[static_cast<size_t>(value)]];
    if (!merge_ || trees_) return ways.reach(format, available);
    if (available >> format & 1) return 0;
    available |= Mask{1} << format;
    return ways.least(format);
  }

  size_t position(int value) const {
    return static_cast<size_t>(std::lower_bound(live_.begin(), live_.end(), value) - live_.begin());
  }

  // All states after `node`.
  std::vector<State> advanced(const std::vector<State>& states, int node) {
    std::vector<State> next;
    std::unordered_multimap<size_t, size_t> known;
    const std::vector<int> live = live_after(node);
    for (const State& state : states) {
      const auto owner = std::find_if(state.pending.begin(), state.pending.end(), [&](const Pending& p) {
        const std::vector<int>& nodes = problem_.candidates[static_cast<size_t>(p.candidate)].nodes;
        return std::binary_search(nodes.begin(), nodes.end(), node);
      });
      if (owner != state.pending.end()) {
        add(next, known, taken(state, node, owner->candidate, /*begins=*/false, live));
        continue;
      }
      for (const int c : first_[static_cast<size_t>(node)])
        if (!overlaps(state, c)) add(next, known, taken(state, node, c, /*begins=*/true, live));
    }
    live_ = live;
    return kept(std::move(next));
  }

  std::vector<int> live_after(int node) const {
    std::vector<int> live;
    for (const int v : live_)
      if (last_[static_cast<size_t>(v)] > node) live.push_back(v);
    for (const int v : index_.writes(node))
      if (last_[static_cast<size_t>(v)] > node) live.push_back(v);
    std::sort(live.begin(), live.end());
    return live;
  }

  bool overlaps(const State& state, int candidate) const {
    const std::vector<int>& nodes = problem_.candidates[static_cast<size_t>(candidate)].nodes;
    for (const Pending& pending : state.pending)
      for (const int node : problem_.candidates[static_cast<size_t>(pending.candidate)].nodes)
        if (std::binary_search(nodes.begin(), nodes.end(), node)) return true;
    return false;
  }

  // `state` after candidate `c` has taken `node`; nullopt: that is impossible.
  std::optional<State> taken(const State& state, int node, int c, bool begins, const std::vector<int>& live) {
    const MappingCandidate& candidate = problem_.candidates[static_cast<size_t>(c)];
    State now = state;
    if (begins && !begin(now, candidate, c)) return std::nullopt;
    const size_t slot = slot_of(now, c);
    if (!read(now, node, c, slot)) return std::nullopt;
    write(now, node, c, slot, live);
    if (now.us == kInfinity) return std::nullopt;
    if (node == candidate.nodes.back()) remove_pending(now, slot);
    if (begins) {
      now.history = static_cast<int>(choices_.size());
      choices_.push_back({state.history, c});
    }
    return now;
  }

  bool begin(State& now, const MappingCandidate& candidate, int c) const {
    if (now.pending.size() >= kMostPending) return false;
    now.us += candidate.us;
    ++now.chosen;
    if (limited_) {
      const auto device = static_cast<size_t>(candidate.device);
      now.memory[device] += candidate.memory;
      const double limit = problem_.memory_limits[device];
      if (limit > 0 && now.memory[device] > limit) return false;
      if (problem_.max_candidates > 0 && now.chosen > problem_.max_candidates) return false;
    }
    add_pending(now, c);
    return true;
  }

  // What `node` reads is converted, and the candidate waits for whoever makes it.
  bool read(State& now, int node, int c, size_t slot) const {
    const Mask own = Mask{1} << slot;
    const CandidateValues& values = values_[static_cast<size_t>(c)];
    Mask behind = now.pending[slot].behind;
    for (const int v : index_.reads(node)) {
      const auto input = std::lower_bound(values.inputs.begin(), values.inputs.end(), v);
      if (input == values.inputs.end() || *input != v) continue;  // made by the candidate itself
      const int format = problem_.candidates[static_cast<size_t>(c)]
                             .input_formats[static_cast<size_t>(input - values.inputs.begin())];
      Live& live = now.live[position(v)];
      now.us += reach(v, format, live.available);
      if (now.us == kInfinity) return false;
      behind |= live.behind;
    }
    if (behind & own) return false;  // a circle: it would wait for itself
    now.pending[slot].behind = behind;
    for (Live& live : now.live)
      if (live.behind & own) live.behind |= behind;
    for (Pending& pending : now.pending)
      if (pending.behind & own) pending.behind |= behind;
    return true;
  }

  // The values that `node` writes come to life, those that nobody reads any more go.
  void write(State& now, int node, int c, size_t slot, const std::vector<int>& live) const {
    std::vector<Live> next;
    next.reserve(live.size());
    const CandidateValues& values = values_[static_cast<size_t>(c)];
    const auto format_of = [&](int v) {
      const auto output = std::lower_bound(values.outputs.begin(), values.outputs.end(), v);
      return output == values.outputs.end() || *output != v
                 ? -1
                 : problem_.candidates[static_cast<size_t>(c)]
                       .output_formats[static_cast<size_t>(output - values.outputs.begin())];
    };
    const auto written = [&](int v) {
      const int format = format_of(v);
      return Live{format < 0 ? 0 : Mask{1} << format, (Mask{1} << slot) | now.pending[slot].behind};
    };
    for (const int v : live)
      next.push_back(problem_.values[static_cast<size_t>(v)].producer == node ? written(v)
                                                                              : now.live[position(v)]);
    for (const int v : index_.writes(node)) {
      Live made = written(v);
      now.us += deliver(v, made.available);
      const auto at = std::lower_bound(live.begin(), live.end(), v);
      if (at != live.end() && *at == v) next[static_cast<size_t>(at - live.begin())] = made;
    }
    now.live = std::move(next);
  }

  // When two states look the same, the cheaper one stays.
  void add(std::vector<State>& states, std::unordered_multimap<size_t, size_t>& known,
           std::optional<State> state) const {
    if (!state) return;
    const size_t hash = shape_hash(*state);
    for (auto [at, end] = known.equal_range(hash); at != end; ++at)
      if (State& other = states[at->second]; same_shape(other, *state)) {
        if (state->us < other.us) other = std::move(*state);
        return;
      }
    known.emplace(hash, states.size());
    states.push_back(std::move(*state));
  }

  // What it costs at most to give `from` all that `to` has: then `to` is not needed. Infinity: unknown.
  double catch_up(const State& from, const State& to) const {
    if (from.pending != to.pending) return kInfinity;
    double us = 0;
    for (size_t i = 0; i < from.live.size(); ++i) {
      if (from.live[i].behind & ~to.live[i].behind) return kInfinity;
      Mask available = from.live[i].available;
      for (Mask missing = to.live[i].available & ~available; missing; missing &= missing - 1)
        us += reach(live_[i], __builtin_ctz(missing), available);
    }
    return us;
  }

  std::vector<State> kept(std::vector<State> states) {
    std::sort(states.begin(), states.end(), [](const State& a, const State& b) { return a.us < b.us; });
    if (!limited_) drop_dominated(states);
    if (states.size() <= options_.width) return states;
    left_out_ = true;
    if (!merge_) {
      states.resize(options_.width);
      return states;
    }
    return merged(std::move(states));
  }

  void drop_dominated(std::vector<State>& states) const {
    constexpr size_t kCompared = 16;  // with the cheapest ones: they dominate most
    std::vector<State> rest;
    for (State& state : states) {
      bool dominated = false;
      for (size_t i = 0; !dominated && i < std::min(rest.size(), kCompared); ++i)
        dominated = rest[i].us + catch_up(rest[i], state) <= state.us;
      if (!dominated) rest.push_back(std::move(state));
    }
    states = std::move(rest);
  }

  // Dear states become one per set of pending candidates: with all that any of them has, for the price of the
  // cheapest. No mapping becomes dearer by that.
  std::vector<State> merged(std::vector<State> states) const {
    std::vector<State> result(
        std::make_move_iterator(states.begin()),
        std::make_move_iterator(states.begin() + static_cast<std::ptrdiff_t>(options_.width)));
    const size_t kept = result.size();
    for (size_t i = kept; i < states.size(); ++i) {
      const auto same = std::find_if(result.begin() + static_cast<std::ptrdiff_t>(kept), result.end(),
                                     [&](const State& other) { return same_pending(other, states[i]); });
      if (same == result.end()) {
        result.push_back(std::move(states[i]));
        continue;
      }
      for (size_t v = 0; v < same->live.size(); ++v) {
        same->live[v].available |= states[i].live[v].available;
        same->live[v].behind &= states[i].live[v].behind;
      }
      for (size_t p = 0; p < same->pending.size(); ++p)
        same->pending[p].behind &= states[i].pending[p].behind;
    }
    return result;
  }

  const MappingProblem& problem_;
  const FrontierOptions& options_;
  bool merge_, limited_ = false, left_out_ = false, trees_ = true;
  MappingIndex index_;
  std::vector<std::vector<int>> first_;  ///< candidates by their first node
  std::vector<CandidateValues> values_;  ///< by candidate
  std::vector<Ways> ways_;               ///< of values of one size
  std::vector<size_t> ways_of_;          ///< by value: index into ways_
  std::vector<int> last_;                ///< by value: the last node that reads it
  std::vector<int> live_;                ///< values, ascending
  std::vector<Choice> choices_;
};

}  // namespace

std::optional<MappingSolution> search_frontier(const MappingProblem& problem,
                                               const FrontierOptions& options) {
  Search search(problem, options, /*merge=*/false);
  const std::optional<State> found = search.run();
  if (!found) return std::nullopt;
  std::optional<MappingSolution> solution = price(problem, search.chosen(*found));
  BATON_CHECK(solution, "the search found a mapping that cannot run");
  if (!search.left_out() && !search.limited() && search.trees()) {
    solution->bound_us = solution->us;
    solution->method = "dynamic programming";
    return solution;
  }
  solution->method = search.left_out() ? "beam of " + std::to_string(options.width) : "dynamic programming";
  const std::optional<State> bound = Search(problem, options, /*merge=*/true).run();
  if (bound) solution->bound_us = std::min(bound->us, solution->us);
  return solution;
}

}  // namespace baton
