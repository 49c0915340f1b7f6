# SPDX-License-Identifier: LGPL-2.1-or-later
"""What integration and system tests share lives in support/."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Tells fixtures whether their test has failed, so that they can show the daemon's log."""
    outcome = yield
    report = outcome.get_result()
    setattr(item, "report_" + report.when, report)
