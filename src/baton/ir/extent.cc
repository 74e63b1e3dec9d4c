#include "baton/ir/extent.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <shared_mutex>

#include "baton/support/error.h"
#include "baton/support/hash.h"

namespace baton {

namespace {

constexpr size_t kMaxTerms = 64;

// An atom is a variable or a quotient that is not a sum of simpler ones.
using AtomId = uint32_t;

struct Term {
  int64_t factor;
  std::vector<AtomId> atoms;  // in atom order; one may stand there twice
};

// The normal form: terms of different atoms, in order, none with the factor 0.
struct Sum {
  std::vector<Term> terms;
  int64_t constant = 0;
};

struct Symbol {
  enum Kind : uint8_t { kVar, kQuotient, kSum } kind;
  ExtentVar var = {};
  Dim numerator = 0;
  int64_t divisor = 1;
  Sum sum = {};
  std::string text = {};
};

// All symbols of the process. Variables are distinct; quotients and sums are found again by their parts.
class Symbols {
 public:
  static Symbols& all() {
    static Symbols symbols;
    return symbols;
  }

  const Symbol& at(uint32_t id) const {
    const std::shared_lock lock(mutex_);
    return symbols_[id];  // references into a deque stay valid
  }

  Dim add(Symbol symbol) {
    const std::unique_lock lock(mutex_);
    return append(std::move(symbol));
  }
  Dim find_or_add(const std::vector<int64_t>& key, Symbol symbol) {
    const std::unique_lock lock(mutex_);
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
    const Dim made = append(std::move(symbol));
    known_.emplace(key, made);
    return made;
  }

 private:
  Dim append(Symbol symbol) {
    BATON_CHECK(symbols_.size() < UINT32_MAX, "too many symbolic extents");
    symbols_.push_back(std::move(symbol));
    return Dim::symbol(static_cast<uint32_t>(symbols_.size() - 1));
  }

