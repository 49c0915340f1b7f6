# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that each message for people is shown exactly in a table of tests/messages, or in a unit test of its room.
The others are listed: those that another test shows, which needs a bus, a disk or a machine of its own
(tests/messages/elsewhere), and those that no test shows, with the reason (tests/messages/nowhere)."""

import messages

TABLES = "\n".join(messages.rows())
UNIT = {room.name: "\n".join(map(messages.strings_of, sorted(room.glob("*.[ch]"))))
        for room in (messages.TOP / "tests/unit").iterdir() if room.is_dir()}
OTHERS = "\n".join(messages.texts_of_python(path) for suite in ("integration", "system")
                   for path in sorted((messages.TOP / "tests" / suite).glob("test_*.py")) if path.stem != "test_messages")


def listed(name):
    lines = (messages.TABLES / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and line[0] != "#"]


def unshown():
    """Messages that are neither in a table nor in a unit test: "PATH: TEXT" as in the lists."""
    found = {}
    for path in messages.sources():
        shown = [TABLES, *(UNIT[room] for room in messages.unit_rooms(path) if room in UNIT)]
        for text, _ in messages.messages_of(path):
            if not any(messages.is_shown(text, each) for each in shown):
                found.setdefault(f"{path}: {text.encode('unicode_escape').decode()}", text)
    return found


def test_each_message_has_its_row():
    missing = unshown()
    elsewhere, nowhere = listed("elsewhere"), listed("nowhere")
    assert not (set(elsewhere) & set(nowhere))
    assert not (wrong := [name for name in missing if name not in elsewhere + nowhere]), \
        "add a row to a table in tests/messages that shows these:\n" + "\n".join(wrong)
    assert not (wrong := [name for name in elsewhere + nowhere if name not in missing]), \
        "a row shows these now, or they are gone; remove them from the list:\n" + "\n".join(wrong)
    assert not (wrong := [name for name in elsewhere if not messages.is_shown(missing[name], OTHERS)]), \
        "no test shows these any more:\n" + "\n".join(wrong)
    assert not (wrong := [name for name in nowhere if messages.is_shown(missing[name], OTHERS)]), \
        "another test shows these; they belong to 'elsewhere':\n" + "\n".join(wrong)
