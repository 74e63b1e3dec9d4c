// Reader of Baton's JSON form. A node references only earlier nodes, so there are no cycles and no recursion.
#include <cmath>
#include <limits>
#include <set>
#include <variant>

#include "baton/text/json/json_common.h"
#include "baton/text/json/json_keys.h"
#include "baton/text/json/tensor_bytes.h"

namespace baton::text {

namespace {

using At = JsonTape::At;
using Key = JsonKey;
using Kind = JsonTape::Kind;

constexpr int64_t kMaxUint = std::numeric_limits<uint32_t>::max();
constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

bool names_a_kind(Key key) {
  switch (key) {
    case Key::kTensor:
    case Key::kTupleType:
    case Key::kFuncType:
    case Key::kTypeVar:
    case Key::kGlobalTypeVar:
    case Key::kTypeCall:
    case Key::kRefType:
    case Key::kHole:
    case Key::kExtent:
    case Key::kVar:
    case Key::kGlobal:
    case Key::kArray:
    case Key::kConstant:
    case Key::kOp:
    case Key::kConstructor:
    case Key::kTuple:
    case Key::kItem:
    case Key::kCall:
    case Key::kFunction:
    case Key::kLet:
    case Key::kIf:
    case Key::kMatch:
    case Key::kRef:
    case Key::kRead:
    case Key::kWrite:
    case Key::kAttrsOf:
    case Key::kOrigin:
    case Key::kOrigins:
    case Key::kPlace:
    case Key::kTypeDef:
      return true;
    default:
      return false;
  }
}

// The members of one object by key; each must be consumed.
class Members {
 public:
  Members(const JsonTape& tape, At object) {
    tape.need(object, Kind::kObject);
    for (At at = object + 1; at < tape.next(object); at = tape.next(at + 1)) {
      const uint32_t key = tape.key(at);
      if (key >= at_.size()) throw Error("the key \"" + tape.key_text(key).substr(0, 40) + "\" is not known");
      if (at_[key]) throw Error("the key \"" + tape.key_text(key) + "\" is given twice");
      at_[key] = at + 1;
      ++left_;
      if (!names_a_kind(Key(key))) continue;
      if (kind_ != Key::kCount)
        throw Error("this is a `" + std::string(kJsonKeys[size_t(kind_)]) + "` and a `" + tape.key_text(key) +
                    "`");
      kind_ = Key(key);
    }
  }
  Key kind() const { return kind_; }
  bool has(Key key) const { return at_[size_t(key)] != 0; }
  At operator[](Key key) {
    const At at = at_[size_t(key)];
    if (!at) throw Error("`" + std::string(kJsonKeys[size_t(key)]) + "` is missing");
    if (!(taken_[size_t(key)])) --left_;
    taken_[size_t(key)] = true;
    return at;
  }
  void done() const {
    if (left_ == 0) return;
    for (size_t key = 0; key < at_.size(); ++key)
      if (at_[key] && !taken_[key])
        throw Error("the key \"" + std::string(kJsonKeys[key]) + "\" has no place here");
  }

 private:
  std::array<At, kJsonKeys.size()> at_{};  // 0, the position of the root, means absent
  std::array<bool, kJsonKeys.size()> taken_{};
  size_t left_ = 0;
  Key kind_ = Key::kCount;
};

struct TypeEntry {
  Type type;
  TypeSizes::Size size;
};
struct ArrayEntry {
  std::shared_ptr<const NDArray> array;
};
using OriginRef = Ref<const Origin>;
using PlaceRef = Ref<const OriginPlace>;
using Node = std::variant<Expr, TypeEntry, Attrs, OriginRef, PlaceRef, OriginSet, ArrayEntry, TypeData, Dim>;

class JsonReader {
 public:
  JsonReader(const JsonTape& tape, size_t bytes, bool types)
      : tape_(tape), sizes_(bytes), keep_types_(types) {}

