/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Keeps the line of each token in memory as it is in the files. A change of a token appends a line to the file on the
 * tmpfs, and later to the file on the disk. The line with the highest number counts, so that a line may be stored more
 * than once, and in any order:
 *
 *   NUMBER UID STATUS FINISHED PART RUN TREE@INSTANCE TOKEN INPUTS CAUSE CRC
 *
 * NUMBER is the time of the change, see up-clock.h. PART is 1 if the cause was too long for the line, or the run has
 * outputs: these are only in the history. INPUTS is a checksum, or "-".
 *
 * If there are too many tokens, the user who has the most loses the oldest: nobody can make btd forget the tokens of
 * others.
 */

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/crc32.h"
#include "basic/foreach.h"
#include "basic/line-file.h"
#include "basic/log.h"
#include "basic/write-all.h"
#include "record/entry.h"
#include "record/tokens.h"

#define FILE_NAME "tokens"
/* The file on the tmpfs: lines that may not be on the disk yet. Its room is reserved. */
#define WAITING_NAME "tokens.unsaved"
#define WAITING_ROOM (64 * 1024)
/* Delay before lines are written to the disk, so that they are there within a second. */
#define GROUP_USEC UINT64_C(750000)
/* A disk that has refused them is tried again after this time, and after twice as long each time. */
#define RETRY_USEC_MIN UINT64_C(1000000)
#define RETRY_USEC_MAX UINT64_C(60000000)
/* So many bytes of lines that do not count any more may be in a file that has no more than twice what counts. */
#define STALE_MAX (64u * 1024)
/* Longer causes are only in the history. */
#define CAUSE_MAX 256u

struct Tokens {
        char *directory, *runtime;
        const Limits *limits;
        DiskQueue *disk;
        Timers *timers;
        UpClock *clock;
        GHashTable *by_key; /* "TREE@INSTANCE TOKEN" -> Token */
        GQueue running;     /* Token: their runs have not finished */
        GQueue finished;    /* Token, oldest first */
        GHashTable *owners; /* UID -> GQueue of finished Token, oldest first */
        size_t bytes;       /* of all lines that count */
        uint64_t newest;    /* number of the newest line */
        GString *unsaved;   /* lines that may not be on the disk */
        size_t moving;      /* how much of it is being written */
        size_t waiting;     /* how much of it is on the tmpfs */
        int fd;             /* the file on the tmpfs; -1: it is not open */
        size_t stored;      /* bytes in the file on the disk */
        Timer *due;         /* until the next write; NULL: none is due */
        bool writing, hurry;
        uint64_t retry; /* the delay after the last failure; 0: the disk takes everything */
};

typedef struct Token {
        GList link;   /* in running or in finished */
        GList of_uid; /* in the queue of its owner, if it is in finished */
        char *key, *line;
        uint64_t number;
        uint32_t uid;
        bool running;
} Token;

/* The words of a line. */
enum {
        NUMBER,
        UID,
        STATUS,
        FINISHED,
        PART,
        RUN,
        PLACE,
        TOKEN,
        INPUTS,
        CAUSE,
        WORDS
};

static void token_free(void *data) {
        Token *token = data;

        g_free(token->key);
        g_free(token->line);
        g_free(token);
}

Tokens *tokens_new(const char *directory, const char *runtime, const Limits *limits, DiskQueue *disk, Timers *timers,
                   UpClock *clock) {
        Tokens *tokens = g_new(Tokens, 1);

        *tokens = (Tokens){
                .directory = g_strdup(directory ?: runtime),
                .runtime = g_strdup(runtime),
                .limits = limits,
                .disk = disk,
                .timers = timers,
                .clock = clock,
                .by_key = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, token_free),
                .owners = g_hash_table_new_full(NULL, NULL, NULL, g_free),
                .unsaved = g_string_new(NULL),
                .fd = -1,
        };
        return tokens;
}

void tokens_free(Tokens *tokens) {
        if (!tokens)
                return;

        if (tokens->fd >= 0)
                close(tokens->fd);
        timer_free(tokens->due);
        g_string_free(tokens->unsaved, TRUE);
        g_hash_table_unref(tokens->by_key);
        g_hash_table_unref(tokens->owners);
        g_free(tokens->directory);
        g_free(tokens->runtime);
        g_free(tokens);
}

static GQueue *queue_of(Tokens *tokens, uint32_t uid) {
        GQueue *queue = g_hash_table_lookup(tokens->owners, GUINT_TO_POINTER(uid));

        if (!queue) {
                queue = g_new0(GQueue, 1);
                g_hash_table_insert(tokens->owners, GUINT_TO_POINTER(uid), queue);
        }

        return queue;
}

