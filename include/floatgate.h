/* floatgate: a simulated solid-state drive inside another simulator.
 *
 * A session is a drive in simulated time. A program submits requests, lets time pass, and takes the
 * completions. Times are nanoseconds since the session was opened; offsets and lengths are bytes.
 * The library starts no thread, writes nothing to standard output, and keeps no state but that of its
 * sessions. Different threads may use different sessions at once. A call on a session that another
 * thread is using waits for it.
 *
 * Every function that can fail returns 0 (FLOATGATE_OK) or a positive code of enum
 * floatgate_status. floatgate_last_error() then describes the failure. A call that
 * fails leaves the session usable, and, but for FLOATGATE_WORN_OUT and FLOATGATE_INTERNAL, as it was.
 *
 * docs/embedding.md is the guide. SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef FLOATGATE_H
#define FLOATGATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It changes when a function, a struct or a code changes. */
#define FLOATGATE_ABI_VERSION 2u

/* No time: as soon as possible, until all is done, or nothing will happen. */
#define FLOATGATE_NONE UINT64_MAX

/* A session. It is a number in the form of a pointer: never dereference it. A handle that was closed is
 * refused, and so is any other value that floatgate_open did not return. */
typedef struct floatgate_session floatgate_session;

enum floatgate_status {
    FLOATGATE_OK = 0,
    FLOATGATE_HANDLE = 1,   /* the session is closed, or never was one */
    FLOATGATE_ARGUMENT = 2, /* a pointer is null, a text is not UTF-8, a value is out of range */
    FLOATGATE_DRIVE = 3,    /* the drive, a setting or a policy is wrong */
    FLOATGATE_PAST = 4,     /* a time has passed, or lies beyond 2^62 ns */
    FLOATGATE_CAPACITY = 5, /* the request ends beyond the capacity */
    FLOATGATE_WORN_OUT = 6, /* the life of the drive has ended; floatgate_result_json says how */
    FLOATGATE_ENDED = 7,    /* the session has its result and takes no more requests */
    FLOATGATE_FILE = 8,     /* a file cannot be read or written */
    FLOATGATE_INTERNAL = 9  /* a bug of floatgate; the session accepts only floatgate_close */
};

enum floatgate_op {
    FLOATGATE_READ = 0,
    FLOATGATE_WRITE = 1,
    FLOATGATE_TRIM = 2,
    FLOATGATE_FLUSH = 3,    /* offset and length are 0 */
    FLOATGATE_WRITE_FUA = 4 /* a write that is done when its data survive a loss of power */
};

/* How a session is opened. Set everything to 0 first, then abi_version. */
typedef struct floatgate_options {
    uint32_t abi_version;        /* FLOATGATE_ABI_VERSION */
    uint32_t flow_count;         /* entries of flows, at most 256; 0: one flow without a name */
    uint64_t seed;               /* the seed of every random stream, if has_seed is not 0 */
    const char *const *settings; /* setting_count texts such as "precondition.fill=full" */
    const char *const *policies; /* policy_count texts such as "victim=d-choices:d=3" */
    const char *const *flows;    /* names, which "host.flow" can give weights and priorities */
    const char *record;          /* a new Parquet file for the requests; null: none */
    uint32_t setting_count;
    uint32_t policy_count;
    uint8_t has_seed;
    uint8_t reserved[7]; /* 0 */
} floatgate_options;

/* A request. */
typedef struct floatgate_request {
    uint64_t at;      /* the earliest arrival, or FLOATGATE_NONE: as soon as possible */
    uint64_t offset;  /* the first byte */
    uint64_t length;  /* bytes: at most 2^30, of a trim below 2^32 */
    uint64_t token;   /* the completion has it */
    uint32_t op;      /* enum floatgate_op */
    uint8_t flow;     /* the number of its flow, from 0 */
    uint8_t hint;     /* about the data of a write, 1 to 255; 0: none */
    uint8_t urgent;   /* 1: high priority */
    uint8_t reserved; /* 0 */
} floatgate_request;

/* A request that is done. */
typedef struct floatgate_completion {
    uint64_t token;
    uint64_t at;      /* when it was done */
    uint64_t latency; /* from its arrival until then */
} floatgate_completion;

/* FLOATGATE_ABI_VERSION of the library, to be compared with that of the header. */
uint32_t floatgate_abi_version(void);

/* The last failure on this thread in words; empty before the first. It is valid until the next call of a
 * function on this thread. Never null. */
const char *floatgate_last_error(void);

/* Opens a drive: the name of a preset, or the path of a drive file. Fills and ages it as its settings
 * say, which may take a while. options may be null. Stores the handle in *session. */
int floatgate_open(const char *drive, const floatgate_options *options,
                   floatgate_session **session);

/* Closes a session and frees its memory, in any state. A recording without a result is
 * removed. Null is allowed. */
int floatgate_close(floatgate_session *session);

/* Bytes of the drive. */
int floatgate_capacity(floatgate_session *session, uint64_t *bytes);

/* Submits a request. It arrives at the first instant, from request->at on, at which nothing else
 * happens; simulated time passes until then. Stores that instant in *arrival, which may be null. */
int floatgate_submit(floatgate_session *session, const floatgate_request *request,
                     uint64_t *arrival);

/* Updates a placement handle of a drive with ftl.fdp at the time `at`, or now for FLOATGATE_NONE. Its
 * open reclaim unit is closed, and later writes with this hint go to a new one. Simulated time passes
 * until then. Stores the time in *updated, which may be null. */
int floatgate_update_handle(floatgate_session *session, uint32_t handle, uint64_t at,
                            uint64_t *updated);

/* The time of the next event in the drive if no request comes before, or FLOATGATE_NONE. No request is
 * done earlier. Call floatgate_advance with it, then floatgate_take. */
int floatgate_next_at(floatgate_session *session, uint64_t *at);

/* The simulated time. */
int floatgate_now(floatgate_session *session, uint64_t *now);

/* Requests that were submitted and are not done. */
int floatgate_outstanding(floatgate_session *session, uint64_t *count);

/* Lets simulated time pass until `until`, and carries out all that happens then. FLOATGATE_NONE:
 * until every request that was submitted is done. If the drive wears out on the way, time stops there and
 * the answer is FLOATGATE_WORN_OUT. */
int floatgate_advance(floatgate_session *session, uint64_t until);

/* Takes at most `most` completions, in the order in which they happened, and stores their number in
 * *count. The others stay for the next call. */
int floatgate_take(floatgate_session *session, floatgate_completion *completions, size_t most,
                   size_t *count);

/* Ends the session: serves the requests inside and stores the result, the JSON of `floatgate run --json`, in
 * *json. The text belongs to the session and is valid until floatgate_close. Later calls return the same. If the
 * drive would have done something else had it known with the last request that no more come, a flush ends
 * the session, counts, and is recorded. */
int floatgate_result_json(floatgate_session *session, const char **json);

#ifdef __cplusplus
}
#endif

#endif
