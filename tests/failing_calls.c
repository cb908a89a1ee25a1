/* Lets the n-th call on a path below some folders fail, in a program that this is preloaded into.
 *
 * The environment sets it up, when the program starts or at the first call after it was changed: a
 * process that is forked for one command gets its environment late.
 * - FAIL_UNDER: the folders, each with its whole path, separated by colons
 * - FAIL_COUNT: a file of eight zero bytes, the calls so far, of all processes together
 * - FAIL_AT: the number of the call that fails, from 1; 0 for none
 * - FAIL_ERRNO: the error number that it fails with
 * - FAIL_LOG: a file to which each counted call is appended: its number, its name, the path
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long *count;
static long fails_at;
static int fails_with, log_to = -1;
static const char *under;

__attribute__((constructor)) static void set_up(void) {
    const char *name = getenv("FAIL_COUNT"), *at = getenv("FAIL_AT"), *with = getenv("FAIL_ERRNO");
    const char *log = getenv("FAIL_LOG");
    under = getenv("FAIL_UNDER");
    if (!under || !name) return;
    int before = errno;
    int file = syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *place = mmap(0, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (place == MAP_FAILED) return;
    fails_at = at ? atol(at) : 0;
    fails_with = with ? atoi(with) : EIO;
    if (log) log_to = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (log_to >= 0 && log_to < 200) {
        /* Programs that close low numbers leave this one alone. */
        int high = fcntl(log_to, F_DUPFD_CLOEXEC, 200);
        if (high >= 0) { syscall(SYS_close, log_to); log_to = high; }
    }
    count = place;
    errno = before;
}

/* Whether calls are counted. */
static int counts(void) {
    if (!count) set_up();
    return count != 0;
}

static int is_under(const char *path) {
    for (const char *folder = under; folder && *folder;) {
        size_t length = strcspn(folder, ":");
        if (!strncmp(path, folder, length) && (path[length] == '/' || !path[length])) return 1;
        folder += length;
        if (*folder) folder++;
    }
    return 0;
}

/* Counts a call; whether it is the one that fails. */
static int fails(const char *call, const char *path) {
    if (!is_under(path)) return 0;
    long nth = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    if (log_to >= 0) {
        char line[PATH_MAX + 64];
        int length = snprintf(line, sizeof line, "%ld %s %s\n", nth, call, path);
        if (length > 0) syscall(SYS_write, log_to, line, (size_t)length);
    }
    if (nth != fails_at) return 0;
    errno = fails_with;
    return 1;
}

/* The whole path of a name in a folder; whether it has one. */
static int whole(int folder, const char *path, char *into) {
    char base[PATH_MAX] = "", link[64];
    if (!path) return 0;
    if (*path != '/') {
        if (folder == AT_FDCWD) {
            if (!getcwd(base, sizeof base)) return 0;
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
            ssize_t length = readlink(link, base, sizeof base - 1);
            if (length < 0) return 0;
            base[length] = 0;
        }
    }
    return snprintf(into, PATH_MAX, "%s%s%s", base, *base ? "/" : "", path) < PATH_MAX;
}

static int fails_at_path(const char *call, int folder, const char *path) {
    char name[PATH_MAX];
    return counts() && whole(folder, path, name) && fails(call, name);
}

static int fails_at_file(const char *call, int file) {
    char link[64], path[PATH_MAX];
    if (!counts()) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(call, path);
}

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

#define OPEN(name)                                                                                \
    int name(const char *path, int flags, ...) {                                                  \
        va_list rest;                                                                             \
        va_start(rest, flags);                                                                    \
        mode_t mode = va_arg(rest, mode_t);                                                       \
        va_end(rest);                                                                             \
        return fails_at_path("open", AT_FDCWD, path) ? -1 : REAL(name, path, flags, mode);        \
    }
#define OPENAT(name)                                                                              \
    int name(int folder, const char *path, int flags, ...) {                                      \
        va_list rest;                                                                             \
        va_start(rest, flags);                                                                    \
        mode_t mode = va_arg(rest, mode_t);                                                       \
        va_end(rest);                                                                             \
        return fails_at_path("open", folder, path) ? -1 : REAL(name, folder, path, flags, mode);  \
    }
#define OF_FILE(type, name, taken, ...)                                                           \
    type name taken { return fails_at_file(#name, file) ? -1 : REAL(name, __VA_ARGS__); }
#define OF_PATH(name, folder, taken, ...)                                                         \
    int name taken { return fails_at_path(#name, folder, path) ? -1 : REAL(name, __VA_ARGS__); }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
OF_FILE(ssize_t, write, (int file, const void *data, size_t size), file, data, size)
OF_FILE(ssize_t, writev, (int file, const struct iovec *parts, int n), file, parts, n)
OF_FILE(ssize_t, pwrite, (int file, const void *data, size_t size, off_t at), file, data, size, at)
OF_FILE(ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t at), file, data, size, at)
OF_FILE(int, fsync, (int file), file)
OF_FILE(int, fdatasync, (int file), file)
OF_FILE(int, ftruncate, (int file, off_t size), file, size)
OF_FILE(int, ftruncate64, (int file, off64_t size), file, size)
OF_FILE(int, fallocate, (int file, int mode, off_t at, off_t size), file, mode, at, size)
OF_FILE(int, fallocate64, (int file, int mode, off64_t at, off64_t size), file, mode, at, size)
OF_PATH(mkdir, AT_FDCWD, (const char *path, mode_t mode), path, mode)
OF_PATH(mkdirat, folder, (int folder, const char *path, mode_t mode), folder, path, mode)

/* Of a new name the log has the old one, too, in a line before. */
static int renames(int from_folder, const char *from, int to_folder, const char *to) {
    char old[PATH_MAX], new[PATH_MAX];
    if (!counts() || !whole(from_folder, from, old) || !whole(to_folder, to, new)) return 0;
    if (log_to >= 0 && is_under(new)) {
        char line[PATH_MAX + 64];
        int length = snprintf(line, sizeof line, "0 renamed %s\n", old);
        if (length > 0 && length < (int)sizeof line) syscall(SYS_write, log_to, line, (size_t)length);
    }
    return fails("rename", new);
}

int rename(const char *from, const char *to) {
    return renames(AT_FDCWD, from, AT_FDCWD, to) ? -1 : REAL(rename, from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
    return renames(a, from, b, to) ? -1 : REAL(renameat, a, from, b, to);
}
int renameat2(int a, const char *from, int b, const char *to, unsigned how) {
    return renames(a, from, b, to) ? -1 : REAL(renameat2, a, from, b, to, how);
}
int link(const char *from, const char *to) {
    return renames(AT_FDCWD, from, AT_FDCWD, to) ? -1 : REAL(link, from, to);
}
