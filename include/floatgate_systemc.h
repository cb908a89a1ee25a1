// A floatgate drive as a module of SystemC. One header, for C++17 and SystemC 2.3.
//
//     floatgate::drive ssd("ssd", session);          // a session of floatgate_open; the module closes it
//     ssd.read(offset, length);                      // in an SC_THREAD: returns when it is done
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef FLOATGATE_SYSTEMC_H
#define FLOATGATE_SYSTEMC_H

#include "floatgate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>

namespace floatgate {

/// A failed call, with the words of floatgate_last_error.
class error : public std::runtime_error {
  public:
    explicit error(int code) : std::runtime_error(floatgate_last_error()), code_(code) {}
    /// One of enum floatgate_status.
    int code() const { return code_; }

  private:
    int code_;
};

/// A drive that follows the clock of the simulation. Threads of one simulation share it.
class drive : public sc_core::sc_module {
  public:
    /// Takes over a session of floatgate_open, and closes it at the end.
    drive(const sc_core::sc_module_name &name, floatgate_session *session)
        : sc_core::sc_module(name), session_(session)
    {
        SC_HAS_PROCESS(drive);
        SC_METHOD(follow);
        sensitive << wake_;
        dont_initialize();
    }

    ~drive() override { floatgate_close(session_); }

    drive(const drive &) = delete;
    drive &operator=(const drive &) = delete;

    /// A read; returns its latency in the drive. Only in an SC_THREAD.
    sc_core::sc_time read(std::uint64_t offset, std::uint64_t length, std::uint8_t flow = 0)
    {
        return access(FLOATGATE_READ, offset, length, flow);
    }

    /// A write.
    sc_core::sc_time write(std::uint64_t offset, std::uint64_t length, std::uint8_t flow = 0)
    {
        return access(FLOATGATE_WRITE, offset, length, flow);
    }

    /// A flush: returns when everything that was written before survives a loss of power.
    sc_core::sc_time flush() { return access(FLOATGATE_FLUSH, 0, 0, 0); }

    /// A request of any kind; returns its latency when it is done. Throws `error` if it is wrong, or if
    /// the drive wears out first.
    sc_core::sc_time access(floatgate_op op, std::uint64_t offset, std::uint64_t length,
                            std::uint8_t flow)
    {
        std::uint64_t at = 0;
        check(floatgate_now(session_, &at));
        floatgate_request request = {};
        // Requests at one instant of the simulation may have moved the drive some ns ahead.
        request.at = std::max(at, now());
        request.offset = offset;
        request.length = length;
        request.token = next_token_;
        request.op = static_cast<std::uint32_t>(op);
        request.flow = flow;
        check(floatgate_submit(session_, &request, nullptr));
        auto waits = std::make_shared<waiting>();
        waiting_[next_token_++] = waits;
        wake_.cancel();
        wake_.notify(sc_core::SC_ZERO_TIME);
        sc_core::wait(waits->done);
        if (waits->failed)
            throw error(FLOATGATE_WORN_OUT);
        return waits->latency;
    }

    /// Ends the session, and returns the result as JSON.
    std::string result()
    {
        const char *json = nullptr;
        check(floatgate_result_json(session_, &json));
        return json;
    }

  private:
    struct waiting {
        sc_core::sc_event done;
        sc_core::sc_time latency;
        bool failed = false;
    };

    static void check(int code)
    {
        if (code != FLOATGATE_OK)
            throw error(code);
    }

    /// The time of the simulation in whole ns: a drive knows no parts of one.
    static std::uint64_t now()
    {
        return static_cast<std::uint64_t>(
            std::ceil(sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS)));
    }

    /// From the present to a time of the drive.
    static sc_core::sc_time until(std::uint64_t at)
    {
        const sc_core::sc_time then = static_cast<double>(at) * sc_core::sc_time(1, sc_core::SC_NS);
        const sc_core::sc_time present = sc_core::sc_time_stamp();
        return then > present ? then - present : sc_core::SC_ZERO_TIME;
    }

    /// Brings the drive to the present, tells who is done, and comes back at the next event in it.
    void follow()
    {
        std::uint64_t at = 0;
        check(floatgate_now(session_, &at));
        const int code = floatgate_advance(session_, std::max(at, now()));
        if (code != FLOATGATE_OK && code != FLOATGATE_WORN_OUT)
            throw error(code);
        floatgate_completion done[16];
        std::size_t count = 0;
        do {
            check(floatgate_take(session_, done, 16, &count));
            for (std::size_t i = 0; i < count; i++) {
                const auto found = waiting_.find(done[i].token);
                found->second->latency =
                    static_cast<double>(done[i].latency) * sc_core::sc_time(1, sc_core::SC_NS);
                found->second->done.notify(until(done[i].at));
                waiting_.erase(found);
            }
        } while (count == 16);
        if (code == FLOATGATE_WORN_OUT) {
            for (auto &entry : waiting_) {
                entry.second->failed = true;
                entry.second->done.notify(sc_core::SC_ZERO_TIME);
            }
            waiting_.clear();
        }
        if (!waiting_.empty()) {
            check(floatgate_next_at(session_, &at));
            wake_.notify(until(at));
        }
    }

    floatgate_session *session_;
    sc_core::sc_event wake_;
    std::map<std::uint64_t, std::shared_ptr<waiting>> waiting_;
    std::uint64_t next_token_ = 0;
};

} // namespace floatgate

#endif
