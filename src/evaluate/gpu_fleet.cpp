#include "evaluate/gpu_fleet.h"

#include <fmt/format.h>

namespace solstice::evaluate {
namespace {

// GPU resources are freed in the thread that made them, where their context is current.
class GpuOfFleet : public FleetDevice {
 public:
  GpuOfFleet(const TrialBuilds& builds, FleetGpu gpu, std::shared_ptr<run::Judge> home,
             const std::vector<run::JudgeCase>& cases, GpuFleetOptions options)
      : builds_(builds), gpu_(std::move(gpu)), home_(std::move(home)), cases_(cases), options_(options) {
    options_.meter.gpu = gpu_.ordinal;
  }

  std::string name() const override { return fmt::format("GPU {}", gpu_.ordinal); }

  Status open() override {
    SOLSTICE_CHECK(gpu_.judge->adopt_thread());
    if (gpu_.judge != home_) {
      SOLSTICE_TRY(copies_, run::CaseCopies::make(cases_, *home_, *gpu_.judge, options_.beside));
    }
    meter_.emplace(builds_, *gpu_.judge, copies_ ? copies_->cases() : cases_, options_.meter);
    return success();
  }

  Result<search::Measurement> measure(BegunTrial& trial) {
    gpu_.judge->serve(options_.client);
    return meter_->measure(trial);
  }

  void close() override {
    gpu_.judge->release();
    meter_.reset();
    copies_.reset();
  }

 private:
  const TrialBuilds& builds_;
  const FleetGpu gpu_;
  const std::shared_ptr<run::Judge> home_;
  const std::vector<run::JudgeCase>& cases_;
  GpuFleetOptions options_;
  std::optional<run::CaseCopies> copies_;
  std::optional<GpuMeter> meter_;
};

class TrialOnGpus : public FleetTrial {
 public:
  TrialOnGpus(BegunTrial trial, std::vector<GpuOfFleet*> gpus) : trial_(std::move(trial)), gpus_(std::move(gpus)) {}
  bool ready(Seconds patience) override { return trial_.candidate.ready(patience); }
  Status prepare() override { return trial_.candidate.finish(); }
  Result<search::Measurement> measure(size_t device) override { return gpus_[device]->measure(trial_); }
  void conclude(search::Measurement& out) override { trial_.conclude(Seconds(0), out); }

 private:
  BegunTrial trial_;
  const std::vector<GpuOfFleet*> gpus_;
};

}  // namespace

std::unique_ptr<Fleet> make_gpu_fleet(const TrialBuilds& builds, const std::vector<FleetGpu>& gpus,
                                      const std::vector<run::JudgeCase>& cases, const GpuFleetOptions& options,
                                      Fleet::Tell left_out) {
  std::vector<std::unique_ptr<FleetDevice>> devices;
  std::vector<GpuOfFleet*> places;
  for (const FleetGpu& gpu : gpus) {
    auto device = std::make_unique<GpuOfFleet>(builds, gpu, gpus.front().judge, cases, options);
    places.push_back(device.get());
    devices.push_back(std::move(device));
  }
  const auto begin = [&builds, places](const search::Node& node) {
    return std::make_unique<TrialOnGpus>(builds.begin(node), places);
  };
  return std::make_unique<Fleet>(std::move(devices), begin, std::move(left_out));
}

}  // namespace solstice::evaluate