  mutable std::shared_mutex mutex_;
  std::deque<Symbol> symbols_;
  std::map<std::vector<int64_t>, Dim> known_;
};

const Symbol& symbol_of(Dim dim) {
  BATON_CHECK(dim.is_symbolic(), "a symbolic extent is needed");
  return Symbols::all().at(dim.symbol_id());
}

// ---- Order: by name, so that a program read again has the same one; variables of one name by age.

int compare_atoms(AtomId a, AtomId b) {
  if (a == b) return 0;
  const int names = Symbols::all().at(a).text.compare(Symbols::all().at(b).text);
  return names ? names : a < b ? -1 : 1;
}
bool atom_less(AtomId a, AtomId b) { return compare_atoms(a, b) < 0; }
bool term_less(const Term& a, const Term& b) {
  return std::lexicographical_compare(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(),
                                      atom_less);
}

// ---- Text

// A term without its sign.
std::string term_text(const Term& term) {
  const auto factor = static_cast<uint64_t>(term.factor);
  const uint64_t size = term.factor < 0 ? 0 - factor : factor;
  std::string text = size == 1 ? "" : std::to_string(size);
  const bool alone = size == 1 && term.atoms.size() == 1;
  for (const AtomId atom : term.atoms) {
    const Symbol& symbol = Symbols::all().at(atom);
    if (!text.empty()) text += '*';
    text += symbol.kind == Symbol::kQuotient && !alone ? "(" + symbol.text + ")" : symbol.text;
  }
  return text;
}

std::string sum_text(const Sum& sum) {
  std::string text;
  const auto put = [&](bool negative, const std::string& part) {
    text += text.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
    text += part;
  };
  for (const Term& term : sum.terms) put(term.factor < 0, term_text(term));
  const int64_t c = sum.constant;
  if (c) put(c < 0, std::to_string(c < 0 ? 0 - static_cast<uint64_t>(c) : static_cast<uint64_t>(c)));
  return text;
}

// ---- Sums

Sum as_sum(Dim dim) {
  if (!dim.is_symbolic()) return {{}, dim.value()};
  const Symbol& symbol = symbol_of(dim);
  return symbol.kind == Symbol::kSum ? symbol.sum : Sum{{{1, {dim.symbol_id()}}}, 0};
}

Dim from_sum(Sum sum) {
  if (sum.terms.empty()) return Dim(sum.constant);
  const auto too_low = [](const Term& term) { return Dim(term.factor).is_any(); };
  if (sum.terms.size() > kMaxTerms || Dim(sum.constant).is_any() || std::ranges::any_of(sum.terms, too_low))
    return Dim::any();
  const Term& first = sum.terms[0];
  if (sum.terms.size() == 1 && sum.constant == 0 && first.factor == 1 && first.atoms.size() == 1)
    return Dim::symbol(first.atoms[0]);
  std::vector<int64_t> key{Symbol::kSum, sum.constant};
  for (const Term& term : sum.terms) {
    key.push_back(term.factor);
    key.push_back(static_cast<int64_t>(term.atoms.size()));
    key.insert(key.end(), term.atoms.begin(), term.atoms.end());
  }
  std::string text = sum_text(sum);
  return Symbols::all().find_or_add(
      key, Symbol{.kind = Symbol::kSum, .sum = std::move(sum), .text = std::move(text)});
}

// Sorts terms and joins those of the same atoms; false on overflow.
bool normalize(Sum& sum) {
  std::sort(sum.terms.begin(), sum.terms.end(), term_less);
  std::vector<Term> joined;
  for (Term& term : sum.terms) {
    if (joined.empty() || joined.back().atoms != term.atoms)
      joined.push_back(std::move(term));
    else if (__builtin_add_overflow(joined.back().factor, term.factor, &joined.back().factor))
      return false;
  }
  std::erase_if(joined, [](const Term& term) { return term.factor == 0; });
  sum.terms = std::move(joined);
  return true;
}

// a + by * b
Dim add_scaled(Dim a, Dim b, int64_t by) {
  Sum sum = as_sum(a);
  const Sum more = as_sum(b);
  int64_t scaled = 0;
  if (__builtin_mul_overflow(more.constant, by, &scaled) ||
      __builtin_add_overflow(sum.constant, scaled, &sum.constant))
    return Dim::any();
  for (Term term : more.terms) {
    if (__builtin_mul_overflow(term.factor, by, &term.factor)) return Dim::any();
    sum.terms.push_back(std::move(term));
  }
  return normalize(sum) ? from_sum(std::move(sum)) : Dim::any();
}

bool is_unknown(Dim dim) { return dim.is_any() && !dim.is_symbolic(); }

int64_t floored(int64_t value, int64_t by) { return value / by - (value % by < 0); }

}  // namespace

// ---- Variables

Dim extent_var(ExtentVar var) {
  std::string text = var.name;
  return Symbols::all().add(Symbol{.kind = Symbol::kVar, .var = std::move(var), .text = std::move(text)});
}

const ExtentVar* as_extent_var(Dim dim) {
  if (!dim.is_symbolic()) return nullptr;
  const Symbol& symbol = symbol_of(dim);
  return symbol.kind == Symbol::kVar ? &symbol.var : nullptr;
}

// ---- Arithmetic

Dim operator+(Dim a, Dim b) { return is_unknown(a) || is_unknown(b) ? Dim::any() : add_scaled(a, b, 1); }
Dim operator-(Dim a, Dim b) { return is_unknown(a) || is_unknown(b) ? Dim::any() : add_scaled(a, b, -1); }

Dim operator*(Dim a, Dim b) {
  if (is_unknown(a) || is_unknown(b)) return Dim::any();
  if (!b.is_any()) return add_scaled(0, a, b.value());
  if (!a.is_any()) return add_scaled(0, b, a.value());
  Sum left = as_sum(a), right = as_sum(b), product;
  if (left.constant) left.terms.push_back({left.constant, {}});
  if (right.constant) right.terms.push_back({right.constant, {}});
  for (const Term& x : left.terms) {
    for (const Term& y : right.terms) {
      Term term{0, x.atoms};
      if (__builtin_mul_overflow(x.factor, y.factor, &term.factor)) return Dim::any();
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(term.atoms.begin(), term.atoms.end(), atom_less);
      if (term.atoms.size() > kMaxTerms || product.terms.size() > kMaxTerms * kMaxTerms) return Dim::any();
      if (term.atoms.empty())
        product.constant = term.factor;  // there is one: the product of both constants
      else
        product.terms.push_back(std::move(term));
    }
  }
  return normalize(product) ? from_sum(std::move(product)) : Dim::any();
}

// by * whole + rest  ->  whole + rest // by
Dim floor_div(Dim dim, int64_t by) {
  BATON_CHECK(by > 0, "an extent is divided by " + std::to_string(by));
  if (is_unknown(dim) || by == 1) return dim;
  if (!dim.is_any()) return Dim(floored(dim.value(), by));
  Sum whole, rest;
  const Sum sum = as_sum(dim);
  for (const Term& term : sum.terms) {
    if (term.factor % by == 0)
      whole.terms.push_back({term.factor / by, term.atoms});
    else
      rest.terms.push_back(term);
  }
  whole.constant = floored(sum.constant, by);
  rest.constant = sum.constant - whole.constant * by;
  if (rest.terms.empty()) return from_sum(std::move(whole));
  // (g * r + c) // (g * by)  ->  (r + c // g) // by
  int64_t common = by;
  for (const Term& term : rest.terms) common = std::gcd(common, term.factor);
  for (Term& term : rest.terms) term.factor /= common;
  rest.constant /= common;
  by /= common;
  const Dim numerator = from_sum(std::move(rest));
  const bool is_sum = symbol_of(numerator).kind == Symbol::kSum;
  const std::string& text = symbol_of(numerator).text;
  const Dim quotient = Symbols::all().find_or_add(
      {Symbol::kQuotient, numerator.symbol_id(), by},
      Symbol{.kind = Symbol::kQuotient,
             .numerator = numerator,
             .divisor = by,
             .text = (is_sum ? "(" + text + ")" : text) + "//" + std::to_string(by)});
  return from_sum(std::move(whole)) + quotient;
}

// ---- Parts

ExtentParts extent_parts(Dim dim) {
  const Symbol& symbol = symbol_of(dim);
  BATON_CHECK(symbol.kind != Symbol::kVar, "a variable has no parts");
  if (symbol.kind == Symbol::kQuotient) return {ExtentOp::kFloorDiv, symbol.numerator, symbol.divisor};
  Sum rest = symbol.sum;
  if (const int64_t c = std::exchange(rest.constant, 0)) {
    return {c < 0 ? ExtentOp::kSub : ExtentOp::kAdd, from_sum(std::move(rest)), Dim(c < 0 ? -c : c)};
  }
  Term last = rest.terms.back();
  rest.terms.pop_back();
  if (!rest.terms.empty()) {
    const bool negative = last.factor < 0;
    if (negative) last.factor = -last.factor;
    return {negative ? ExtentOp::kSub : ExtentOp::kAdd, from_sum(std::move(rest)), from_sum({{last}, 0})};
  }
  if (last.factor != 1) return {ExtentOp::kMul, from_sum({{{1, last.atoms}}, 0}), Dim(last.factor)};
  const Dim atom = Dim::symbol(last.atoms.back());
  last.atoms.pop_back();
  return {ExtentOp::kMul, from_sum({{last}, 0}), atom};
}

Dim make_extent(const ExtentParts& parts) {
  switch (parts.op) {
    case ExtentOp::kAdd:
      return parts.a + parts.b;
    case ExtentOp::kSub:
      return parts.a - parts.b;
    case ExtentOp::kMul:
      return parts.a * parts.b;
    case ExtentOp::kFloorDiv:
      return parts.b.is_any() || parts.b.value() < 1 ? Dim::any() : floor_div(parts.a, parts.b.value());
  }
  return Dim::any();
}

Dim replace_extent_vars(Dim dim, FunctionRef<Dim(Dim)> value) {
  if (!dim.is_symbolic()) return dim;
  const Symbol& symbol = symbol_of(dim);
  if (symbol.kind == Symbol::kVar) return value(dim);
  if (symbol.kind == Symbol::kQuotient)
    return floor_div(replace_extent_vars(symbol.numerator, value), symbol.divisor);
  Dim sum = symbol.sum.constant;
  for (const Term& term : symbol.sum.terms) {
    Dim product = term.factor;
    for (const AtomId atom : term.atoms) product = product * replace_extent_vars(Dim::symbol(atom), value);
    sum = sum + product;
  }
  return sum;
}

void visit_extent_vars(Dim dim, FunctionRef<void(Dim)> visit) {
  if (!dim.is_symbolic()) return;
  const Symbol& symbol = symbol_of(dim);
  if (symbol.kind == Symbol::kVar) return visit(dim);
  if (symbol.kind == Symbol::kQuotient) return visit_extent_vars(symbol.numerator, visit);
  for (const Term& term : symbol.sum.terms)
    for (const AtomId atom : term.atoms) visit_extent_vars(Dim::symbol(atom), visit);
}

Type replace_extent_vars(const Type& type, FunctionRef<Dim(Dim)> value) {
  return rewrite_type(type, [&](const Type& part) -> Type {
    const auto* tensor = as_type<TensorTypeNode>(part);
    if (!tensor || std::ranges::none_of(tensor->shape(), &Dim::is_symbolic)) return {};
    std::vector<Dim> shape;
    for (const Dim& dim : tensor->shape()) shape.push_back(replace_extent_vars(dim, value));
    return tensor_type(std::move(shape), tensor->dtype());
  });
}

Dim extent_at(Dim dim, FunctionRef<int64_t(Dim)> value) {
  return replace_extent_vars(dim, [&](Dim var) { return Dim(value(var)); });
}

std::optional<std::vector<int64_t>> extents_but_batch(const std::vector<Dim>& shape) {
  std::vector<int64_t> extents;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0 && shape[axis].is_any()) return std::nullopt;
    extents.push_back(shape[axis].is_any() ? kUsualBatch : shape[axis].value());
  }
  return extents;
}

