#include "baton/profile/report/another_executor.h"

#include <random>

#include "baton/driver/build.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr size_t kMostCopied = size_t{256} << 20;
constexpr size_t kMostSpace = size_t{4} << 20;

NamedArrays copied(const NamedArrays& constants) {
  size_t bytes = 0;
  for (const auto& [name, value] : constants) bytes += value.bytes();
  if (bytes > kMostCopied) return constants;
  NamedArrays copies;
  for (const auto& [name, value] : constants) {
    NDArray copy = value.copy();
    if (!copy.defined()) return constants;
    copies.emplace_back(name, std::move(copy));
  }
  return copies;
}

/// Memory that shifts what is allocated after it.
std::unique_ptr<char[]> spacer() {
  static std::minstd_rand random{std::random_device()()};
  std::unique_ptr<char[]> space(new char[1 + random() % kMostSpace]);
  space[0] = 1;
  return space;
}

struct Elsewhere {
  std::unique_ptr<char[]> space = spacer();
  std::unique_ptr<Executor> executor;
};

}  // namespace

std::shared_ptr<Executor> another_executor(const BuildResult& built, const Executor& like) {
  auto made = std::make_shared<Elsewhere>();
  BuildResult moved = built;
  moved.plan.params = copied(built.params());
  BackendCode& host = moved.code.at(0);
  if (!host.blob.empty()) {
    auto library =
        KernelLibrary::from_memory({reinterpret_cast<const uint8_t*>(host.blob.data()), host.blob.size()});
    if (library.ok()) host.library = std::move(*library);
  }
  try {
    made->executor = make_executor(moved);
  } catch (const Error&) {
    return nullptr;
  }
  made->executor->set_threads(like.threads());
  for (size_t i = 0; i < like.num_inputs(); ++i)
    if (!made->executor->set_input(i, like.input(i)).ok()) return nullptr;
  return {made, made->executor.get()};
}

}  // namespace baton
