/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Sends messages to the journal if stderr is connected to it, else to stderr. In the journal, the subject is in the
 * text and in fields of its own. A message can quote arbitrary text, so control characters are escaped: they must not
 * reach a terminal or begin a new line.
 *
 * Nothing here blocks. sd_journal_sendv() does, while the journal does not read. So this file implements the native
 * protocol of the journal, on a socket of its own. Messages that cannot be sent at once are kept up to a limit and
 * sent from the main loop. The rest are dropped and counted.
 */

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/log.h"

const char *const log_level_names[] = {
        "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug", NULL,
};

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
/* The same size as systemd's own functions request, so that many messages fit into the socket. */
#define SEND_BUFFER (8 * 1024 * 1024)
/* Limit for the bytes of kept messages, and the overhead of each message. */
#define WAITING_MAX (1024 * 1024)
#define MESSAGE_OVERHEAD 64
/* Messages sent in one dispatch. */
#define BATCH 64
#define RECONNECT_MSEC 1000

static struct {
        GMutex mutex; /* guards all other members, because any thread may log */
        int max_level;
        char *journal;  /* path of the socket; NULL: stderr */
        int fd;         /* the socket, -1: not connected; or the descriptor to use instead of stderr */
        GQueue waiting; /* kept messages (GString) */
        size_t n_waiting;
        uint64_t n_dropped, n_unreported;
        GMainContext *context; /* NULL: kept messages are sent together with the next one */
        GSource *source;       /* NULL: no messages are kept */
        int source_fd;         /* of the source; -1: the source is a timer that retries */
} outlet = { .max_level = LOG_INFO, .fd = -1, .waiting = G_QUEUE_INIT };

/* JOURNAL_STREAM has the device and inode of the stream that systemd connected, see systemd.exec(5). */
static bool stderr_is_journal(void) {
        const char *stream = g_getenv("JOURNAL_STREAM");
        g_autofree char *actual = NULL;
        struct stat st;

        if (!stream || fstat(STDERR_FILENO, &st) < 0)
                return false;

        actual = g_strdup_printf("%ju:%ju", (uintmax_t) st.st_dev, (uintmax_t) st.st_ino);
        return g_str_equal(stream, actual);
}

static int journal_connect(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        const int size = SEND_BUFFER;
        g_auto(AutoFd) fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0)
                return -errno;

        g_strlcpy(address.sun_path, outlet.journal, sizeof(address.sun_path));
        if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
                return -errno;

        (void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
        outlet.fd = fd;
        fd = -1;
        return 0;
}

static void outlet_disconnect(void) {
        if (outlet.fd >= 0)
                close(outlet.fd);
        outlet.fd = -1;
}

