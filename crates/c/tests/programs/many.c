/* Opens, uses and closes as many drives as it is told, four at a time, and prints the most memory that
 * it had, in KiB. */
#include "floatgate.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static void check(int code)
{
    if (code != FLOATGATE_OK) {
        fprintf(stderr, "%d: %s\n", code, floatgate_last_error());
        exit(1);
    }
}

static floatgate_session *opened(void)
{
    static const char *const settings[] = {
        "geometry.channels=2",         "geometry.chips-per-channel=1", "geometry.planes-per-die=1",
        "geometry.blocks-per-plane=16", "geometry.pages-per-block=8",  "ftl.spare-factor=0.5",
        "precondition.fill=full",
    };
    floatgate_options options = {0};
    floatgate_session *session;
    options.abi_version = FLOATGATE_ABI_VERSION;
    options.settings = settings;
    options.setting_count = sizeof settings / sizeof *settings;
    check(floatgate_open("agcr", &options, &session));
    return session;
}

int main(int count, char **words)
{
    struct rusage usage;
    floatgate_session *sessions[4];
    int drives = count > 1 ? atoi(words[1]) : 4;
    int i, round;
    for (round = 0; round < drives; round += 4) {
        for (i = 0; i < 4; i++)
            sessions[i] = opened();
        for (i = 0; i < 4; i++) {
            floatgate_completion done[8];
            floatgate_request request = {0};
            const char *json;
            size_t taken;
            int n;
            for (n = 0; n < 20; n++) {
                request.at = FLOATGATE_NONE;
                request.op = n % 3 ? FLOATGATE_WRITE : FLOATGATE_READ;
                request.offset = (uint64_t)(n % 8) * 4096;
                request.length = 4096;
                check(floatgate_submit(sessions[i], &request, NULL));
            }
            check(floatgate_advance(sessions[i], FLOATGATE_NONE));
            do
                check(floatgate_take(sessions[i], done, 8, &taken));
            while (taken == 8);
            if (round % 8)
                check(floatgate_result_json(sessions[i], &json));
            check(floatgate_close(sessions[i]));
        }
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_maxrss);
    return 0;
}
