/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds out what the terminal can show, and prints text and JSON on it, for all verbs, in a pager if it can be
 * long. A pager can start other programs. So if btctl has more rights than the user of the terminal, as with sudo, only
 * less(1) is used, because it can be told not to. */

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <langinfo.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <systemd/sd-login.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "client/view/output.h"
#include "client/view/text.h"

#define COLUMNS_DEFAULT 80u
#define COLUMNS_GAP 2 /* between the columns of a table */

struct Columns {
        size_t n_columns;
        size_t *widths;
        GPtrArray *cells; /* char * */
};

static const char *const style_codes[STYLE_MAX_] = {
        [STYLE_PLAIN] = "",        [STYLE_BOLD] = "\033[1m",     [STYLE_DIM] = "\033[2m",
        [STYLE_RED] = "\033[31m",  [STYLE_GREEN] = "\033[32m",   [STYLE_YELLOW] = "\033[33m",
        [STYLE_CYAN] = "\033[36m", [STYLE_MAGENTA] = "\033[35m",
};

static size_t terminal_columns(void) {
        const char *text = getenv("COLUMNS");
        struct winsize size = {};
        guint64 columns;

        if (text && g_ascii_string_to_unsigned(text, 10, 1, G_MAXUINT16, &columns, NULL))
                return columns;

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) >= 0 && size.ws_col > 0)
                return size.ws_col;

        return COLUMNS_DEFAULT;
}

void output_detect(Output *output) {
        const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
        bool terminal = isatty(STDOUT_FILENO), dumb = !term || strcmp(term, "dumb") == 0;

        *output = (Output){
                .colour = terminal && !dumb && (!no_colour || !*no_colour),
                .ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
                .columns = terminal ? terminal_columns() : 0,
        };

        /* The font of the kernel's console has no symbols. */
        if (terminal && (dumb || strcmp(term, "linux") == 0))
                output->ascii = true;
}

static volatile sig_atomic_t closed;

static void on_closed(int number) {
        closed = 1;
}

/* A handler, because children would inherit that the signal is ignored. */
void output_watch(void) {
        sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = on_closed, .sa_flags = SA_RESTART }, NULL);
}

bool output_is_closed(void) {
        return closed;
}

bool output_is_lost(void) {
        return closed || ferror(stdout);
}

void output_append(const Output *output, GString *line, Style style, const char *text) {
        g_autofree char *clean = text_clean(text, output->ascii);
        bool styled = output->colour && style != STYLE_PLAIN;

        if (styled)
                g_string_append(line, style_codes[style]);
        g_string_append(line, clean);
        if (styled)
                g_string_append(line, "\033[0m");
}

void output_appendf(const Output *output, GString *line, Style style, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);

        output_append(output, line, style, text);
}

void output_end_line(const Output *output, GString *text, GString *line) {
        if (output->columns > 0)
                text_ellipsize(line, output->columns, output->ascii);

        g_string_append_len(text, line->str, line->len);
        g_string_append_c(text, '\n');
        g_string_truncate(line, 0);
}

void output_print_line(const Output *output, GString *line) {
        g_autoptr(GString) text = g_string_new(NULL);

        output_end_line(output, text, line);
        fputs(text->str, stdout);
}

json_object *output_strings_to_json(char **strings) {
        json_object *json = json_object_new_array();

        for (char **s = strings; *s; s++)
                json_object_array_add(json, json_object_new_string(*s));

        return json;
}

Columns *columns_new(size_t n_columns) {
        Columns *columns = g_new(Columns, 1);

        *columns = (Columns){
                .n_columns = n_columns,
                .widths = g_new0(size_t, n_columns),
                .cells = g_ptr_array_new_with_free_func(g_free),
        };

        return columns;
}

void columns_free(Columns *columns) {
        if (!columns)
                return;

        g_free(columns->widths);
        g_ptr_array_unref(columns->cells);
        g_free(columns);
}

void columns_add(Columns *columns, const char *cell) {
        size_t *width = &columns->widths[columns->cells->len % columns->n_columns];

        *width = MAX(*width, text_width(cell));
        g_ptr_array_add(columns->cells, g_strdup(cell));
}

void columns_add_styled(Columns *columns, const Output *output, Style style, const char *text) {
        g_autoptr(GString) cell = g_string_new(NULL);

        output_append(output, cell, style, text);
        columns_add(columns, cell->str);
}

static GString *make_line(const Columns *columns, size_t first) {
        GString *line = g_string_new(NULL);
        gsize used = 0; /* length without trailing blanks */

        for (size_t i = 0; i < columns->n_columns; i++) {
                const char *cell = g_ptr_array_index(columns->cells, first + i);

                g_string_append(line, cell);
                if (*cell)
                        used = line->len;
                g_string_append_printf(line, "%*s", (int) (columns->widths[i] - text_width(cell) + COLUMNS_GAP), "");
        }

        return g_string_truncate(line, used);
}