/* Sends a message that is too large for a datagram as a sealed file. */
static int journal_send_file(const GString *message) {
        const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
        g_auto(AutoFd) file = memfd_create("log-message", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int))];
        } control = { .header = {
                              .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) } };
        const struct msghdr datagram = { .msg_control = &control, .msg_controllen = sizeof(control) };

        if (file < 0)
                return -errno;
        for (size_t sent = 0; sent < message->len;) {
                ssize_t n = write(file, message->str + sent, message->len - sent);

                if (n < 0)
                        return -errno;
                sent += (size_t) n;
        }
        if (fcntl(file, F_ADD_SEALS, seals) < 0)
                return -errno;

        memcpy(CMSG_DATA(&control.header), &file, sizeof(int));
        return sendmsg(outlet.fd, &datagram, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int journal_send_datagram(const GString *message) {
        if (send(outlet.fd, message->str, message->len, MSG_NOSIGNAL) >= 0)
                return 0;

        return errno == EMSGSIZE || errno == ENOBUFS ? journal_send_file(message) : -errno;
}

/* -EAGAIN: the socket is full. A socket without a peer is opened again, because the journal may have been restarted. */
static int journal_send(const GString *message) {
        int r = outlet.fd < 0 ? -ENOTCONN : journal_send_datagram(message);

        if (r == -ENOTCONN || r == -ECONNREFUSED || r == -ECONNRESET || r == -EPIPE) {
                outlet_disconnect();
                r = journal_connect();
                if (r >= 0)
                        r = journal_send_datagram(message);
                else
                        r = -EAGAIN;
        }

        return r;
}

/* -EAGAIN: part of the line is not written; that part remains in line. */
static int stderr_send(GString *line) {
        while (line->len > 0) {
                struct pollfd writable = { .fd = STDERR_FILENO, .events = POLLOUT };
                ssize_t n;

                if (outlet.fd >= 0) {
                        n = write(outlet.fd, line->str, line->len);
                } else if (poll(&writable, 1, 0) <= 0) {
                        return -EAGAIN;
                } else {
                        /* If poll() reports a pipe as writable, it takes at least PIPE_BUF bytes. */
                        n = send(STDERR_FILENO, line->str, line->len, MSG_DONTWAIT | MSG_NOSIGNAL);
                        if (n < 0 && errno == ENOTSOCK)
                                n = write(STDERR_FILENO, line->str, MIN(line->len, PIPE_BUF));
                }
                if (n < 0)
                        return -errno;
                g_string_erase(line, 0, n);
        }

        return 0;
}

static int outlet_send(GString *message) {
        int r;

        do
                r = outlet.journal ? journal_send(message) : stderr_send(message);
        while (r == -EINTR);

        return r;
}

/* Makes the text valid UTF-8 on one line, with escapes for control characters. */
static char *text_sanitize(const char *text) {
        g_autofree char *valid = g_utf8_make_valid(text, -1);
        GString *clean = g_string_sized_new(strlen(valid));

        for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                if (c == '\n')
                        g_string_append(clean, "\\n");
                else if (c == '\t')
                        g_string_append(clean, "\\t");
                else if (character_is_control(c))
                        g_string_append_printf(clean, c < 256 ? "\\x%02x" : "\\u%04x", c);
                else
                        g_string_append_unichar(clean, c);
        }

        return g_string_free(clean, FALSE);
}

/* See systemd's JOURNAL_NATIVE_PROTOCOL: a value with several lines is preceded by its length. */
static void append_field(GString *message, const char *name, const char *value) {
        uint64_t size;

        if (!value)
                return;

        g_string_append(message, name);
        if (strchr(value, '\n')) {
                size = GUINT64_TO_LE(strlen(value));
                g_string_append_c(message, '\n');
                g_string_append_len(message, (const char *) &size, sizeof(size));
        } else {
                g_string_append_c(message, '=');
        }
        g_string_append(message, value);
        g_string_append_c(message, '\n');
}

/* Appends "boot.3/LoadConfig: " and the text, because journalctl does not show the fields by default. */
static void append_with_subject(GString *line, const LogSubject *subject, const char *text) {
        const char *place = subject->run ?: subject->tree, *node = subject->label ?: subject->node;

        if (place)
                g_string_append(line, place);
        if (place && node)
                g_string_append_c(line, '/');
        if (node)
                g_string_append(line, node);
        if (place || node)
                g_string_append(line, ": ");

        g_string_append(line, text);
}

