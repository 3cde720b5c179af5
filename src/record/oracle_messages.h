// Answers of the oracle (schema solstice.oracle/1; docs/protocol.md describes every request). The oracle is
// the trusted Python process that owns the user's module, its inputs and its expected values.
//
// Each request has one reply record here, named after it. Names of values: `output.I` is tensor I of the
// flattened result, `buffer.FQN` a module buffer that forward wrote, `input.I` an argument that it wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.h"
#include "record/graph.h"

namespace solstice {

inline constexpr const char* kOracleSchema = "solstice.oracle/1";

struct OracleDevice {
  std::string kind;  // cuda, cpu
  std::string name;
  int index = -1;
  std::string uuid;
  std::vector<int> capability;  // major, minor
  int sm_count = 0;
  Bytes total;
  Bytes l2;
  bool is_cuda() const { return kind == "cuda"; }
  static auto fields() {
    return std::make_tuple(field("kind", &OracleDevice::kind, "cuda or cpu"),
                           field("name", &OracleDevice::name, "its name"),
                           optional_field("index", &OracleDevice::index, "CUDA ordinal"),
                           optional_field("uuid", &OracleDevice::uuid, "identity across processes"),
                           optional_field("capability", &OracleDevice::capability, "major and minor"),
                           optional_field("sm_count", &OracleDevice::sm_count, "multiprocessors"),
                           optional_field("total_bytes", &OracleDevice::total, "device memory"),
                           optional_field("l2_bytes", &OracleDevice::l2, "L2 cache"));
  }
};

// The switches that decide what PyTorch's eager result is.
struct OracleFlags {
  std::string matmul_precision;
  bool matmul_tf32 = false;
  bool cudnn_tf32 = true;
  bool cudnn_benchmark = false;
  bool deterministic = false;
  static auto fields() {
    return std::make_tuple(field("matmul_precision", &OracleFlags::matmul_precision, "highest, high or medium"),
                           field("matmul_tf32", &OracleFlags::matmul_tf32, "matmuls may use TF32"),
                           field("cudnn_tf32", &OracleFlags::cudnn_tf32, "convolutions may use TF32"),
                           field("cudnn_benchmark", &OracleFlags::cudnn_benchmark, "cuDNN measures its algorithms"),
                           field("deterministic", &OracleFlags::deterministic, "deterministic algorithms demanded"));
  }
};

struct OracleHello {
  static constexpr const char* kSchema = kOracleSchema;
  int64_t pid = 0;
  std::string python;
  std::string torch;
  std::optional<std::string> cuda;  // CUDA version that PyTorch was built for
  OracleDevice device;
  static auto fields() {
    return std::make_tuple(field("pid", &OracleHello::pid, "process"), field("python", &OracleHello::python, "version"),
                           field("torch", &OracleHello::torch, "version"),
                           field("cuda", &OracleHello::cuda, "version or null"),
                           field("device", &OracleHello::device, "where modules run"));
  }
};

// A module of the user's own that the file loaded.
struct OracleModule {
  std::string name, file, sha256;
  static auto fields() {
    return std::make_tuple(field("module", &OracleModule::name, "as it is imported"),
                           field("file", &OracleModule::file, "where it lies"),
                           field("sha256", &OracleModule::sha256, "of its content"));
  }
};

struct OracleSubject {
  std::string class_name;
  std::string name;             // in the file; "" for a module given as an object
  std::string kind = "class";   // what the name stands for: class, instance or function; object
  std::string package, module;  // that the file is part of, and its own name there; "" where it stands alone
  std::string mode_note;        // "traced in training mode: dropout active"; "": the mode does not matter
  std::optional<std::string> file;
  std::optional<std::string> source_sha256;
  std::string weights;  // real, or fake: too large to be built here, can be traced only
  bool training = true;
  int64_t state_tensors = 0;
  Bytes state;
  OracleFlags flags;                  // after the user's file is imported, which may set them
  std::vector<OracleModule> modules;  // of its trace: `forward` may load some
  static auto fields() {
    return std::make_tuple(field("class_name", &OracleSubject::class_name, "the module's class"),
                           optional_field("name", &OracleSubject::name, "in the file"),
                           optional_field("kind", &OracleSubject::kind, "class, instance, function or object"),
                           optional_field("package", &OracleSubject::package, "that the file is part of"),
                           optional_field("module", &OracleSubject::module, "name of the file in its package"),
                           optional_field("mode_note", &OracleSubject::mode_note, "mode, where it matters"),
                           field("file", &OracleSubject::file, "null for a module given as an object"),
                           field("source_sha256", &OracleSubject::source_sha256, "of the file's text"),
                           field("weights", &OracleSubject::weights, "real or fake"),
                           field("training", &OracleSubject::training, "the top module's flag"),
                           field("state_tensors", &OracleSubject::state_tensors, "parameters and buffers"),
                           field("state_bytes", &OracleSubject::state, "their size"),
                           field("flags", &OracleSubject::flags, "numerical switches, as the file leaves them"),
                           optional_field("modules", &OracleSubject::modules, "known once it is traced"));
  }
};

struct OracleTrace {
  Json graph;  // for read_graph
  bool cached = false;
  std::string entry;  // file of the cache it was read from or written to; "" where it is not kept
  std::vector<OracleModule> modules;
  static auto fields() {
    return std::make_tuple(
        field("graph", &OracleTrace::graph, "solstice.graph"),
        optional_field("cached", &OracleTrace::cached, "read from the cache"),
        optional_field("entry", &OracleTrace::entry, "its file there"),
        optional_field("modules", &OracleTrace::modules, "of the user's own, at the end of the trace"));
  }
};

// One leaf of the flattened arguments, in the order of the graph's user inputs.
struct OracleInput : GraphTensor {
  int64_t index = 0;
  Json value;  // of a leaf that is no tensor
  static auto fields() {
    return std::tuple_cat(std::make_tuple(field("index", &OracleInput::index, "leaf"),
                                          optional_field("value", &OracleInput::value, "where it is no tensor")),
                          fields_of<OracleInput>());
  }
};

struct OracleInputs {
  bool applies = true;  // false: the family has no meaning for this module, and no set was made
  std::vector<OracleInput> inputs;
  static auto fields() {
    return std::make_tuple(field("applies", &OracleInputs::applies, "the family makes sense here"),
                           field("inputs", &OracleInputs::inputs, "leaves of the arguments"));
  }
};

struct OracleValue {
  std::string name;
  std::vector<int64_t> shape;
  bool finite = true;
  std::optional<double> eager_error;  // normwise, of PyTorch's own result; none: non-finite in other places
  static auto fields() {
    return std::make_tuple(field("name", &OracleValue::name, "output.I, buffer.FQN or input.I"),
                           field("shape", &OracleValue::shape, "extents"),
                           field("finite", &OracleValue::finite, "the oracle's value is finite throughout"),
                           field("eager_error", &OracleValue::eager_error, "PyTorch against the oracle, normwise"));
  }
};

struct OracleExpected {
  int parts = 1;  // pieces in which the float64 result was computed
  std::vector<OracleValue> values;
  std::vector<std::string> notes;
  static auto fields() {
    return std::make_tuple(field("parts", &OracleExpected::parts, "pieces it was computed in"),
                           field("values", &OracleExpected::values, "results and mutations"),
                           optional_field("notes", &OracleExpected::notes, "what the case does not test"));
  }
};

// The part of a value that its inputs do not determine at a precision.
struct OracleStability {
  std::string name;
  int64_t elements = 0, undetermined = 0;
  static auto fields() {
    return std::make_tuple(
        field("name", &OracleStability::name, "as in OracleValue"),
        field("elements", &OracleStability::elements, "all"),
        field("undetermined", &OracleStability::undetermined, "0 too where they would be more than a small share"));
  }
};

struct OracleUndetermined {
  std::vector<OracleStability> values;
  static auto fields() {
    return std::make_tuple(field("values", &OracleUndetermined::values, "those that were asked for"));
  }
};

// Elements of results that are not finite, yet do not depend on the elements of the inputs that are not.
struct OracleLeftOut {
  int64_t elements = 0;
  static auto fields() { return std::make_tuple(field("elements", &OracleLeftOut::elements, "of all float results")); }
};

// An exported tensor: by CUDA IPC (handle, handle_offset, allocation) or as a region of a tensor file
// (region, place).
struct OracleTensor : GraphTensor {
  std::string kind;  // input, parameter, buffer, expected, eager
  std::string name;
  int64_t physical_bytes = 0;  // from the first element to the end of the last
  std::string handle;          // cudaIpcMemHandle_t as 128 hexadecimal digits; "" for an empty tensor
  int64_t handle_offset = 0;   // bytes from the allocation's start
  int64_t allocation_bytes = 0;
  int64_t region = -1;
  static auto fields() {
    return std::tuple_cat(
        std::make_tuple(
            field("kind", &OracleTensor::kind, "input, parameter, buffer, expected or eager"),
            field("name", &OracleTensor::name, "leaf number, module path or value name"),
            field("physical_bytes", &OracleTensor::physical_bytes, "extent in memory"),
            optional_field("handle", &OracleTensor::handle, "CUDA IPC handle, hexadecimal"),
            optional_field("handle_offset", &OracleTensor::handle_offset, "bytes into the allocation"),
            optional_field("allocation_bytes", &OracleTensor::allocation_bytes, "size of the allocation"),
            optional_field("region", &OracleTensor::region, "region of the file; `offset` is bytes into it")),
        fields_of<OracleTensor>());
  }
};

struct OracleTensors {
  std::vector<OracleTensor> tensors;
  static auto fields() { return std::make_tuple(field("tensors", &OracleTensors::tensors, "what was exported")); }
};

struct OracleBlock {
  std::vector<double> seconds;
  Seconds median;
  bool fresh_content = true;
  Seconds dispatch;  // host time of a call
  bool dispatch_hidden = true;
  static auto fields() {
    return std::make_tuple(field("seconds", &OracleBlock::seconds, "one a repetition"),
                           field("median_s", &OracleBlock::median, "seconds"),
                           field("fresh_content", &OracleBlock::fresh_content, "false: no memory for other content"),
                           optional_field("dispatch_s", &OracleBlock::dispatch, "host time of a call"),
                           optional_field("dispatch_hidden", &OracleBlock::dispatch_hidden,
                                          "false: the GPU waited for the host, and is timed waiting"));
  }
};

// One opponent, timed in blocks in turn with the others in one process.
struct OracleRival {
  std::string name;
  std::vector<double> seconds;  // empty: `note` says why
  std::optional<double> error;  // normwise against float64, worst of its outputs
  Bytes peak;                   // device memory of a call above what lay there before; 0: not measured
  std::string note;
  static auto fields() {
    return std::make_tuple(
        field("name", &OracleRival::name, "eager, eager with TF32, torch.compile, or a drop-in's name"),
        field("seconds", &OracleRival::seconds, "one a repetition"),
        field("error", &OracleRival::error, "normwise against float64"),
        optional_field("peak_bytes", &OracleRival::peak, "of one call"),
        field("note", &OracleRival::note, "what it is, or why it was not measured"));
  }
};

// A drop-in that is timed with the opponents.
struct OracleContender {
  std::string name, path;
  static auto fields() {
    return std::make_tuple(field("name", &OracleContender::name, "what its row is called"),
                           field("path", &OracleContender::path, "model_new.py"));
  }
};

// Flaws of a problem that KernelBench's check does not see (docs/measuring.md).
struct OracleFlaws {
  std::string constant;             // which constant result passes the check; "": none of those tried
  std::optional<double> change;     // of the result from one seed of inputs to another, in the check's limits
  std::vector<std::string> unseen;  // tensors whose removal passes, though other values of theirs change the result
  std::vector<std::string> dead;    // tensors that change it by no value that was tried
  std::optional<double> off;        // the original against float64, in the check's limits
  std::string note;                 // parts that were left out
  static auto fields() {
    return std::make_tuple(
        field("constant", &OracleFlaws::constant, "what constant result passes the check"),
        field("change", &OracleFlaws::change, "from seed to seed, in the check's limits"),
        field("unseen", &OracleFlaws::unseen, "tensors whose removal passes"),
        field("dead", &OracleFlaws::dead, "tensors whose values never matter"),
        field("off", &OracleFlaws::off, "the original's distance from float64, in the check's limits"),
        field("note", &OracleFlaws::note, "what was left out"));
  }
};

struct OracleRivals {
  std::vector<OracleRival> rivals;
  static auto fields() { return std::make_tuple(field("rivals", &OracleRivals::rivals, "eager first")); }
};

struct OracleTimedBlock {
  std::string side;  // original, drop-in
  std::vector<double> seconds;
  static auto fields() {
    return std::make_tuple(field("side", &OracleTimedBlock::side, "original or drop-in"),
                           field("seconds", &OracleTimedBlock::seconds, "one a repetition"));
  }
};

// Original against drop-in under KernelBench's own protocol, in one process.
struct OracleComparison {
  std::vector<OracleTimedBlock> blocks;  // as they ran: round after round in ABBA order, the original first
  std::vector<std::string> fallbacks;
  bool fresh_content = true;
  int64_t compared = 0;          // timed results of the drop-in, each with the original's for the same content
  std::optional<double> excess;  // the largest error of them over the check's limit; none: not finite
  static auto fields() {
    return std::make_tuple(
        field("blocks", &OracleComparison::blocks, "rounds in ABBA order"),
        field("fallbacks", &OracleComparison::fallbacks, "why the drop-in used the original forward"),
        field("fresh_content", &OracleComparison::fresh_content, "false: no memory for other content"),
        field("compared", &OracleComparison::compared, "timed results of the drop-in that were compared"),
        field("excess", &OracleComparison::excess, "their largest error over the check's limit"));
  }
};

struct OracleTrial {
  int64_t seed = 0;
  bool passed = false;
  std::string reason;
  std::optional<double> max_excess;             // largest error as a multiple of the limit; none: not finite
  std::optional<double> original_off, new_off;  // of a failed one: the same against float64, of either side

