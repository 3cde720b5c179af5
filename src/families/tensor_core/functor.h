// The epilogue as CUDA text: a struct of pointers that kernels/epilogue/output.h describes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "families/gemm/problem.h"
#include "families/gemm/prologue.h"

namespace solstice::families::gemm {

// The struct `Epilogue`, and the entry's parameters (each with a comma before it) and constructor arguments that fill
// it. Where rows are reduced, the last one is their workspace.
struct Functor {
  std::string text, parameters, arguments;
};
Functor functor_of(const ir::Program& program, const Problem& problem, bool by_copy_engine);

// What stands above the entry: the headers that epilogues need and these ("gemm/tensor.h"), then the functor.
std::string head_text(const Functor& functor, std::initializer_list<std::string_view> headers);
std::string_view major_text(Major major);
// gemm::StridedOperand<T>{data, batch, line, k}
std::string strided_text(const OperandAccess& operand, const OperandText& text);

}  // namespace solstice::families::gemm