static GString *format_for_journal(int level, const LogSubject *subject, const char *text) {
        g_autoptr(GString) line = g_string_new(NULL), message = g_string_new(NULL);
        const Cause *cause = subject->cause ? cause_origin(subject->cause) : NULL;
        const char digit[] = { (char) ('0' + level), '\0' };
        const char *facts = cause && cause->facts
                                    ? json_object_to_json_string_ext(
                                              cause->facts, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
                                    : NULL;
        g_autofree char *clean = NULL;

        append_with_subject(line, subject, text);
        clean = text_sanitize(line->str);
        append_field(message, "MESSAGE", clean);
        append_field(message, "PRIORITY", digit);
        append_field(message, "SYSLOG_IDENTIFIER", program_invocation_short_name);
        append_field(message, "BTD_TREE", subject->tree);
        append_field(message, "BTD_RUN", subject->run);
        append_field(message, "BTD_NODE", subject->node);
        append_field(message, "BTD_CAUSE_KIND", cause ? cause->kind : NULL);
        append_field(message, "BTD_CAUSE_FACTS", facts);
        return g_steal_pointer(&message);
}

/* Formats "btd: warning: boot.3/LoadConfig: TEXT". It is one write, so that lines of several processes stay whole. */
static GString *format_for_stderr(int level, const LogSubject *subject, const char *text) {
        g_autoptr(GString) line = g_string_new(NULL);
        g_autofree char *clean = NULL;

        g_string_append_printf(line, "%s: ", program_invocation_short_name);
        if (level <= LOG_ERR)
                g_string_append(line, "error: ");
        else if (level == LOG_WARNING)
                g_string_append(line, "warning: ");
        else if (level == LOG_DEBUG)
                g_string_append(line, "debug: ");

        append_with_subject(line, subject, text);
        clean = text_sanitize(line->str);
        g_string_assign(line, clean);
        g_string_append_c(line, '\n');
        return g_steal_pointer(&line);
}

static GString *format(int level, const LogSubject *subject, const char *text) {
        static const LogSubject nothing = { 0 };

        return outlet.journal ? format_for_journal(level, subject ?: &nothing, text)
                              : format_for_stderr(level, subject ?: &nothing, text);
}

static void free_message(GString *message) {
        g_string_free(message, TRUE);
}

static gboolean on_writable(void *userdata);

static gboolean on_fd_writable(int fd, GIOCondition condition, void *userdata) {
        return on_writable(userdata);
}

static void outlet_unwatch(void) {
        if (outlet.source)
                g_source_destroy(outlet.source);
        g_clear_pointer(&outlet.source, g_source_unref);
}

/* Replaces the source if the descriptor has changed, and removes it when nothing is kept. */
static void outlet_watch(void) {
        int fd = outlet.fd >= 0 || outlet.journal ? outlet.fd : STDERR_FILENO;

        if (outlet.source && (outlet.waiting.length == 0 || outlet.source_fd != fd))
                outlet_unwatch();
        if (outlet.source || outlet.waiting.length == 0 || !outlet.context)
                return;

        if (fd >= 0) {
                outlet.source = g_unix_fd_source_new(fd, G_IO_OUT);
                g_source_set_callback(outlet.source, G_SOURCE_FUNC(on_fd_writable), NULL, NULL);
        } else {
                outlet.source = g_timeout_source_new(RECONNECT_MSEC);
                g_source_set_callback(outlet.source, on_writable, NULL, NULL);
        }
        outlet.source_fd = fd;
        g_source_set_name(outlet.source, "log");
        g_source_attach(outlet.source, outlet.context);
}

static void drop(GString *message) {
        outlet.n_dropped++;
        outlet.n_unreported++;
        free_message(message);
}

static bool has_room(const GString *message) {
        return outlet.n_waiting + message->len + MESSAGE_OVERHEAD <= WAITING_MAX;
}

/* A message that can never be sent is counted as dropped. */
static void send_or_keep(GString *message) {
        int r = outlet.waiting.length > 0 ? -EAGAIN : outlet_send(message);

        if (r == -EAGAIN && has_room(message)) {
                outlet.n_waiting += message->len + MESSAGE_OVERHEAD;
                g_queue_push_tail(&outlet.waiting, message);
        } else if (r < 0) {
                drop(message);
        } else {
                free_message(message);
        }
}

/* Reports the number of dropped messages, before any other message. */
static void report_dropped(void) {
        g_autofree char *text = NULL;
        GString *message;

        if (outlet.n_unreported == 0)
                return;

        text = g_strdup_printf("log messages lost here, because they could not be written in time: %" PRIu64,
                               outlet.n_unreported);
        message = format(LOG_WARNING, NULL, text);
        if (outlet.waiting.length > 0 && !has_room(message)) {
                free_message(message);
                return;
        }

        outlet.n_unreported = 0;
        send_or_keep(message);
}

static void send_waiting(void) {
        for (unsigned i = 0; i < BATCH && outlet.waiting.length > 0; i++) {
                GString *message = outlet.waiting.head->data;
                size_t size = message->len;
                int r = outlet_send(message);

                if (r == -EAGAIN) {
                        outlet.n_waiting -= size - message->len;
                        break;
                }

                g_queue_pop_head(&outlet.waiting);
                outlet.n_waiting -= size + MESSAGE_OVERHEAD;
                if (r < 0)
                        drop(message);
                else
                        free_message(message);
        }
        if (outlet.waiting.length == 0)
                report_dropped();
}

static gboolean on_writable(void *userdata) {
        g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&outlet.mutex);

        send_waiting();
        outlet_watch();
        return G_SOURCE_CONTINUE;
}

/* Takes the message, whose form is that of the outlet: the caller has held the mutex since before it looked. */
static void write_message(GString *message) {
        if (outlet.waiting.length > 0)
                send_waiting();
        report_dropped();
        send_or_keep(message);
        outlet_watch();
}

