// The launch plan: a candidate as data (schema solstice.plan/1). Cubins next to it hold the device code; the plan says
// what to launch, with which arguments, in which order. No candidate brings host code.
//
// Meaning. `buffers` are all memory the plan touches. Interface buffers (input, output, param, state) are bound by the
// caller at prepare/launch in the order of the list; workspace buffers are laid out by rt in one caller-owned
// allocation; constant buffers are filled from `data` at load. Steps of phase `prepare` run once, when weights are
// frozen (`once` kernels); steps of phase `launch` run on every call. Within a phase, steps on one stream run in list
// order; a step on another stream waits for the steps named in `after`. Everything joins stream 0 at the end.
// Sizes are bytes unless a name says otherwise; strides of tensors are in elements, strides of tensor maps in bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice {

enum class BufferKind { kInput, kOutput, kParam, kState, kWorkspace, kConstant };
std::vector<const char*> enum_names(BufferKind);

// `state`: a module buffer that the plan reads and, when `written`, updates in place at the end.
struct PlanBuffer {
  std::string name;
  BufferKind kind = BufferKind::kWorkspace;
  std::string path;  // module path of a param or state ("linear.weight")
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // elements
  int64_t bytes = 0;             // physical extent from the first element
  int64_t alignment = 256;
  bool written = false;
  bool persistent = false;  // workspace that keeps its content from prepare to every launch
  std::string data;         // base64, constants only

  static auto fields() {
    return std::make_tuple(
        field("name", &PlanBuffer::name, "unique name; steps refer to it"),
        field("kind", &PlanBuffer::kind, "who owns it"),
        optional_field("path", &PlanBuffer::path, "module path of a param or state"),
        field("dtype", &PlanBuffer::dtype, "storage format"),
        field("shape", &PlanBuffer::shape, "extents, outermost first"),
        field("strides", &PlanBuffer::strides, "strides in elements"),
        field("bytes", &PlanBuffer::bytes, "physical size"),
        optional_field("alignment", &PlanBuffer::alignment, "alignment the kernels rely on, bytes"),
        optional_field("written", &PlanBuffer::written, "the plan writes it"),
        optional_field("persistent", &PlanBuffer::persistent, "workspace filled at prepare and kept"),
        optional_field("data", &PlanBuffer::data, "content of a constant, base64"));
  }
};

// Local memory of a thread (stack and spills) that is cleared between launches of given code, and how much of it such
// code may use.
inline constexpr int64_t kScrubbedLocalBytes = 4096, kMostLocalBytes = 2048;

struct PlanModule {
  std::string name;
  std::string cubin;   // file name, next to the plan
  std::string hash;    // of the cubin
  std::string source;  // file name of the CUDA source next to the plan, "" if none
  bool given = false;  // device code that a program brought: not trusted to leave alone what it was not given
  static auto fields() {
    return std::make_tuple(field("name", &PlanModule::name, "unique name; launches refer to it"),
                           field("cubin", &PlanModule::cubin, "file name beside the plan"),
                           field("hash", &PlanModule::hash, "content hash of the cubin"),
                           optional_field("source", &PlanModule::source, "CUDA source beside the plan"),
                           optional_field("given", &PlanModule::given, "device code that a program brought"));
  }
};

// A TMA descriptor over a buffer (cuTensorMapEncodeTiled): dims innermost first.
struct TensorMap {
  std::string buffer;
  int64_t offset = 0;  // bytes
  DType dtype = DType::kF32;
  bool tf32 = false;                     // FLOAT32 read as TFLOAT32
  std::vector<int64_t> extents;          // elements, innermost first
  std::vector<int64_t> strides;          // bytes, of dims 1..; one fewer than extents
  std::vector<int64_t> box;              // elements
  std::vector<int64_t> element_strides;  // empty: all 1
  int swizzle = 0;                       // 0, 32, 64 or 128 bytes
  int l2_promotion = 0;                  // 0, 64, 128 or 256 bytes
  bool nan_fill = false;                 // out-of-range elements read as NaN instead of 0
  static auto fields() {
    return std::make_tuple(field("buffer", &TensorMap::buffer, "what it describes"),
                           optional_field("offset", &TensorMap::offset, "bytes from the buffer's start"),
                           field("dtype", &TensorMap::dtype, "element format"),
                           optional_field("tf32", &TensorMap::tf32, "round f32 elements to TF32 on load"),
                           field("extents", &TensorMap::extents, "elements, innermost first"),
                           field("strides", &TensorMap::strides, "bytes, of dims 1 and up"),
                           field("box", &TensorMap::box, "elements a load or store moves"),
                           optional_field("element_strides", &TensorMap::element_strides, "empty: all 1"),
                           optional_field("swizzle", &TensorMap::swizzle, "0, 32, 64 or 128 bytes"),
                           optional_field("l2_promotion", &TensorMap::l2_promotion, "0, 64, 128 or 256 bytes"),
                           optional_field("nan_fill", &TensorMap::nan_fill, "fill out-of-range reads with NaN"));
  }
};