std::vector<int64_t> usual_extents(const TensorTypeNode& type) {
  std::vector<int64_t> extents;
  for (const Dim& dim : type.shape()) {
    const Dim at = extent_at(dim, [](Dim) { return kUsualExtent; });
    const int64_t value = at.is_any() ? kUsualExtent : at.value();
    extents.push_back(dim.is_any() ? std::max<int64_t>(value, 1) : value);
  }
  return extents;
}

int64_t least_extent(Dim dim) {
  constexpr int64_t kUnknown = INT64_MIN;
  if (!dim.is_any()) return dim.value();
  if (!dim.is_symbolic()) return kUnknown;
  if (as_extent_var(dim)) return 1;
  const ExtentParts parts = extent_parts(dim);
  const int64_t a = least_extent(parts.a), b = least_extent(parts.b);
  if (a == kUnknown || b == kUnknown) return kUnknown;
  int64_t least = 0;
  switch (parts.op) {
    case ExtentOp::kAdd:
      return __builtin_add_overflow(a, b, &least) ? kUnknown : least;
    case ExtentOp::kSub:
      return parts.b.is_any() || __builtin_sub_overflow(a, b, &least) ? kUnknown : least;
    case ExtentOp::kMul:
      return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &least) ? kUnknown : least;
    case ExtentOp::kFloorDiv:
      break;
  }
  return floored(a, b);
}

