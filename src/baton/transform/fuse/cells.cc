#include "baton/transform/fuse/cells.h"

#include <algorithm>

#include "baton/ir/functions.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/ir/visit.h"

namespace baton {

namespace {

/// Results of more elements are computed in parallel, by a kernel of their own.
constexpr int64_t kMostElements = 1 << 14;
/// What counts for an extent that is not known: a batch.
constexpr int64_t kUsualRows = 8;
/// Nodes that are looked at between a cell and what may join it.
constexpr size_t kMostBetween = 1024;

bool has_few_elements(const Type& type) {
  int64_t all = 0;
  for (const TensorTypeNode* tensor : flat_types(type)) {
    int64_t count = 1;
    for (const Dim dim : tensor->shape())
      count = std::min(count * (dim.is_any() ? kUsualRows : dim.value()), kMostElements + 1);
    all += count;
  }
  return all <= kMostElements;
}

bool takes_part(const CallNode& call) {
  const auto* rule = call.op()->rules.get<PartOfOperand>();
  return rule && rule->holds(call);
}

bool is_matrix(const Type& type) {
  const auto* tensor = as_type<TensorTypeNode>(type);
  return tensor && tensor->rank() == 2;
}

CellPart part_of(const Expr& node) {
  const auto call = as_ref<CallNode>(node);
  const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
  if (!function || !function->is_primitive() || function->attr("Compiler")) return {};
  CellPart part{call, function};
  part.simple = part.only_parts = part.reshape = true;
  bool others = false;
  post_order(function->body(), [&](const Expr& inner) {
    const auto* op = as<CallNode>(inner);
    if (!op) return;
    ++part.operators;
    if (!op->op()) {
      others = true;
      return;
    }
    const OpDef& def = *op->op();
    const bool takes = takes_part(*op);
    part.only_parts &= takes, part.reshape &= def.reshape_only;
    if (def.fuse == Fuse::kOutFusable && is_matrix(inner->checked_type()))
      part.product = true;
    else
      others |= def.stateful || !(def.fuse <= Fuse::kBroadcast || def.reshape_only || takes);
  });
  part.product &= !others;
  part.simple = !others && !part.product && has_few_elements(node->checked_type());
  return part;
}

/// Whether an operator of `part` that fulfils `wanted` computes something from the result of `value`;
/// `wanted` gets the call, and whether its first operand depends on it.
template <class Wanted>
bool uses_in(const CellPart& part, const Expr& value, Wanted wanted) {
  PointerSet depends;
  const ExprList& args = part.call->args();
  for (size_t i = 0; i < args.size(); ++i)
    if (computed_by(args[i]) == value) depends.insert(part.function->params()[i].get());
  bool found = false;
  post_order(part.function->body(), [&](const Expr& node) {
    bool here = false;
    for_each_child(*node, [&](const Expr& child) { here |= depends.contains(child.get()); });
    if (!here) return;
    depends.insert(node.get());
    const auto* call = as<CallNode>(node);
    found |= call && call->op() && wanted(*call, depends.contains(call->args()[0].get()));
  });
  return found;
}

bool takes_apart(const CellPart& part, const Expr& value) {
  return uses_in(part, value, [](const CallNode& call, bool first) { return first && takes_part(call); });
}

bool is_multiplied(const CellPart& part, const Expr& value) {
  return uses_in(part, value,
                 [](const CallNode& call, bool) { return call.op()->fuse == Fuse::kOutFusable; });
}

}  // namespace

const Expr& computed_by(const Expr& value) {
  const Expr* at = &value;
  while (const auto* item = as<TupleGetItemNode>(*at)) at = &item->tuple();
  return *at;
}

CellFinder::CellFinder(const Function& function, size_t most) : most_(most) {
  find_nodes(function);
  const auto is_any = [&](auto member) { return std::ranges::any_of(parts_, member); };
  if (!is_any(&CellPart::product) || !is_any(&CellPart::simple)) return;
  find_readers();
  cell_of_.assign(nodes_.size(), -1);
  for (Position at = 0; at < nodes_.size(); ++at) {
    if (!parts_[at].product || cell_of_[at] >= 0) continue;
    if (begins_cell(at))
      grow(at, true);
    else if (reads_row(at))
      grow(at, false);
  }
  // Two cells that need each other cannot both be one kernel.
  for (size_t cycle = 0; !sorted(&cycle);) {
    for (const Position each : cells_[cycle]) cell_of_[each] = -1;
    cells_[cycle].clear();
  }
}

int CellFinder::cell_of(const ExprNode* node) const {
  const Position* at = positions_.find(node);
  return at && *at < cell_of_.size() ? cell_of_[*at] : -1;
}

CellFinder::Position CellFinder::position_of(const Expr& value) const {
  const Position* at = positions_.find(computed_by(value).get());
  return at ? *at : kNone;
}

void CellFinder::find_nodes(const Function& function) {
  const auto enter = [&](const Expr& node) {
    const auto* inner = as<FunctionNode>(node);
    return !inner || !is_closed(*inner);
  };
  post_order(
      Expr(function),
      [&](const Expr& node) {
        positions_.insert(node.get(), static_cast<Position>(nodes_.size()));
        nodes_.push_back(node);
        parts_.push_back(part_of(node));
      },
      enter);
}

void CellFinder::find_readers() {
  first_reader_.assign(nodes_.size(), kNone);
  for (Position at = 0; at < nodes_.size(); ++at) {
    if (nodes_[at]->kind() == ExprKind::kTupleGetItem) continue;
    for_each_child(*nodes_[at], [&](const Expr& child) {
      const Position from = position_of(child);
      if (from == kNone) return;
      readers_.push_back({at, first_reader_[from]});
      first_reader_[from] = static_cast<Position>(readers_.size() - 1);
    });
  }
}

bool CellFinder::begins_cell(Position product) const {
  for (Position r = first_reader_[product]; r != kNone; r = readers_[r].next) {
    const CellPart& reader = parts_[readers_[r].node];
    if (reader.simple && takes_apart(reader, nodes_[product])) return true;
  }
  return false;
}

bool CellFinder::reads_row(Position product) const {
  return std::ranges::any_of(parts_[product].call->args(), [&](const Expr& arg) {
    const Position at = position_of(arg);
    return at != kNone && parts_[at].simple && parts_[at].only_parts && is_read_here_only(at, {product}) &&
           !is_multiplied(parts_[product], nodes_[at]);
  });
}

bool CellFinder::is_read_here_only(Position part, const std::set<Position>& here) const {
  for (Position r = first_reader_[part]; r != kNone; r = readers_[r].next)
    if (!here.contains(readers_[r].node)) return false;
  return true;
}

bool CellFinder::is_read_outside(Position part) const {
  for (Position r = first_reader_[part]; r != kNone; r = readers_[r].next)
    if (cell_of_[readers_[r].node] != cell_of_[part]) return true;
  return false;
}

void CellFinder::grow(Position product, bool readers_too) {
  if (!uses_) uses_.emplace(nodes_.back());
  product_ = product;
  growing_ = {product};
  operators_ = parts_[product].operators;
  for (bool grown = true; grown;) {
    grown = false;
    for (const Position each : std::vector<Position>(growing_.begin(), growing_.end())) {
      if (readers_too) grown |= join_readers(each);
      grown |= join_operands(each);
    }
  }
  const bool computes = std::ranges::any_of(
      growing_, [&](Position each) { return each != product && !parts_[each].only_parts; });
  if (growing_.size() < 2 || (readers_too && !computes)) return;
  for (const Position each : growing_) cell_of_[each] = static_cast<int>(cells_.size());
  cells_.emplace_back(growing_.begin(), growing_.end());
}

bool CellFinder::join_readers(Position of) {
  bool joined = false;
  for (Position r = first_reader_[of]; r != kNone; r = readers_[r].next) {
    const Position at = readers_[r].node;
    const CellPart& reader = parts_[at];
    if ((reader.simple && !reader.reshape) || (reader.product && ends_cell(at))) joined |= join(at);
  }
  return joined;
}

/// Whether a product reads what grows as its operand, and again after it.
bool CellFinder::ends_cell(Position product) const {
  bool multiplied = false, after = false;
  for (const Expr& arg : parts_[product].call->args()) {
    const Position at = position_of(arg);
    if (at != kNone && growing_.contains(at))
      (is_multiplied(parts_[product], nodes_[at]) ? multiplied : after) = true;
  }
  return multiplied && after;
}

bool CellFinder::join_operands(Position of) {
  bool joined = false;
  for (const Expr& arg : parts_[of].call->args()) {
    const Position at = position_of(arg);
    if (at == kNone || growing_.contains(at) || !parts_[at].simple || parts_[at].reshape) continue;
    // The operands of a product are stored in any case.
    if (is_read_here_only(at, growing_) && !is_multiplied(parts_[of], nodes_[at])) joined |= join(at);
  }
  return joined;
}

/// Whether it can be computed where the product is: in the same branch and scope.
bool CellFinder::may_join(Position at) const {
  const CellPart& part = parts_[at];
  if (!part.call || cell_of_[at] >= 0) return false;
  if (!part.simple && !(part.product && !begins_cell(at))) return false;
  const Expr &node = nodes_[at], &begin = nodes_[product_];
  return uses_->region(*node) == uses_->region(*begin) && uses_->bound_at(node) <= uses_->bound_at(begin);
}

/// What is computed from parts of the cell, and `part` is computed from; nullopt where that is too much, or
/// are no kernels.
std::optional<std::vector<CellFinder::Position>> CellFinder::between(Position part) const {
  const Position first = *growing_.begin();
  std::set<Position> reached{part};
  std::vector<Position> todo{part};
  while (!todo.empty()) {
    const Position at = todo.back();
    todo.pop_back();
    for_each_child(*nodes_[at], [&](const Expr& child) {
      const Position from = position_of(child);
      if (from == kNone || from < first || growing_.contains(from)) return;
      if (reached.insert(from).second) todo.push_back(from);
    });
    if (reached.size() > kMostBetween) return std::nullopt;
  }
  std::set<Position> depend;
  std::vector<Position> found;
  for (const Position at : reached) {
    bool here = false;
    for_each_child(*nodes_[at], [&](const Expr& child) {
      const Position from = position_of(child);
      here |= from != kNone && (growing_.contains(from) || depend.contains(from));
    });
    if (!here) continue;
    depend.insert(at);
    if (at == part) continue;
    if (!parts_[at].call) return std::nullopt;
    found.push_back(at);
  }
  return found;
}

bool CellFinder::join(Position part) {
  if (growing_.contains(part) || !may_join(part)) return false;
  auto all = between(part);
  if (!all || !std::ranges::all_of(*all, [&](Position each) { return may_join(each); })) return false;
  all->push_back(part);
  size_t operators = operators_;
  for (const Position each : *all) operators += parts_[each].operators;
  if (operators > most_) return false;
  operators_ = operators;
  growing_.insert(all->begin(), all->end());
  return true;
}

std::vector<Expr> CellFinder::order() const { return *sorted(nullptr); }

/// The nodes with each cell in one piece; nullopt where cells need each other: `cycle` is one of them.
std::optional<std::vector<Expr>> CellFinder::sorted(size_t* cycle) const {
  enum class State : uint8_t { kNew, kOpen, kDone };
  const auto unit_of = [&](Position at) {  // a cell is the unit of its last part
    return cell_of_[at] < 0 ? at : cells_[static_cast<size_t>(cell_of_[at])].back();
  };
  std::vector<State> states(nodes_.size(), State::kNew);
  std::vector<Expr> order;
  struct Frame {
    Position unit;
    bool closes;
  };
  std::vector<Frame> stack{{unit_of(static_cast<Position>(nodes_.size() - 1)), false}};
  std::vector<Position> open;
  while (!stack.empty()) {
    const auto [unit, closes] = stack.back();
    stack.pop_back();
    const Cell alone{unit};
    const Cell& nodes = cell_of_[unit] < 0 ? alone : cells_[static_cast<size_t>(cell_of_[unit])];
    if (closes) {
      states[unit] = State::kDone;
      open.pop_back();
      for (const Position each : nodes) order.push_back(nodes_[each]);
      continue;
    }
    if (states[unit] == State::kDone) continue;
    if (states[unit] == State::kOpen) {
      const auto from = std::ranges::find(open, unit);
      const auto cell = std::find_if(from, open.end(), [&](Position each) { return cell_of_[each] >= 0; });
      *cycle = static_cast<size_t>(cell_of_[*cell]);
      return std::nullopt;
    }
    states[unit] = State::kOpen;
    open.push_back(unit);
    stack.push_back({unit, true});
    for (const Position each : nodes)
      for_each_child(*nodes_[each], [&](const Expr& child) {
        const Position* at = positions_.find(child.get());
        const Position from = position_of(child);
        const bool own = from != kNone && cell_of_[each] >= 0 && cell_of_[from] == cell_of_[each];
        if (at && !own && states[unit_of(*at)] != State::kDone) stack.push_back({unit_of(*at), false});
      });
  }
  return order;
}

}  // namespace baton
