// Calibration: what the best streams and products reach on the GPU at hand, into a machine file of the user's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "machine/machine.h"

namespace solstice::flow {

struct Calibrated {
  machine::Machine machine;    // with the new ceilings
  std::string device;          // what the driver calls it
  std::filesystem::path file;  // where it was written
};

// `name`: the machine description to start from; "": the one whose device is the GPU at hand. `file`: where to write;
// empty: machine::calibrated_path(). Errors: no_python, no_gpu, not_found (no description fits), process_failed,
// bad_argument where the named description is of another device.
Result<Calibrated> calibrate(const std::string& name, const std::filesystem::path& file,
                             const std::vector<std::string>& command);

// The figures that `python -m solstice.calibrating` prints.
Result<machine::Measured> parse_ceilings(const Json& json);

}  // namespace solstice::flow
