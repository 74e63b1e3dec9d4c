#include "baton/support/ref.h"

#include <vector>

namespace baton {

void RefCounted::destroy(const RefCounted* object) {
  // Members of a dying node release their own nodes: those land here again and only join the list.
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
