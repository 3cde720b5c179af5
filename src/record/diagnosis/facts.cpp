#include "record/diagnosis/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace solstice {
namespace {

constexpr int64_t kMostCount = int64_t{1} << 40;   // of anything that is counted
constexpr int64_t kMostBlocks = int64_t{1} << 53;  // of a grid
constexpr int64_t kMostThreads = 1024;             // of a block; blocks of a cluster are fewer

// What is wrong with a number, and where it stands below the value that was looked at.
struct Fault {
  std::string path, why;
};

template <typename T>
std::optional<Fault> number_fault(const T& value);

template <typename Items>
std::optional<Fault> item_fault(const Items& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (auto fault = number_fault(items[i])) return Fault{fmt::format("[{}]{}", i, fault->path), fault->why};
  }
  return std::nullopt;
}

template <typename T>
std::optional<Fault> map_fault(const std::map<std::string, T>& values) {
  for (const auto& [key, value] : values) {
    if (auto fault = number_fault(value)) return Fault{fmt::format(".{}{}", key, fault->path), fault->why};
  }
  return std::nullopt;
}

// Of another entry of the step's machine code, -1 for none: check_code() looks at them.
bool is_index(std::string_view name) { return name == "parent" || name == "loop" || name == "place"; }

template <typename R, typename F>
bool member_fault(const R& record, const F& field, std::optional<Fault>& out) {
  if (is_index(field.name)) return true;
  if (auto fault = number_fault(record.*(field.member)))
    out = Fault{fmt::format(".{}{}", field.name, fault->path), fault->why};
  return !out;
}

std::optional<Fault> count_fault(int64_t value) {
  if (value >= 0 && value <= kMostCount) return std::nullopt;
  return Fault{"", fmt::format("is {}; legal are 0 to {}", value, kMostCount)};
}

// Counters may be negative, times and bytes not.
std::optional<Fault> real_fault(double value, bool may_be_negative) {
  if (!std::isfinite(value)) return Fault{"", fmt::format("is {}, no finite number", value)};
  if (value < 0 && !may_be_negative) return Fault{"", fmt::format("is {}, less than 0", value)};
  return std::nullopt;
}

template <typename T>
std::optional<Fault> number_fault(const T& value) {
  using namespace record_detail;
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    return std::nullopt;
  } else if constexpr (std::is_integral_v<T>) {
    return count_fault(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return real_fault(value, true);
  } else if constexpr (IsQuantity<T>::value) {
    return real_fault(value.value, false);
  } else if constexpr (IsOptional<T>::value) {
    return value ? number_fault(*value) : std::nullopt;
  } else if constexpr (IsVector<T>::value || IsArray<T>::value) {
    return item_fault(value);
  } else if constexpr (IsMap<T>::value) {
    return map_fault(value);
  } else {
    std::optional<Fault> out;
    std::apply([&](const auto&... field) { (void)(member_fault(value, field, out) && ...); }, T::fields());
    return out;
  }
}

std::optional<int64_t> product_of(const std::array<int64_t, 3>& extents) {
  int64_t out = 1;
  for (const int64_t extent : extents) {
    if (extent < 1 || __builtin_mul_overflow(out, extent, &out)) return std::nullopt;
  }
  return out;
}

Status bad_step(const StepFacts& step, const std::string& what) {
  return fail(Code::bad_record, fmt::format("step `{}`: {}", step.step, what));
}

Status check_extents(const StepFacts& step, const char* name, const std::array<int64_t, 3>& extents, int64_t most) {
  const std::optional<int64_t> all = product_of(extents);
  if (all && *all <= most) return success();
  return bad_step(step, fmt::format("`{}` is {} x {} x {}; legal are 1 to {} in all", name, extents[0], extents[1],
                                    extents[2], most));
}

Status check_index(const StepFacts& step, const char* what, int index, int least, size_t count) {
  if (index >= least && index < static_cast<int>(count)) return success();
  return bad_step(step, fmt::format("its machine code is of {} {}, and has {} of them", what, index, count));
}

Status check_code(const StepFacts& step, const SassFacts& sass) {
  for (size_t i = 0; i < sass.loops.size(); ++i) {
    const int parent = sass.loops[i].parent;
    if (parent < -1 || parent >= static_cast<int>(i))
      return bad_step(step,
                      fmt::format("loop {} lies in loop {}; an outer one comes before its inner ones", i, parent));
  }
  for (const SassSpot& spot : sass.spots) {
    SOLSTICE_CHECK(check_index(step, "place", spot.place, 0, sass.places.size()));
    SOLSTICE_CHECK(check_index(step, "loop", spot.loop, -1, sass.loops.size()));
  }
  for (const SassRun& run : sass.runs) SOLSTICE_CHECK(check_index(step, "place", run.place, -1, sass.places.size()));
  return success();
}

Status check_step(const StepFacts& step) {
  SOLSTICE_CHECK(check_extents(step, "grid", step.grid, kMostBlocks));
  SOLSTICE_CHECK(check_extents(step, "block", step.block, kMostThreads));
  SOLSTICE_CHECK(check_extents(step, "cluster", step.cluster, kMostThreads));
  return step.sass ? check_code(step, *step.sass) : success();
}

}  // namespace

void set_source(SourceState state, Facts& facts) {
  for (SourceState& source : facts.sources) {
    if (source.name == state.name) return void(source = std::move(state));
  }
  facts.sources.push_back(std::move(state));
}

StepFacts* step_named(const std::string& step, Facts& facts) {
  for (KernelSheet& kernel : facts.kernels) {
    for (StepFacts& each : kernel.steps) {
      if (each.step == step) return &each;
    }
  }
  return nullptr;
}

const std::vector<std::string>& source_names() {
  static const std::vector<std::string> names = {"ptxas", "cubin", "sass", "plan", "trace", "counters"};
  return names;
}

size_t KernelSheet::launches() const {
  const auto each_call = std::count_if(steps.begin(), steps.end(), [](const StepFacts& step) { return !step.prepare; });
  return std::max<size_t>(1, static_cast<size_t>(each_call));
}

Status validate(const Facts& facts) {
  if (const auto fault = number_fault(facts)) {
    Error error = fail(Code::bad_record, fmt::format("`{}` {}", fault->path, fault->why),
                       "facts are written by `solstice profile --facts`");
    error.member = fault->path;
    return error;
  }
  for (const KernelSheet& kernel : facts.kernels) {
    for (const StepFacts& step : kernel.steps) SOLSTICE_CHECK(check_step(step));
  }
  return success();
}

Result<Facts> read_facts(const Json& json) {
  SOLSTICE_TRY(Facts out, from_json<Facts>(json));
  SOLSTICE_CHECK(validate(out));
  return out;
}

}  // namespace solstice
