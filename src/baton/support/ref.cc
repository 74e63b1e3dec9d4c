#include "baton/support/ref.h"

#include <vector>

namespace baton {

void RefCounted::destroy(const RefCounted* object) {
  // Destroying a node releases its members: nested releases only append to this list.
  thread_local std::vector<const RefCounted*>* pending = nullptr;
  if (pending) {
    pending->push_back(object);
    return;
  }
  std::vector<const RefCounted*> list{object};
  pending = &list;
  while (!list.empty()) {
    const RefCounted* next = list.back();
    list.pop_back();
    delete next;
  }
  pending = nullptr;
}

}  // namespace baton
