#pragma once
// Finds the kernels of a function that are better one kernel: the cells of recurrent networks.
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/fuse/branch_uses.h"

namespace baton {

/// A call of a primitive function, and what it may be in a cell.
struct CellPart {
  Ref<const CallNode> call;  ///< null: the node is no such call
  const FunctionNode* function = nullptr;
  size_t operators = 0;     ///< of its body
  bool product = false;     ///< holds a matrix product
  bool simple = false;      ///< few elements, each computed from those at its place, or taken from a part
  bool only_parts = false;  ///< it only takes parts of operands
  bool reshape = false;     ///< it only reshapes, which costs nothing
};

/// `value` without projections: the expression whose results it is one of.
const Expr& computed_by(const Expr& value);

/// A cell begins with a product from whose result others take parts, such as the gates of an LSTM. What
/// computes few elements one by one from results of the cell belongs to it; so does a product in between, as
/// in a GRU that resets before its product, unless it begins a cell itself, as the next step does. What only
/// the cell reads, such as the row of one time, is part of it, too: also of the kernel of a product alone.
class CellFinder {
 public:
  using Position = uint32_t;  ///< of a node, operands before users
  /// The parts of one kernel, ascending: at least two. Empty: it was none.
  using Cell = std::vector<Position>;

  /// `function`: typed, after FuseOps. `most`: operators of a cell.
  CellFinder(const Function& function, size_t most);

  const std::vector<Cell>& cells() const { return cells_; }
  /// The index of the cell that `node` is a part of; -1: of none.
  int cell_of(const ExprNode* node) const;
  const CellPart& part(Position at) const { return parts_[at]; }
  /// Whether something outside of its cell reads its result.
  bool is_read_outside(Position part) const;
  /// All nodes but those within kernels, and what a cell needs before its parts.
  std::vector<Expr> order() const;

 private:
  static constexpr Position kNone = UINT32_MAX;

  void find_nodes(const Function& function);
  void find_readers();
  bool begins_cell(Position product) const;
  bool reads_row(Position product) const;
  void grow(Position product, bool readers_too);
  bool join(Position part);
  bool join_readers(Position of);
  bool join_operands(Position of);
  bool ends_cell(Position product) const;
  bool is_read_here_only(Position part, const std::set<Position>& here) const;
  std::optional<std::vector<Position>> between(Position part) const;
  bool may_join(Position part) const;
  std::optional<std::vector<Expr>> sorted(size_t* cycle) const;
  Position position_of(const Expr& value) const;

  size_t most_;
  std::vector<Expr> nodes_;
  std::vector<CellPart> parts_;
  PointerMap<Position> positions_;
  struct Reader {
    Position node, next;
  };
  std::vector<Reader> readers_;
  std::vector<Position> first_reader_;
  std::vector<int> cell_of_;
  std::vector<Cell> cells_;
  std::optional<BranchUses> uses_;
  // The cell that grows.
  Position product_ = 0;
  std::set<Position> growing_;
  size_t operators_ = 0;
};

}  // namespace baton
