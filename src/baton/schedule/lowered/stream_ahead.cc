#include "baton/schedule/lowered/stream_ahead.h"

#include <algorithm>

namespace baton {
namespace {

namespace lowered = Halide::Internal;

constexpr int kLine = 64;

/// The first load of `array` in a loop's body: its index, and what the names in it stand for.
class FirstLoad final : public lowered::IRVisitor {
 public:
  FirstLoad(std::string array, std::map<std::string, Halide::Expr> lets)
      : array_(std::move(array)), lets_(std::move(lets)) {}

  /// As a function of the loops around the body: loops inside of it are at their first iteration.
  Halide::Expr index() const {
    Halide::Expr found = index_;
    if (!found.defined()) return found;
    if (const auto* ramp = found.as<lowered::Ramp>()) found = ramp->base;
    for (Halide::Expr before; !before.same_as(found);)
      before = found, found = lowered::substitute(lets_, found);
    return found.type() == Halide::Int(32) ? found : Halide::Expr();
  }
  int element_bytes() const { return element_bytes_; }

 private:
  using IRVisitor::visit;
  void visit(const lowered::LetStmt* node) override {
    lets_[node->name] = node->value;
    IRVisitor::visit(node);
  }
  void visit(const lowered::Let* node) override {
    lets_[node->name] = node->value;
    IRVisitor::visit(node);
  }
  void visit(const lowered::For* node) override {
    lets_[node->name] = node->min;
    IRVisitor::visit(node);
  }
  void visit(const lowered::Load* node) override {
    if (node->name == array_ && !index_.defined()) index_ = node->index, element_bytes_ = node->type.bytes();
    IRVisitor::visit(node);
  }

  std::string array_;
  std::map<std::string, Halide::Expr> lets_;
  Halide::Expr index_;
  int element_bytes_ = 4;
};

/// LLVM's own intrinsic: Halide's prefetch has no cache level. It stands for x86's prefetchnta, whose lines
/// leave an AMD's first-level cache for memory: what is used later than that is read twice.
Halide::Expr prefetch(const Halide::Expr& address, CacheLevel level) {
  constexpr int kRead = 0, kData = 1;
  return lowered::Call::make(Halide::Int(32), "llvm.prefetch.p0",
                             {address, kRead, level == CacheLevel::kFirst ? 3 : 2, kData},
                             lowered::Call::Extern);
}

}  // namespace

bool is_loop(std::string_view name, const LoopRef& loop) {
  constexpr std::string_view kFromZero = ".rebased";  // Halide moved its first iteration to 0
  if (name.ends_with(kFromZero)) name.remove_suffix(kFromZero.size());
  const std::string prefix = loop.func + ".s" + std::to_string(loop.stage) + ".", suffix = "." + loop.var;
  return name.starts_with(prefix) && (name == prefix + loop.var || name.ends_with(suffix));
}

lowered::Stmt StreamAheadPass::visit(const lowered::LetStmt* node) {
  lets_[node->name] = node->value;
  return IRMutator::visit(node);
}

lowered::Stmt StreamAheadPass::visit(const lowered::For* node) {
  loops_.push_back(node);
  const size_t ended_before = ended_.size();
  std::vector<lowered::Stmt> body;
  for (const StreamAhead& stream : streams_)
    if (is_loop(node->name, stream.issue))
      for (lowered::Stmt& prefetch : prefetches(stream, *node)) body.push_back(std::move(prefetch));
  body.push_back(mutate(node->body));
  loops_.pop_back();
  ended_.resize(ended_before);
  ended_.push_back(node);
  return lowered::For::make(node->name, node->min, node->extent, node->for_type, node->partition_policy,
                            node->device_api, lowered::Block::make(body));
}

Halide::Expr StreamAheadPass::variable_of(const LoopRef& loop) const {
  for (const lowered::For* each : loops_)
    if (is_loop(each->name, loop)) return lowered::Variable::make(Halide::Int(32), each->name);
  return {};
}

Halide::Expr StreamAheadPass::iteration_of(const LoopRef& loop) const {
  const Halide::Expr variable = variable_of(loop);
  if (variable.defined()) return variable;
  // Halide takes the last iteration out of a loop whose last tile is shifted.
  for (const lowered::For* each : ended_)
    if (is_loop(each->name, loop)) return each->min + each->extent;
  return {};
}

std::vector<lowered::Stmt> StreamAheadPass::prefetches(const StreamAhead& stream,
                                                       const lowered::For& loop) const {
  FirstLoad load(stream.array, lets_);
  loop.body.accept(&load);
  const Halide::Expr index = load.index(), ahead = variable_of(stream.ahead);
  if (!index.defined() || !ahead.defined()) return {};

  Halide::Expr turn = 0;
  for (const StreamAhead::Turn& each : stream.turns) {
    Halide::Expr variable = iteration_of(each.loop);
    if (!variable.defined()) continue;
    if (each.modulo) variable = variable % static_cast<int>(each.modulo);
    turn += variable * static_cast<int>(each.factor);
  }
  const int64_t lines = (stream.bytes + kLine - 1) / kLine;
  // Several lines in an iteration, or a line in every few.
  const int64_t at_once = (lines + stream.iterations - 1) / stream.iterations,
                every = std::max<int64_t>(1, stream.iterations / lines);
  const Halide::Expr line =
      Halide::min(turn / static_cast<int>(every), static_cast<int>((lines - 1) / at_once)) *
      static_cast<int>(at_once);
  Halide::Expr block = index;
  const std::string ahead_name = ahead.as<lowered::Variable>()->name;
  if (loop.name != ahead_name) block = lowered::substitute(loop.name, loop.min, block);
  for (const StreamAhead::Turn& each : stream.turns)
    if (const Halide::Expr variable = variable_of(each.loop); variable.defined() && !each.modulo)
      block = lowered::substitute(variable.as<lowered::Variable>()->name, 0, block);
  block = lowered::substitute(ahead_name, ahead + stream.distance, block);

  const auto bytes = [](const Halide::Expr& count, int64_t each) {
    return Halide::cast(Halide::UInt(64), lowered::simplify(count)) *
           lowered::make_const(Halide::UInt(64), each);
  };
  const Halide::Expr array = lowered::Variable::make(Halide::Handle(), stream.array),
                     first = Halide::reinterpret(Halide::UInt(64), array) +
                             bytes(block, load.element_bytes()) + bytes(line, kLine);
  std::vector<lowered::Stmt> made;
  for (int64_t i = 0; i < at_once; ++i)
    made.push_back(lowered::Evaluate::make(prefetch(
        Halide::reinterpret(Halide::Handle(), first + bytes(static_cast<int>(i), kLine)), stream.level)));
  return made;
}

}  // namespace baton
