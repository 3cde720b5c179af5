// The io and work bounds.
#pragma once

#include "ir/count.h"
#include "machine/machine.h"
#include "sol/options.h"
#include "sol/report.h"

namespace solstice::sol {

double bytes_of(const ir::Program& program, const ir::TensorCount& tensor);
SolBound io_bound(const ir::Program& program, const ir::Count& count, const machine::Machine& machine, bool frozen);
// The same where everything may already lie in L2 when the run starts.
Seconds warm_io(const ir::Program& program, const ir::Count& count, const machine::Machine& machine, bool frozen);
Result<SolBound> work_bound(const ir::Program& program, const ir::Count& count, const machine::Machine& machine,
                            const SolOptions& options);

}  // namespace solstice::sol
