// Progress of a stage's run within its module's: every line says whose it is.
#pragma once

#include <string>

#include "record/progress.h"

namespace solstice::flow {

class StageProgress final : public Progress {
 public:
  StageProgress(Progress& outer, std::string prefix) : outer_(outer), prefix_(std::move(prefix)) {}
  void stage_started(std::string_view name, std::string_view detail) override {
    outer_.stage_started(prefix_ + std::string(name), detail);
  }
  void stage_finished(std::string_view name, std::string_view detail, Seconds took) override {
    outer_.stage_finished(prefix_ + std::string(name), detail, took);
  }
  void trial_finished(const TrialNews& news, const Standing& standing) override {
    outer_.trial_finished(news, standing);
  }
  void standing_changed(const Standing& standing) override { outer_.standing_changed(standing); }
  void message(std::string_view text) override { outer_.message(prefix_ + std::string(text)); }

 private:
  Progress& outer_;
  std::string prefix_;
};

}  // namespace solstice::flow
