#include "baton/schedule/lowered/open_tiles.h"

#include <algorithm>

#include "baton/schedule/lowered/stream_ahead.h"

namespace baton {
namespace {

namespace lowered = Halide::Internal;
using Halide::Expr;
using lowered::Stmt;

bool is_loop_of(const OpenTile& tile, const std::string& name) {
  return is_loop(name, {tile.func, 0, tile.var}) || is_loop(name, {tile.func, 1, tile.var});
}

/// Replaces what is defined around the tile's loops, so that their bounds are expressions of the same names.
class LetsAround final : public lowered::IRMutator {
 public:
  explicit LetsAround(const OpenTile& tile) : tile_(tile) {}

 private:
  using IRMutator::visit;
  Stmt visit(const lowered::LetStmt* node) override {
    return mutate(lowered::substitute(node->name, node->value, node->body));
  }
  Stmt visit(const lowered::For* node) override {
    return is_loop_of(tile_, node->name) ? Stmt(node) : IRMutator::visit(node);
  }
  const OpenTile& tile_;
};

/// The extents of the tile's loops, each once.
class ExtentsOfLoops final : public lowered::IRVisitor {
 public:
  explicit ExtentsOfLoops(const OpenTile& tile) : tile_(tile) {}
  std::vector<Expr> found;

 private:
  using IRVisitor::visit;
  void visit(const lowered::For* node) override {
    if (is_loop_of(tile_, node->name)) {
      const Expr extent = lowered::simplify(node->extent);
      if (std::ranges::none_of(found, [&](const Expr& each) { return lowered::equal(each, extent); }))
        found.push_back(extent);
    }
    IRVisitor::visit(node);
  }
  const OpenTile& tile_;
};

/// The tile's loops with a number of iterations, one statement each.
class WrittenOut final : public lowered::IRMutator {
 public:
  WrittenOut(const OpenTile& tile, int iterations) : tile_(tile), iterations_(iterations) {}

 private:
  using IRMutator::visit;
  Stmt visit(const lowered::For* node) override {
    if (!is_loop_of(tile_, node->name)) return IRMutator::visit(node);
    std::vector<Stmt> all;
    for (int i = 0; i < iterations_; ++i)
      all.push_back(lowered::substitute(node->name, lowered::simplify(node->min + i), node->body));
    return lowered::Block::make(all);
  }
  const OpenTile& tile_;
  const int iterations_;
};

}  // namespace

Stmt OpenTilesPass::visit(const lowered::ProducerConsumer* node) {
  const auto tile = std::ranges::find(tiles_, node->name, &OpenTile::func);
  if (!node->is_producer || tile == tiles_.end()) return IRMutator::visit(node);
  const Stmt body = LetsAround(*tile).mutate(node->body);
  ExtentsOfLoops extents(*tile);
  body.accept(&extents);
  if (extents.found.size() != 1) return IRMutator::visit(node);  // Halide drops loops of one iteration
  Stmt made;
  for (int iterations = 1; iterations <= tile->most; ++iterations) {
    const Stmt written = lowered::simplify(WrittenOut(*tile, iterations).mutate(body));
    // Not `==`: LLVM would make a table of jumps of these, which other assemblers lay out differently.
    made =
        made.defined() ? lowered::IfThenElse::make(extents.found[0] >= iterations, written, made) : written;
  }
  return lowered::ProducerConsumer::make(node->name, true, made);
}

}  // namespace baton
