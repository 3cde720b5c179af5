#include "run/judge_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/paths.h"

namespace solstice::run {
namespace {

constexpr int kMaxRank = 8;
constexpr unsigned kThreads = 256, kBlocks = 1056;
constexpr int64_t kLeastRow = 64, kLongestRun = 65536;

// Twins of the structs in judge.cu.
struct View {
  uint64_t data = 0;
  std::array<int64_t, kMaxRank> extents{}, strides{};
  int rank = 0, dtype = 0, dense = 0, unused = 0;
};
struct Partial {
  double candidate_error2, reference_error2, norm2, candidate_max, reference_max, got, expected;
  int64_t worst, class_mismatches, first_mismatch, poison_left, unequal, excused, left_out;
};
static_assert(sizeof(View) == 152 && sizeof(Partial) == 112 && sizeof(rt::ArenaRange) == 16);

Result<View> view_of(const DeviceTensor& tensor) {
  View out;
  out.data = tensor.address;
  out.dtype = static_cast<int>(tensor.dtype);
  out.dense = tensor.dense() ? 1 : 0;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] == 1) continue;
    if (out.rank == kMaxRank) return fail(Code::not_yet, "tensors of more than 8 dimensions cannot be compared yet");
    out.extents[static_cast<size_t>(out.rank)] = tensor.shape[i];
    out.strides[static_cast<size_t>(out.rank++)] = tensor.strides[i];
  }
  return out;
}

// Below this an error cannot be told from an underflow: the smallest normal number over the unit roundoff.
double scale_floor(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 1e-290;
    case DType::kF32:
    case DType::kBF16:
      return 2e-31;
    case DType::kF16:
      return 0.125;
    default:
      return 1e-30;
  }
}

void add(Partial& into, const Partial& other) {
  into.candidate_error2 += other.candidate_error2;
  into.reference_error2 += other.reference_error2;
  into.norm2 += other.norm2;
  into.reference_max = std::max(into.reference_max, other.reference_max);
  if (other.worst >= 0 && (into.worst < 0 || other.candidate_max > into.candidate_max)) {
    into.candidate_max = other.candidate_max;
    into.worst = other.worst;
    into.got = other.got;
    into.expected = other.expected;
  }
  into.class_mismatches += other.class_mismatches;
  if (other.first_mismatch >= 0 && (into.first_mismatch < 0 || other.first_mismatch < into.first_mismatch)) {
    into.first_mismatch = other.first_mismatch;
  }
  into.poison_left += other.poison_left;
  into.unequal += other.unequal;
  into.excused += other.excused;
  into.left_out += other.left_out;
}

double normwise(double error2, double norm2, double floor, int64_t elements) {
  const double least = floor * std::sqrt(static_cast<double>(elements));
  return std::sqrt(error2) / std::max(std::sqrt(norm2), least);
}

Comparison summary(const Partial& total, int64_t elements, double floor) {
  return {.elements = elements,
          .normwise = normwise(total.candidate_error2, total.norm2, floor, elements),
          .elementwise = total.candidate_max,
          .reference_normwise = normwise(total.reference_error2, total.norm2, floor, elements),
          .reference_elementwise = total.reference_max,
          .got = total.got,
          .expected = total.expected,
          .worst = total.worst,
          .class_mismatches = total.class_mismatches,
          .first_mismatch = total.first_mismatch,
          .poison_left = total.poison_left,
          .unequal = total.unequal,
          .excused = total.excused,
          .left_out = total.left_out};
}

}  // namespace

ScaleRows scale_rows(const std::vector<int64_t>& shape) {
  ScaleRows out;
  for (size_t i = shape.size(); i-- > 0 && out.row < kLeastRow;) out.row *= shape[i];
  out.row = std::max<int64_t>(out.row, 1);
  out.runs_a_row = (out.row + kLongestRun - 1) / kLongestRun;
  out.run = (out.row + out.runs_a_row - 1) / out.runs_a_row;
  return out;
}

Result<std::string> compile_judge_kernels(std::string_view file, const rt::DeviceContext& context,
                                          const CompileFunction& compile) {
  SOLSTICE_TRY(const auto folder, data_folder("kernels"));
  SOLSTICE_TRY(const std::string source, read_file(folder / "judge" / file));
  SOLSTICE_TRY(const int major, context.attribute(cu::kComputeMajor));
  SOLSTICE_TRY(const int minor, context.attribute(cu::kComputeMinor));
  return compile(source, fmt::format("sm_{}{}", major, minor)).context("compiling the judge's kernels");
}