static void remove_token(Tokens *tokens, Token *token) {
        tokens->bytes -= strlen(token->line);
        if (token->running) {
                g_queue_unlink(&tokens->running, &token->link);
        } else {
                g_queue_unlink(&tokens->finished, &token->link);
                g_queue_unlink(queue_of(tokens, token->uid), &token->of_uid);
        }
        g_hash_table_remove(tokens->by_key, token->key);
}

/* Sorts by number. Almost always, the token is the newest. */
static void insert(GQueue *queue, GList *link, Token *token) {
        GList *before = queue->tail;

        while (before && ((const Token *) before->data)->number > token->number)
                before = before->prev;

        link->data = token;
        g_queue_insert_after_link(queue, before, link);
}

static void expire(Tokens *tokens) {
        uint64_t oldest;

        if (!tokens->finished.head)
                return;

        oldest = up_clock_days_ago(tokens->clock, tokens->limits->max[LIMIT_TOKEN_AGE]);
        while (tokens->finished.head && ((const Token *) tokens->finished.head->data)->number < oldest)
                remove_token(tokens, tokens->finished.head->data);

        while (tokens->finished.head && g_hash_table_size(tokens->by_key) > tokens->limits->max[LIMIT_TOKENS]) {
                const GQueue *most = NULL;
                const GQueue *queue;

                TABLE_FOREACH(queue, tokens->owners)
                        if (!most || queue->length > most->length)
                                most = queue;
                assert(most && most->head);
                remove_token(tokens, most->head->data);
        }
}

/* Splits a line, without its end, into its words. The cause can have blanks. False: it is damaged. */
static bool split(const char *line, size_t length, char ***ret_words) {
        g_autofree char *text = NULL;
        uint32_t checksum;

        if (!entry_read_checksum(line, length, &length, &checksum) || checksum != crc32_of(0, line, length))
                return false;

        text = g_strndup(line, length);
        *ret_words = g_strsplit(text, " ", WORDS);
        return g_strv_length(*ret_words) == WORDS;
}

/* Takes the line, unless a newer one is known. */
static Token *take_line(Tokens *tokens, const char *line, size_t length) {
        g_auto(GStrv) words = NULL;
        g_autofree char *key = NULL;
        uint64_t number;
        Token *token;

        if (!split(line, length, &words))
                return NULL;

        number = g_ascii_strtoull(words[NUMBER], NULL, 10);
        key = g_strconcat(words[PLACE], " ", words[TOKEN], NULL);
        token = g_hash_table_lookup(tokens->by_key, key);
        if (token && token->number > number)
                return NULL;
        if (token)
                remove_token(tokens, token);

        token = g_new(Token, 1);
        *token = (Token){
                .key = g_steal_pointer(&key),
                /* The first newline ends a line that was torn by a crash. */
                .line = g_strdup_printf("\n%.*s\n", (int) length, line),
                .number = number,
                .uid = (uint32_t) g_ascii_strtoull(words[UID], NULL, 10),
                .running = g_str_equal(words[STATUS], "running"),
        };
        g_hash_table_insert(tokens->by_key, token->key, token);
        insert(token->running ? &tokens->running : &tokens->finished, &token->link, token);
        if (!token->running)
                insert(queue_of(tokens, token->uid), &token->of_uid, token);
        tokens->bytes += strlen(token->line);
        tokens->newest = MAX(tokens->newest, number);
        return token;
}

static GString *all_lines(const Tokens *tokens) {
        GString *lines = g_string_sized_new(tokens->bytes);

        for (const GList *link = tokens->finished.head; link; link = link->next)
                g_string_append(lines, ((const Token *) link->data)->line);
        for (const GList *link = tokens->running.head; link; link = link->next)
                g_string_append(lines, ((const Token *) link->data)->line);

        assert(lines->len == tokens->bytes);
        return lines;
}

/* Replaces the file on the tmpfs by one that has only what may not be on the disk. If that fails, the old one stays:
 * it has more. */
static void replace_waiting(Tokens *tokens) {
        g_autofree char *path = NULL, *new = NULL;
        g_auto(AutoFd) fd = -1;

        if (!tokens->runtime)
                return;

        path = g_build_filename(tokens->runtime, WAITING_NAME, NULL);
        new = g_strconcat(path, ".new", NULL);
        fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return;

        (void) fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, WAITING_ROOM);
        if (write_all(fd, tokens->unsaved->str, tokens->unsaved->len) < 0 || rename(new, path) < 0) {
                (void) unlink(new);
                return;
        }

        if (tokens->fd >= 0)
                close(tokens->fd);
        tokens->fd = fd;
        tokens->waiting = tokens->unsaved->len;
        fd = -1;
}

