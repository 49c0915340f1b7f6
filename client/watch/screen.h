/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The whole screen of the terminal, for btctl watch: lines with the styles of Output, and keys.
 */

#include "client/view/output.h"

/* Keys that are not characters. */
enum {
        KEY_OF_NONE = -1,
        KEY_OF_UP = 0x200000, /* beyond all characters */
        KEY_OF_DOWN,
        KEY_OF_LEFT,
        KEY_OF_RIGHT,
        KEY_OF_PAGE_UP,
        KEY_OF_PAGE_DOWN,
        KEY_OF_HOME,
        KEY_OF_END,
        KEY_OF_BACKSPACE,
        KEY_OF_RESIZE,
        KEY_OF_OTHER,
};

#define KEY_OF_ESCAPE 27
#define KEY_OF_REDRAW 12 /* Ctrl-L */

/* Whether there is a terminal. Returns an exit status; prints that there is none. */
int screen_check(void);
/* Uses the whole screen until screen_end(). Returns an exit status; prints why the terminal cannot. */
int screen_begin(const Output *output);
/* Leaves the terminal as it was. Can be called at any time. */
void screen_end(void);
/* Leaves the terminal to another program until screen_show(). */
void screen_pause(void);
/* Reads the size of the terminal again, and draws everything again. */
void screen_resize(void);
/* The next key that was pressed; KEY_OF_NONE: there is none. */
int screen_key(void);
/* How many rows the key moves a cursor: Up, Down, the keys of pages, Home, End, and their letters as in less(1). page:
 * the rows of a page. 0: it is another key. */
int64_t screen_key_rows(int key, unsigned page);
/* A serial line has not yet sent the last picture. */
bool screen_is_busy(void);
unsigned screen_rows(void);
unsigned screen_columns(void);

/* Clears what will be drawn; it is shown by screen_show(). */
void screen_clear(void);
/* Draws a line over what the row has, with the escape sequences of output_append(), cut to the width. marked: as the
 * line of the cursor. */
void screen_line(unsigned row, const char *text, bool marked);
/* Shows a text in the last line until the next picture: before something that takes long. Does nothing before
 * screen_begin(). */
void screen_note(const char *text);
/* Returns about how many bytes that takes. */
size_t screen_show(void);
