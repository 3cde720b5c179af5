// The original of a program that names no module: PyTorch operators written from its equations (pytorch/module_text.h).
#pragma once

#include <filesystem>
#include <string>

#include "flow/run/problem/written.h"

namespace solstice::flow {

inline constexpr const char* kOriginalFile = "problem.py";  // in a run's folder

// Writes it. `text` of the program as lang::read_program() gives it. Errors: those of pytorch::module_text(), with the
// program's place; io_error.
Status write_original(const std::string& text, const std::filesystem::path& program, const std::filesystem::path& file);

// Loads and traces that module, as the problem with the equations of `written`. It is not imported: its equations are
// known. Errors: those of the oracle; internal where its interface is not the program's.
Result<Problem> trace_original(run::OracleClient& oracle, const std::filesystem::path& file,
                               const std::filesystem::path& cache, Written written);

}  // namespace solstice::flow
