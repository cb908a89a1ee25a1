/* Sixteen reads, one after another, on a small drive: as in a closed loop of depth one. */
#include <floatgate.h>

#include <stdio.h>
#include <stdlib.h>

static void check(int code)
{
    if (code != FLOATGATE_OK) {
        fprintf(stderr, "floatgate: %s\n", floatgate_last_error());
        exit(1);
    }
}

int main(void)
{
    static const char *const settings[] = {"geometry.blocks-per-plane=64", "precondition.fill=full"};
    floatgate_options options = {0};
    floatgate_request request = {0};
    floatgate_completion done;
    floatgate_session *drive;
    uint64_t latency = 0;
    size_t count = 0;
    int reads;

    options.abi_version = FLOATGATE_ABI_VERSION;
    options.settings = settings;
    options.setting_count = 2;
    check(floatgate_open("agcr", &options, &drive));

    request.op = FLOATGATE_READ;
    request.length = 4096;
    request.at = FLOATGATE_NONE;
    for (reads = 0; reads < 16; reads++) {
        request.offset = (uint64_t)reads * 4096;
        check(floatgate_submit(drive, &request, NULL));
        /* An event-driven simulator would come back at each floatgate_next_at. */
        while (count == 0) {
            uint64_t next;
            check(floatgate_next_at(drive, &next));
            check(floatgate_advance(drive, next));
            check(floatgate_take(drive, &done, 1, &count));
        }
        count = 0;
        if (latency != 0 && done.latency != latency)
            return 1;
        latency = done.latency;
    }
    printf("%d reads, each done after %llu ns\n", reads, (unsigned long long)latency);
    check(floatgate_close(drive));
    return 0;
}