/* If a write fails, the next one contains these tokens, too. */
static void save_waiting(Tokens *tokens) {
        if (tokens->fd < 0)
                replace_waiting(tokens);
        if (tokens->fd >= 0 &&
            write_all(tokens->fd, tokens->unsaved->str + tokens->waiting, tokens->unsaved->len - tokens->waiting) >= 0)
                tokens->waiting = tokens->unsaved->len;
}

/* The data of the thread. */
typedef struct Write {
        Tokens *tokens;
        char *directory;
        GString *lines;
        bool whole; /* replace the file; false: append */
        int r;
} Write;

static void write_free(void *data) {
        Write *write = data;

        g_string_free(write->lines, TRUE);
        g_free(write->directory);
        g_free(write);
}

/* Runs on the thread. */
static void do_write(void *data) {
        Write *write = data;

        write->r = line_file_write(write->directory, FILE_NAME, write->lines, write->whole);
}

static void schedule(Tokens *tokens);

static void on_written(void *data) {
        const Write *write = data;
        Tokens *tokens = write->tokens;

        tokens->writing = false;
        if (write->r < 0 && tokens->retry == 0)
                log_warning("tokens of runs cannot be written to %s yet, and do not survive a restart of the machine: "
                            "%s",
                            tokens->directory, g_strerror(-write->r));
        if (write->r >= 0 && tokens->retry > 0)
                log_notice("tokens of runs are in %s again", tokens->directory);
        tokens->retry = write->r < 0 ? CLAMP(2 * tokens->retry, RETRY_USEC_MIN, RETRY_USEC_MAX) : 0;

        if (write->r >= 0) {
                tokens->stored = write->whole ? write->lines->len : tokens->stored + write->lines->len;
                g_string_erase(tokens->unsaved, 0, (gssize) tokens->moving);
                tokens->waiting -= MIN(tokens->waiting, tokens->moving);
                replace_waiting(tokens);
        }
        schedule(tokens);
}

static void write_lines(Tokens *tokens) {
        Write *write = g_new(Write, 1);
        bool whole = tokens->stored + tokens->unsaved->len > 2 * tokens->bytes + STALE_MAX;

        *write = (Write){
                .tokens = tokens,
                .directory = g_strdup(tokens->directory),
                .lines = whole ? all_lines(tokens)
                               : g_string_new_len(tokens->unsaved->str, (gssize) tokens->unsaved->len),
                .whole = whole,
        };
        tokens->moving = tokens->unsaved->len;
        tokens->writing = true;
        disk_queue_add(tokens->disk, &(DiskJob){
                                             .what = g_strdup_printf("tokens to %s/" FILE_NAME, tokens->directory),
                                             .work = do_write,
                                             .done = on_written,
                                             .free = write_free,
                                             .data = write,
                                     });
}

static void on_due(void *userdata) {
        Tokens *tokens = userdata;

        g_clear_pointer(&tokens->due, timer_free);
        save_waiting(tokens);
        write_lines(tokens);
}

static void schedule(Tokens *tokens) {
        if (!tokens->directory || tokens->writing || tokens->unsaved->len == 0)
                return;

        if (tokens->hurry && tokens->retry == 0) {
                g_clear_pointer(&tokens->due, timer_free);
                write_lines(tokens);
        } else if (!tokens->due) {
                tokens->due = timer_new(tokens->timers, MAX(GROUP_USEC, tokens->retry), on_due, tokens);
        }
}

void tokens_hurry(Tokens *tokens) {
        tokens->hurry = true;
        schedule(tokens);
}

/* Takes the lines of a file, as far as they are whole, and returns its size. unsaved: they may not be on the disk. */
static size_t read_file(Tokens *tokens, const char *directory, const char *name, bool unsaved) {
        g_autofree char *path = directory ? g_build_filename(directory, name, NULL) : NULL, *text = NULL;
        const char *end;
        gsize length;

        if (!path || !g_file_get_contents(path, &text, &length, NULL))
                return 0;

        for (const char *line = text; (end = memchr(line, '\n', (size_t) (text + length - line))); line = end + 1) {
                const Token *token = take_line(tokens, line, (size_t) (end - line));

                if (token && unsaved)
                        g_string_append(tokens->unsaved, token->line);
        }

        return length;
}

void tokens_read(Tokens *tokens) {
        tokens->stored = read_file(tokens, tokens->directory, FILE_NAME, false);
        (void) read_file(tokens, tokens->runtime, WAITING_NAME, true);
        if (tokens->newest > 0)
                up_clock_pass(tokens->clock, tokens->newest);
        replace_waiting(tokens);
        expire(tokens);
        schedule(tokens);
}