// One kernel argument: exactly one of these is meant, by `kind`.
enum class ArgumentKind { kPointer, kI32, kI64, kF32, kF64, kTensorMap, kBytes };
std::vector<const char*> enum_names(ArgumentKind);

struct Argument {
  ArgumentKind kind = ArgumentKind::kPointer;
  std::string buffer;   // pointer
  int64_t offset = 0;   // pointer: bytes
  int64_t integer = 0;  // i32, i64
  double real = 0;      // f32, f64
  TensorMap map;        // tensor_map, passed by value as __grid_constant__ (64-byte aligned)
  std::string bytes;    // base64: a struct passed by value
  static auto fields() {
    return std::make_tuple(field("kind", &Argument::kind, "what is passed"),
                           optional_field("buffer", &Argument::buffer, "pointer: into this buffer"),
                           optional_field("offset", &Argument::offset, "pointer: bytes"),
                           optional_field("integer", &Argument::integer, "value of i32 and i64"),
                           optional_field("real", &Argument::real, "value of f32 and f64"),
                           optional_field("map", &Argument::map, "the TMA descriptor"),
                           optional_field("bytes", &Argument::bytes, "struct by value, base64"));
  }
};

enum class StepKind { kLaunch, kMemset, kCopy };
std::vector<const char*> enum_names(StepKind);
enum class Phase { kPrepare, kLaunch };
std::vector<const char*> enum_names(Phase);

struct Step {
  std::string name;
  StepKind kind = StepKind::kLaunch;
  Phase phase = Phase::kLaunch;
  int stream = 0;
  std::vector<std::string> after;  // names of earlier steps on other streams
  // launch
  std::string module;
  std::string entry;
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::array<int64_t, 3> block = {1, 1, 1};
  std::array<int64_t, 3> cluster = {1, 1, 1};
  int64_t shared_bytes = 0;  // dynamic
  bool cooperative = false;
  bool pdl = false;  // may start before the previous launch has ended
  std::vector<Argument> arguments;
  // memset (a 1-, 2- or 4-byte pattern) and copy
  std::string buffer;
  int64_t offset = 0;
  std::string from;
  int64_t from_offset = 0;
  int64_t bytes = 0;
  int64_t pattern = 0;
  int pattern_bytes = 1;
  static auto fields() {
    return std::make_tuple(
        field("name", &Step::name, "unique name"), field("kind", &Step::kind, "launch, memset or copy"),
        optional_field("phase", &Step::phase, "prepare: once, at load; launch: every call"),
        optional_field("stream", &Step::stream, "0 is the caller's"),
        optional_field("after", &Step::after, "steps on other streams to wait for"),
        optional_field("module", &Step::module, "launch: module"),
        optional_field("entry", &Step::entry, "launch: kernel"), optional_field("grid", &Step::grid, "blocks"),
        optional_field("block", &Step::block, "threads"), optional_field("cluster", &Step::cluster, "blocks a cluster"),
        optional_field("shared_bytes", &Step::shared_bytes, "dynamic shared memory"),
        optional_field("cooperative", &Step::cooperative, "all blocks resident"),
        optional_field("pdl", &Step::pdl, "programmatic dependent launch"),
        optional_field("arguments", &Step::arguments, "launch: in order"),
        optional_field("buffer", &Step::buffer, "memset, copy: destination"),
        optional_field("offset", &Step::offset, "bytes into the destination"),
        optional_field("from", &Step::from, "copy: source buffer"),
        optional_field("from_offset", &Step::from_offset, "bytes into the source"),
        optional_field("bytes", &Step::bytes, "memset, copy: size"),
        optional_field("pattern", &Step::pattern, "memset: value"),
        optional_field("pattern_bytes", &Step::pattern_bytes, "memset: 1, 2 or 4"));
  }
};

struct Plan {
  static constexpr const char* kSchema = "solstice.plan/1";
  std::string program;  // name of the program
  std::string target;   // "sm_90a"
  std::vector<PlanBuffer> buffers;
  std::vector<PlanModule> modules;
  std::vector<Step> steps;
  int streams = 1;
  static auto fields() {
    return std::make_tuple(field("program", &Plan::program, "name of the program it was made from"),
                           field("target", &Plan::target, "architecture of the cubins"),
                           field("buffers", &Plan::buffers, "all memory it touches"),
                           field("modules", &Plan::modules, "device code"), field("steps", &Plan::steps, "in order"),
                           optional_field("streams", &Plan::streams, "how many it uses"));
  }
};

// Names unique and resolved, ranges inside buffers, launch sizes within CUDA's limits, tensor maps within TMA's rules.
Status validate(const Plan& plan);

}  // namespace solstice
