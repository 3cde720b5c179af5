// Generated text compiled by g++ against kernels/host/emulator.h, and loaded.
#pragma once

#include <string>

#include "base/result.h"

namespace solstice::testing {

class HostLibrary {
 public:
  using Entry = void (*)(void** arguments);

  // `code` may include what the generators' texts include, in namespaces too: it has all been read before. `name` for
  // messages. Stays loaded. May be called from several threads. Error compile_failed: what the compiler said.
  static Result<HostLibrary> compile(const std::string& code, const std::string& name);
  // A function of the text with C linkage; null where there is none.
  Entry entry(const std::string& function) const;

 private:
  explicit HostLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace solstice::testing
