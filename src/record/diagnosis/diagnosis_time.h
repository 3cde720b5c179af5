// Time that the diagnosis of a trial took, by stage: `diagnosing` in the record of its measurement.
#pragma once

#include "base/units.h"
#include "record/fields.h"

namespace solstice {

// In a report's timings: parts of what the search took. A diagnosis goes on beside it, but where it is waited for.
inline constexpr const char* kDiagnosisTime = "search: diagnosis";
inline constexpr const char* kDiagnosisWaited = "search: waiting for diagnosis";

struct DiagnosisTime {
  Seconds facts;        // of all sources but `sass`, in the thread that measures
  Seconds disassembly;  // of the source `sass`
  Seconds tools;
  Seconds waited;  // by the search, for disassembly and tools
  Seconds total() const { return facts + disassembly + tools; }
  static auto fields() {
    return std::make_tuple(field("facts", &DiagnosisTime::facts, "seconds, of all sources but sass"),
                           field("disassembly", &DiagnosisTime::disassembly, "seconds, of the source sass"),
                           field("tools", &DiagnosisTime::tools, "seconds"),
                           field("waited", &DiagnosisTime::waited, "seconds that the search waited for the last two"));
  }
};

}  // namespace solstice
