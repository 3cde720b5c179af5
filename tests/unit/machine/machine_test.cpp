#include "machine/machine.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "machine/quantity.h"

namespace solstice::machine {
namespace {

std::filesystem::path machines() { return std::filesystem::path(SOLSTICE_SOURCE_DIR) / "machines"; }

std::string h200_text() { return read_file(machines() / "h200.toml").value(); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Error error_of(const std::string& text) {
  const Result<Machine> machine = parse_machine(text, "test.toml");
  EXPECT_FALSE(machine.ok());
  return machine.ok() ? Error{} : machine.error();
}

TEST(MachineFiles, PeaksFollowFromSmsRateAndClock) {
  for (const auto& entry : std::filesystem::directory_iterator(machines())) {
    if (entry.path().extension() != ".toml") continue;
    const Result<Machine> machine = load_machine(entry.path().string());
    ASSERT_TRUE(machine.ok()) << machine.error().text();
    EXPECT_EQ(entry.path().stem(), machine->name);
    for (const auto& [pipe, rate] : machine->pipes) {
      const double peak = machine->peak(pipe)->value;
      EXPECT_DOUBLE_EQ(peak, machine->sm_count * rate.per_sm_per_clock * rate.clock.value);
      EXPECT_LE(rate.clock, machine->max_clock);
      // Vendors print two or three digits.
      if (rate.datasheet.value > 0) {
        EXPECT_NEAR(peak / rate.datasheet.value, 1, 0.003) << name_of(pipe);
      }
    }
  }
}

TEST(MachineFiles, MeasuredCeilingsStayBelowThePeakAtMaxClock) {
  const Machine h200 = load_machine((machines() / "h200.toml").string()).value();
  for (const auto& [pipe, rate] : h200.measured.pipes) EXPECT_LT(rate, h200.peak_at_max_clock(pipe).value());
  EXPECT_LT(h200.measured.copy.value(), h200.dram_rate);
  EXPECT_LT(h200.measured.read.value(), h200.dram_rate);
  EXPECT_LT(h200.measured.write.value(), h200.dram_rate);
}

TEST(MachineFiles, ClustersAtOnceAreThoseOfTheCardWhereTheyWereSeen) {
  Machine machine = load_machine((machines() / "h200.toml").string()).value();
  EXPECT_EQ(machine.clusters_at_once(1), 132);
  EXPECT_EQ(machine.clusters_at_once(2), 66);
  EXPECT_EQ(machine.clusters_at_once(4), 30);
  EXPECT_EQ(machine.clusters_at_once(8), 15);
  EXPECT_EQ(machine.clusters_at_once(8, 2), 30) << "as clusters of four SMs";
  EXPECT_EQ(machine.clusters_at_once(4, 8), 264) << "two on each SM";
  machine.measured.clusters_of_4 = machine.measured.clusters_of_8 = std::nullopt;
  EXPECT_EQ(machine.clusters_at_once(4), 33) << "all SMs have places for";
  machine.sm_count = 4;
  EXPECT_EQ(machine.clusters_at_once(8), 1);
  const std::string text = replaced(h200_text(), "clusters_of_4 = 30", "clusters_of_4 = 0");
  EXPECT_NE(error_of(text).message.find("clusters_of_4"), std::string::npos);
}

TEST(MachineFiles, FiguresAreThoseOfTheFile) {
  const Machine h200 = load_machine((machines() / "h200.toml").string()).value();
  EXPECT_EQ(h200.sm_count, 132);
  EXPECT_EQ(h200.l2, Bytes(60.0 * 1024 * 1024));
  EXPECT_EQ(h200.shared_per_block, Bytes(227.0 * 1024));
  EXPECT_EQ(h200.dram_rate, BytesPerSecond(4.8e12));
  EXPECT_TRUE(h200.ceiling(Pipe::kTensorBF16)->measured);
  EXPECT_DOUBLE_EQ(h200.ceiling(Pipe::kTensorBF16)->per_second, 805e12);
  EXPECT_FALSE(h200.ceiling(Pipe::kSfu)->measured);
  EXPECT_TRUE(h200.l2_ceiling().measured);
  EXPECT_LT(h200.l2_ceiling().per_second, h200.l2_rate().value);
}

TEST(MachineFiles, APipeTheMachineLacksIsAnError) {
  const Machine machine = parse_machine(replaced(h200_text(), "tensor.f8 ", "#"), "test.toml").value();
  const Result<FlopsPerSecond> peak = machine.peak(Pipe::kTensorF8);
  ASSERT_FALSE(peak.ok());
  EXPECT_NE(peak.error().sentence().find("has no tensor.f8 pipe; it has tensor.f64"), std::string::npos);
  EXPECT_FALSE(machine.ceiling(Pipe::kTensorF8).ok());
  EXPECT_FALSE(tensor_pipe(DType::kF32).ok());
}

TEST(MachineFiles, UnknownKeysNameTheClosestOne) {
  const Error error = error_of(replaced(h200_text(), "register_unit", "registers_unit"));
  EXPECT_EQ(error.code, Code::bad_machine);
  EXPECT_EQ(error.message, "unknown key `sm.registers_unit`");
  EXPECT_EQ(error.hint, "did you mean `sm.register_unit`?");
  EXPECT_EQ(error_of(replaced(h200_text(), "register_unit = 256", "")).message, "`sm.register_unit` is missing");
  const Error extra = error_of(replaced(h200_text(), "tma = true", "tma = true\nwgmmma = true"));
  EXPECT_EQ(extra.hint, "did you mean `feature.wgmma`?");
  EXPECT_EQ(extra.file, "test.toml");
  EXPECT_GT(extra.line, 10);
}

TEST(MachineFiles, ValuesAreChecked) {
  const Error bare = error_of(replaced(h200_text(), "\"4.8 TB/s\"", "4.8"));
  EXPECT_EQ(bare.message, "`memory.rate` is 4.8, not a quantity with its unit");
  EXPECT_EQ(bare.hint, "write it like \"4.8 TB/s\"");
  const Error wrong = error_of(replaced(h200_text(), "\"4.8 TB/s\"", "\"4.8 TB\""));
  EXPECT_EQ(wrong.message, "`4.8 TB` is not a quantity in B/s");
  EXPECT_EQ(wrong.hint, "write it like \"4.8 TB/s\"");
  EXPECT_EQ(error_of(replaced(h200_text(), "count = 132", "count = \"many\"")).message,
            "`sm.count` needs a whole number, not negative");
  EXPECT_EQ(error_of(replaced(h200_text(), "per_sm_per_clock = 256, ", "")).message,
            "`pipes.tensor.f64.per_sm_per_clock` is missing");
  EXPECT_EQ(error_of("name = ").code, Code::bad_machine);
  EXPECT_EQ(error_of(replaced(h200_text(), "tensor.bf16 = \"805", "tensor.bf166 = \"805")).sentence(),
            "unknown key `measured.tensor.bf166`; did you mean `measured.tensor.bf16`?");
}

TEST(MachineFiles, AMeasurementOfAMissingPipeIsAnError) {
  const std::string text = replaced(h200_text(), "tensor.bf16 = { ", "#");
  EXPECT_NE(error_of(text).message.find("has no tensor.bf16 pipe"), std::string::npos);
}

TEST(MachineFiles, AnUnknownNameListsTheMachines) {
  const Result<Machine> none = load_machine("h300");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::not_found);
  EXPECT_NE(none.error().hint.find("h100_sxm, h200"), std::string::npos) << none.error().text();
}

TEST(MachineFiles, WritingAndReadingIsTheIdentity) {
  const Machine machine = parse_machine(h200_text(), "h200.toml").value();
  const Result<Machine> again = parse_machine(to_toml(machine), "h200.toml");
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(to_toml(machine), to_toml(*again));
  EXPECT_EQ(machine.source, again->source);
  EXPECT_EQ(machine.measured.copy, again->measured.copy);
  EXPECT_EQ(machine.measured.pipes, again->measured.pipes);
  EXPECT_EQ(machine.measured.clusters_of_8, again->measured.clusters_of_8);
}

TEST(Ceilings, ALaunchTakesItsMeasuredTimeOrTheDefault) {
  Machine machine;
  EXPECT_EQ(machine.launch_time(), microseconds(2.5));
  machine.measured.launch = microseconds(0.8);
  EXPECT_EQ(machine.launch_time(), microseconds(0.8));
}

TEST(Calibration, NewCeilingsReplaceOldOnesAndKeepTheOthers) {
  const TempFolder folder = TempFolder::create("machine").value();
  const std::filesystem::path file = folder.path() / "deep" / "h200.toml";
  const Machine machine = parse_machine(h200_text(), "h200.toml").value();
  Measured measured;
  measured.copy = BytesPerSecond(4.1e12);
  measured.launch = microseconds(2.5);
  EXPECT_EQ(write_measured(machine, measured, file).error().code, Code::bad_argument);
  measured.date = "2026-01-31";
  measured.versions = "driver 580";
  measured.command = "solstice calibrate";
  ASSERT_TRUE(write_measured(machine, measured, file).ok());
  const Machine again = load_machine(file.string()).value();
  EXPECT_EQ(again.measured.copy, BytesPerSecond(4.1e12));
  EXPECT_EQ(again.measured.launch, microseconds(2.5));
  EXPECT_EQ(again.measured.read, machine.measured.read);
  EXPECT_EQ(again.measured.date, "2026-01-31");
}

TEST(Quantities, RoundTrip) {
  const std::vector<std::pair<double, Dimension>> values = {{0, Dimension::kBytes},
                                                            {60.0 * (1 << 20), Dimension::kBytes},
                                                            {141e9, Dimension::kBytes},
                                                            {12345.678, Dimension::kSeconds},
                                                            {6.6e-6, Dimension::kSeconds},
                                                            {1.0 / 3, Dimension::kOpsPerSecond},
                                                            {4.26e12, Dimension::kBytesPerSecond}};
  for (const auto& [value, dimension] : values) {
    const std::string text = quantity_text(value, dimension);
    EXPECT_EQ(parse_quantity(text, dimension).value(), value) << text;
  }
  EXPECT_EQ(quantity_text(141e9, Dimension::kBytes), "141 GB");
  EXPECT_EQ(quantity_text(60.0 * (1 << 20), Dimension::kBytes), "60 MiB");
}

TEST(Quantities, BadTextIsAnError) {
  for (const char* text : {"", "4.8", "4.8TB/s", " 4.8 TB/s", "4.8 tb/s", "-1 TB/s", "4.8 TiB/s", "nan TB/s"}) {
    EXPECT_FALSE(parse_quantity(text, Dimension::kBytesPerSecond).ok()) << text;
  }
}

TEST(Machine, IsFoundByTheNameOfItsDevice) {
  const Result<Machine> found = machine_of_device("NVIDIA H200");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->name, "h200");
  const Result<Machine> unknown = machine_of_device("NVIDIA Nothing");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, Code::not_found);
  EXPECT_NE(unknown.error().hint.find("machines/README.md"), std::string::npos);
}

}  // namespace
}  // namespace solstice::machine