  Saved read() {
    Members file(tape_, JsonTape::kRoot);
    if (tape_.string(file[Key::kFormat]) != kJsonFormat)
      throw Error("the format is " + tape_.shown(file[Key::kFormat]) + ", not \"" + std::string(kJsonFormat) +
                  "\"");
    if (const int64_t version = tape_.integer(file[Key::kVersion]); version < 1 || version > kJsonVersion)
      throw Error("version " + std::to_string(version) + " of the format is not known, this is " +
                  std::to_string(kJsonVersion));
    if (file.has(Key::kModule) == file.has(Key::kRoot)) throw Error("expected one of `module` and `root`");
    if (file.has(Key::kModule)) module_ = make_module();
    if (file.has(Key::kSources)) tape_.each(file[Key::kSources], [&](At at) { read_source(at); });
    const At nodes = file[Key::kNodes];
    tape_.need(nodes, Kind::kArray);
    nodes_.reserve(tape_.size(nodes));
    tape_.each(nodes, [&](At at) { read_node(at); });
    Saved saved;
    if (module_) {
      read_module(file[Key::kModule]);
      saved.module = module_;
    } else {
      saved.expr = get<Expr>(file[Key::kRoot], "an expression");
    }
    file.done();
    return saved;
  }

 private:
  // ---- References

  template <class T>
  const T& get(At at, const char* what) const {
    const int64_t index = tape_.integer(at);
    if (index < 0 || static_cast<uint64_t>(index) >= nodes_.size())
      throw Error("node " + std::to_string(index) + " is none of the " + std::to_string(nodes_.size()) +
                  " nodes above");
    const T* found = std::get_if<T>(&nodes_[static_cast<size_t>(index)]);
    if (!found) throw Error("node " + std::to_string(index) + " is not " + what);
    return *found;
  }
  const Expr& expr(At at) const { return get<Expr>(at, "an expression"); }
  template <class T>
  Ref<const T> expr_of(At at, const char* what) const {
    Ref<const T> found = as_ref<T>(expr(at));
    if (!found) throw Error("node " + tape_.shown(at) + " is not " + what);
    return found;
  }
  std::vector<Expr> exprs(At at) const {
    std::vector<Expr> list;
    tape_.need(at, Kind::kArray);
    list.reserve(tape_.size(at));
    tape_.each(at, [&](At each) { list.push_back(expr(each)); });
    return list;
  }
  // A type used at one place of the program.
  Type used_type(At at) {
    const TypeEntry& entry = get<TypeEntry>(at, "a type");
    sizes_.use(entry.size);
    return entry.type;
  }
  template <class T>
  Ref<const T> type_of(At at, const char* what) const {
    const Type& type = get<TypeEntry>(at, "a type").type;
    if (!as_type<T>(type)) throw Error("node " + tape_.shown(at) + " is not " + what);
    return Ref<const T>(as_type<T>(type));
  }
  std::vector<TypeVar> type_vars(At at) const {
    std::vector<TypeVar> vars;
    tape_.each(at, [&](At each) { vars.push_back(type_of<TypeVarNode>(each, "a type variable")); });
    return vars;
  }
  std::string text(At at) const { return std::string(tape_.string(at)); }

  // ---- Sources, spans, origins

  void read_source(At at) {
    Members members(tape_, at);
    sources_.push_back(make_ref<const Source>(
        text(members[Key::kName]), members.has(Key::kText) ? text(members[Key::kText]) : std::string()));
    members.done();
  }

