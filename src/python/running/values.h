#pragma once
// Values of programs to Python and back.
#include <vector>

#include "baton/driver/vm/runnable_program.h"
#include "baton/pass/build_context.h"
#include "baton/runtime/values/value.h"

#include "python/casters.h"
#include "python/door.h"
#include "python/running/interruptible.h"

namespace baton::python {

program::Value value_from_python(nb::handle object);
std::vector<program::Value> values_from_python(nb::handle sequence);
nb::object value_to_python(const program::Value& value);

/// The value of work(context), which runs without the GIL and is interruptible by Ctrl-C.
template <class Work>
nb::object run_interruptibly(Work work) {
  const program::Value value = interruptible([&](const std::atomic<bool>* stop) {
    BuildContext context = door_context();
    context.interrupt = stop;
    return work(context);
  });
  return value_to_python(value);
}

/// The same for programs of the virtual machine, most of which need no compiler.
template <class Work>
nb::object run_program(Work work) {
  return value_to_python(
      interruptible([&](const std::atomic<bool>* stop) { return work(RunContext(stop, door_context)); }));
}

}  // namespace baton::python