Result<std::unique_ptr<JudgeKernels>> JudgeKernels::create(const rt::Driver& driver, const rt::DeviceContext& context,
                                                           const CompileFunction& compile) {
  SOLSTICE_TRY(const std::string cubin, compile_judge_kernels("judge.cu", context, compile));
  std::unique_ptr<JudgeKernels> out(new JudgeKernels(driver));
  SOLSTICE_CHECK(
      driver.check(driver.cuLibraryLoadData(&out->library_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                   "load the judge's kernels"));
  SOLSTICE_TRY(out->run_rms_, out->function("judge_run_rms"));
  SOLSTICE_TRY(out->sum_runs_, out->function("judge_sum_runs"));
  SOLSTICE_TRY(out->fill_runs_, out->function("judge_fill_runs"));
  SOLSTICE_TRY(out->compare_, out->function("judge_compare"));
  SOLSTICE_TRY(out->bytes_differ_, out->function("judge_bytes_differ"));
  SOLSTICE_TRY(out->ranges_differ_, out->function("judge_ranges_differ"));
  SOLSTICE_CHECK(driver.check(driver.cuStreamCreate(&out->stream_, cu::kStreamNonBlocking), "create a stream"));
  SOLSTICE_TRY(out->partials_, DeviceBuffer::allocate(driver, kBlocks * sizeof(Partial)));
  SOLSTICE_TRY(out->difference_, DeviceBuffer::allocate(driver, 2 * sizeof(uint64_t)));
  return out;
}

JudgeKernels::~JudgeKernels() {
  if (stream_) driver_.cuStreamDestroy(stream_);
  if (library_) driver_.cuLibraryUnload(library_);
}

Result<cu::Function> JudgeKernels::function(const char* name) {
  cu::Kernel kernel = nullptr;
  cu::Function out = nullptr;
  SOLSTICE_CHECK(driver_.check(driver_.cuLibraryGetKernel(&kernel, library_, name), fmt::format("find `{}`", name)));
  SOLSTICE_CHECK(driver_.check(driver_.cuKernelGetFunction(&out, kernel), fmt::format("load `{}`", name)));
  return out;
}

Status JudgeKernels::launch(cu::Function kernel, unsigned blocks, unsigned rows, void** parameters) {
  const cu::LaunchConfig config{{blocks, rows, 1}, {kThreads, 1, 1}, 0, stream_, nullptr, 0};
  return driver_.check(driver_.cuLaunchKernelEx(&config, kernel, parameters, nullptr), "launch a judge's kernel");
}

Status JudgeKernels::finish() {
  return driver_.check(driver_.cuStreamSynchronize(stream_), "wait for the judge's kernels");
}

Status JudgeKernels::reserve(DeviceBuffer& buffer, int64_t bytes) {
  if (buffer.bytes() >= bytes) return success();
  buffer = DeviceBuffer();
  SOLSTICE_TRY(buffer, DeviceBuffer::allocate(driver_, bytes));
  return success();
}

Status JudgeKernels::copy(cu::DevicePtr to, cu::DevicePtr from, int64_t bytes) {
  if (bytes == 0) return success();
  return driver_.check(driver_.cuMemcpyDtoDAsync(to, from, static_cast<size_t>(bytes), stream_), "copy a tensor");
}

Status JudgeKernels::fill(cu::DevicePtr to, uint8_t value, int64_t bytes) {
  if (bytes == 0) return success();
  return driver_.check(driver_.cuMemsetD8Async(to, value, static_cast<size_t>(bytes), stream_), "fill memory");
}

Result<Comparison> JudgeKernels::compare(const DeviceTensor& candidate, const DeviceTensor& oracle,
                                         const std::optional<DeviceTensor>& reference, uint8_t poison, bool merged,
                                         const std::optional<DeviceTensor>& room,
                                         const std::optional<DeviceTensor>& finite) {
  int64_t elements = candidate.elements();
  if (room && (room->elements() != elements || room->dtype != DType::kF32))
    return fail(Code::bad_argument, "no room for each element");
  if (finite && (finite->elements() != elements || finite->dtype != DType::kF64))
    return fail(Code::bad_argument, "no value of finite inputs for each element");
  if (oracle.elements() != elements || (reference && reference->elements() != elements)) {
    return fail(Code::bad_argument, fmt::format("{} elements are to be compared with {}", elements, oracle.elements()));
  }
  if (elements == 0) return Comparison{};
  SOLSTICE_TRY(View x, view_of(candidate));
  SOLSTICE_TRY(View o, view_of(oracle));
  View p;
  if (reference) {
    SOLSTICE_TRY(p, view_of(*reference));
  }
  View q;
  if (room) {
    SOLSTICE_TRY(q, view_of(*room));
  }
  View f;
  if (finite) {
    SOLSTICE_TRY(f, view_of(*finite));
  }
  ScaleRows rows = scale_rows(candidate.shape);
  int64_t runs = elements / rows.row * rows.runs_a_row;
  SOLSTICE_CHECK(reserve(rms_, runs * static_cast<int64_t>(sizeof(double))));
  cu::DevicePtr rms = rms_.address(), out = partials_.address();
  double floor = scale_floor(candidate.dtype);
  unsigned poison_value = poison, merged_value = merged;
  void* rms_parameters[] = {&o, &rows, &elements, &rms};
  SOLSTICE_CHECK(launch(run_rms_, static_cast<unsigned>(std::min<int64_t>(runs, 8 * kBlocks)), 1, rms_parameters));
  int run_blocks = static_cast<int>(std::min<int64_t>((runs + kThreads - 1) / kThreads, kBlocks));
  void* sum_parameters[] = {&rms, &runs, &out};  // the partials' memory is not needed for itself yet
  SOLSTICE_CHECK(launch(sum_runs_, static_cast<unsigned>(run_blocks), 1, sum_parameters));
  void* fill_parameters[] = {&rms, &runs, &out, &run_blocks};
  SOLSTICE_CHECK(launch(fill_runs_, static_cast<unsigned>(run_blocks), 1, fill_parameters));
  const auto blocks = static_cast<unsigned>(std::min<int64_t>((elements + kThreads - 1) / kThreads, kBlocks));
  void* parameters[] = {&x, &o, &p, &q, &f, &rows, &rms, &elements, &floor, &poison_value, &merged_value, &out};
  SOLSTICE_CHECK(launch(compare_, blocks, 1, parameters));
  SOLSTICE_CHECK(finish());
  std::vector<Partial> partials(blocks);
  SOLSTICE_CHECK(
      driver_.check(driver_.cuMemcpyDtoH(partials.data(), out, blocks * sizeof(Partial)), "read the comparison"));
  Partial total = partials[0];
  for (size_t i = 1; i < partials.size(); ++i) add(total, partials[i]);
  return summary(total, elements, floor);
}

Result<Difference> JudgeKernels::read_difference() {
  SOLSTICE_CHECK(finish());
  uint64_t values[2] = {};
  SOLSTICE_CHECK(
      driver_.check(driver_.cuMemcpyDtoH(values, difference_.address(), sizeof values), "read the difference"));
  return Difference{static_cast<int64_t>(values[0]), values[0] ? static_cast<int64_t>(values[1]) : -1};
}

Result<Difference> JudgeKernels::differ(cu::DevicePtr a, cu::DevicePtr b, int64_t bytes) {
  if (bytes == 0) return Difference{};
  cu::DevicePtr out = difference_.address();
  SOLSTICE_CHECK(fill(out, 0, 8));
  SOLSTICE_CHECK(fill(out + 8, 0xff, 8));
  void* parameters[] = {&a, &b, &bytes, &out};
  SOLSTICE_CHECK(launch(bytes_differ_,
                        static_cast<unsigned>(std::min<int64_t>((bytes / 16 + kThreads) / kThreads, 8 * kBlocks)), 1,
                        parameters));
  return read_difference();
}

Result<Difference> JudgeKernels::differ(cu::DevicePtr arena, std::span<const rt::ArenaRange> ranges, uint8_t value) {
  if (ranges.empty()) return Difference{};
  const auto bytes = static_cast<int64_t>(ranges.size_bytes());
  SOLSTICE_CHECK(reserve(ranges_, bytes));
  SOLSTICE_CHECK(driver_.check(driver_.cuMemcpyHtoD(ranges_.address(), ranges.data(), static_cast<size_t>(bytes)),
                               "list the red zones"));
  cu::DevicePtr out = difference_.address(), list = ranges_.address();
  SOLSTICE_CHECK(fill(out, 0, 8));
  SOLSTICE_CHECK(fill(out + 8, 0xff, 8));
  int count = static_cast<int>(ranges.size());
  unsigned wanted = value;
  void* parameters[] = {&arena, &list, &count, &wanted, &out};
  SOLSTICE_CHECK(launch(ranges_differ_, 64, static_cast<unsigned>(std::min(count, 64)), parameters));
  return read_difference();
}

}  // namespace solstice::run
