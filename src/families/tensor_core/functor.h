// The epilogue as CUDA text: a struct of pointers that kernels/epilogue/output.h describes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "families/tensor_core/epilogue.h"

namespace solstice::families::tensor_core {

// The struct `Epilogue`, and the entry's parameters (each with a comma before it) and constructor arguments that fill
// it. Where rows are reduced, the last one is their workspace.
struct Functor {
  std::string text, parameters, arguments;
};
Functor functor_of(const ir::Program& program, const Product& product, const Epilogue& epilogue, bool by_copy_engine);

// Text above the entry: the headers that epilogues need and these ("gemm/tensor.h"), then the functor.
std::string head_text(const Functor& functor, std::initializer_list<std::string_view> headers);

}  // namespace solstice::families::tensor_core
