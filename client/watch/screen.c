/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Draws on the whole screen of a terminal with ncursesw, and nothing else does. This library is kept, is on every
 * distribution, and knows the terminals of terminfo, such as serial consoles: it sends only what differs from the last
 * picture, which is what a slow line needs. btctl needs lines and keys of it; libraries that can do more (notcurses)
 * are larger than btctl and are not everywhere.
 */

#include "client/watch/screen.h"
#include "client/view/report.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "client/view/text.h"

static SCREEN *screen; /* NULL: not in use */
static bool with_colours, with_ascii;
static GPtrArray *shown, *next; /* the lines of the last picture and of the next one; NULL: an empty line */

/* How long to wait for the rest of the sequence of a key after ESC. */
#define ESCAPE_MSEC 50
/* To move the cursor to a line that has changed, and to set colours. */
#define MOVE_BYTES 16
/* A tenth of a second at 9,600 baud. */
#define BUSY_BYTES 96

int screen_check(void) {
        if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
                return report_error("'watch' needs a terminal; 'btctl status' and 'btctl follow' do not");

        return EXIT_SUCCESS;
}

int screen_begin(const Output *output) {
        static const short colours[STYLE_MAX_] = {
                [STYLE_RED] = COLOR_RED,   [STYLE_GREEN] = COLOR_GREEN,     [STYLE_YELLOW] = COLOR_YELLOW,
                [STYLE_CYAN] = COLOR_CYAN, [STYLE_MAGENTA] = COLOR_MAGENTA,
        };
        const char *term = g_getenv("TERM");

        screen = term && *term ? newterm(NULL, stdout, stdin) : NULL;
        if (screen && (!tigetstr("cup") || tigetstr("cup") == (char *) -1)) {
                screen_end();
                screen = NULL;
        }
        if (!screen)
                return report_error("the terminal '%s' cannot show a whole screen; 'btctl status' and 'btctl follow' "
                                    "work on every terminal",
                                    term ?: "");

        shown = g_ptr_array_new_with_free_func(g_free);
        next = g_ptr_array_new_with_free_func(g_free);
        with_ascii = output->ascii;
        with_colours = output->colour && has_colors();
        if (with_colours) {
                start_color();
                use_default_colors();
                for (int i = STYLE_RED; i < STYLE_MAX_; i++)
                        init_pair((short) i, colours[i], -1);
        }
        cbreak();
        noecho();
        nonl();
        intrflush(stdscr, false);
        keypad(stdscr, true);
        nodelay(stdscr, true);
        idlok(stdscr, true);
        set_escdelay(ESCAPE_MSEC);
        curs_set(0);
        return EXIT_SUCCESS;
}

void screen_end(void) {
        if (!screen)
                return;

        endwin();
        delscreen(screen);
        screen = NULL;
        g_clear_pointer(&shown, g_ptr_array_unref);
        g_clear_pointer(&next, g_ptr_array_unref);
}

void screen_pause(void) {
        if (!screen)
                return;

        endwin();
        g_ptr_array_set_size(shown, 0);
}

void screen_resize(void) {
        struct winsize size = {};

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) >= 0 && size.ws_row > 0 && size.ws_col > 0)
                resizeterm(size.ws_row, size.ws_col);
        clearok(stdscr, true);
        g_ptr_array_set_size(shown, 0);
}

