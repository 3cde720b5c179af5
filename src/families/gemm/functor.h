// The epilogue as CUDA text: a struct of pointers that kernels/epilogue/output.h describes.
#pragma once

#include <string>
#include <string_view>

#include "families/gemm/problem.h"

namespace solstice::families::gemm {

// The struct `Epilogue`, and the entry's parameters (each with a comma before it) and constructor arguments that fill
// it.
struct Functor {
  std::string text, parameters, arguments;
};
Functor functor_of(const ir::Program& program, const codegen::EpilogueCode& code, bool by_copy_engine);

inline constexpr std::string_view kEpilogueHeaders = "#include \"math/special.h\"\n#include \"math/vector.h\"\n";
std::string_view major_text(Major major);
// gemm::StridedOperand<T>{name, batch, line, k}
std::string strided_text(const OperandAccess& operand, std::string_view name);

}  // namespace solstice::families::gemm