namespace {

/// What an extent may be; `most` of one without bound: kNoBound.
struct ExtentRange {
  static constexpr int64_t kNoBound = INT64_MAX;
  int64_t least = 0, most = kNoBound;
  bool is_bounded() const { return most != kNoBound; }
};

/// Nullopt where nothing is known, as numbers do not fit into 64 bits.
std::optional<ExtentRange> range_of(Dim dim, FunctionRef<std::optional<int64_t>(Dim)> most) {
  if (!dim.is_any()) return ExtentRange{dim.value(), dim.value()};
  if (!dim.is_symbolic()) return std::nullopt;
  if (as_extent_var(dim)) return ExtentRange{0, most(dim).value_or(ExtentRange::kNoBound)};
  const ExtentParts parts = extent_parts(dim);
  const auto a = range_of(parts.a, most), b = range_of(parts.b, most);
  if (!a || !b) return std::nullopt;
  ExtentRange made;
  bool fits = true;
  switch (parts.op) {
    case ExtentOp::kAdd:
      fits = !__builtin_add_overflow(a->least, b->least, &made.least);
      if (a->is_bounded() && b->is_bounded()) fits &= !__builtin_add_overflow(a->most, b->most, &made.most);
      break;
    case ExtentOp::kSub:
      if (!b->is_bounded()) return std::nullopt;
      fits = !__builtin_sub_overflow(a->least, b->most, &made.least);
      if (a->is_bounded()) fits &= !__builtin_sub_overflow(a->most, b->least, &made.most);
      break;
    case ExtentOp::kMul: {
      if (a->least < 0 || b->least < 0) return std::nullopt;
      fits = !__builtin_mul_overflow(a->least, b->least, &made.least);
      if (a->most == 0 || b->most == 0)
        made.most = 0;
      else if (a->is_bounded() && b->is_bounded())
        fits &= !__builtin_mul_overflow(a->most, b->most, &made.most);
      break;
    }
    case ExtentOp::kFloorDiv:
      made.least = floored(a->least, b->least);
      if (a->is_bounded()) made.most = floored(a->most, b->least);
      break;
  }
  if (!fits) return std::nullopt;
  return made;
}

}  // namespace

std::optional<int64_t> most_extent(Dim dim, FunctionRef<std::optional<int64_t>(Dim)> most) {
  const std::optional<ExtentRange> range = range_of(dim, most);
  if (!range || !range->is_bounded()) return std::nullopt;
  return range->most;
}

std::vector<int64_t> TensorTypeNode::extents() const {
  std::vector<int64_t> extents;
  extents.reserve(shape_.size());
  for (const Dim& dim : shape_) {
    if (dim.is_any()) number_of(dim, "a number for axis " + std::to_string(extents.size()));
    extents.push_back(dim.value());
  }
  return extents;
}

