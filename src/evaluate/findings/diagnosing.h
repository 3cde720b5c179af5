// Diagnosis of a trial in a thread of its own, so that a device need not wait for it: nvdisasm takes 0.2 s for a cubin
// that is new.
#pragma once

#include <future>

#include "evaluate/findings/code_reading.h"
#include "evaluate/findings/diagnosis.h"
#include "record/diagnosis/diagnosis_time.h"

namespace solstice::evaluate {

// Machine code to read, with places in the program where `lines` is there (add_sass()); or that is `being` read.
struct CodeToRead {
  const Built* built = nullptr;
  toolchain::Compiler* lines = nullptr;
  CodeReading being = {};
};

class Diagnosing {
 public:
  Diagnosing() = default;  // there is nothing to diagnose
  // Adds the source `sass` to the facts, where there is code to read, and runs the tools. What it refers to
  // outlives it. `took`: seconds that the facts took, for the record.
  Diagnosing(Facts facts, const CodeToRead& code, const Setting& setting, const DiagnosisOptions& options,
             Seconds took);
  // It is done; waits for that, at most so long.
  bool done(Seconds patience) const;
  // Waits for it, and adds to the record what add_findings() says and `diagnosing`, with what was `waited` before.
  // Once; where there is nothing to diagnose it adds nothing.
  DiagnosisTime finish(Seconds waited, Json& record);

 private:
  struct Done {
    Json record;
    DiagnosisTime time;
  };
  std::future<Done> done_;
};

}  // namespace solstice::evaluate
