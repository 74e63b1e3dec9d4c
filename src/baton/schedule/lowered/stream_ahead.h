#pragma once
// Prefetches of operands that a later iteration of an outer loop reads. For .cc files of schedule and codegen
// only (needs Halide.h).
#include <map>
#include <string>
#include <vector>

#include <Halide.h>

namespace baton {

/// A loop of a scheduled Func: `var` as named in the schedule, of stage s0 (the definition) or s1 (the
/// update).
struct LoopRef {
  std::string func;
  int stage = 0;
  std::string var;
};

/// Whether a loop of lowered code, by its name, is `loop`.
bool is_loop(std::string_view name, const LoopRef& loop);

/// Where prefetched lines are kept until they are used.
enum class CacheLevel { kFirst, kSecond };

/// While one block of an operand is multiplied with many rows, the next block is fetched from memory, evenly
/// spread over that time. Halide's own prefetch reads the lines of one iteration at once: that of weights
/// that are reused from the cache waits for memory in the first pass over the rows, and leaves memory idle in
/// the others (convolution 256 -> 256 of 14 x 14 pixels by Winograd, weights in memory, Zen 3: 1.26 ms
/// without prefetch, 1.86 with Halide's, 0.95 with this).
///
/// The operand's block must be contiguous. Addresses may leave the operand at its end: a prefetch never
/// faults.
struct StreamAhead {
  std::string array;  ///< name of the input (an ImageParam of the kernel)
  LoopRef issue;      ///< prefetches stand at the beginning of this loop's body
  LoopRef ahead;      ///< the block is that of iteration + distance of this loop
  int distance = 1;
  int64_t bytes = 0;  ///< of a block
  /// The second, unless a block is used at once: it may be larger than the first-level cache, or drive from
  /// it what is used before.
  CacheLevel level = CacheLevel::kSecond;

  /// The loops between two blocks, whose iterations share the prefetches, `issue` among them: an iteration's
  /// number is the sum of (variable % modulo, where not 0) * factor.
  struct Turn {
    LoopRef loop;
    int64_t factor = 1, modulo = 0;
  };
  std::vector<Turn> turns = {};
  int64_t iterations = 1;  ///< of all turns
};

/// Inserts the prefetches into lowered code; a custom lowering pass of a Halide pipeline. Does nothing where
/// a loop or the operand is not found: Halide drops loops of one iteration.
class StreamAheadPass final : public Halide::Internal::IRMutator {
 public:
  explicit StreamAheadPass(std::vector<StreamAhead> streams) : streams_(std::move(streams)) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* node) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For* node) override;
  std::vector<Halide::Internal::Stmt> prefetches(const StreamAhead& stream,
                                                 const Halide::Internal::For& loop) const;
  /// The variable of a loop around the current statement; undefined where it is none.
  Halide::Expr variable_of(const LoopRef& loop) const;
  /// The same, or the iteration that follows a loop which ended before the current statement.
  Halide::Expr iteration_of(const LoopRef& loop) const;

  std::vector<StreamAhead> streams_;
  std::map<std::string, Halide::Expr> lets_;         ///< in scope
  std::vector<const Halide::Internal::For*> loops_;  ///< around the current statement
  std::vector<const Halide::Internal::For*> ended_;  ///< before it, in the bodies of these
};

}  // namespace baton