  // It failed for the original's error: the drop-in is within the limit of the float64 result, the original is not.
  bool for_original() const { return original_off && new_off && *original_off > 1 && *new_off <= 1; }
  static auto fields() {
    return std::make_tuple(field("seed", &OracleTrial::seed, "of the inputs"),
                           field("passed", &OracleTrial::passed, "verdict"),
                           field("reason", &OracleTrial::reason, "where it failed"),
                           field("max_excess", &OracleTrial::max_excess, "largest error over the limit"),
                           optional_field("original_off", &OracleTrial::original_off,
                                          "of a failed trial: the original's error against float64 over the limit"),
                           optional_field("new_off", &OracleTrial::new_off, "the same of the drop-in"));
  }
};

struct OracleDropinCheck {
  bool passed = false;
  bool strict = false;     // within the limits of `reference` too
  std::string state_dict;  // "loads", or why it does not
  std::vector<OracleTrial> trials;
  std::string constant;  // "zeros", or "the result for other inputs": passes the check as well
  std::vector<std::string> fallbacks;
  static auto fields() {
    return std::make_tuple(field("passed", &OracleDropinCheck::passed, "all trials and the state_dict"),
                           field("strict", &OracleDropinCheck::strict, "it would pass under `reference` too"),
                           field("state_dict", &OracleDropinCheck::state_dict, "loads, or why not"),
                           field("trials", &OracleDropinCheck::trials, "KernelBench's five"),
                           optional_field("constant", &OracleDropinCheck::constant, "what passes as well"),
                           field("fallbacks", &OracleDropinCheck::fallbacks, "why the original forward ran"));
  }
};

struct OracleMemory {
  Bytes resident;
  Bytes peak;
  static auto fields() {
    return std::make_tuple(field("resident_bytes", &OracleMemory::resident, "allocated before the call"),
                           field("peak_bytes", &OracleMemory::peak, "highest during the call"));
  }
};

struct OracleProgress {
  std::string stage;
  std::string message;
  static auto fields() {
    return std::make_tuple(field("stage", &OracleProgress::stage, "what it does"),
                           field("message", &OracleProgress::message, "for a person"));
  }
};

// An error as the oracle words it. to_error() gives it one of this program's codes.
struct OracleFailure {
  std::string kind;  // input, environment, internal
  std::string code;  // "load.missing_package"
  std::string message;
  std::string file;
  int line = 0;
  std::string hint;
  int column = 0, width = 0;
  std::vector<std::string> reasons;
  static auto fields() {
    return std::make_tuple(field("kind", &OracleFailure::kind, "who can mend it"),
                           field("code", &OracleFailure::code, "stable"),
                           field("message", &OracleFailure::message, "what happened"),
                           optional_field("file", &OracleFailure::file, "the user's file"),
                           optional_field("line", &OracleFailure::line, "its line"),
                           optional_field("column", &OracleFailure::column, "where in the line, in bytes, from 1"),
                           optional_field("width", &OracleFailure::width, "bytes from there"),
                           optional_field("hint", &OracleFailure::hint, "the way out"),
                           optional_field("reasons", &OracleFailure::reasons, "what a library says"));
  }
};
Error to_error(const OracleFailure& failure);

}  // namespace solstice
