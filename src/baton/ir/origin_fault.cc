#include "baton/ir/origin_fault.h"

namespace baton {

namespace {

thread_local const OriginFault* fault = nullptr;

}  // namespace

OriginFault::OriginFault(Replace replace, bool silence_retire)
    : replace_(std::move(replace)), silence_retire_(silence_retire) {
  fault = this;
}
OriginFault::~OriginFault() { fault = nullptr; }
const OriginFault* OriginFault::current() { return fault; }

}  // namespace baton
