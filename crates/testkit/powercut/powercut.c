/*
 * A power cut for a test: remembers how to take back every write that was not synced.
 *
 * Loaded into a program under test, it looks at each write to a regular file below one of ROOTS. Before
 * the write is done, what it overwrites is appended to an undo file of the inode in LOG. When the file is
 * synced, its undo file is emptied: those writes can no longer be lost. After everything was killed with
 * -9, the test applies the undo files backwards; what is left on disk is what a power cut would have left
 * of the contents of files. Names (create, rename, unlink) are taken as durable.
 *
 * The boot id is read from BOOT_ID, so that the next start is another boot.
 *
 * Compiled with -DROOTS="\"/a\0/b\0\"" -DLOG="\"/dir\"" -DBOOT_ID="\"/file\"".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct record {
	uint64_t offset, old_size, length;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Whether this descriptor is a regular file below a root; fills in its inode and size. */
static int watched(int fd, struct stat *st)
{
	char link[64], path[4096];
	if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode))
		return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	if (n <= 0)
		return 0;
	path[n] = 0;
	/* The index of SQLite's log is shared memory: it is made anew at each start. */
	size_t len = strlen(path);
	if (len > 4 && strcmp(path + len - 4, "-shm") == 0)
		return 0;
	for (const char *root = ROOTS; *root; root += strlen(root) + 1)
		if (strncmp(path, root, strlen(root)) == 0)
			return 1;
	return 0;
}

static int undo_file(const struct stat *st, int flags)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%llu", LOG, (unsigned long long)st->st_ino);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CREAT | O_CLOEXEC, 0600);
}

static int put(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;
	while (length > 0) {
		long n = syscall(SYS_write, fd, at, length);
		if (n <= 0)
			return -1;
		at += n;
		length -= (size_t)n;
	}
	return 0;
}

/* Remembers what lies in [offset, offset + length) before it is overwritten, and the size. */
static void remember(int fd, const struct stat *st, uint64_t offset, uint64_t length)
{
	uint64_t size = (uint64_t)st->st_size;
	uint64_t old = offset < size ? (size - offset < length ? size - offset : length) : 0;
	struct record head = {offset, size, old};
	char *bytes = malloc(sizeof head + old);
	int undo = undo_file(st, O_WRONLY | O_APPEND);
	if (bytes == NULL || undo < 0)
		abort();
	memcpy(bytes, &head, sizeof head);
	for (uint64_t got = 0; got < old;) {
		long n = syscall(SYS_pread64, fd, bytes + sizeof head + got, old - got, offset + got);
		if (n <= 0) {
			/* Opened for writing only: read it by its name. */
			char link[64];
			snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
			int again = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
			n = again < 0 ? -1
				: syscall(SYS_pread64, again, bytes + sizeof head + got, old - got, offset + got);
			if (again >= 0)
				syscall(SYS_close, again);
			if (n <= 0)
				abort();
		}
		got += (uint64_t)n;
	}
	if (put(undo, bytes, sizeof head + old) != 0)
		abort();
	syscall(SYS_close, undo);
	free(bytes);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset)
{
	struct stat st;
	pthread_mutex_lock(&lock);
	if (watched(fd, &st))
		remember(fd, &st, (uint64_t)offset, length);
	long n = syscall(SYS_pwrite64, fd, bytes, length, offset);
	pthread_mutex_unlock(&lock);
	return n;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
	return pwrite64(fd, bytes, length, offset);
}

static uint64_t position(int fd, const struct stat *st)
{
	if (fcntl(fd, F_GETFL) & O_APPEND)
		return (uint64_t)st->st_size;
	return (uint64_t)lseek(fd, 0, SEEK_CUR);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
	struct stat st;
	pthread_mutex_lock(&lock);
	if (watched(fd, &st))
		remember(fd, &st, position(fd, &st), length);
	long n = syscall(SYS_write, fd, bytes, length);
	pthread_mutex_unlock(&lock);
	return n;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	struct stat st;
	size_t length = 0;
	for (int i = 0; i < count; i++)
		length += parts[i].iov_len;
	pthread_mutex_lock(&lock);
	if (watched(fd, &st))
		remember(fd, &st, position(fd, &st), length);
	long n = syscall(SYS_writev, fd, parts, count);
	pthread_mutex_unlock(&lock);
	return n;
}

int ftruncate64(int fd, off64_t size)
{
	struct stat st;
	pthread_mutex_lock(&lock);
	if (watched(fd, &st)) {
		uint64_t cut = size < st.st_size ? (uint64_t)(st.st_size - size) : 0;
		remember(fd, &st, (uint64_t)size, cut);
	}
	long n = syscall(SYS_ftruncate, fd, size);
	pthread_mutex_unlock(&lock);
	return (int)n;
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

static int synced(int fd, long number)
{
	struct stat st;
	pthread_mutex_lock(&lock);
	long n = syscall(number, fd);
	if (n == 0 && watched(fd, &st)) {
		int undo = undo_file(&st, O_WRONLY | O_TRUNC);
		if (undo < 0)
			abort();
		syscall(SYS_close, undo);
	}
	pthread_mutex_unlock(&lock);
	return (int)n;
}

int fsync(int fd)
{
	return synced(fd, SYS_fsync);
}

int fdatasync(int fd)
{
	return synced(fd, SYS_fdatasync);
}

static const char *redirected(const char *path)
{
	return path && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? BOOT_ID : path;
}

int open64(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
	va_end(more);
	return (int)syscall(SYS_openat, AT_FDCWD, redirected(path), flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
	va_end(more);
	return open64(path, flags, mode);
}
