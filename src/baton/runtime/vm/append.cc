#include "baton/runtime/vm/append.h"

#include <algorithm>
#include <cstring>

#include "baton/runtime/plan.h"
#include "baton/runtime/system/allocator.h"
#include "baton/runtime/tensors.h"
#include "baton/support/base/memory.h"

namespace baton::vm {

using program::as_value;
using program::TensorValue;
using program::Value;

namespace {

void release_scratch(void* block) { scratch_free(block); }

constexpr size_t kLeast = 1024;  // bytes of what begins to grow

}  // namespace

Result<Value> appended(Value whole, const Value& part) {
  const auto *to = as_value<TensorValue>(whole), *from = as_value<TensorValue>(part);
  if (!to || !from || to->array().ndim() == 0)
    return Status::invalid("concatenate: " + program::describe(whole) + " and " + program::describe(part) +
                           " are no tensors with axes");
  const NDArray &before = to->array(), &rows = from->array();
  Shape shape = before.shape();
  const bool one = rows.ndim() + 1 == before.ndim();
  const auto own = rows.shape().begin() + (one ? 0 : 1);
  if ((!one && rows.ndim() != before.ndim()) || rows.dtype() != before.dtype() ||
      !std::equal(own, rows.shape().end(), shape.begin() + 1, shape.end()))
    return Status::invalid("concatenate: " + describe(before.shape(), before.dtype()) + " and " +
                           describe(rows.shape(), rows.dtype()) + (one ? " as a row" : "") +
                           " differ in more than their first axis");
  shape[0] += one ? 1 : rows.shape()[0];
  if (!fits_executor(shape, before.dtype()))
    return Status::unavailable("concatenate: the result would be " + describe(shape, before.dtype()));
  const size_t used = before.bytes(), needed = used + rows.bytes();
  const bool alone = whole->use_count() == 1 && before.is_only_handle() && !to->lent();
  if (alone && to->capacity() >= needed) {
    NDArray grown = before.in_same_memory(shape);
    std::memcpy(static_cast<uint8_t*>(grown.data()) + used, rows.data(), rows.bytes());
    return Value(make_ref<const TensorValue>(std::move(grown), false, to->capacity()));
  }
  // What is appended to once has the size that it needs; what has grown before does so again.
  const size_t capacity = to->capacity() ? std::max(kLeast, 2 * needed) : std::max<size_t>(1, needed);
  void* block = scratch_allocate(capacity);
  if (!block)
    return Status::out_of_memory("no memory for what a loop collects: " + describe(shape, before.dtype()));
  clear_past_end(block, capacity);
  if (used) std::memcpy(block, before.data(), used);
  if (rows.bytes()) std::memcpy(static_cast<uint8_t*>(block) + used, rows.data(), rows.bytes());
  return Value(make_ref<const TensorValue>(
      NDArray::view(block, std::move(shape), before.dtype(), release_scratch, block), false, capacity));
}

}  // namespace baton::vm
