# SPDX-License-Identifier: LGPL-2.1-or-later
"""What integration and system tests share lives in support/."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))

import buses  # noqa: E402

# Fixtures that make a bus: their parameter is its kind.
BUSES = ["bus", "own_bus", "shared_machine", "boot"]


def pytest_configure(config):
    config.addinivalue_line("markers", "both_buses(why): the buses differ here, so the test runs on both")


def pytest_generate_tests(metafunc):
    """A test runs on one bus, except where the buses differ: @pytest.mark.both_buses("how they differ")."""
    marks = list(metafunc.definition.iter_markers("both_buses"))
    assert all(mark.args for mark in marks), f"{metafunc.definition.nodeid}: both_buses does not say how the buses differ"
    for name in BUSES:
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, buses.KINDS if marks else [buses.USUAL], indirect=True)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Tells fixtures whether their test has failed, so that they can show the daemon's log."""
    outcome = yield
    report = outcome.get_result()
    setattr(item, "report_" + report.when, report)
