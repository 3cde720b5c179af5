// Requests of the compiler to a compile worker, and its answers: one JSON line each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice::toolchain {

struct CompileJob {
  static constexpr const char* kSchema = "solstice.compile_job/1";
  std::string nvrtc;     // library
  std::string builtins;  // library to open before it, "" where the loader finds it
  std::string name;
  std::string file;  // as messages call it
  std::string code;
  std::map<std::string, std::string> headers;  // of kernels/, path -> text
  std::vector<std::string> options;
  bool ptx = false;
  static auto fields() {
    return std::make_tuple(field("nvrtc", &CompileJob::nvrtc, "path of libnvrtc"),
                           field("builtins", &CompileJob::builtins, "path of libnvrtc-builtins, may be empty"),
                           field("name", &CompileJob::name, "the unit"),
                           field("file", &CompileJob::file, "what messages call it"),
                           field("code", &CompileJob::code, "CUDA C++"),
                           field("headers", &CompileJob::headers, "headers by the name they are included by"),
                           field("options", &CompileJob::options, "all options"),
                           optional_field("ptx", &CompileJob::ptx, "PTX is wanted, not a cubin"));
  }
};

// `status`: "ok", "failed" (the source is wrong; the log says how) or "error" (the compiler cannot work here).
struct CompileAnswer {
  static constexpr const char* kSchema = "solstice.compile_answer/1";
  std::string status;
  std::string cubin;  // base64; or PTX, as the job asked
  std::string log;
  Seconds seconds;
  static auto fields() {
    return std::make_tuple(field("status", &CompileAnswer::status, "ok, failed or error"),
                           field("cubin", &CompileAnswer::cubin, "base64"),
                           field("log", &CompileAnswer::log, "of compiler and ptxas"),
                           field("seconds", &CompileAnswer::seconds, "wall time"));
  }
};

}  // namespace solstice::toolchain
