#include "baton/probe/choose.h"

#include <cmath>

namespace baton {

namespace {

// Parts of a doubt's variance that kernels share: of one machine, kind and schedule, and with near ones.
constexpr double kOfMachine = 0.2, kOfKind = 0.15, kOfSchedule = 0.15, kOfNear = 0.5;
constexpr double kNear = 3;  // standard deviations of features
constexpr double kMeasuredDoubt = 0.04;
// A network is measured and built as a whole: what it tells counts per so many kernels, besides its own.
constexpr double kFixedCost = 2;

class KernelDoubts {
 public:
  explicit KernelDoubts(std::span<const DoubtedKernel> kernels)
      : kernels_(kernels), count_(kernels.size()), shared_(count_ * count_) {
    for (size_t i = 0; i < count_; ++i)
      for (size_t j = 0; j <= i; ++j) at(i, j) = at(j, i) = prior(kernels[i], kernels[j]);
  }

  /// How much less variance there is when it is measured.
  double gain(int kernel) const {
    const auto k = static_cast<size_t>(kernel);
    double sum = 0;
    for (size_t i = 0; i < count_; ++i) sum += kernels_[i].weight * at(i, k) * at(i, k);
    return sum / (at(k, k) + kMeasuredDoubt * kMeasuredDoubt);
  }

  void measure(int kernel) {
    const auto k = static_cast<size_t>(kernel);
    const double whole = at(k, k) + kMeasuredDoubt * kMeasuredDoubt;
    std::vector<double> column(count_);
    for (size_t i = 0; i < count_; ++i) column[i] = at(i, k);
    for (size_t i = 0; i < count_; ++i) {
      if (column[i] == 0) continue;
      const double part = column[i] / whole;
      for (size_t j = 0; j < count_; ++j) at(i, j) -= part * column[j];
    }
  }

  double variance() const {
    double sum = 0;
    for (size_t i = 0; i < count_; ++i) sum += kernels_[i].weight * at(i, i);
    return sum;
  }

 private:
  static double prior(const DoubtedKernel& a, const DoubtedKernel& b) {
    double part = kOfMachine;
    if (a.kind == b.kind) {
      double squares = 0;
      for (size_t i = 0; i < a.place.size(); ++i) {
        const double apart = a.place[i] - b.place[i];
        squares += apart * apart;
      }
      part += kOfKind + kOfNear * std::exp(-squares / (2 * kNear * kNear));
      if (a.schedule == b.schedule) part += kOfSchedule;
    }
    return part * a.doubt * b.doubt;
  }

  double& at(size_t i, size_t j) { return shared_[i * count_ + j]; }
  double at(size_t i, size_t j) const { return shared_[i * count_ + j]; }

  std::span<const DoubtedKernel> kernels_;
  const size_t count_;
  std::vector<double> shared_;  ///< covariances
};

}  // namespace

ProgramChoice choose_programs(std::span<const DoubtedKernel> kernels,
                              std::span<const DoubtedProgram> programs, int networks, int single) {
  KernelDoubts doubts(kernels);
  ProgramChoice choice;
  choice.before = doubts.variance();
  std::vector<bool> chosen(programs.size());
  const auto choose = [&](bool is_network, int count) {
    for (; count > 0; --count) {
      int best = -1;
      double most = 0;
      for (size_t i = 0; i < programs.size(); ++i) {
        if (chosen[i] || programs[i].is_network != is_network || programs[i].kernels.empty()) continue;
        double gain = 0;
        for (const int kernel : programs[i].kernels) gain += doubts.gain(kernel);
        gain /= kFixedCost + static_cast<double>(programs[i].kernels.size());
        if (gain <= most) continue;
        most = gain;
        best = static_cast<int>(i);
      }
      if (best < 0) return;
      chosen[static_cast<size_t>(best)] = true;
      choice.programs.push_back(best);
      for (const int kernel : programs[static_cast<size_t>(best)].kernels) doubts.measure(kernel);
    }
  };
  choose(true, networks);
  choose(false, single);
  choice.after = doubts.variance();
  return choice;
}

}  // namespace baton