  Span span(Members& members) const {
    Span span;
    if (!members.has(Key::kSpan)) return span;
    const At at = members[Key::kSpan];
    tape_.need(at, Kind::kArray);
    if (const uint32_t size = tape_.size(at); size != 5 && size != 7)
      throw Error("a span is a source and 4 or 6 numbers");
    if (!tape_.is(at + 1, Kind::kNull)) {
      const int64_t source = tape_.integer(at + 1);
      if (source < 0 || static_cast<uint64_t>(source) >= sources_.size())
        throw Error("there is no source " + std::to_string(source));
      span.source = sources_[static_cast<size_t>(source)];
    }
    auto number = [&](At index) { return static_cast<uint32_t>(tape_.integer(at + 1 + index, 0, kMaxUint)); };
    span.line = number(1);
    span.column = number(2);
    span.end_line = number(3);
    span.end_column = number(4);
    if (tape_.size(at) == 7) span.show_at(number(5), number(6));
    return span;
  }

  PlaceRef place(Members& members) const {
    SourceLine line;
    if (members.has(Key::kLine)) {
      const At at = members[Key::kLine];
      tape_.need(at, Kind::kArray);
      if (tape_.size(at) != 4) throw Error("a `line` is a file, a number, a function and a text");
      line.file = text(at + 1);
      line.line = static_cast<uint32_t>(tape_.integer(at + 2, 1, kMaxUint));
      line.function = text(at + 3);
      line.text = text(at + 4);
    }
    return make_ref<const OriginPlace>(text(members[Key::kPlace]), std::move(line));
  }

  std::vector<OriginSet> origins(At at) const {
    std::vector<OriginSet> sets;
    tape_.each(at, [&](At each) { sets.push_back(OriginSet::of(get<OriginRef>(each, "an origin"))); });
    return sets;
  }

  // A merged reason is split into its parts, so that later merges behave as before.
  OriginSet origin_set(Members& members) const {
    std::vector<OriginSet> all = origins(members[Key::kOrigins]);
    std::vector<OriginSet> causes;
    if (members.has(Key::kCauses)) causes = origins(members[Key::kCauses]);
    if (!members.has(Key::kReason)) {
      if (!causes.empty()) throw Error("`causes` need a `reason`");
      return OriginSet::merge_all(all);
    }
    const std::string reason = text(members[Key::kReason]);
    const OriginSet one = causes.empty() ? OriginSet::merge_all(all) : OriginSet::merge_all(causes);
    if (one.empty() || reason.empty()) throw Error("a `reason` needs `origins` or `causes`, and a text");
    const OriginSet because =
        OriginSet::of(OriginRef(one.origins().empty() ? one.causes()[0] : one.origins()[0]));
    std::vector<OriginSet> parts;
    for (size_t at = 0; at < reason.size();) {
      const size_t end = std::min(reason.find("; ", at), reason.size());
      if (end == at) break;
      parts.push_back(
          OriginSet::made_for(parts.empty() ? one : because, std::string_view(reason).substr(at, end - at)));
      at = end + 2;
    }
    if (parts.empty() || OriginSet::merge_all(parts).reason() != reason)
      parts = {OriginSet::made_for(one, reason)};
    parts.insert(parts.end(), all.begin(), all.end());
    return OriginSet::merge_all(parts);
  }

  NodeInfo info(Members& members) {
    OriginSet from = OriginSet::none();
    if (members.has(Key::kFrom)) {
      const At at = members[Key::kFrom];
      const int64_t index = tape_.integer(at);
      const bool is_set = index >= 0 && static_cast<uint64_t>(index) < nodes_.size() &&
                          std::holds_alternative<OriginSet>(nodes_[static_cast<size_t>(index)]);
      if (is_set) {
        const OriginSet& set = std::get<OriginSet>(nodes_[static_cast<size_t>(index)]);
        sizes_.use(set.origins().size() + set.causes().size());
      }
      from = is_set ? get<OriginSet>(at, "") : OriginSet::of(get<OriginRef>(at, "an origin"));
    }
    Type type;
    if (members.has(Key::kType)) {
      type = used_type(members[Key::kType]);
      if (!keep_types_) type = {};
    }
    return NodeInfo(std::move(from), span(members), std::move(type));
  }

  // ---- Attributes

