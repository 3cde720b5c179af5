#include "run/oracle_tensors.h"

#include <gtest/gtest.h>

namespace solstice::run {
namespace {

cu::DevicePtr opened = 0;

const rt::Driver& driver() {
  static const rt::Driver table = [] {
    rt::Driver d;
    d.cuIpcOpenMemHandle = [](cu::DevicePtr* p, cu::IpcMemHandle, unsigned) {
      *p = 0x1000 * ++opened;
      return cu::kSuccess;
    };
    d.cuIpcCloseMemHandle = [](cu::DevicePtr) { return cu::kSuccess; };
    return d;
  }();
  return table;
}

OracleTensor tensor(char digit) {
  OracleTensor out;
  out.kind = "input";
  out.name = "0";
  out.dtype = GraphDType::kF32;
  out.shape = {4};
  out.stride = {1};
  out.physical_bytes = 16;
  out.handle = std::string(128, digit);
  out.handle_offset = 256;
  out.allocation_bytes = 4096;
  return out;
}

TEST(OracleTensors, OneAllocationIsOpenedOnce) {
  opened = 0;
  IpcImports imports(driver());
  const auto a = import_tensor(imports, tensor('a')), again = import_tensor(imports, tensor('a')),
             b = import_tensor(imports, tensor('b'));
  ASSERT_TRUE(a.ok() && again.ok() && b.ok());
  EXPECT_EQ(a->address, 0x1100u);
  EXPECT_EQ(again->address, 0x1100u);
  EXPECT_EQ(b->address, 0x2100u);
  EXPECT_EQ(a->dtype, DType::kF32);
}

TEST(OracleTensors, WhatCannotBeReadIsRefused) {
  IpcImports imports(driver());
  OracleTensor bad = tensor('a');
  bad.handle_offset = 4090;
  EXPECT_EQ(import_tensor(imports, bad).error().code, Code::bad_record);
  bad = tensor('a');
  bad.dtype = GraphDType::kC64;
  EXPECT_EQ(import_tensor(imports, bad).error().code, Code::not_yet);
  bad = tensor('a');
  bad.dtype.reset();
  EXPECT_FALSE(import_tensor(imports, bad).ok());
  bad = tensor('z');
  EXPECT_EQ(import_tensor(imports, bad).error().code, Code::bad_record);
}

}  // namespace
}  // namespace solstice::run
