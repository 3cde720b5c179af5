#include "rt/schedule.h"

#include <map>
#include <string>

namespace solstice::rt {
namespace {

class ScheduleBuilder {
 public:
  ScheduleBuilder(const Plan& plan, Phase phase) : plan_(plan), phase_(phase) {}

  Schedule build() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      if (plan_.steps[i].phase == phase_) add(i);
    }
    for (const auto& [stream, last] : last_on_) {
      if (stream != 0) out_.join.push_back(event_after(last));
    }
    return std::move(out_);
  }

 private:
  void add(size_t index) {
    const Step& step = plan_.steps[index];
    ScheduledStep scheduled{index, step.stream, {}, -1};
    if (step.stream != 0 && !last_on_.contains(step.stream)) scheduled.waits.push_back(begin_event());
    for (const std::string& name : step.after) {
      const auto earlier = position_.find(name);
      if (earlier == position_.end() || out_.steps[earlier->second].stream == step.stream) continue;
      scheduled.waits.push_back(event_after(earlier->second));
    }
    position_[step.name] = out_.steps.size();
    last_on_[step.stream] = out_.steps.size();
    out_.steps.push_back(std::move(scheduled));
  }

  int begin_event() {
    if (out_.begin_event < 0) out_.begin_event = out_.events++;
    return out_.begin_event;
  }

  int event_after(size_t position) {
    int& record = out_.steps[position].record;
    if (record < 0) record = out_.events++;
    return record;
  }

  const Plan& plan_;
  Phase phase_;
  Schedule out_;
  std::map<std::string, size_t> position_;
  std::map<int, size_t> last_on_;
};

}  // namespace

Schedule make_schedule(const Plan& plan, Phase phase) { return ScheduleBuilder(plan, phase).build(); }

}  // namespace solstice::rt
