/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests when btctl watch draws, with simulated time: tests/integration/test_watch.py tests what it draws. */

#include <glib.h>

#include "client/watch/pace.h"

#define SECOND UINT64_C(1000000)
/* Of a line of 9,600 baud. */
#define BYTES_PER_SECOND 960

/* The start of all simulations, after 0, which means never. */
#define BEGIN (1000 * SECOND)

typedef struct Drawing {
        Pace pace;
        uint64_t now, took;   /* took: how long the terminal needs for a picture */
        size_t n, total;      /* n: bytes of each picture */
        size_t waiting, most; /* bytes that a line of 9,600 baud has not sent yet: now, and the most of them */
        unsigned pictures;
        uint64_t least; /* the least time between two pictures */
} Drawing;

static void draw(Drawing *drawing, uint64_t at) {
        uint64_t passed = at - drawing->now;
        size_t sent = (size_t) (passed * BYTES_PER_SECOND / SECOND);

        if (drawing->pictures > 0)
                drawing->least = MIN(drawing->least, passed);
        drawing->waiting -= MIN(drawing->waiting, sent);
        drawing->now = at;
        pace_begin_picture(&drawing->pace, at);
        pace_end_picture(&drawing->pace, drawing->n, drawing->took);
        drawing->pictures++;
        drawing->total += drawing->n;
        drawing->waiting += drawing->n;
        drawing->most = MAX(drawing->most, drawing->waiting);
}

/* Something changes all the time, and each picture has n bytes that differ from the last one. */
static Drawing drawing_of(size_t n, uint64_t took) {
        Drawing drawing = { .pace = PACE_INIT, .now = BEGIN, .n = n, .took = took, .least = UINT64_MAX };

        draw(&drawing, BEGIN);
        return drawing;
}

static void draw_for(Drawing *drawing, uint64_t time) {
        uint64_t end = drawing->now + time, next;

        while ((next = pace_next(&drawing->pace, drawing->now, PACE_LEAST_USEC)) <= end)
                draw(drawing, next);
}

/* Ten times a second, as long as little changes. */
static void test_small(void) {
        Drawing drawing = drawing_of(60, 0);

        draw_for(&drawing, 60 * SECOND);
        g_assert_cmpuint(drawing.pictures, ==, 601);
        g_assert_cmpuint(drawing.least, ==, PACE_LEAST_USEC);
}

/* As much as leaves room for keys. */
static void test_much(void) {
        Drawing drawing = drawing_of(300, 0);

        draw_for(&drawing, 60 * SECOND);
        g_assert_cmpuint(drawing.total, <=, 3000 + 60 * 700);
        g_assert_cmpuint(drawing.total, >=, 60 * 690);
        g_assert_cmpuint(drawing.most, <=, 3600); /* a key waits for less than four seconds, not for a minute */
        g_assert_cmpuint(drawing.waiting, <=, 300);
}

/* Much at first: that it was quiet before counts. */
static void test_burst(void) {
        Drawing drawing = drawing_of(10, 0);

        draw(&drawing, BEGIN + 60 * SECOND);
        drawing.n = 300;
        drawing.pictures = 0;
        draw_for(&drawing, SECOND);
        g_assert_cmpuint(drawing.pictures, ==, 10);
        draw_for(&drawing, 9 * SECOND);
        g_assert_cmpuint(drawing.pictures, <=, 10 + 9 * 3);
}

/* A large screen that changes all the time: each second. */
static void test_large(void) {
        Drawing drawing = drawing_of(8000, 0);

        draw_for(&drawing, 60 * SECOND);
        g_assert_cmpuint(drawing.pictures, ==, 61);
        drawing.n = 10; /* the debt is not more than what some seconds pay */
        draw_for(&drawing, 5 * SECOND);
        drawing.pictures = 0;
        draw_for(&drawing, SECOND);
        g_assert_cmpuint(drawing.pictures, ==, 10);
}

/* What takes long is drawn rarely. */
static void test_slow(void) {
        Drawing drawing = drawing_of(60, SECOND / 2);

        g_assert_cmpuint(pace_next(&drawing.pace, BEGIN, PACE_LEAST_USEC), ==, BEGIN + 2 * SECOND);
        draw_for(&drawing, 60 * SECOND);
        g_assert_cmpuint(drawing.pictures, <=, 2 + 60 / 4);
        g_assert_cmpuint(pace_next(&drawing.pace, drawing.now, PACE_LEAST_USEC), ==, drawing.now + 6 * SECOND);
        g_assert_cmpuint(pace_next(&drawing.pace, drawing.now, 10 * SECOND), ==, drawing.now + 10 * SECOND);

        drawing.took = 0; /* slowly more frequent */
        draw_for(&drawing, 60 * SECOND);
        g_assert_cmpuint(pace_next(&drawing.pace, drawing.now, PACE_LEAST_USEC), >, drawing.now + SECOND);
        draw_for(&drawing, 600 * SECOND);
        g_assert_cmpuint(pace_next(&drawing.pace, drawing.now, PACE_LEAST_USEC), ==, drawing.now + PACE_LEAST_USEC);
}

/* More than 50 ms are slow: a busy terminal doubles the pause each time. */
static void test_rather_slow(void) {
        Drawing drawing = drawing_of(60, 51 * SECOND / 1000);

        g_assert_cmpuint(drawing.pace.pause, ==, 204 * SECOND / 1000);
        draw(&drawing, BEGIN + SECOND);
        g_assert_cmpuint(drawing.pace.pause, ==, 408 * SECOND / 1000);
}

/* Neither a debt nor a slow terminal delays the picture that a key asks for; nothing is planned for the past. */
static void test_keys(void) {
        Drawing drawing = drawing_of(8000, 2 * SECOND);

        draw_for(&drawing, 30 * SECOND);
        g_assert_cmpuint(pace_next(&drawing.pace, drawing.now + 1, 0), ==, drawing.now + 1);
        g_assert_cmpuint(pace_next(&drawing.pace, drawing.now + 70 * SECOND, SECOND), ==, drawing.now + 70 * SECOND);
}

static void test_stall(void) {
        Pace pace = PACE_INIT;

        g_assert_false(pace_has_stalled(&pace, BEGIN)); /* nothing was drawn */
        pace_begin_picture(&pace, BEGIN);
        pace_end_picture(&pace, 100, 0);
        g_assert_false(pace_has_stalled(&pace, BEGIN + 5 * SECOND));
        g_assert_true(pace_has_stalled(&pace, BEGIN + 6 * SECOND));
        pace_end_picture(&pace, 100, 2 * SECOND); /* then it is expected */
        g_assert_false(pace_has_stalled(&pace, BEGIN + 10 * SECOND));
        g_assert_true(pace_has_stalled(&pace, BEGIN + 12 * SECOND));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/pace/small", test_small);
        g_test_add_func("/pace/much", test_much);
        g_test_add_func("/pace/burst", test_burst);
        g_test_add_func("/pace/large", test_large);
        g_test_add_func("/pace/slow", test_slow);
        g_test_add_func("/pace/rather-slow", test_rather_slow);
        g_test_add_func("/pace/keys", test_keys);
        g_test_add_func("/pace/stall", test_stall);
        return g_test_run();
}
