// Shared by families that are one launch of a generated kernel: the launch step, and the model's rates.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/emitter.h"
#include "codegen/flatten.h"
#include "families/family.h"

namespace solstice::families {

// Accesses that are marked as touched once, so that they leave the caches first. On an H200 both marks cost 2 to 5 %
// of the copy rate in every layout measured (bench/rows_map); they are for data that would push out what is read again.
struct Streaming {
  bool loads = false;
  bool stores = false;
};
KnobSpec streaming_knob(std::string otherwise);
Streaming streaming_of(const ir::Knobs& knobs, Streaming otherwise);

// A step's arguments: a pointer `bytes` into a buffer, or those of tensors, in order.
Argument pointer_to(std::string buffer, int64_t bytes = 0);
void add_pointers(const ir::Program& program, const std::vector<int>& tensors, Step& step);

// A kernel's own launch, module or workspace next to its main one ("up-split"). The last part of a name in the language
// holds no `-`, so this is never the name of another kernel or of a tensor.
std::string part_name(const ir::Kernel& kernel, std::string_view part);
// The name of the kernel that a step of its name is of ("up" of "up" and of "up-split"): part_name()'s other way.
std::string_view kernel_of_step(std::string_view step);

PlanBuffer workspace_buffer(std::string name, int64_t bytes, DType dtype = DType::kU8);
// A launch of the function that codegen::entry_name() names, in a module of the step's name.
Step launch_step(const std::string& name, int64_t blocks, int64_t threads);

struct LaunchShape {
  int64_t blocks = 1;
  int64_t threads = 1;
  int64_t cluster = 1;
  int64_t shared_bytes = 0;
};

// One source, one launch; `tensors` are the kernel's pointer parameters in order. A kernel marked `once` runs in
// phase prepare. Errors: too_large where the grid exceeds 2^31 - 1 blocks.
Result<Emission> one_launch(const ir::Program& program, const ir::Kernel& kernel, const std::string& entry,
                            const std::string& code, const std::vector<int>& tensors, const LaunchShape& shape);

// What a generator made with marks in its text (codegen/text/marks.h), without them: `lines` of its sources say the
// same. Lines that say no equation are of `rest`, and their epilogue is of `results`; -1: of none.
Result<Emission> unmarked(const ir::Kernel& kernel, Result<Emission> made, int rest = -1, int results = -1);

// Each tensor that an equation defines, in order of first definition.
std::vector<int> tensors_written(const codegen::FlatKernel& flat);
// The pointer parameters of a generated function: tensors it reads, then tensors it writes.
std::vector<std::string> pointer_parameters(const codegen::Emitter& emitter, const std::vector<int>& reads,
                                            const std::vector<int>& writes);

// The rate of copying, measured where it was, else the datasheet's; error where the machine file has neither.
Result<BytesPerSecond> copy_rate(const machine::Machine& machine);
Result<BytesPerSecond> read_rate(const machine::Machine& machine);  // of reading alone
// Instructions that all SMs issue a second, each a warp's worth of 32 lanes counted one by one.
FlopsPerSecond issue_rate(const machine::Machine& machine);
// Instructions a point costs, estimated from the operators of all equations, each distinct node once.
double instructions_of(const codegen::FlatKernel& flat);
// The same of generated code that gives short values (codegen/short_values.h) their short functions.
double instructions_of(const ir::Program& program, const codegen::FlatKernel& flat);
// The same, where `times` says how often a node is computed.
double instructions_of(const codegen::FlatKernel& flat, const std::function<double(const ir::ExprRef&)>& times);

// From a kernel's first instruction to its first data, and from its last data to its end.
inline constexpr Seconds kStart{1.1e-6};
// time = launch + start + the larger of both, with terms and bound.
void finish_cost(const machine::Machine& machine, Seconds memory, Seconds issue, Cost& cost);

}  // namespace solstice::families