  AttrValue value(At at, int depth = 0) const {
    if (depth > kMaxJsonNesting)
      throw Error("lists are nested more than " + std::to_string(kMaxJsonNesting) + " deep");
    switch (tape_.kind(at)) {
      case Kind::kNull:
        return {};
      case Kind::kBool:
        return AttrValue(tape_.boolean(at));
      case Kind::kInt:
        return AttrValue(tape_.integer(at));
      case Kind::kReal:
        return AttrValue(tape_.real(at));
      case Kind::kString:
        return AttrValue(text(at));
      case Kind::kKey:
        break;
      case Kind::kArray: {
        AttrList list;
        list.reserve(tape_.size(at));
        tape_.each(at, [&](At each) { list.push_back(value(each, depth + 1)); });
        return AttrValue(std::move(list));
      }
      case Kind::kObject:
        return object_value(at);
    }
    throw Error("expected a value, found " + tape_.shown(at));
  }
  AttrValue object_value(At at) const {
    Members members(tape_, at);
    AttrValue result;
    if (members.has(Key::kDType)) {
      result = AttrValue(dtype_named(tape_.string(members[Key::kDType])));
    } else if (members.has(Key::kExpr)) {
      result = expr_attr(expr(members[Key::kExpr]));
    } else if (members.has(Key::kReal)) {
      const std::string_view name = tape_.string(members[Key::kReal]);
      if (name == "nan")
        result = AttrValue(std::numeric_limits<double>::quiet_NaN());
      else if (name == "inf")
        result = AttrValue(std::numeric_limits<double>::infinity());
      else if (name == "-inf")
        result = AttrValue(-std::numeric_limits<double>::infinity());
      else
        throw Error("expected \"nan\", \"inf\" or \"-inf\", found " + tape_.shown(members[Key::kReal]));
    } else if (members.has(Key::kDevice)) {
      const At list = members[Key::kDevice];
      tape_.need(list, Kind::kArray);
      const size_t size = tape_.size(list);
      if (size != 3 && size != 4)
        throw Error("a device is a type, a number and a scope, and perhaps a target");
      const At type = list + 1, id = tape_.next(type), scope = tape_.next(id);
      VirtualDevice device{static_cast<int>(tape_.integer(type, -1, kMaxInt)),
                           static_cast<int>(tape_.integer(id, -1, kMaxInt)), text(scope)};
      if (size == 4) {
        device.target = Target::from_text(text(tape_.next(scope)));
        if (!device.target)
          throw Error("the target of a device is none that is known: " + text(tape_.next(scope)));
      }
      result = virtual_device_attr(std::move(device));
    } else {
      throw Error("expected a value of an attribute, found an object");
    }
    members.done();
    return result;
  }

  Attrs attrs(Members& members) const {
    const std::string_view type_key = tape_.string(members[Key::kAttrsOf]);
    const AttrSchema* schema = find_schema(type_key);
    if (!schema) throw Error("no operator has attributes of type " + std::string(type_key.substr(0, 80)));
    Ref<AttrsNode> made = schema->make();
    tape_.members(members[Key::kValues], [&](uint32_t key, At at) {
      const AttrField* field = schema->find(tape_.key_text(key));
      if (!field) throw Error(schema->type_key + " has no field `" + tape_.key_text(key).substr(0, 80) + "`");
      if (!field->set(made->data(), value(at)))
        throw Error("field `" + field->name + "` of " + schema->type_key + " expects " +
                    field->type->expects + ", found " + tape_.shown(at));
    });
    return made;
  }
  Attrs optional_attrs(Members& members) const {
    return members.has(Key::kAttrs) ? get<Attrs>(members[Key::kAttrs], "a set of attributes") : Attrs();
  }

  // ---- Types