static int translate(int key) {
        static const struct {
                int curses, own;
        } keys[] = {
                { KEY_UP, KEY_OF_UP },         { KEY_DOWN, KEY_OF_DOWN },     { KEY_LEFT, KEY_OF_LEFT },
                { KEY_RIGHT, KEY_OF_RIGHT },   { KEY_PPAGE, KEY_OF_PAGE_UP }, { KEY_NPAGE, KEY_OF_PAGE_DOWN },
                { KEY_HOME, KEY_OF_HOME },     { KEY_END, KEY_OF_END },       { KEY_BACKSPACE, KEY_OF_BACKSPACE },
                { KEY_RESIZE, KEY_OF_RESIZE }, { KEY_ENTER, '\n' },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
                if (keys[i].curses == key)
                        return keys[i].own;

        return KEY_OF_OTHER;
}

int screen_key(void) {
        wint_t key;

        switch (get_wch(&key)) {
        case OK:
                if (key == '\r')
                        return '\n';
                return key == 127 || key == 8 ? KEY_OF_BACKSPACE : (int) key;
        case KEY_CODE_YES:
                return translate((int) key);
        default:
                return KEY_OF_NONE;
        }
}

int64_t screen_key_rows(int key, unsigned page) {
        switch (key) {
        case KEY_OF_UP:
        case 'k':
                return -1;
        case KEY_OF_DOWN:
        case 'j':
                return 1;
        case KEY_OF_PAGE_UP:
                return -(int64_t) MAX(page, 1);
        case KEY_OF_PAGE_DOWN:
                return MAX(page, 1);
        case KEY_OF_HOME:
        case 'g':
                return INT32_MIN;
        case KEY_OF_END:
        case 'G':
                return INT32_MAX;
        default:
                return 0;
        }
}

/* Other terminals do not know what is still on its way. */
bool screen_is_busy(void) {
        int n = 0;

        return ioctl(STDOUT_FILENO, TIOCOUTQ, &n) >= 0 && n > BUSY_BYTES;
}

unsigned screen_rows(void) {
        return (unsigned) LINES;
}

unsigned screen_columns(void) {
        return (unsigned) COLS;
}

void screen_clear(void) {
        g_ptr_array_set_size(next, 0);
        erase();
}

/* The attribute for the number in an escape sequence of output_append(): 31 in "\033[31m". */
static attr_t attribute_of(unsigned code) {
        switch (code) {
        case 1:
                return A_BOLD;
        case 2:
                return A_DIM;
        case 31:
                return COLOR_PAIR(STYLE_RED);
        case 32:
                return COLOR_PAIR(STYLE_GREEN);
        case 33:
                return COLOR_PAIR(STYLE_YELLOW);
        case 35:
                return COLOR_PAIR(STYLE_MAGENTA);
        case 36:
                return COLOR_PAIR(STYLE_CYAN);
        default:
                return A_NORMAL;
        }
}

void screen_line(unsigned row, const char *text, bool marked) {
        g_autoptr(GString) line = g_string_new(text);
        attr_t base = marked ? A_REVERSE : A_NORMAL;
        const char *p;

        if (row >= screen_rows())
                return;

        text_ellipsize(line, screen_columns(), with_ascii);
        if (row >= next->len)
                g_ptr_array_set_size(next, (gint) row + 1);
        g_free(g_ptr_array_index(next, row));
        g_ptr_array_index(next, row) = g_strdup(line->str);

        move((int) row, 0);
        clrtoeol();
        attrset(base);
        for (p = line->str; *p;) {
                size_t length = strcspn(p, "\033");

                addnstr(p, (int) length);
                p += length;
                if (*p) {
                        unsigned code = (unsigned) g_ascii_strtoull(p + 2, NULL, 10);

                        attrset(base | (with_colours ? attribute_of(code) : A_NORMAL));
                        p += strcspn(p, "m") + 1;
                }
        }
        attrset(base);
        for (size_t width = text_width(line->str); marked && width < screen_columns(); width++)
                addch(' ');
        attrset(A_NORMAL);
}

/* In a window of its own: the next picture may have been begun, and is not to be shown yet. */
void screen_note(const char *text) {
        WINDOW *line;

        if (!screen)
                return;

        line = newwin(1, 0, (int) screen_rows() - 1, 0);
        if (!line)
                return;
        (void) waddnstr(line, text, (int) screen_columns());
        (void) wrefresh(line);
        delwin(line);
}

static const char *line_of(const GPtrArray *picture, guint row) {
        return row < picture->len && g_ptr_array_index(picture, row) ? g_ptr_array_index(picture, row) : "";
}

size_t screen_show(void) {
        GPtrArray *last = shown;
        size_t n = 0;

        for (guint row = 0; row < screen_rows(); row++) {
                const char *before = line_of(shown, row), *after = line_of(next, row);
                size_t a = strlen(before), b = strlen(after), changes = MAX(a, b) - MIN(a, b);

                for (size_t i = 0; i < MIN(a, b); i++)
                        changes += before[i] != after[i];
                n += changes > 0 ? changes + MOVE_BYTES : 0;
        }
        refresh();
        shown = next;
        next = last;
        return n;
}
