// Model files, prices and keys.
#include "llm/model.h"

#include <sys/stat.h>

#include "llm/ledger.h"
#include "unit/llm/support.h"

namespace solstice::llm::testing {
namespace {

constexpr const char* kNeeded = "provider = \"openai\"\nid = \"x\"\njson_schema = true\ntemperature = false\n";

std::string mistake(const std::string& text) {
  const Result<Model> model = parse_model(text, "m.toml");
  if (model.ok()) return "";
  EXPECT_EQ(model.error().code, Code::bad_model);
  return model.error().text();
}

TEST(Model, EveryShippedFileIsRight) {
  const Result<std::vector<std::string>> names = list_models();
  ASSERT_TRUE(names.ok()) << names.error().text();
  EXPECT_GE(names->size(), 3u);
  for (const std::string& name : *names) {
    const Result<Model> model = load_model(name);
    ASSERT_TRUE(model.ok()) << model.error().text();
    EXPECT_EQ(model->name, name);
    const Result<const ProviderSpec*> spec = find_provider(model->provider);
    ASSERT_TRUE(spec.ok()) << name;
    EXPECT_TRUE((*spec)->needs_model) << name;
    EXPECT_TRUE(model->context && model->max_output) << name;
    EXPECT_EQ(model->price.input.has_value(), model->price.source.starts_with("https://")) << name;
  }
  const Result<Model> example = load_model(SOLSTICE_SOURCE_DIR "/models/local.toml.example");
  EXPECT_TRUE(example.ok()) << example.error().text();
}

TEST(Model, MistakesNameLineAndLegalKeys) {
  EXPECT_EQ(mistake(kNeeded), "");
  EXPECT_EQ(mistake("id = \"x\"\n"), "m.toml: `provider` is missing; models/README.md has the keys");
  EXPECT_EQ(mistake(std::string(kNeeded) + "contxt = 5\n"), "m.toml:5: no key `contxt`; did you mean `context`?");
  EXPECT_EQ(mistake(std::string(kNeeded) + "context = 0\n"),
            "m.toml:5: `context` is 0, not a positive integer; models/README.md has the keys");
  EXPECT_EQ(mistake(std::string(kNeeded) + "context = \"5\"\n"),
            "m.toml:5: `context` is \"5\", not a positive integer; models/README.md has the keys");
  EXPECT_NE(mistake(std::string(kNeeded) + "context =\n").find("m.toml:5"), std::string::npos);
  EXPECT_NE(mistake(std::string(kNeeded) + "[usd_per_million]\ninput = 1\n").find("`date` and `source`"),
            std::string::npos);
  EXPECT_NE(mistake(std::string(kNeeded) + "[usd_per_million]\ninput = -1\n").find("not negative"), std::string::npos);
}

class ModelTest : public LlmTest {};

TEST_F(ModelTest, TheUsersFolderComesFirstAndAnUnknownNameSaysHowToAddIt) {
  const Variable config("XDG_CONFIG_HOME", folder().string());
  const Result<Model> missing = load_model("mine");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_NE(missing.error().hint.find((folder() / "solstice/models/mine.toml").string()), std::string::npos)
      << missing.error().text();
  EXPECT_NE(missing.error().hint.find("gpt-5-mini"), std::string::npos);
  ASSERT_TRUE(write_file(folder() / "solstice/models/gpt-5-mini.toml", kNeeded).ok());
  EXPECT_EQ(load_model("gpt-5-mini")->id, "x");
}

Usage used(int64_t input, int64_t output) {
  Usage out;
  out.input = input;
  out.output = output;
  return out;
}

TEST(Price, WhatIsUnknownStaysUnknown) {
  Price price = model_of("openai").price;
  EXPECT_DOUBLE_EQ(cost_of(price, used(1000000, 100000))->value, 2.0);
  EXPECT_FALSE(cost_of(price, Usage()));
  Usage cached = used(1000, 0);
  cached.cached = 500;
  EXPECT_DOUBLE_EQ(cost_of(price, cached)->value, 0.00055);
  price.cached.reset();
  EXPECT_FALSE(cost_of(price, cached));
  EXPECT_TRUE(cost_of(price, used(1000, 0)));
  price.up_to_input = 999;
  EXPECT_FALSE(cost_of(price, used(1000, 0)));
  EXPECT_FALSE(most_cost(price, 1000, 1));
  EXPECT_DOUBLE_EQ(most_cost(price, 900, 100)->value, (900 * 1.25 + 100 * 10) / 1e6);
}

TEST(Ledger, HoldsWhatIsUnderWay) {
  Budget budget;
  budget.tokens = 400;
  Ledger ledger(budget);
  const Request request = question();
  const auto first = ledger.hold(request, {});
  const auto second = ledger.hold(request, {});
  ASSERT_TRUE(first.ok() && second.ok());
  const auto third = ledger.hold(request, {});
  EXPECT_TRUE(third.ok());  // 3 x 121
  EXPECT_FALSE(ledger.hold(request, {}).ok());
  Failure nothing;
  ledger.settle(*first, request, nothing);
  EXPECT_TRUE(ledger.hold(request, {}).ok());
  EXPECT_EQ(ledger.account().tokens(), 0);
  Answer silent;
  silent.text = "abc";
  ledger.settle(*second, request, silent);
  EXPECT_EQ(ledger.account().estimated, estimated_tokens(request) + 1);
  EXPECT_EQ(ledger.account().unpriced, 1);
}

// As if it had been held and settled here.
TEST(Ledger, TakesOverWhatAnotherProcessAsked) {
  Budget budget;
  budget.tokens = 1000;
  Ledger ledger(budget);
  Answer counted;
  counted.usage.input = 300, counted.usage.output = 50;
  ledger.recall(question(), counted, true, {});
  Failure broken;
  broken.uncounted = true;
  ledger.recall(question(), broken, false, {});
  const Account account = ledger.account();
  EXPECT_EQ(account.calls, 1);
  EXPECT_EQ(account.attempts, 2);
  EXPECT_EQ(account.failures, 1);
  EXPECT_EQ(account.input, 300);
  EXPECT_EQ(account.estimated, estimated_tokens(question()) + question().most_output);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ledger.hold(question(), {}).ok()) << i;  // 350 and 121 are used, 4 x 121 held
  EXPECT_FALSE(ledger.hold(question(), {}).ok());
}

class KeyTest : public LlmTest {};

TEST_F(KeyTest, AFileMustBeItsOwnersAlone) {
  const auto file = folder() / "key";
  ASSERT_TRUE(write_file(file, std::string(kKey) + "\n").ok());
  for (const mode_t mode : {0644, 0640, 0604, 0620}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    const auto secret = secret_from_file(file);
    ASSERT_FALSE(secret.ok()) << mode;
    EXPECT_EQ(secret.error().code, Code::bad_key);
    EXPECT_EQ(secret.error().hint, fmt::format("`chmod 600 {}`", file.string()));
    EXPECT_EQ(secret.error().message.find(kKey), std::string::npos);
  }
  for (const mode_t mode : {0600, 0400}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    ASSERT_TRUE(secret_from_file(file).ok());
    EXPECT_EQ(secret_from_file(file)->reveal(), kKey);
  }
  EXPECT_EQ(secret_from_file(folder() / "none").error().code, Code::bad_key);
  EXPECT_EQ(secret_from_environment("SOLSTICE_TEST_KEY")->reveal(), kKey);
}

TEST_F(KeyTest, MalformedOnesAreNotShown) {
  for (const char* text : {"short", "with a space in it", "with\na line break", "ümläut-in-a-key"}) {
    const auto secret = Secret::create(text, "here");
    ASSERT_FALSE(secret.ok()) << text;
    EXPECT_EQ(secret.error().message.find(text), std::string::npos);
  }
}

TEST_F(KeyTest, ScrubbingFindsItInJsonToo) {
  Scrubber scrubber;
  scrubber.add(*Secret::create("a\"b\\c-12345", "here"));
  scrubber.add(Secret());
  EXPECT_EQ(scrubber.scrub("x a\"b\\c-12345 y"), "x [key] y");
  EXPECT_EQ(scrubber.scrub(Json("x a\"b\\c-12345").dump()), "\"x [key]\"");
  EXPECT_EQ(scrubber.scrub("nothing"), "nothing");
}

// What is printed or recorded by accident would not compile.
template <typename T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};
static_assert(!Printable<Secret>);
static_assert(!Record<Secret>);
static_assert(!std::is_convertible_v<Secret, std::string>);

}  // namespace
}  // namespace solstice::llm::testing
