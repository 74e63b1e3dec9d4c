#pragma once
// The reference kernel: a fixed program whose time shows when a machine's speed drifts, or that it is another
// one.
#include <memory>

#include "baton/campaign/make_worker.h"
#include "baton/campaign/subjects.h"

namespace baton {

/// A dense layer of 64 x 512 by 512, on one thread.
Subject reference_subject();

class Reference {
 public:
  Reference(const CampaignWorker& worker, const BuildContext& context);
  ~Reference();
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  const Subject& subject() const { return subject_; }
  const BuildResult& program() const { return *program_; }
  Job job() const;

 private:
  const CampaignWorker& worker_;
  Subject subject_;
  std::shared_ptr<const BuildResult> program_;
  std::string bundle_;
};

}  // namespace baton
