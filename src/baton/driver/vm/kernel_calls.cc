// Calls of kernels, on the devices where they run, and what is copied there.
#include <algorithm>

#include "baton/driver/vm/function_scope.h"

namespace baton::vm {

using Kind = LoweredValue::Kind;

LoweredRef FunctionScope::call_kernel(const Function& kernel, std::vector<LoweredRef> args,
                                      const OriginSet& origins, const Type& type, int around) {
  if (const auto copy = device_copy_of(*kernel)) return copied(*copy, kernel, origins, args[0], type);
  // Without arguments a kernel of integers is one too, which a piece computes as any other.
  const bool pending = std::ranges::any_of(args, [](const LoweredRef& arg) { return is_pending(*arg); });
  if (const auto integers = pending || args.empty() ? std::nullopt : integer_function(*kernel)) {
    const LoweredRef result = in_register(0, type);
    const uint32_t node = state_.add_node(kernel, origins, -1, "integers", args, result);
    result->where = emit_integers(*integers, args, node);
    return result;
  }
  const auto [device, fallback] = device_of_kernel(kernel, around);
  for (LoweredRef& arg : args) arg = on(arg, device, origins);
  if (device == 1)
    if (const LoweredRef made = appended(kernel, args, type)) {
      state_.add_fallback(state_.graph->maker_of(*made->entry), fallback);
      return made;
    }
  const LoweredRef result = pending_of(type, device);
  pieces_.add({kernel, origins, std::move(args), result, device == 1 ? 1 : around, fallback});
  return placed(result, type, device, origins);
}

/// Where a kernel runs: what only computes numbers that registers hold, and what devices have no kernels for,
/// on the processor.
FunctionScope::DeviceOrNot FunctionScope::device_of_kernel(const Function& kernel, int around) const {
  const int device = state_.place(*kernel, around).device_type;
  if (device == 1) return {};
  const auto is_number = [&](const Type& type) { return device_for(type, device) == 1; };
  const std::string why = refused_on_devices(*kernel);
  if (why.empty()) {
    const bool numbers = is_number(kernel->body()->checked_type()) &&
                         std::ranges::all_of(kernel->params(), [&](const Var& param) {
                           return is_number(param->checked_type());
                         });
    return {numbers ? 1 : device};
  }
  if (state_.options.fell_back) state_.options.fell_back(kernel, why);
  return {1, "the processor computes it, and no device: " + why};
}

/// A copy that the program asks for. Where the value is there already, a node without a call stands for it.
LoweredRef FunctionScope::copied(const DeviceCopy& copy, const Function& kernel, const OriginSet& origins,
                                 const LoweredRef& value, const Type& type) {
  const LoweredRef result = placed(value, type, copy.to, origins, /*asked=*/true);
  if (result != value) return result;
  (void)state_.add_node(kernel, origins, -1, "__nop", {value}, in_register(0, type));
  state_.graph->nodes.back().kind = PlanNode::Kind::kNop;
  return result;
}

LoweredRef FunctionScope::appended(const Function& kernel, const std::vector<LoweredRef>& args,
                                   const Type& type) {
  const auto append = append_function(*kernel);
  if (!append) return {};
  const LoweredRef whole = args[append->whole];
  if (whole->kind != Kind::kRegister || whole->where >= parameters_) return {};
  LoweredRef part;
  if (!append->rest) {
    part = args[append->part];
  } else {
    std::vector<LoweredRef> others = args;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(append->whole));
    part = pending_of(append->rest->body()->checked_type());
    pieces_.add({append->rest, append->rest->origins(), std::move(others), part});
  }
  const std::vector<Register> both = as_registers({whole, part});
  const LoweredRef result = in_register(code_.fresh(), type);
  code_.emit(Opcode::kAppend, {result->where, both[0], both[1]},
             state_.add_node(kernel, append->origins, -1, "append", {whole, part}, result));
  return result;
}

