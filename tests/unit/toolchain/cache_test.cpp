#include "toolchain/cache.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/file.h"
#include "toolchain/compiler.h"

namespace solstice::toolchain {
namespace {

namespace fs = std::filesystem;

Compiled compiled(const std::string& source, const std::string& header, std::string cubin = "cubin") {
  Compiled out;
  out.outcome = Outcome::kOk;
  out.cubin = std::move(cubin);
  out.parts = {{"source", source}, {"header a.h", header}};
  out.key = key_of(out.parts);
  return out;
}

class Cache : public ::testing::Test {
 protected:
  TempFolder folder_ = TempFolder::create("cache").value();
  CubinCache cache_{folder_.path(), Bytes(1e6)};
};

TEST_F(Cache, GivesBackWhatWasStored) {
  Compiled in = compiled("s", "h", std::string("\0\1bin", 5));
  in.kernels = {{.entry = "k", .registers = 32}};
  in.seconds = Seconds(1.5);
  EXPECT_FALSE(cache_.find(in.key));
  ASSERT_TRUE(cache_.store("unit", in).ok());
  const std::optional<Compiled> out = cache_.find(in.key);
  ASSERT_TRUE(out);
  EXPECT_TRUE(out->cached);
  EXPECT_EQ(out->cubin, in.cubin);
  EXPECT_EQ(out->kernels.at(0).registers, 32);
  EXPECT_EQ(out->seconds, Seconds(1.5));
}

TEST_F(Cache, SetsDamagedEntriesAside) {
  const Compiled in = compiled("s", "h");
  ASSERT_TRUE(cache_.store("unit", in).ok());
  ASSERT_TRUE(write_file(folder_.path() / (in.key + ".cubin"), "rotten").ok());
  EXPECT_FALSE(cache_.find(in.key));
  EXPECT_TRUE(fs::exists(folder_.path() / "quarantine" / (in.key + ".cubin")));
  ASSERT_TRUE(cache_.store("unit", in).ok());
  EXPECT_TRUE(cache_.find(in.key));
  ASSERT_TRUE(write_file(folder_.path() / (in.key + ".json"), "{").ok());
  EXPECT_FALSE(cache_.find(in.key));
}

TEST_F(Cache, EvictsWhatWasNotUsedForLongest) {
  CubinCache small(folder_.path(), Bytes(2500));
  const Compiled a = compiled("a", "h", std::string(600, 'a'));
  const Compiled b = compiled("b", "h", std::string(600, 'b'));
  const Compiled c = compiled("c", "h", std::string(600, 'c'));
  ASSERT_TRUE(small.store("a", a).ok());
  ASSERT_TRUE(small.store("b", b).ok());
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(folder_.path() / (a.key + ".json"), now - std::chrono::hours(2));
  fs::last_write_time(folder_.path() / (b.key + ".json"), now - std::chrono::hours(1));
  ASSERT_TRUE(small.find(a.key));  // used: now the youngest
  ASSERT_TRUE(small.store("c", c).ok());
  EXPECT_TRUE(small.find(a.key));
  EXPECT_FALSE(small.find(b.key));
  EXPECT_TRUE(small.find(c.key));
}

TEST_F(Cache, KeysSeparatePartsAndTheirNames) {
  const std::vector<std::vector<KeyPart>> all = {
      {{"a", "bc"}}, {{"ab", "c"}}, {{"a", "b"}, {"c", ""}}, {{"c", ""}, {"a", "b"}}, {}};
  std::set<std::string> keys;
  for (const auto& parts : all) keys.insert(key_of(parts));
  EXPECT_EQ(keys.size(), all.size());
}

TEST_F(Cache, ExplainsAMiss) {
  ASSERT_TRUE(cache_.store("unit", compiled("s", "h")).ok());
  const Compiled changed = compiled("s", "h2");
  ASSERT_TRUE(cache_.store("unit", changed).ok());
  const Explanation why = explain(changed.key.substr(0, 10), folder_.path()).value();
  EXPECT_EQ(why.key, changed.key);
  EXPECT_EQ(why.changed, std::vector<std::string>{"header a.h"});
  EXPECT_NE(why.text().find("changed: header a.h"), std::string::npos);
  EXPECT_EQ(explain("feed", folder_.path()).error().code, Code::not_found);
}

}  // namespace
}  // namespace solstice::toolchain