  static baton::Kind var_kind(int64_t kind) {
    for (const auto known : {baton::Kind::kType, baton::Kind::kShapeVar, baton::Kind::kBaseType,
                             baton::Kind::kConstraint, baton::Kind::kAdtHandle, baton::Kind::kTypeData})
      if (static_cast<int64_t>(known) == kind) return known;
    throw Error("there is no kind " + std::to_string(kind) + " of type variables");
  }

  Type inner_type(At at, TypeSizes::Size& size) const {
    const TypeEntry& entry = get<TypeEntry>(at, "a type");
    TypeSizes::add(size, entry.size);
    return entry.type;
  }
  std::vector<Type> inner_types(At at, TypeSizes::Size& size) const {
    std::vector<Type> list;
    tape_.each(at, [&](At each) { list.push_back(inner_type(each, size)); });
    return list;
  }

  // A number, null for `?`, or {"expr": node} for a symbolic extent.
  Dim dim(At at) const {
    if (tape_.is(at, Kind::kNull)) return Dim::any();
    if (tape_.is(at, Kind::kObject)) {
      Members members(tape_, at);
      const Dim symbolic = get<Dim>(members[Key::kExpr], "an extent");
      members.done();
      return symbolic;
    }
    const int64_t value = tape_.integer(at);
    if (Dim(value).is_any()) throw Error("the extent " + std::to_string(value) + " is out of range");
    return value;
  }

  Dim extent(Members& members) const {
    const std::string_view kind = tape_.string(members[Key::kExtent]);
    if (kind == "var" || kind == "size_var") {
      const DType dtype = dtype_named(tape_.string(members[Key::kDType]));
      if (!dtype.is_int()) throw Error("the variable of an extent is of type " + dtype.str());
      return extent_var({text(members[Key::kName]), dtype, kind == "size_var"});
    }
    std::vector<Dim> args;
    tape_.each(members[Key::kArgs], [&](At each) { args.push_back(dim(each)); });
    for (const auto& [op, name] : kExtentOps)
      if (kind == name && args.size() == 2) return make_extent({op, args[0], args[1]});
    throw Error("no operation on two extents is called \"" + std::string(kind.substr(0, 80)) + "\"");
  }

  TypeEntry tensor(Members& members) const {
    std::vector<Dim> shape;
    const At extents = members[Key::kTensor];
    tape_.need(extents, Kind::kArray);
    shape.reserve(tape_.size(extents));
    tape_.each(extents, [&](At at) {
      shape.push_back(tape_.is(at, Kind::kInt)
                          ? Dim(tape_.integer(at, 0, std::numeric_limits<int64_t>::max()))
                          : dim(at));
      if (!shape.back().is_any() && shape.back().value() < 0)
        throw Error("the extent " + std::to_string(shape.back().value()) + " is negative");
    });
    const DType dtype = dtype_named(tape_.string(members[Key::kDType]));
    TypeSizes::Size size{1, 1 + static_cast<uint32_t>(std::min<size_t>(shape.size() / 8, 100'000'000))};
    return {tensor_type(std::move(shape), dtype), size};
  }

  TypeEntry type(Members& members) const {
    TypeSizes::Size size{1, 1};
    switch (members.kind()) {
      case Key::kTensor:
        return tensor(members);
      case Key::kTupleType: {
        std::vector<Type> fields = inner_types(members[Key::kTupleType], size);
        return {tuple_type(std::move(fields)), size};
      }
      case Key::kFuncType: {
        std::vector<Type> params = inner_types(members[Key::kFuncType], size);
        Type result = inner_type(members[Key::kRet], size);
        std::vector<TypeVar> vars = type_vars(members[Key::kTypeParams]);
        return {func_type(std::move(params), std::move(result), std::move(vars)), size};
      }
      case Key::kTypeVar:
        return {Type(type_var(text(members[Key::kTypeVar]), var_kind(tape_.integer(members[Key::kKind])))),
                size};
      case Key::kGlobalTypeVar:
        return {Type(global_type_var(text(members[Key::kGlobalTypeVar]),
                                     var_kind(tape_.integer(members[Key::kKind])))),
                size};
      case Key::kTypeCall: {
        Type callee = inner_type(members[Key::kTypeCall], size);
        std::vector<Type> args = inner_types(members[Key::kArgs], size);
        return {type_call(std::move(callee), std::move(args)), size};
      }
      case Key::kRefType: {
        Type value = inner_type(members[Key::kRefType], size);
        return {ref_type(std::move(value)), size};
      }
      default:
        if (!tape_.boolean(members[Key::kHole])) throw Error("a hole is `true`");
        return {incomplete_type(), size};
    }
  }