int64_t number_of(Dim dim, const std::string& what) {
  if (dim.is_any()) throw NeedsNumbers(what + ", which is " + extent_text(dim));
  return dim.value();
}

// ---- Text, hash, equality

std::string extent_text(Dim dim) {
  if (dim.is_symbolic()) return symbol_of(dim).text;
  return dim.is_any() ? "?" : std::to_string(dim.value());
}

DType extent_dtype(Dim dim) {
  DType widest = DType::int_(32);
  visit_extent_vars(dim, [&](Dim var) {
    if (as_extent_var(var)->dtype.bits > widest.bits) widest = as_extent_var(var)->dtype;
  });
  const ExtentVar* var = as_extent_var(dim);
  return var ? var->dtype : widest;
}

std::string extent_type_key(Dim dim) {
  if (const ExtentVar* var = as_extent_var(dim)) return var->is_size ? "tir.SizeVar" : "tir.Var";
  switch (extent_parts(dim).op) {
    case ExtentOp::kAdd:
      return "tir.Add";
    case ExtentOp::kSub:
      return "tir.Sub";
    case ExtentOp::kMul:
      return "tir.Mul";
    case ExtentOp::kFloorDiv:
      return "tir.FloorDiv";
  }
  return "tir.PrimExpr";
}

uint64_t extent_hash(Dim dim) {
  if (!dim.is_symbolic()) return dim.is_any() ? ~0ull : static_cast<uint64_t>(dim.value());
  const Symbol& symbol = symbol_of(dim);
  Hasher hash(symbol.kind + 1);
  if (symbol.kind == Symbol::kQuotient) {
    hash.add(extent_hash(symbol.numerator));
    hash.add(static_cast<uint64_t>(symbol.divisor));
  }
  if (symbol.kind == Symbol::kSum) {
    uint64_t terms = 0;  // added up: the order depends on names
    for (const Term& term : symbol.sum.terms) {
      uint64_t atoms = 0;
      for (const AtomId atom : term.atoms) atoms += extent_hash(Dim::symbol(atom));
      Hasher one(static_cast<uint64_t>(term.factor));
      one.add(atoms);
      terms += one.value();
    }
    hash.add(terms);
    hash.add(static_cast<uint64_t>(symbol.sum.constant));
  }
  return hash.value();
}

namespace {

bool may_be_partners(Dim a, Dim b) {
  const ExtentVar &x = *as_extent_var(a), &y = *as_extent_var(b);
  return x.dtype == y.dtype && x.is_size == y.is_size;
}

}  // namespace

bool same_extent(Dim a, Dim b, TypePairs& pairs) {
  if (!a.is_symbolic() || !b.is_symbolic() || pairs.empty()) return a == b;
  const auto partner = [&](Dim var) -> const Dim* {
    for (const auto& [left, right] : pairs.extents)
      if (left == var) return &right;
    return nullptr;
  };
  const auto is_partner = [&](Dim var) {
    return std::ranges::any_of(pairs.extents, [&](const auto& pair) { return pair.second == var; });
  };
  const auto collect = [](Dim dim, auto&& wanted) {
    std::vector<Dim> vars;
    visit_extent_vars(dim, [&](Dim var) {
      if (wanted(var) && std::find(vars.begin(), vars.end(), var) == vars.end()) vars.push_back(var);
    });
    return vars;
  };
  const std::vector<Dim> alone = collect(a, [&](Dim var) { return !partner(var); });
  std::vector<Dim> others = alone;
  if (pairs.pair_extents)
    others = collect(b, [&](Dim var) { return !is_partner(var); });
  else if (std::ranges::any_of(alone, is_partner))
    return false;
  if (others.size() != alone.size()) return false;
  // Which of several new variables belong together is tried; in practice there is one.
  constexpr size_t kMostTried = 5;
  std::vector<size_t> order(alone.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  do {
    bool fits = true;
    for (size_t i = 0; i < order.size(); ++i) fits = fits && may_be_partners(alone[i], others[order[i]]);
    const auto value = [&](Dim var) {
      if (const Dim* known = partner(var)) return *known;
      return others[order[std::find(alone.begin(), alone.end(), var) - alone.begin()]];
    };
    if (!fits || replace_extent_vars(a, value) != b) continue;
    if (pairs.pair_extents)
      for (size_t i = 0; i < order.size(); ++i) pairs.extents.emplace_back(alone[i], others[order[i]]);
    return true;
  } while (pairs.pair_extents && order.size() <= kMostTried &&
           std::next_permutation(order.begin(), order.end()));
  return false;
}

}  // namespace baton
