// Times the baselines of a problem interleaved with our drop-ins: PyTorch eager and torch.compile, each with and
// without TF32, in one process, in blocks in turn. Also measures the flaws of the problem.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flow/run/state/engine.h"
#include "record/oracle_messages.h"
#include "record/progress.h"

namespace solstice::flow {

struct OpponentsRequest {
  std::filesystem::path file;
  std::string class_name;
  std::vector<OracleContender> dropins;  // ours, to be timed in the same blocks
  Seconds deadline{120};                 // for preparing each of them
};

struct OpponentsFound {
  std::vector<OracleRival> rivals;  // eager first, the drop-ins last
  OracleFlaws flaws;
  std::string flaws_note;  // why those are not known
};

// A process for the opponents imports the compiler and loads the module, beside all else. Nothing where the engine has
// no Python yet: compete() does it then.
void start_opponents(Engine& engine, const std::filesystem::path& file, const std::string& class_name);

// Errors: those of the oracle; one that was given up is started anew by whoever needs it next.
Result<OpponentsFound> compete(Engine& engine, const OpponentsRequest& request, Progress& progress);

}  // namespace solstice::flow
