#include "baton/support/ref.h"

namespace baton {

void RefCounted::destroy(const RefCounted* object) {
  delete_in_turn(object, [](const RefCounted* each) { delete each; });
}

}  // namespace baton
