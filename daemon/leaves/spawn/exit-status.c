/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Describes the end of a process. The statuses above 200 are systemd's, see systemd.exec(5), "Process Exit Codes". */

#include <glib.h>
#include <signal.h>

#include "leaves/spawn/exit-status.h"

static char *signal_describe(int number) {
        const char *name = sigabbrev_np(number);

        return name ? g_strdup_printf("SIG%s", name) : g_strdup_printf("signal %i", number);
}

char *exit_status_describe(int code, int status) {
        g_autofree char *name = NULL;

        if (code == CLD_EXITED)
                return g_strdup_printf("exited with status %i", status);

        name = signal_describe(status);
        return g_strdup_printf("was killed by %s%s", name, code == CLD_DUMPED ? " and dumped core" : "");
}

void exit_status_add_facts(int code, int status, json_object *facts) {
        g_autofree char *name = NULL;

        if (code == CLD_EXITED) {
                json_object_object_add(facts, "status", json_object_new_int(status));
        } else if (code != 0) {
                name = signal_describe(status);
                json_object_object_add(facts, "signal", json_object_new_string(name));
                json_object_object_add(facts, "core_dumped", json_object_new_boolean(code == CLD_DUMPED));
        }
}

const char *exit_status_of_exec(int status) {
        switch (status) {
        case 200:
                return "its working directory could not be entered (status 200/CHDIR)";
        case 202:
                return "its file descriptors could not be set up (status 202/FDS)";
        case 203:
                return "its program could not be executed (status 203/EXEC)";
        case 208:
                return "its standard input could not be set up (status 208/STDIN)";
        case 209:
                return "its standard output could not be set up (status 209/STDOUT)";
        case 214:
                return "its scheduling policy could not be set (status 214/SETSCHEDULER)";
        case 216:
                return "its group does not exist or may not be used (status 216/GROUP)";
        case 217:
                return "its user does not exist or may not be used (status 217/USER)";
        case 218:
                return "its capabilities could not be set (status 218/CAPABILITIES)";
        case 219:
                return "its control group could not be set up (status 219/CGROUP)";
        case 226:
                return "its mount namespace could not be set up (status 226/NAMESPACE)";
        case 228:
                return "its system call filter could not be set up (status 228/SECCOMP)";
        case 233:
        case 238:
        case 239:
        case 240:
        case 241:
                return "its directories could not be made";
        default:
                return NULL;
        }
}