  // ---- Nodes

  void read_node(At at) {
    try {
      Members members(tape_, at);
      Node node = read_node(members);
      members.done();
      nodes_.push_back(std::move(node));
    } catch (const Error& error) {
      throw Error("node " + std::to_string(nodes_.size()) + ": " + error.what());
    }
  }

  Node read_node(Members& members) {
    switch (members.kind()) {
      case Key::kTensor:
      case Key::kTupleType:
      case Key::kFuncType:
      case Key::kTypeVar:
      case Key::kGlobalTypeVar:
      case Key::kTypeCall:
      case Key::kRefType:
      case Key::kHole:
        return type(members);
      case Key::kExtent:
        return extent(members);
      case Key::kAttrsOf:
        return attrs(members);
      case Key::kArray:
        return array(members);
      case Key::kOrigins:
        return origin_set(members);
      case Key::kTypeDef:
        return type_def(members);
      case Key::kOrigin: {
        std::string source = members.has(Key::kSource) ? text(members[Key::kSource]) : std::string();
        Attrs attrs = optional_attrs(members);
        PlaceRef at = members.has(Key::kAt) ? get<PlaceRef>(members[Key::kAt], "a place") : PlaceRef();
        return Origin::create(text(members[Key::kOrigin]), std::move(attrs), span(members), std::move(source),
                              std::move(at));
      }
      case Key::kPlace:
        return place(members);
      case Key::kCount:
        throw Error("this says of no kind of node that it is one");
      default:
        return read_expr(members);
    }
  }

  Node array(Members& members) const {
    Shape shape;
    tape_.each(members[Key::kArray],
               [&](At at) { shape.push_back(tape_.integer(at, 0, std::numeric_limits<int64_t>::max())); });
    const DType dtype = dtype_named(tape_.string(members[Key::kDType]));
    const std::optional<std::string> bytes = base64_decode(tape_.string(members[Key::kData]));
    if (!bytes) throw Error("`data` is not base64");
    const std::optional<int64_t> expected = dtype.is_void() ? std::nullopt : byte_count(shape, dtype);
    if (!expected || static_cast<uint64_t>(*expected) != bytes->size())
      throw Error(std::to_string(bytes->size()) + " bytes of data do not fit " + describe(shape, dtype));
    NDArray made = NDArray::from_bytes(std::move(shape), dtype, bytes->data());
    if (!made.defined()) throw Error("no memory for a tensor of " + std::to_string(bytes->size()) + " bytes");
    return ArrayEntry{std::make_shared<const NDArray>(std::move(made))};
  }

  Node type_def(Members& members) const {
    GlobalTypeVar header = type_of<GlobalTypeVarNode>(members[Key::kTypeDef], "the name of a data type");
    std::vector<TypeVar> vars = type_vars(members[Key::kTypeParams]);
    std::vector<Constructor> constructors;
    std::set<std::string_view> names;
    tape_.each(members[Key::kConstructors], [&](At at) {
      Constructor each = expr_of<ConstructorNode>(at, "a constructor");
      if (each->belongs_to() != header)
        throw Error("constructor `" + each->name() + "` is not one of `" + header->name() + "`");
      if (each->tag() != static_cast<int>(constructors.size()))
        throw Error("constructor `" + each->name() + "` has tag " + std::to_string(each->tag()));
      if (!names.insert(each->name()).second) throw Error("`" + each->name() + "` is defined twice");
      constructors.push_back(std::move(each));
    });
    return make_ref<const TypeDataNode>(std::move(header), std::move(vars), std::move(constructors),
                                        span(members));
  }

