/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of words that people write from habit, and what does the same here. */

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "definition/hints.h"

#define UNIT_TYPES "StartUnit|StopUnit|RestartUnit|ReloadUnit|UnitState"
#define PROCESS_TYPES "Spawn|Command"

/* clang-format off */
const Hint hints[] = {
        { HINT_TYPE, NULL, "If|IfElse|IfThen|Else|Then", "IfThenElse", NULL },
        { HINT_TYPE, NULL, "While|DoWhile", "WhileDoElse", NULL },
        { HINT_TYPE, NULL, "For|Each|Foreach", "ForEach", NULL },
        { HINT_TYPE, NULL, "Until", "RetryUntilSuccessful", NULL },
        { HINT_TYPE, NULL, "Exec|Execute|Run|Process|Program|Cmd|System|RunCommand|RunProgram", "Spawn", NULL },
        { HINT_TYPE, NULL, "Shell|Bash|Sh|RunScript", "Spawn",
          "For a shell, run [\"/bin/sh\", \"-c\", \"...\"]" },
        { HINT_TYPE, NULL, "Curl|Http|HttpGet|HttpRequest|HTTPRequest|Download|Fetch", "Spawn",
          "For example with [\"curl\", \"--fail\", \"URL\"]" },
        { HINT_TYPE, NULL, "Mail|Email|SendMail|Notify|Ssh|Copy|Ping|Mkdir|Chmod|RemoveFile|DeleteFile", "Spawn",
          "It runs any program" },
        { HINT_TYPE, NULL, "ReadFile|FileRead", "Spawn", "For example [\"cat\", \"/run/x\"] with 'stdout'" },
        { HINT_TYPE, NULL, "Cron|Schedule|Daily|Every", NULL,
          "a timer unit starts a tree at a time: see btd-run@.service(8); to repeat nodes, use a Repeat with a Sleep" },
        { HINT_TYPE, NULL, "Wait|Pause|Timer|WaitSeconds", "Sleep", "To wait for a condition, use a WaitFor" },
        { HINT_TYPE, NULL, "WaitUntil|WaitForCondition", "WaitFor", NULL },
        { HINT_TYPE, NULL, "Not|Invert|Negate", "Inverter", NULL },
        { HINT_TYPE, NULL, "And|All|Steps|Step|Stage|Job|Task|Tasks|Group|Block|Do|Serial|Pipeline", "Sequence", NULL },
        { HINT_TYPE, NULL, "Or|Any|Select", "Fallback", NULL },
        { HINT_TYPE, NULL, "Concurrent", "Parallel", NULL },
        { HINT_TYPE, NULL, "Race|FirstOf", "Parallel", "With \"success_count\": 1, the first child that succeeds ends it" },
        { HINT_TYPE, NULL, "Case|When", "Switch", NULL },
        { HINT_TYPE, NULL, "Break|Return|Exit|Continue", NULL,
          "a loop ends when its child fails or succeeds, as its type says; 'skip_if' skips a node" },
        { HINT_TYPE, NULL, "Try|Catch", "TryCatch", NULL },
        { HINT_TYPE, NULL, "Cleanup|CleanUp|Defer|Always", "Finally", NULL },
        { HINT_TYPE, NULL, "Print|Echo|Message|Debug|Logger", "Log", NULL },
        { HINT_TYPE, NULL, "Write|FileWrite|SaveFile|Tee|AppendFile|WriteText", "WriteFile", NULL },
        { HINT_TYPE, NULL, "Set|SetBlackboard|UnsetBlackboard|SetVariable|Assign|Eval", "Script", NULL },
        { HINT_TYPE, NULL, "Check|Test|Assert|Expression|ScriptCondition", "Condition", NULL },
        { HINT_TYPE, NULL, "File|FileExists|DirectoryExists", "PathExists", NULL },
        { HINT_TYPE, NULL, "Start|StartService", "StartUnit", NULL },
        { HINT_TYPE, NULL, "Stop|StopService", "StopUnit", NULL },
        { HINT_TYPE, NULL, "Restart|RestartService", "RestartUnit", NULL },
        { HINT_TYPE, NULL, "Reload|ReloadService", "ReloadUnit", NULL },
        { HINT_TYPE, NULL, "Service|Unit|IsActive|UnitActive", NULL, "a StartUnit starts a unit, a UnitState checks it" },
        { HINT_TYPE, NULL, "EnableUnit|DisableUnit|MaskUnit|KillUnit", NULL,
          "a Spawn can run systemctl, as in [\"systemctl\", \"enable\", \"UNIT\"]" },
        { HINT_TYPE, NULL, "Kill|KillProcess", NULL,
          "a node that is halted ends its program, as a Timeout does; a StopUnit stops a unit" },
        { HINT_TYPE, NULL, "Mount|Umount|Unmount", NULL,
          "a StartUnit or StopUnit of a mount unit does it, such as srv-data.mount" },
        { HINT_TYPE, NULL, "Reboot|Poweroff|PowerOff|Shutdown|Halt", NULL,
          "a StartUnit of reboot.target or poweroff.target with the mode \"replace-irreversibly\" does it" },
        { HINT_TYPE, NULL, "Success|Succeed|True", "AlwaysSuccess", NULL },
        { HINT_TYPE, NULL, "Fail|Failure|False|Error|Raise|Throw", "AlwaysFailure", NULL },
        { HINT_TYPE, NULL, "Optional|Maybe|IgnoreFailure|MayFail", "ForceSuccess", NULL },
        { HINT_TYPE, NULL, "Call|Method|DBusMethod|DBusMethodCall", "DBusCall", NULL },
        { HINT_TYPE, NULL, "SetProperty|DBusSetProperty", "DBusCall",
          "The member Set of org.freedesktop.DBus.Properties sets a property" },
        { HINT_TYPE, NULL, "Signal", "DBusSignal", NULL },
        { HINT_TYPE, NULL, "Property", "DBusProperty", NULL },
        { HINT_TYPE, NULL, "BehaviorTree|Tree|Include|Import|SubTreePlus", "SubTree", NULL },
        { HINT_TYPE, NULL, "Action|ActionNode|Leaf|Node", NULL,
          "a Spawn runs a program, a StartUnit starts a unit, a DBusCall calls a service" },
        { HINT_TYPE, NULL, "ReactiveParallel", "Parallel", "A condition in a ReactiveSequence around it is watched" },
        { HINT_TYPE, NULL, "ConsumeQueue", "Loop", NULL },
        { HINT_TYPE, NULL, "SkipUnlessUpdated|WaitValueUpdate|WaitValueUpdated|EntryUpdated", "OnChange", NULL },
        { HINT_TYPE, NULL, "Cooldown|Throttle|RateLimit|RateLimiter", "RateController", NULL },
        { HINT_TYPE, NULL, "Debounce|Stable", NULL, "a condition has the keys 'for' and 'false_for'" },
        { HINT_TYPE, NULL, "Lock|Mutex", NULL, "any node takes a lock with its key 'lock'" },

        { HINT_KEY, PROCESS_TYPES, "command|cmd|program|exec|run|executable|args|arguments|ExecStart|script", "argv",
          "It is a list of the program and its arguments, such as [\"ls\", \"-l\"]" },
        { HINT_KEY, PROCESS_TYPES, "shell", NULL, "argv runs a shell if it is [\"/bin/sh\", \"-c\", \"...\"]" },
        { HINT_KEY, PROCESS_TYPES, "environment|envs|Environment|vars", "env", NULL },
        { HINT_KEY, PROCESS_TYPES, "dir|directory|workdir|working_directory|chdir|WorkingDirectory", "cwd", NULL },
        { HINT_KEY, PROCESS_TYPES, "output|out|result|capture|register", "stdout", "It is the name of a variable" },
        { HINT_KEY, PROCESS_TYPES, "stdout_file|log|log_file|logfile|StandardError", NULL,
          "'properties' has a file for the output, such as {\"StandardOutput\": \"append:/var/log/x.log\"}" },
        { HINT_KEY, PROCESS_TYPES, "env_file|environment_file|EnvironmentFile", NULL,
          "'properties' has it, such as {\"EnvironmentFile\": \"/etc/default/x\"}" },
        { HINT_KEY, PROCESS_TYPES, "nice|Nice", NULL, "'properties' has it, such as {\"Nice\": 5}" },
        { HINT_KEY, PROCESS_TYPES, "image", NULL, "argv runs a container if it is [\"podman\", \"run\", \"--rm\", \"IMAGE\"]" },
        { HINT_KEY, PROCESS_TYPES, "healthcheck", NULL,
          "a WaitFor with a Command waits until a program succeeds" },
        { HINT_KEY, PROCESS_TYPES, "delegate_to|host|hosts", NULL, "argv runs a program elsewhere if it is [\"ssh\", \"HOST\", ...]" },
        { HINT_KEY, PROCESS_TYPES, "become|become_user|run_as|runas|uid", "user", NULL },
        { HINT_KEY, PROCESS_TYPES, "failed_when|changed_when", "success_exit",
          "It lists the exit statuses that mean success; a Condition can test what is in 'stdout'" },
        { HINT_KEY, PROCESS_TYPES, "creates", NULL,
          "put a PathExists before the node, in a Fallback" },
        { HINT_KEY, PROCESS_TYPES, "input", "stdin", NULL },
        { HINT_KEY, PROCESS_TYPES, "err|error", "stderr", NULL },
        { HINT_KEY, PROCESS_TYPES, "exit_code|exit_codes|exit_status|success_codes|SuccessExitStatus", "success_exit",
          NULL },
        { HINT_KEY, PROCESS_TYPES, "signal|stop_signal|KillSignal", "kill_signal", NULL },
        { HINT_KEY, PROCESS_TYPES, "grace|stop_timeout|stop_grace_period|TimeoutStopSec", "kill_timeout", NULL },
        { HINT_KEY, PROCESS_TYPES, "TimeoutSec|TimeoutStartSec|RuntimeMaxSec|timeout_sec|time_limit|max_time", "timeout", NULL },
        { HINT_KEY, PROCESS_TYPES, "User", "user", NULL },
        { HINT_KEY, PROCESS_TYPES, "Group", "group", NULL },
        { HINT_KEY, PROCESS_TYPES, "Type|Restart|restart|background|daemon|detach|async|poll", NULL,
          "the node runs as long as its program; a service has a unit, which a StartUnit starts" },

        { HINT_KEY, "RetryUntilSuccessful", "delay|sleep|interval|wait|pause|period", "backoff",
          "It is an object such as {\"initial\": \"1s\"}" },
        { HINT_KEY, "RetryUntilSuccessful", "retries|attempts|tries|times|count|max_attempts|max_retries",
          "num_attempts", NULL },
        { HINT_KEY, "RecoveryNode", "retries|attempts|num_attempts", "number_of_retries", NULL },
        { HINT_KEY, "Repeat", "times|count|cycles|n|iterations|num_repeats", "num_cycles", NULL },
        { HINT_KEY, "Repeat|KeepRunningUntilFailure", "delay|sleep|interval|wait|pause|period", NULL,
          "a Sequence with a Sleep behind the other nodes waits between two rounds" },
        { HINT_KEY, "Sleep", "seconds|secs|time|delay|ms|msec|milliseconds|timeout|span", "duration", NULL },
        { HINT_KEY, "Delay", "seconds|secs|time|duration|ms|milliseconds|delay_msec", "delay", NULL },
        { HINT_KEY, "Timeout", "seconds|secs|time|duration|limit|ms|msec|milliseconds", "timeout", NULL },
        { HINT_KEY, "RateController", "rate|frequency", "hz", NULL },
        { HINT_KEY, "RateController", "interval|every", "period", NULL },
        { HINT_KEY, "ForEach", "list|in|of|values|elements|over|array", "items", NULL },
        { HINT_KEY, "ForEach", "var|variable|name|element", "as", NULL },
        { HINT_KEY, "ForEach", "parallel|max_parallel|jobs|workers", "concurrency", NULL },
        { HINT_KEY, "ForEach", "all|keep_going|continue|continue_on_error|continue_on_failure", "run_all", NULL },
        { HINT_KEY, "ForEach", "title|element_name|display", "label", NULL },
        { HINT_KEY, "Loop", "items|list|values|in", "queue", NULL },
        { HINT_KEY, "Loop", "as|var|item", "variable", NULL },
        { HINT_KEY, "IfThenElse|WhileDoElse", "if|while|condition|test|then|do|else", "children",
          "They are the condition, what runs if it is true, and what runs if not" },
        { HINT_KEY, "TryCatch", "try|catch|handler|on_error", "children", "The last one handles the failure" },
        { HINT_KEY, "Finally", "finally|cleanup|always", "children", "The second one is the clean-up" },
        { HINT_KEY, "Switch", "value|on", "variable", NULL },
        { HINT_KEY, "WaitFor", "condition|test|until|expression", "child",
          "It can be {\"type\": \"Condition\", \"test\": \"...\"}" },
        { HINT_KEY, "Condition", "condition|code|expression|expr|if", "test", NULL },
        { HINT_KEY, "Script", "script|lua|expression", "code", NULL },
        { HINT_KEY, "Log", "text|msg|print", "message", NULL },
        { HINT_KEY, "Log", "priority|severity", "level", NULL },
        { HINT_KEY, "PathExists", "file|filename|directory|dir", "path", NULL },
        { HINT_KEY, "PathExists|UnitState|DBusProperty|DBusName|Condition|Command", "not|exists|invert|negate", NULL,
          "put an Inverter around the node" },
        { HINT_KEY, "RestartUnit", "try|try_restart|only_if_active|only_active|conditional", "if_active", NULL },
        { HINT_KEY, UNIT_TYPES, "service|units|name_of_unit", "unit", NULL },
        { HINT_KEY, "UnitState", "active|active_state", "state", NULL },
        { HINT_KEY, "DBusSignal", "destination|service|bus_name|dest", "sender", NULL },
        { HINT_KEY, "DBusCall|DBusProperty", "service|bus_name|dest", "destination", NULL },
        { HINT_KEY, "DBusName", "service|destination|bus_name", "name", NULL },
        { HINT_KEY, "DBusCall|DBusProperty|DBusSignal|DBusEmit", "object|object_path", "path", NULL },
        { HINT_KEY, "DBusCall", "method|function", "member", NULL },
        { HINT_KEY, "DBusSignal|DBusEmit", "signal", "member", NULL },
        { HINT_KEY, "DBusCall|DBusEmit|DBusSignal", "arguments|params|parameters", "args", NULL },
        { HINT_KEY, "DBusCall|DBusSignal", "output|result|results|returns", "outputs", NULL },
        { HINT_KEY, "DBusProperty", "member", "property", NULL },
        { HINT_KEY, "DBusProperty", "value|is", "equals", NULL },
        { HINT_KEY, "DBusProperty", "outputs|stdout|result|variable", "output", "It is the name of a variable" },
        { HINT_KEY, "SubTree", "ID|id|file", "tree", NULL },
        { HINT_KEY, "SubTree", "params|parameters|args|arguments", "inputs", NULL },

        { HINT_KEY, HINT_TREE_FILE, "variables|vars|globals|defaults|constants", "blackboard", NULL },
        { HINT_KEY, HINT_TREE_FILE, "params|parameters|args|arguments|options", "inputs", NULL },
        { HINT_KEY, HINT_TREE_FILE, "version|format", "btd", NULL },
        { HINT_KEY, HINT_TREE_FILE, "tree|main|node|behavior_tree|BehaviorTree", "root", NULL },
        { HINT_KEY, HINT_TREE_FILE, "steps|tasks|children|jobs|services|actions|type|child", NULL,
          "the nodes are in 'root', such as \"root\": {\"type\": \"Sequence\", \"children\": [...]}" },
        { HINT_KEY, HINT_TREE_FILE, "main_tree_to_execute|main_tree|entry", NULL,
          "'root' is the node to run; it can be {\"type\": \"SubTree\", \"tree\": \"NAME\"}" },
        { HINT_KEY, HINT_TREE_FILE, "RestartSec|restart_delay|restart_sec", "restart_backoff",
          "It is an object such as {\"initial\": \"5s\"}" },
        { HINT_KEY, HINT_TREE_FILE, "Restart|restart_policy", "restart", NULL },
        { HINT_KEY, HINT_TREE_FILE, "StartLimitBurst|max_restarts", "restart_limit",
          "It is an object such as {\"burst\": 5}" },
        { HINT_KEY, HINT_TREE_FILE, "after|After|before|Before|requires|Requires|wants|Wants|WantedBy|depends_on|needs", NULL,
          "btd-run@.service(8) is a unit that runs a tree, and that other units can be ordered after; to wait for a "
          "unit, begin with a StartUnit" },
        { HINT_KEY, HINT_TREE_FILE, "on_failure|on_success|on_error|on_exit|always|OnFailure|OnSuccess|notify", NULL,
          "'on_finished' starts a unit or a tree when a run has finished; a node has hooks" },
        { HINT_KEY, HINT_TREE_FILE, "on_start|init|setup", NULL, "put it before the other children of a Sequence" },
        { HINT_KEY, HINT_TREE_FILE, "timeout|TimeoutStartSec|RuntimeMaxSec", NULL, "put a Timeout around the root" },
        { HINT_KEY, HINT_TREE_FILE, "retry|retries|attempts", NULL,
          "put a RetryUntilSuccessful around the root, or use 'restart'" },
        { HINT_KEY, HINT_TREE_FILE, "import|imports|includes", "include", NULL },
        { HINT_KEY, HINT_TREE_FILE, "hosts|host", NULL, "a tree runs on this machine; a leaf has a 'bus' of another one" },
        { HINT_KEY, HINT_TREE_FILE, "enabled", "autostart", NULL },
        { HINT_KEY, HINT_TREE_FILE, "name|id|ID|title", NULL, "the name of a tree is the name of its file" },
        { HINT_KEY, HINT_TREE_FILE, "schedule|cron|timer|every|OnCalendar", NULL,
          "a timer unit starts a tree at a time: see btd-run@.service(8)" },
        { HINT_KEY, HINT_TREE_FILE, "user|User|group|env|environment|Environment|working_directory|cwd", NULL,
          "each Spawn has its own" },

        { HINT_KEY, NULL, "comment|_comment|$comment|note|notes|doc|documentation", "description", NULL },
        { HINT_KEY, NULL, "id|ID|label|title", "name", NULL },
        { HINT_KEY, NULL, "if|when|condition|only_if|run_if|enabled", "skip_if",
          "It skips the node if its expression is true, so it takes the opposite" },
        { HINT_KEY, NULL, "unless", "skip_if", NULL },
        { HINT_KEY, NULL, "_failureIf", "fail_if", NULL },
        { HINT_KEY, NULL, "_post|on_exit|on_finished|finished", "always", "It is code" },
        { HINT_KEY, NULL, "then|else", NULL, "an IfThenElse chooses between nodes" },
        { HINT_KEY, NULL, "with_items|with_list|foreach|for_each|items", NULL, "put a ForEach around the node" },
        { HINT_KEY, NULL, "until", NULL,
          "a RetryUntilSuccessful around the node tries again, a WaitFor waits for a condition" },
        { HINT_KEY, NULL, "parallel", NULL, "the children of a Parallel run at the same time" },
        { HINT_KEY, NULL, "throttle|rate|hz", NULL, "put a RateController around the node" },
        { HINT_KEY, NULL, "notify|handlers", NULL, "put the nodes behind this one in a Sequence" },
        { HINT_KEY, NULL, "ignore_errors|ignore_error|failure_ok|can_fail|ignore_failure|allow_failure|continue_on_error|optional",
          "may_fail", NULL },
        { HINT_KEY, NULL, "on_error|catch", NULL,
          "a TryCatch runs nodes after a failure, and 'on_failure' of any node runs code" },
        { HINT_KEY, NULL, "finally|cleanup", NULL,
          "a Finally runs nodes in any case, and 'always' of any node runs code" },
        { HINT_KEY, NULL, "retry|retries|attempts|max_retries|max_attempts", NULL, "put a RetryUntilSuccessful around the node" },
        { HINT_KEY, NULL, "repeat|loop", NULL, "put a Repeat around the node" },
        { HINT_KEY, NULL, "delay|wait|sleep", NULL, "put a Delay around the node" },
        { HINT_KEY, NULL, "timeout", NULL, "put a Timeout around the node" },
        { HINT_KEY, NULL, "depends|depends_on|requires|Requires|after|After|before|Before|needs", NULL,
          "the children of a Sequence run one after the other" },
        { HINT_KEY, NULL, "steps|nodes|actions|tasks", "children", NULL },
        { HINT_KEY, NULL, "do|body|node", "child", NULL },

        { HINT_NAME, NULL, "os|io", NULL,
          "an expression has no files or programs: run one with a Spawn, and read what it says from 'stdout'; the time is now()" },
        { HINT_NAME, NULL, "json|cjson", NULL, "text:json() reads a text" },
        { HINT_NAME, NULL, "print", NULL, "use a Log" },
        { HINT_NAME, NULL, "sleep|wait", NULL, "use a Sleep" },
        { HINT_NAME, NULL, "pcall|xpcall|error|assert", NULL,
          "an error ends the run; to let the node fail, use 'fail_if' or a Condition" },
        { HINT_NAME, NULL, "require|dofile|loadfile|load", NULL, "an expression cannot load other code" },
        { HINT_NAME, NULL, "next", NULL, "'for key, value in pairs(object)' visits all members" },
        { HINT_NAME, NULL, "null|None|undefined|NULL", "nil", NULL },
        { HINT_NAME, NULL, "True|TRUE", "true", NULL },
        { HINT_NAME, NULL, "False|FALSE", "false", NULL },
        { HINT_NAME, NULL, "today|timestamp", NULL, "the time is now()" },
        { HINT_NAME, NULL, "rand|randint", "random", NULL },
        { HINT_NAME, NULL, "exists|isfile|file_exists", NULL, "a PathExists tests for a file" },
        { HINT_NAME, NULL, "default", NULL, "'(x or \"a\")' is \"a\" if x is not set" },
        { HINT_NAME, NULL, "isempty|is_empty", NULL, "'#list == 0' tests for an empty list or text" },
        { HINT_NAME, NULL, "contains|startswith|split|trim", NULL,
          "a text has functions such as x:find('a', 1, true), x:gsub('a', 'b'), x:words() and x:lines()" },
        { HINT_NAME, NULL, "getenv|ENV|environ", NULL, "'inputs' are what a tree is given; it sees no environment" },
        { HINT_NAME, NULL, "len|length", NULL, "'#list' is the length" },
        { HINT_NAME, NULL, "str", "tostring", NULL },
        { HINT_NAME, NULL, "int|float", "tonumber", NULL },
        {},
};
/* clang-format on */

static bool has_word(const char *words, const char *word) {
        size_t length = strlen(word);

        for (const char *p = words; (p = strstr(p, word)); p += length)
                if ((p == words || p[-1] == '|') && (p[length] == '|' || p[length] == 0))
                        return true;

        return false;
}

const Hint *hint_find(HintPlace place, const char *owner, const char *word) {
        if (!*word || strchr(word, '|'))
                return NULL;

        for (const Hint *hint = hints; hint->words; hint++) {
                bool is_of = !hint->owner ? !owner || !g_str_equal(owner, HINT_TREE_FILE)
                                          : owner && (g_str_equal(owner, hint->owner) || has_word(hint->owner, owner));

                if (hint->place == place && is_of && has_word(hint->words, word))
                        return hint;
        }

        return NULL;
}

char *hint_format(const Hint *hint) {
        if (!hint->instead)
                return g_strdup_printf("; %s", hint->text);

        return g_strdup_printf("; did you mean '%s'?%s%s", hint->instead, hint->text ? " " : "", hint->text ?: "");
}
