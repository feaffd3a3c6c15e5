// Tasks shared out among threads, while the calling thread looks for signals.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>

namespace nullforest {

// Called on the calling thread alone, about every `kPollPeriod`; throws to end the work.
using Poll = std::function<void()>;
constexpr std::chrono::milliseconds kPollPeriod{50};

// A poll that is due once per period, for work that the calling thread does itself. Not every call
// looks at the clock, which takes longer than some of the work.
class Pulse {
public:
    explicit Pulse(const Poll& poll) : poll_(poll) {}
    void operator()() {
        if (calls_++ % kCallsPerLook || Clock::now() < due_) return;
        poll_();
        due_ = Clock::now() + kPollPeriod;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr unsigned kCallsPerLook = 8;
    const Poll& poll_;
    unsigned calls_ = 0;
    Clock::time_point due_ = Clock::now() + kPollPeriod;
};

// The tasks as one of the threads sees them.
class Tasks {
public:
    struct Shared {
        std::size_t count;
        // Lines of their own: all threads write the first, and read the second at every node.
        alignas(64) std::atomic<std::size_t> next{0};
        alignas(64) std::atomic<bool> stop{false};
    };
    Tasks(Shared& shared, Pulse* pulse) : shared_(shared), pulse_(pulse) {}

    // Takes the next task; false when none is left or the work has to end.
    bool next(std::size_t& task) {
        return !stopped() && (task = shared_.next.fetch_add(1)) < shared_.count;
    }
    // Whether the work has to end; long tasks look at this often.
    bool stopped() {
        if (pulse_) (*pulse_)();
        return shared_.stop.load(std::memory_order_relaxed);
    }

private:
    Shared& shared_;
    Pulse* pulse_;  // of the calling thread, where it works itself
};

// Calls `work` once on each of up to `n_threads` threads and waits for them. Uses the threads that
// can be created; the calling thread works itself where there are none or one is enough. The first
// exception, of `work` or of `poll`, stops all threads and is thrown again here.
void parallel_for(std::size_t n_tasks, std::size_t n_threads, const Poll& poll,
                  const std::function<void(Tasks&)>& work);

}  // namespace nullforest
