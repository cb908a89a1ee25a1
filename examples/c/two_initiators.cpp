// Two SC_THREADs share a drive: one reads, one writes, and each goes on when it is answered.
#include <floatgate_systemc.h>

#include <cstdio>

namespace {

struct initiator : sc_core::sc_module {
    initiator(const sc_core::sc_module_name &name, floatgate::drive &drive, bool writes)
        : sc_core::sc_module(name), drive_(drive), writes_(writes)
    {
        SC_HAS_PROCESS(initiator);
        SC_THREAD(work);
    }

    void work()
    {
        for (std::uint64_t page = 0; page < 100; page++) {
            const sc_core::sc_time asked = sc_core::sc_time_stamp();
            const std::uint64_t offset = page * 37 % 128 * 4096;
            latency += writes_ ? drive_.write(offset, 4096) : drive_.read(offset, 4096);
            seen += sc_core::sc_time_stamp() - asked;
        }
    }

    sc_core::sc_time latency, seen;

  private:
    floatgate::drive &drive_;
    bool writes_;
};

} // namespace

int sc_main(int, char **)
{
    const char *const settings[] = {"geometry.blocks-per-plane=64", "precondition.fill=full"};
    floatgate_options options = {};
    options.abi_version = FLOATGATE_ABI_VERSION;
    options.settings = settings;
    options.setting_count = 2;
    floatgate_session *session = nullptr;
    if (floatgate_open("agcr", &options, &session) != FLOATGATE_OK) {
        std::fprintf(stderr, "floatgate: %s\n", floatgate_last_error());
        return 1;
    }
    floatgate::drive drive("drive", session);
    initiator reader("reader", drive, false), writer("writer", drive, true);
    sc_core::sc_start();
    // A request arrives up to some ns after it was asked for, at an instant of its own.
    for (const initiator *one : {&reader, &writer}) {
        const double apart = (one->seen - one->latency) / sc_core::sc_time(1, sc_core::SC_NS);
        if (apart < 0 || apart > 1000)
            return 2;
        std::printf("%s %.0f\n", one->name(), one->latency / sc_core::sc_time(1, sc_core::SC_NS));
    }
    std::printf("%s\n", drive.result().c_str());
    return 0;
}