/// Copies that are not computed yet are, with `read`, if what they are of is read later.
void FunctionScope::keep_copies(std::vector<LoweredRef>& read) {
  if (values_.copies.empty()) return;
  std::vector<LoweredRef> later;
  for (const LoweredRef& each : read) flatten(each, later);
  std::erase_if(values_.copies, [&](const DeviceValue& each) {
    if (!is_pending(*each.copy)) return false;
    // Numbers of a device have no registers.
    const bool is_kept = device_for(each.copy->type, each.copy->device) == each.copy->device &&
                         std::ranges::find(later, each.value) != later.end();
    if (is_kept) read.push_back(each.copy);
    return !is_kept;
  });
}

LoweredRef FunctionScope::on(const LoweredRef& value, int device, const OriginSet& reader, bool asked) {
  if (value->kind == Kind::kTuple || (as_type<TupleTypeNode>(value->type) && value->device != device)) {
    std::vector<LoweredRef> fields;
    const LoweredRef whole = expanded(value);
    for (const LoweredRef& field : whole->fields) fields.push_back(on(field, device, reader, asked));
    return fields == whole->fields ? whole : tuple_of(std::move(fields), value->type);
  }
  if (value->device == device || !as_type<TensorTypeNode>(value->type)) return value;
  if (value->kind == Kind::kConstant && !asked) {
    const auto there = std::make_shared<LoweredValue>(*value);
    there->device = device;
    return there;
  }
  for (const DeviceValue& each : values_.copies)
    if (each.value == value && each.copy->device == device) {
      add_reader(each, reader, asked);
      return each.copy;
    }
  const LoweredRef copy = pending_of(value->type, device);
  copy->name = value->name;
  const DeviceCopy between{value->device, device};
  OriginSet origins = reader;
  if (!asked) {
    if (value->entry) origins = origins.merge(state_.origins_at(*value->entry));
    if (const PendingCall* maker = pieces_.maker_of(*value)) origins = origins.merge(maker->origins);
    if (origins.empty()) {
      if (!operators_) operators_ = state_.operators_of(function_);
      origins = *operators_;
    }
    if (!origins.empty()) origins = OriginSet::made_for(origins, copy_reason(between));
  }
  pieces_.add({make_device_copy(value->type, between, origins), origins, {value}, copy});
  values_.copies.push_back({value, copy});
  return copy;
}

/// A copy that the program asks for stands for the calls that do; others are made for their readers.
void FunctionScope::add_reader(const DeviceValue& copied, const OriginSet& reader, bool asked) {
  const auto with_reader = [&](const OriginSet& before) {
    if (asked) return before.origins().empty() ? reader : before.merge(reader);
    const OriginSet causes = before.merge(reader);
    return causes.empty() || !before.origins().empty()
               ? before
               : OriginSet::made_for(causes, copy_reason({copied.value->device, copied.copy->device}));
  };
  if (PendingCall* call = pieces_.maker_of(*copied.copy))
    call->origins = with_reader(call->origins);
  else if (const auto& entry = copied.copy->entry)
    state_.set_origins_at(*entry, with_reader(state_.origins_at(*entry)));
}

LoweredRef FunctionScope::placed(const LoweredRef& value, const Type& type, int device,
                                 const OriginSet& reader, bool asked) {
  // A parameter of any type has its arguments' types.
  const bool is_open = !as_type<TensorTypeNode>(type) && !as_type<TupleTypeNode>(type);
  const Type& at = is_open ? value->type : type;
  const auto* tuple = as_type<TupleTypeNode>(at);
  if (tuple && (value->kind == Kind::kTuple || value->device != device)) {
    std::vector<LoweredRef> fields;
    const LoweredRef whole = expanded(value);
    for (size_t i = 0; i < whole->fields.size(); ++i)
      fields.push_back(placed(whole->fields[i], tuple->fields()[i], device, reader, asked));
    return fields == whole->fields ? whole : tuple_of(std::move(fields), value->type);
  }
  return as_type<TensorTypeNode>(at) ? on(value, device_for(at, device), reader, asked) : value;
}

LoweredRef FunctionScope::captured(const Var& var) {
  return placed(values_.variables.at(var.get()), var->checked_type(), state_.device_of(var.get()),
                OriginSet::none());
}

}  // namespace baton::vm
