// NVRTC, opened with dlopen. Only compile workers use it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace solstice::toolchain {

struct NvrtcApi;

class Nvrtc {
 public:
  // pip's package finds its builtins library on the loader's path only; opening that first (RTLD_GLOBAL) is enough.
  // Errors: no_compiler.
  static Result<std::shared_ptr<Nvrtc>> open(const std::string& library, const std::string& builtins);

  struct Output {
    bool ok = false;
    std::string cubin;  // or PTX
    std::string log;
  };
  // A source that does not compile gives ok = false; an Error means that NVRTC itself failed. `ptx`: that is wanted,
  // and the options name a virtual architecture.
  Result<Output> compile(const std::string& file, const std::string& code,
                         const std::map<std::string, std::string>& headers, const std::vector<std::string>& options,
                         bool ptx) const;
  ~Nvrtc();

 private:
  explicit Nvrtc(std::unique_ptr<NvrtcApi> api);
  std::unique_ptr<NvrtcApi> api_;
};

}  // namespace solstice::toolchain
