// The runner without a GPU: its protocol, its sandbox, its trace reader.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "base/paths.h"
#include "base/process/subprocess.h"
#include "runner/cupti.h"
#include "runner/dispatch.h"

namespace solstice::runner {
namespace {

Deadline soon() { return Deadline(Seconds(20)); }

Json parsed(const std::string& line) {
  auto json = parse_json(line);
  return json.ok() ? *json : Json("not JSON: " + line);
}

TEST(Dispatcher, GarbageGetsAnErrorReply) {
  Dispatcher dispatcher({}, {});
  for (const std::string line : {"", "{", "[]", "null", "\"text\"", "{\"id\":1}", "\xff\xfe", "{\"request\":{}}"}) {
    const Json reply = parsed(dispatcher.answer(line));
    EXPECT_TRUE(reply.at("error").is_object()) << line;
    EXPECT_FALSE(reply.at("error").at("message").as_string().empty()) << line;
  }
  EXPECT_FALSE(dispatcher.lost());
}

TEST(Dispatcher, RepliesCarryTheRequestsId) {
  Dispatcher dispatcher({}, {});
  EXPECT_EQ(parsed(dispatcher.answer("{\"id\": 17, \"request\": \"hello\"}")).at("id").as_int(), 17);
}

class RunnerProcess : public testing::Test {
 protected:
  void SetUp() override {
    auto path = companion("solstice-runner");
    if (!path.ok()) GTEST_SKIP() << path.error().message;
    auto child = Subprocess::spawn({.argv = {path->string()}});
    ASSERT_TRUE(child.ok()) << child.error().text();
    runner_.emplace(std::move(child).value());
  }
  Json ask(const std::string& line) {
    EXPECT_TRUE(runner_->write_line(line, soon()).ok());
    auto reply = runner_->read_line(soon());
    return reply.ok() ? parsed(*reply) : Json(reply.error().text());
  }
  std::optional<Subprocess> runner_;
};

TEST_F(RunnerProcess, AnswersOrSaysThatThereIsNoDriver) {
  const Json reply = ask("{\"id\":1,\"request\":\"hello\"}");
  if (reply.find("result")) {
    EXPECT_FALSE(reply.at("result").at("gpu").as_string().empty());
  } else {
    const std::string code = reply.at("error").at("code").as_string();
    EXPECT_TRUE(code == "no_driver" || code == "no_gpu") << reply.dump();
  }
}

TEST_F(RunnerProcess, SurvivesGarbageAndEndsWithItsInput) {
  EXPECT_TRUE(ask("garbage").at("error").is_object());
  EXPECT_TRUE(ask(std::string(100000, '{')).at("error").is_object());
  EXPECT_TRUE(ask("{\"id\":2,\"request\":\"explode\"}").at("error").is_object());
  runner_->close_input();
  auto exit = runner_->wait(soon());
  ASSERT_TRUE(exit.ok());
  EXPECT_TRUE(exit->ok()) << exit->text();
}

TEST_F(RunnerProcess, UnknownOptionsAreRefused) {
  auto child = run_command({.argv = {companion("solstice-runner")->string(), "--bogus", "1"}}, Seconds(10));
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->exit.code, 2);
  EXPECT_NE(child->err.find("--bogus"), std::string::npos);
}

Activity kernel(uint64_t start, uint64_t end, const char* name) { return {ActivityKind::kKernel, start, end, 0, name}; }
Activity flush(uint64_t start) { return {ActivityKind::kMemset, start, start + 5, 100, "memset"}; }

TEST(Trace, SpansRunFromFirstStartToLastEnd) {
  const std::vector<Activity> trace = {
      flush(0),  kernel(10, 20, "a"), kernel(15, 40, "b"), {ActivityKind::kMemset, 41, 43, 7, "memset"},
      flush(50), kernel(60, 90, "a"), kernel(70, 80, "b"), {ActivityKind::kMemset, 91, 92, 7, "memset"}};
  const auto split = split_trace(trace, 100, 2);
  ASSERT_TRUE(split.ok()) << split.error().text();
  EXPECT_DOUBLE_EQ((*split)[0].seconds, 33e-9);
  EXPECT_DOUBLE_EQ((*split)[1].seconds, 32e-9);
  EXPECT_EQ((*split)[0].activities, (std::vector<std::string>{"a", "b", "memset"}));
  EXPECT_EQ((*split)[0].activities, (*split)[1].activities);
}

void expect_seconds(const TracedRepetition& found, const std::vector<double>& nanoseconds) {
  ASSERT_EQ(found.activity_seconds.size(), nanoseconds.size());
  for (size_t i = 0; i < nanoseconds.size(); ++i)
    EXPECT_DOUBLE_EQ(found.activity_seconds[i], nanoseconds[i] * 1e-9) << i;
}

TEST(Trace, AnActivityHasWhatItDoesNotShareWithThoseBefore) {
  const std::vector<Activity> trace = {
      flush(0),   kernel(10, 20, "a"),   kernel(25, 40, "b"),   kernel(41, 44, "c"),     // one after the other
      flush(50),  kernel(60, 90, "a"),   kernel(70, 95, "b"),   kernel(96, 100, "c"),    // b starts early
      flush(110), kernel(120, 190, "a"), kernel(130, 150, "b"), kernel(160, 200, "c")};  // b is over before a is
  const auto split = split_trace(trace, 100, 3);
  ASSERT_TRUE(split.ok()) << split.error().text();
  expect_seconds((*split)[0], {10, 15, 3});
  expect_seconds((*split)[1], {30, 5, 4});
  expect_seconds((*split)[2], {70, 0, 10});
  EXPECT_DOUBLE_EQ((*split)[2].seconds, 80e-9);
}

TEST(Trace, MissingOrEmptyRepetitionsAreRefused) {
  EXPECT_FALSE(split_trace({flush(0), kernel(10, 20, "a")}, 100, 2).ok());
  EXPECT_FALSE(split_trace({flush(0), flush(10), kernel(20, 30, "a")}, 100, 2).ok());
  EXPECT_FALSE(split_trace({}, 100, 1).ok());
}

}  // namespace
}  // namespace solstice::runner
