#include "baton/profile/measure/budget.h"

#include <algorithm>

#include "baton/runtime/system/timers.h"

namespace baton {

Budget::Budget(double seconds, Clock now_of) : seconds_(seconds), clock_(std::move(now_of)) {
  start_ = now();
}

int64_t Budget::now() const { return clock_ ? clock_() : monotonic_ns(); }

double Budget::used() const {
  const int64_t until = pauses_ ? pause_since_ : now();
  return static_cast<double>(until - start_ - paused_) / 1e9;
}

double Budget::left() const {
  return limited() ? std::max(0.0, seconds_ - used() - reserved_s_) : std::numeric_limits<double>::infinity();
}

Budget::Pause::Pause(Budget* budget) : budget_(budget) {
  if (budget_ && budget_->pauses_++ == 0) budget_->pause_since_ = budget_->now();
}

Budget::Pause::~Pause() {
  if (budget_ && --budget_->pauses_ == 0) budget_->paused_ += budget_->now() - budget_->pause_since_;
}

double budget_share(double left, double weight, double all_weights, double least, double wish) {
  const double fair = all_weights > 0 ? left * weight / all_weights : left;
  return std::min({wish, std::max(least, fair), std::max(left, 0.0)});
}

}  // namespace baton
