/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Executes the program of a Spawn whose arguments systemd would change. systemd writes a transient unit to a file, and
 * at a reload it reads some arguments back as others. It does not change variables of the environment. So the daemon
 * puts the arguments into variables, see leaf-types/spawn-handover.c, and this program makes arguments of them again.
 *
 * A failure looks like one of systemd: the same exit status. The service manager is told whether the program is
 * executed, so that the daemon can tell a failure from a program that exits with the same status.
 */

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define PREFIX "BTD_EXEC_"

/* Exit statuses as systemd uses them, see systemd.exec(5). */
#define EXIT_CHDIR 200
#define EXIT_MEMORY 204
#define EXIT_EXEC 203

/* systemd searches these directories for a program without a path. It ignores the PATH of the process. */
#define SEARCH_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

extern char **environ;

static const char *notify_socket;

/* Sends a status like "Executes /bin/sh". The name is shortened, and escaped to stay on one line. */
static void notify(const char *what, const char *name, int error) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        size_t length = notify_socket ? strlen(notify_socket) : 0;
        char message[512];
        int fd, n;

        if (length < 2 || length > sizeof(address.sun_path))
                return;

        memcpy(address.sun_path, notify_socket, length);
        if (*address.sun_path == '@')
                *address.sun_path = '\0';

        n = snprintf(message, sizeof(message), "STATUS=%s ", what);
        for (; *name && n < 300; name++)
                message[n++] = (unsigned char) *name < ' ' || (unsigned char) *name > '~' ? '?' : *name;
        if (error != 0)
                n += snprintf(message + n, sizeof(message) - (size_t) n, ": %s\nERRNO=%i", strerror(error), error);

        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return;
        (void) sendto(fd, message, (size_t) n, MSG_NOSIGNAL, (struct sockaddr *) &address,
                      (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length));
        (void) close(fd);
}

static _Noreturn void fail(int status, int error, const char *what, const char *name) {
        notify(what, name, error);
        _exit(status);
}

static _Noreturn void execute(const char *path, char *argv[]) {
        notify("Executes", argv[0], 0);
        (void) execv(path, argv);
        fail(EXIT_EXEC, errno, "Cannot execute", argv[0]);
}

static void *allocate(size_t size) {
        void *memory = malloc(size);

        if (!memory)
                fail(EXIT_MEMORY, ENOMEM, "Cannot allocate", "memory");

        return memory;
}

/* Returns the contents of the variables, concatenated. */
static char *gather(void) {
        size_t length = 0;
        char name[64], *text, *end;
        const char *part;

        for (unsigned i = 0; snprintf(name, sizeof(name), PREFIX "%u", i), part = getenv(name); i++)
                length += strlen(part);

        end = text = allocate(length + 1);
        for (unsigned i = 0; snprintf(name, sizeof(name), PREFIX "%u", i), part = getenv(name); i++)
                end = stpcpy(end, part);
        *end = '\0';

        return text;
}

/* Removes the variables that are meant for btd-exec. */
static void clean_environment(void) {
        char **to = environ;

        for (char **from = environ; *from; from++)
                if (strncmp(*from, PREFIX, strlen(PREFIX)) != 0)
                        *to++ = *from;
        *to = NULL;
}

static int digit(char c) {
        return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Decodes an element in its place: "\0a" is the byte 10. The end of the element becomes the end of the string. */
static void decode(char *from, char **ret_next) {
        char *to = from;

        for (; *from && *from != '\n'; from++)
                if (*from == '\\' && from[1] && from[2]) {
                        *to++ = (char) (digit(from[1]) << 4 | digit(from[2]));
                        from += 2;
                } else {
                        *to++ = *from;
                }

        *ret_next = *from ? from + 1 : from;
        *to = '\0';
}

/* Like systemd, it skips files that are not executable, and executes the first one that is. */
static _Noreturn void search(const char *search_path, char *argv[]) {
        while (*search_path) {
                size_t length = strcspn(search_path, ":");
                char *path = allocate(length + strlen(argv[0]) + 2);
                struct stat st;

                memcpy(path, search_path, length);
                path[length] = '/';
                strcpy(path + length + 1, argv[0]);
                if (*search_path == '/' && stat(path, &st) >= 0 && S_ISREG(st.st_mode) && access(path, X_OK) >= 0)
                        execute(path, argv);

                free(path);
                search_path += length;
                search_path += *search_path == ':';
        }

        fail(EXIT_EXEC, ENOENT, "Cannot execute", argv[0]);
}

int main(void) {
        const char *directory = NULL, *search_path = SEARCH_PATH;
        char *text = gather(), *next, **argv;
        size_t n = 0, max = 1;

        for (const char *line = text; (line = strchr(line, '\n')); line++)
                max++;
        argv = allocate(max * sizeof(char *));

        notify_socket = getenv("NOTIFY_SOCKET");
        notify_socket = notify_socket ? strdup(notify_socket) : NULL;
        clean_environment();

        for (; *text; text = next) {
                char kind = *text++;

                decode(text, &next);
                if (kind == 'a')
                        argv[n++] = text;
                else if (kind == 'd')
                        directory = text;
                else if (kind == 's')
                        search_path = text;
                else if (kind == 'u')
                        (void) unsetenv(text);
                else if (kind == 'v')
                        (void) putenv(text);
        }
        argv[n] = NULL;

        if (n == 0) {
                fprintf(stderr, "btd-exec: this program is for btd alone; see Spawn in btd-nodes(5)\n");
                return EXIT_EXEC;
        }
        if (directory && chdir(directory) < 0)
                fail(EXIT_CHDIR, errno, "Cannot change to directory", directory);
        if (strchr(argv[0], '/'))
                execute(argv[0], argv);

        search(search_path, argv);
}
