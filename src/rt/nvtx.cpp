#include "rt/nvtx.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "rt/nvtx_types.h"

namespace solstice::rt {
namespace {

constexpr size_t kMostFunctions = 16;

// What a profiler fills: it may ask for every module, of which we call two functions.
struct Tables {
  std::array<std::array<nvtx::Function, kMostFunctions>, nvtx::kModules> functions{};
  std::array<std::array<nvtx::Function*, kMostFunctions>, nvtx::kModules> places{};
};

Tables& tables() {
  static Tables all;
  return all;
}

int table_of(int module, nvtx::Function*** table, unsigned* size) {
  if (module <= 0 || module >= nvtx::kModules) return 0;
  const size_t which = static_cast<size_t>(module);
  auto& places = tables().places[which];
  for (size_t i = 0; i < places.size(); ++i) places[i] = &tables().functions[which][i];
  *table = places.data();
  *size = nvtx::kSizes[which];
  return 1;
}

const void* export_of(uint32_t which) {
  static const nvtx::Callbacks callbacks{sizeof(nvtx::Callbacks), table_of};
  static const nvtx::VersionInfo version{sizeof(nvtx::VersionInfo), nvtx::kVersion, 0, [](uint32_t) {}};
  if (which == nvtx::kCallbacks) return &callbacks;
  return which == nvtx::kVersionInfo ? static_cast<const void*>(&version) : nullptr;
}

}  // namespace

bool attach(const std::string& library, Nvtx& out) {
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);  // for the life of the process
  const auto initialize = handle ? reinterpret_cast<nvtx::Initialize>(dlsym(handle, nvtx::kInitialize)) : nullptr;
  if (!initialize || initialize(export_of) == 0) return false;
  const auto& core = tables().functions[nvtx::kCore];
  out.push = reinterpret_cast<int (*)(const char*)>(core[nvtx::kRangePushA]);
  out.pop = reinterpret_cast<int (*)()>(core[nvtx::kRangePop]);
  return out.push && out.pop;
}

const Nvtx* profiler() {
  static Nvtx found;
  static const bool there = [] {
    const char* library = std::getenv(nvtx::kInjection);
    return library && *library && attach(library, found);
  }();
  return there ? &found : nullptr;
}

}  // namespace solstice::rt