  Pattern pattern(At at, int depth = 0) const {
    if (depth > kMaxJsonNesting)
      throw Error("patterns are nested more than " + std::to_string(kMaxJsonNesting) + " deep");
    if (tape_.is(at, Kind::kNull)) return wildcard_pattern();
    Members members(tape_, at);
    std::vector<Pattern> parts;
    if (members.has(Key::kParts))
      tape_.each(members[Key::kParts], [&](At each) { parts.push_back(pattern(each, depth + 1)); });
    Pattern made;
    if (members.has(Key::kBind))
      made = var_pattern(expr_of<VarNode>(members[Key::kBind], "a variable"));
    else if (members.has(Key::kCase))
      made = constructor_pattern(expr_of<ConstructorNode>(members[Key::kCase], "a constructor"),
                                 std::move(parts));
    else if (members.has(Key::kParts))
      made = tuple_pattern(std::move(parts));
    else
      throw Error("expected a pattern, found an object");
    if (members.has(Key::kBind) && (members.has(Key::kParts) || members.has(Key::kCase)))
      throw Error("a pattern is of two kinds");
    members.done();
    return made;
  }

  Expr constructor(Members& members) {
    std::vector<Type> inputs;
    tape_.each(members[Key::kInputs], [&](At at) { inputs.push_back(used_type(at)); });
    GlobalTypeVar of = type_of<GlobalTypeVarNode>(members[Key::kOf], "the name of a data type");
    const int tag = static_cast<int>(tape_.integer(members[Key::kTag], 0, kMaxInt));
    return make_ref<const ConstructorNode>(text(members[Key::kConstructor]), std::move(inputs), std::move(of),
                                           tag);
  }

  Expr function(Members& members) {
    std::vector<Var> params;
    tape_.each(members[Key::kFunction], [&](At at) { params.push_back(expr_of<VarNode>(at, "a variable")); });
    std::vector<TypeVar> vars;
    if (members.has(Key::kTypeParams)) vars = type_vars(members[Key::kTypeParams]);
    Type ret;
    if (members.has(Key::kRet)) ret = used_type(members[Key::kRet]);
    FunctionAttrs attrs;
    if (members.has(Key::kAttrs))
      tape_.members(members[Key::kAttrs],
                    [&](uint32_t key, At at) { attrs.emplace_back(tape_.key_text(key), value(at)); });
    Expr body = expr(members[Key::kBody]);
    return make_function(std::move(params), std::move(body), std::move(ret), std::move(attrs), info(members),
                         std::move(vars));
  }