void log_line(const char *identifier, const char *line) {
        g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&outlet.mutex);
        GString *message = g_string_new(NULL);

        if (outlet.journal) {
                append_field(message, "MESSAGE", line);
                append_field(message, "PRIORITY", "6");
                append_field(message, "SYSLOG_IDENTIFIER", identifier);
        } else {
                g_string_append_printf(message, "%s\n", line);
        }
        write_message(message);
}

void log_message(int level, const LogSubject *subject, const char *format_text, ...) {
        static _Thread_local bool busy; /* prevents recursion: errors in here must not be logged */
        g_autofree char *text = NULL;
        va_list args;

        if (level > log_level() || busy)
                return;

        busy = true;
        va_start(args, format_text);
        text = g_strdup_vprintf(format_text, args);
        va_end(args);
        g_mutex_lock(&outlet.mutex);
        write_message(format(level, subject, text));
        g_mutex_unlock(&outlet.mutex);
        busy = false;
}

static GLogWriterOutput on_glib_message(GLogLevelFlags flags, const GLogField *fields, gsize n_fields, void *userdata) {
        const char *domain = "GLib", *text = "";
        int level = flags & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL) ? LOG_ERR
                    : flags & G_LOG_LEVEL_WARNING                      ? LOG_WARNING
                    : flags & G_LOG_LEVEL_MESSAGE                      ? LOG_NOTICE
                                                                       : LOG_DEBUG;

        for (gsize i = 0; i < n_fields; i++)
                if (g_str_equal(fields[i].key, "MESSAGE"))
                        text = fields[i].value;
                else if (g_str_equal(fields[i].key, "GLIB_DOMAIN"))
                        domain = fields[i].value;

        log_message(level, NULL, "%s: %s", domain, text);
        return G_LOG_WRITER_HANDLED;
}

int log_level(void) {
        return g_atomic_int_get(&outlet.max_level);
}

void log_set_level(int level) {
        g_atomic_int_set(&outlet.max_level, level);
}

bool log_goes_to_journal(void) {
        return outlet.journal;
}

/* Kept messages have the form of the old outlet. */
static void outlet_open(const char *journal) {
        struct stat st;

        outlet_unwatch();
        send_waiting();
        while (outlet.waiting.length > 0)
                drop(g_queue_pop_head(&outlet.waiting));
        outlet.n_waiting = 0;

        outlet_disconnect();
        g_free(outlet.journal);
        outlet.journal = g_strdup(journal);
        if (journal && journal_connect() < 0)
                g_clear_pointer(&outlet.journal, g_free);
        if (outlet.journal || fstat(STDERR_FILENO, &st) < 0)
                return;

        /* Other processes may share stderr and rely on it being blocking. So btd opens a pipe or terminal again for
         * itself. A regular file is shared, because its position is shared too, so that writers do not overwrite each
         * other; a write to it may wait for its disk. */
        if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
                outlet.fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        else if (S_ISREG(st.st_mode))
                outlet.fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

bool log_set_target(bool journal) {
        g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&outlet.mutex);

        outlet_open(journal ? JOURNAL_SOCKET : NULL);
        return !journal || outlet.journal;
}

void log_choose_target(void) {
        (void) log_set_target(stderr_is_journal());
}

void log_open_at(int max_level, const char *journal) {
        g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&outlet.mutex);

        log_set_level(max_level);
        outlet_open(journal);
}

void log_open(int max_level) {
        log_open_at(max_level, stderr_is_journal() ? JOURNAL_SOCKET : NULL);
}

void log_attach(GMainContext *context) {
        static bool attached;

        /* GLib allows to set the writer only once. */
        if (!attached)
                g_log_set_writer_func(on_glib_message, NULL, NULL);
        attached = true;
        g_mutex_lock(&outlet.mutex);
        outlet.context = context;
        outlet_watch();
        g_mutex_unlock(&outlet.mutex);
}

void log_close(void) {
        g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&outlet.mutex);

        send_waiting();
        g_queue_clear_full(&outlet.waiting, (GDestroyNotify) free_message);
        outlet.n_waiting = 0;
        outlet.n_unreported = 0;
        outlet_unwatch();
        outlet_disconnect();
        g_clear_pointer(&outlet.journal, g_free);
}

uint64_t log_n_dropped(void) {
        g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&outlet.mutex);

        return outlet.n_dropped;
}
