// Launches that fold the parts of rows (families gemm, reduce and rows): some threads of a block fold an
// output's parts, every n-th each, and the first of them stores what follows from the results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/emitter.h"
#include "codegen/flatten.h"
#include "families/family.h"

namespace solstice::families {

inline constexpr int kFoldThreads = 256;

// Threads that fold one output of so many parts: neighbouring threads take neighbouring outputs. One, where `many`
// outputs have enough threads between them.
int fold_sharers(int64_t outputs, int64_t parts, int64_t many);

struct FoldKernel {
  std::string entry, parameters;
  std::string opening;  // the first statements
  std::string_view row_type = "int";
  int64_t rows = 1;    // outputs
  int sharers = 1;     // of an output
  std::string folded;  // statements: thread `mine` of the sharers folds its parts of `row`, and all get the results
  std::string values, stores;  // values that depend on the results; stores of a thread of a valid row

  int64_t blocks() const;
  std::string text() const;
};

// The stores of the equations' values, whose statements the emitter keeps.
Result<std::string> store_text(const ir::Program& program, const codegen::FlatKernel& flat, codegen::Emitter& emitter);

// Tensors that are read, the parts, tensors that are written.
std::string fold_parameters(const codegen::Emitter& emitter, const std::vector<int>& reads,
                            const std::vector<std::string>& parts, const std::vector<int>& writes);

// A fold in the module of the kernel that finds the parts, and what its launch takes.
struct FoldLaunch {
  std::string code;  // a kernel without includes
  std::string entry;
  std::vector<int> reads, writes;  // tensors: the pointers before and after those to the parts
  std::vector<int64_t> parts;      // bytes of the workspace of each reduction
  int64_t blocks = 0;
  int64_t threads = kFoldThreads;
  int64_t shared_bytes = 0;
};

// Behind the kernel's only launch, which gets pointers to the parts, too.
void add_fold(const ir::Program& program, const ir::Kernel& kernel, const FoldLaunch& fold, Emission& out);

}  // namespace solstice::families
