#include "toolchain/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace solstice::toolchain {

// The part of nvrtc.h that is used; the ABI has been stable since CUDA 11.
struct NvrtcApi {
  using Program = void*;
  const char* (*error_string)(int) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
};

namespace {

constexpr int kCompilationError = 6;  // NVRTC_ERROR_COMPILATION

template <typename F>
bool load(void* library, const char* name, F& out) {
  out = reinterpret_cast<F>(dlsym(library, name));
  return out != nullptr;
}

bool load_all(void* library, NvrtcApi& api) {
  return load(library, "nvrtcGetErrorString", api.error_string) && load(library, "nvrtcCreateProgram", api.create) &&
         load(library, "nvrtcDestroyProgram", api.destroy) && load(library, "nvrtcCompileProgram", api.compile) &&
         load(library, "nvrtcGetProgramLogSize", api.log_size) && load(library, "nvrtcGetProgramLog", api.log) &&
         load(library, "nvrtcGetCUBINSize", api.cubin_size) && load(library, "nvrtcGetCUBIN", api.cubin) &&
         load(library, "nvrtcGetPTXSize", api.ptx_size) && load(library, "nvrtcGetPTX", api.ptx);
}

std::string dl_error() {
  const char* text = dlerror();
  return text ? text : "unknown error";
}

// NVRTC's two-step way to give text away.
std::string fetch(NvrtcApi::Program program, int (*size_of)(NvrtcApi::Program, size_t*),
                  int (*get)(NvrtcApi::Program, char*)) {
  size_t size = 0;
  if (size_of(program, &size) != 0 || size == 0) return "";
  std::string out(size, '\0');
  return get(program, out.data()) == 0 ? out : "";
}

struct ProgramOwner {
  const NvrtcApi& api;
  NvrtcApi::Program program = nullptr;
  ~ProgramOwner() {
    if (program) api.destroy(&program);
  }
};

}  // namespace

Nvrtc::Nvrtc(std::unique_ptr<NvrtcApi> api) : api_(std::move(api)) {}
Nvrtc::~Nvrtc() = default;  // the libraries stay loaded: unloading them is not safe

Result<std::shared_ptr<Nvrtc>> Nvrtc::open(const std::string& library, const std::string& builtins) {
  if (!builtins.empty() && !dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    return fail(Code::no_compiler, fmt::format("cannot load {}: {}", builtins, dl_error()));
  }
  void* handle = dlopen(library.c_str(), RTLD_NOW);
  if (!handle) return fail(Code::no_compiler, fmt::format("cannot load {}: {}", library, dl_error()));
  auto api = std::make_unique<NvrtcApi>();
  if (!load_all(handle, *api)) {
    return fail(Code::no_compiler, fmt::format("{} lacks a function of NVRTC 11.1 or newer", library));
  }
  return std::shared_ptr<Nvrtc>(new Nvrtc(std::move(api)));
}

Result<Nvrtc::Output> Nvrtc::compile(const std::string& file, const std::string& code,
                                     const std::map<std::string, std::string>& headers,
                                     const std::vector<std::string>& options, bool ptx) const {
  std::vector<const char*> texts, names, flags;
  for (const auto& [name, text] : headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  for (const std::string& option : options) flags.push_back(option.c_str());
  ProgramOwner owner{*api_};
  int status = api_->create(&owner.program, code.c_str(), file.c_str(), static_cast<int>(names.size()), texts.data(),
                            names.data());
  if (status == 0) status = api_->compile(owner.program, static_cast<int>(flags.size()), flags.data());
  if (status != 0 && status != kCompilationError) {
    std::string log = owner.program ? fetch(owner.program, api_->log_size, api_->log) : "";
    return fail(Code::no_compiler, fmt::format("NVRTC: {} {}", api_->error_string(status), log.c_str()));
  }
  Output out;
  out.ok = status == 0;
  out.log = fetch(owner.program, api_->log_size, api_->log);
  while (!out.log.empty() && out.log.back() == '\0') out.log.pop_back();
  if (!out.ok) return out;
  out.cubin =
      ptx ? fetch(owner.program, api_->ptx_size, api_->ptx) : fetch(owner.program, api_->cubin_size, api_->cubin);
  if (ptx && !out.cubin.empty() && out.cubin.back() == '\0') out.cubin.pop_back();
  if (out.cubin.empty()) {
    return fail(Code::no_compiler, ptx ? "NVRTC gave no PTX" : "NVRTC gave no cubin",
                ptx ? "name a virtual architecture (compute_90a)" : "name a real architecture (sm_90a)");
  }
  return out;
}

}  // namespace solstice::toolchain