GPtrArray *columns_lines(const Columns *columns) {
        GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

        for (size_t i = 0; i < columns->cells->len; i += columns->n_columns)
                g_ptr_array_add(lines, g_string_free(make_line(columns, i), false));

        return lines;
}

void columns_print(const Columns *columns, const Output *output) {
        for (size_t i = 0; i < columns->cells->len; i += columns->n_columns) {
                g_autoptr(GString) line = make_line(columns, i);

                output_print_line(output, line);
        }
}

char *output_json_text(json_object *value, int flags) {
        return text_escape_json(json_object_to_json_string_ext(value, flags | JSON_C_TO_STRING_NOSLASHESCAPE));
}

void output_print_json(json_object *value) {
        g_autoptr(json_object) owned = value;
        g_autofree char *text = output_json_text(owned, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);

        puts(text);
}

void output_print_json_line(json_object *value) {
        g_autoptr(json_object) owned = value;
        g_autofree char *text = output_json_text(owned, 0);

        puts(text);
        fflush(stdout);
}

extern char **environ;

typedef enum Secure {
        SECURE_NO,
        SECURE_YES,
        SECURE_UNKNOWN, /* the user has not decided */
} Secure;

static Secure read_secure(void) {
        static const char *const yes[] = { "1", "yes", "y", "true", "t", "on", NULL }, *const no[] = {
                "0", "no", "n", "false", "f", "off", NULL
        };
        const char *text = getenv("SYSTEMD_PAGERSECURE");

        for (size_t i = 0; text && no[i]; i++) {
                if (strcasecmp(text, yes[i]) == 0)
                        return SECURE_YES;
                if (strcasecmp(text, no[i]) == 0)
                        return SECURE_NO;
        }

        return SECURE_UNKNOWN;
}

/* Returns its PID; 0: it cannot be started. */
static pid_t start(char **argv, int input) {
        posix_spawn_file_actions_t actions;
        pid_t pid;
        int r;

        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        r = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
        return r == 0 ? pid : 0;
}

bool pager_secure(void) {
        Secure wanted = read_secure();
        uid_t owner;
        bool has_gained_rights = getenv("SUDO_UID") || sd_pid_get_owner_uid(0, &owner) < 0 || owner != geteuid(),
             secure = wanted == SECURE_UNKNOWN ? has_gained_rights : wanted == SECURE_YES;

        if (secure)
                setenv("LESSSECURE", "1", true);
        else
                unsetenv("LESSSECURE");
        return secure;
}

/* own: what the user wants; NULL: any. */
static pid_t start_any(char **own, int input) {
        Secure wanted = read_secure();
        bool secure = pager_secure();
        pid_t pid = 0;

        if (own && wanted != SECURE_UNKNOWN)
                pid = start(own, input);

        for (const char *const *name = (const char *const[]){ "pager", "less", "more", NULL }; pid == 0 && *name;
             name++)
                if (!secure || strcmp(*name, "less") == 0)
                        pid = start((char *[]){ (char *) *name, NULL }, input);

        return pid;
}

void pager_open(Pager *pager, bool end) {
        const char *wish = getenv("BTD_PAGER") ?: getenv("SYSTEMD_PAGER") ?: getenv("PAGER"),
                   *options = getenv("SYSTEMD_LESS") ?: "FRSXMK", *charset = getenv("SYSTEMD_LESSCHARSET"),
                   *term = getenv("TERM");
        g_auto(AutoFd) read_end = -1, write_end = -1;
        g_autofree char *less = NULL;
        g_auto(GStrv) own = NULL;
        int fds[2];

        if (!isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0)
                return;
        if (wish && (!g_shell_parse_argv(wish, NULL, &own, NULL) || strcmp(wish, "cat") == 0))
                return;
        if (pipe(fds) < 0)
                return;

        read_end = fds[0];
        write_end = fds[1];
        if (fcntl(read_end, F_SETFD, FD_CLOEXEC) < 0 || fcntl(write_end, F_SETFD, FD_CLOEXEC) < 0)
                return;

        less = end ? g_strconcat(options, " +G", NULL) : g_strdup(options);
        setenv("LESS", less, true);
        if (charset || g_get_charset(NULL))
                setenv("LESSCHARSET", charset ?: "utf-8", true);
        *pager = (Pager){ .pid = start_any(own, read_end), .former_stderr = -1 };
        if (pager->pid == 0)
                return;

        /* Without this option, less handles Ctrl+C itself. */
        if (!strchr(options, 'K'))
                (void) signal(SIGINT, SIG_IGN);
        (void) dup2(write_end, STDOUT_FILENO);
        if (isatty(STDERR_FILENO)) {
                pager->former_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
                (void) dup2(write_end, STDERR_FILENO);
        }
}

void pager_close(Pager *pager) {
        if (pager->pid == 0)
                return;

        fflush(stdout);
        close(STDOUT_FILENO);
        if (pager->former_stderr >= 0)
                (void) dup2(pager->former_stderr, STDERR_FILENO);
        while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        pager->pid = 0;
}