static void describe(const Token *token, RunSummary *ret_state, bool *ret_whole) {
        size_t length = strlen(token->line) - 2, place;
        g_auto(GStrv) words = NULL;
        bool valid = split(token->line + 1, length, &words);

        assert(valid);

        place = strcspn(words[PLACE], "@");
        *ret_state = (RunSummary){
                .run = g_strdup(words[RUN]),
                .tree = g_strndup(words[PLACE], place),
                .instance = g_strdup(words[PLACE] + place + 1),
                .token = g_strdup(words[TOKEN]),
                .status = g_strdup(words[STATUS]),
                .inputs = g_str_equal(words[INPUTS], "-") ? NULL : g_strdup(words[INPUTS]),
                .cause = g_strcompress(words[CAUSE]),
                .finished = g_ascii_strtoull(words[FINISHED], NULL, 10),
        };
        *ret_whole = *words[PART] == '0' && !g_str_equal(words[STATUS], STATUS_LOST);
}

static const Token *find(Tokens *tokens, const char *tree, const char *instance, const char *token) {
        g_autofree char *key = g_strconcat(tree, "@", instance, " ", token, NULL);

        expire(tokens);
        return g_hash_table_lookup(tokens->by_key, key);
}

bool tokens_has(Tokens *tokens, const char *tree, const char *instance, const char *token) {
        return find(tokens, tree, instance, token);
}

bool tokens_find(Tokens *tokens, const char *tree, const char *instance, const char *token, RunSummary *ret_state,
                 bool *ret_whole) {
        const Token *found = find(tokens, tree, instance, token);

        if (found)
                describe(found, ret_state, ret_whole);
        return found;
}

/* Stores the state as a line. Control characters of the cause are escaped, so that it is one line. */
void tokens_set(Tokens *tokens, const RunSummary *state, uint32_t uid) {
        const char *cause = state->cause ?: "", *end = cause;
        g_autoptr(GString) line = g_string_new(NULL);
        g_autofree char *part = NULL, *escaped = NULL;
        g_auto(RunSummary) before = {};
        bool whole;
        char bytes[129] = ""; /* of UTF-8 characters, which are not escaped */
        const Token *token;

        assert(strpbrk(state->token, " \n") == NULL);

        if (!state->inputs)
                (void) tokens_find(tokens, state->tree, state->instance, state->token, &before, &whole);
        for (unsigned n = 0; n < CAUSE_MAX && *end != '\0'; n++)
                end = g_utf8_next_char(end);
        for (unsigned i = 0; i < 128; i++)
                bytes[i] = (char) (0x80 + i);
        part = g_strndup(cause, (size_t) (end - cause));
        escaped = g_strescape(part, bytes);

        g_string_append_printf(line, "%" PRIu64 " %" PRIu32 " %s %" PRIu64 " %d %s %s@%s %s %s %s",
                               MAX(up_clock_now(tokens->clock), tokens->newest + 1), uid, state->status,
                               state->finished, *end != '\0' || state->outputs || state->n_more_outputs > 0, state->run,
                               state->tree, state->instance, state->token, state->inputs ?: before.inputs ?: "-", escaped);
        (void) entry_append_checksum(line, 0, 0);
        token = take_line(tokens, line->str, line->len - 1);
        assert(token);

        g_string_append(tokens->unsaved, token->line);
        /* The disk has taken nothing for long. */
        if (!tokens->writing && tokens->unsaved->len > 2 * tokens->bytes + STALE_MAX) {
                g_string_free(tokens->unsaved, TRUE);
                tokens->unsaved = all_lines(tokens);
                replace_waiting(tokens);
        }
        save_waiting(tokens);
        expire(tokens);
        schedule(tokens);
}

void tokens_lose(Tokens *tokens, bool (*is_there)(const char *run, void *userdata), void *userdata) {
        const GList *next;

        for (const GList *link = tokens->running.head; link; link = next) {
                const Token *token = link->data;
                g_auto(RunSummary) state = {};
                bool whole;

                next = link->next;
                describe(token, &state, &whole);
                if (is_there(state.run, userdata))
                        continue;

                g_free(state.status);
                g_free(state.cause);
                state.status = g_strdup(STATUS_LOST);
                state.cause = g_strdup("btd or the machine was restarted, and the run was not recovered");
                state.finished = (uint64_t) g_get_real_time();
                tokens_set(tokens, &state, token->uid);
        }
}

unsigned tokens_count(const Tokens *tokens) {
        return g_hash_table_size(tokens->by_key);
}
