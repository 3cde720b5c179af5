// Preparation of a candidate, the same for every device: check the text, lower it, start the compiler.
#pragma once

#include <optional>
#include <string>

#include "evaluate/build.h"
#include "evaluate/candidate.h"
#include "evaluate/findings/program_facts.h"
#include "evaluate/kernel_facts.h"
#include "record/kernel_table.h"
#include "record/trial.h"

namespace solstice::evaluate {

// Key of a trial's record, true: the time was up before the compiler was done.
inline constexpr const char* kGivenUp = "given_up";

class Preparation {
 public:
  // Begins at once; compiling goes on in the background. `compiler` may be null: then nothing is compiled.
  Preparation(const std::string& text, const Setting& setting, toolchain::Compiler* compiler);

  // finish() would not have to wait; it waits for that itself, at most so long.
  bool ready(Seconds patience) const { return refused() || !pending_ || pending_->ready(patience); }
  // Waits for the compiler; once more, it does nothing. After it either state() says what is wrong with the candidate,
  // or built() is there (or nothing was to be compiled). An error means that this machine cannot compile.
  Status finish();
  // Leaves the compiler's work undone: the candidate is refused as not compiled; where there is no compiler, what is
  // known without is the result.
  void give_up();

  bool refused() const { return refused_.has_value(); }
  TrialState state() const { return refused_.value_or(TrialState::kPredicted); }
  const std::string& why() const { return why_; }
  Seconds predicted() const { return predicted_; }
  Seconds cost() const;  // checking, and compiling what was not cached; not what it waited for others
  const std::optional<Built>& built() const { return built_; }
  const Checked& checked() const { return checked_; }
  toolchain::Compiler* compiler() const { return compiler_; }  // null: nothing is compiled
  // Facts by the sources `plan`, `ptxas` and `cubin`, of a candidate that was not refused. `bounds` may be null.
  Facts facts(const Setting& setting, const sol::SolReport* bounds) const;
  // Costs, facts and table of kernels, resources, compiler notes, the message; kGivenUp where that is so.
  Json record() const;

 private:
  void begin(const std::string& text, const Setting& setting, toolchain::Compiler* compiler);
  void find_facts(const Setting& setting);
  void refuse(TrialState state, std::string why);

  std::string text_;
  toolchain::Compiler* compiler_ = nullptr;
  Checked checked_;
  Seconds check_time_{0};
  Seconds predicted_;
  std::vector<KernelCost> costs_;
  std::vector<KernelFacts> facts_;
  KernelTable table_;
  std::string no_facts_;  // why there are none of a legal candidate
  bool given_up_ = false;
  std::optional<TrialState> refused_;
  std::string why_;
  std::string meaning_;  // verdict on its equations, "" where none was asked for
  std::optional<PendingBuild> pending_;
  std::optional<Built> built_;
};

}  // namespace solstice::evaluate
