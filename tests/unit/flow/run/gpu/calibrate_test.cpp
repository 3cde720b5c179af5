#include "flow/run/gpu/calibrate.h"

#include <gtest/gtest.h>

namespace solstice::flow {
namespace {

const char* kFigures = R"({"device": "G", "copy": 4e12, "read": 4.1e12, "write": 4.2e12, "launch": 1e-6,
  "eager_launch": 6e-6, "pipes": {"simt.f32": 5e13, "tensor.bf16": 8e14}, "versions": "v"})";

TEST(Calibrate, ReadsWhatPythonMeasured) {
  const Result<machine::Measured> m = parse_ceilings(*parse_json(kFigures));
  ASSERT_TRUE(m.ok()) << m.error().text();
  EXPECT_EQ(m->copy->value, 4e12);
  EXPECT_EQ(m->pipes.at(machine::Pipe::kTensorBF16).value, 8e14);
  EXPECT_EQ(m->versions, "v");
  EXPECT_FALSE(m->l2_read || m->grid_sync);
  const auto more = parse_ceilings(parse_json(kFigures)->set("l2_read", 6e12).set("grid_sync", 9e-7));
  ASSERT_TRUE(more.ok());
  EXPECT_EQ(more->l2_read->value, 6e12);
  EXPECT_EQ(more->grid_sync->value, 9e-7);
}

TEST(Calibrate, AMissingOrZeroFigureIsAnError) {
  EXPECT_EQ(parse_ceilings(parse_json(kFigures)->set("copy", 0)).error().code, Code::bad_record);
  EXPECT_EQ(parse_ceilings(parse_json(kFigures)->set("launch", Json())).error().code, Code::bad_record);
  EXPECT_FALSE(parse_ceilings(parse_json(kFigures)->set("pipes", Json::object().set("warp", 1.0))).ok());
}

}  // namespace
}  // namespace solstice::flow