  Expr read_expr(Members& members) {
    switch (members.kind()) {
      case Key::kVar: {
        Type annotation;
        if (members.has(Key::kOf)) annotation = used_type(members[Key::kOf]);
        return make_var(text(members[Key::kVar]), std::move(annotation), info(members));
      }
      case Key::kGlobal: {
        const std::string name = text(members[Key::kGlobal]);
        return module_ ? module_->global_var(name) : make_global_var(name);
      }
      case Key::kOp: {
        const std::string name = text(members[Key::kOp]);
        const OpDef* op = find_op(name);
        if (!op) throw Error("there is no operator `" + name.substr(0, 80) + "`");
        return op_expr(*op);
      }
      case Key::kConstant:
        return make_constant(*get<ArrayEntry>(members[Key::kConstant], "an array").array, info(members));
      case Key::kConstructor:
        return constructor(members);
      case Key::kTuple:
        return make_tuple(exprs(members[Key::kTuple]), info(members));
      case Key::kItem: {
        const int index = static_cast<int>(tape_.integer(members[Key::kIndex], -kMaxInt, kMaxInt));
        return make_tuple_get_item(expr(members[Key::kItem]), index, info(members));
      }
      case Key::kCall: {
        const Expr& callee = expr(members[Key::kCall]);
        Attrs attrs = fitting_attrs(callee, optional_attrs(members));
        return make_call(callee, exprs(members[Key::kArgs]), std::move(attrs), info(members));
      }
      case Key::kFunction:
        return function(members);
      case Key::kLet: {
        Var var = expr_of<VarNode>(members[Key::kLet], "a variable");
        return make_let(std::move(var), expr(members[Key::kValue]), expr(members[Key::kBody]), info(members));
      }
      case Key::kIf:
        return make_if(expr(members[Key::kIf]), expr(members[Key::kThen]), expr(members[Key::kElse]),
                       info(members));
      case Key::kMatch: {
        std::vector<Clause> clauses;
        tape_.each(members[Key::kClauses], [&](At at) {
          tape_.need(at, Kind::kArray);
          if (tape_.size(at) != 2) throw Error("a clause is a pattern and a body");
          clauses.push_back({pattern(at + 1), expr(tape_.next(at + 1))});
        });
        return make_match(expr(members[Key::kMatch]), std::move(clauses),
                          tape_.boolean(members[Key::kComplete]), info(members));
      }
      case Key::kRef:
        return make_ref_create(expr(members[Key::kRef]), info(members));
      case Key::kRead:
        return make_ref_read(expr(members[Key::kRead]), info(members));
      default:
        return make_ref_write(expr(members[Key::kWrite]), expr(members[Key::kValue]), info(members));
    }
  }

  // ---- The module

  void read_module(At at) {
    Members members(tape_, at);
    if (members.has(Key::kTypeDefs))
      tape_.members(members[Key::kTypeDefs], [&](uint32_t key, At node) {
        const TypeData& type = get<TypeData>(node, "a data type");
        if (type->header()->name() != tape_.key_text(key))
          throw Error("the data type `" + type->header()->name().substr(0, 80) + "` has two names");
        module_->set_type(type);
      });
    check_constructors();
    // In table order, to preserve origin ids; missing origins are appended.
    if (members.has(Key::kTable))
      tape_.each(members[Key::kTable],
                 [&](At node) { module_->origins().add(get<OriginRef>(node, "an origin")); });
    const At functions = members[Key::kFunctions];
    check_names(tape_.size(functions) / 2, nodes_.size());
    tape_.members(functions, [&](uint32_t key, At node) {
      module_->set(tape_.key_text(key), expr_of<FunctionNode>(node, "a function"));
    });
    if (members.has(Key::kRetired)) tape_.each(members[Key::kRetired], [&](At each) { read_retired(each); });
    members.done();
  }

  // Checks that constructors of data types in the module belong to its definitions.
  void check_constructors() const {
    for (const Node& node : nodes_) {
      const Expr* expr = std::get_if<Expr>(&node);
      if (const auto* constructor = expr ? as<ConstructorNode>(*expr) : nullptr)
        check_constructor(*module_, *constructor);
    }
  }

  void read_retired(At at) {
    Members members(tape_, at);
    const int64_t index = tape_.integer(members[Key::kIndex]);
    if (index < 0 || static_cast<uint64_t>(index) >= module_->origins().size())
      throw Error("there is no origin " + std::to_string(index));
    module_->origins().retire(OriginId(static_cast<uint32_t>(index)),
                              {text(members[Key::kPass]), text(members[Key::kReason])});
    members.done();
  }

  const JsonTape& tape_;
  TypeSizes sizes_;
  bool keep_types_;
  IRModule module_;
  std::vector<Ref<const Source>> sources_;
  std::vector<Node> nodes_;
};

}  // namespace

Saved read_baton_json(const JsonTape& tape, size_t bytes, bool types) {
  return JsonReader(tape, bytes, types).read();
}

}  // namespace baton::text
