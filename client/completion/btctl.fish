# SPDX-License-Identifier: LGPL-2.1-or-later
# Completes the command line of btctl(1) in fish. btctl itself prints the words, so they fit the installed version.

function __btctl_complete
    set -l words (commandline -opc)
    set -l btctl $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    # The value in the same word as its option.
    set -l option (string match -r -- '^--[^=]*=' $current)

    for word in (command $btctl complete -- line $words $current 2>/dev/null)
        switch $word
            case \t./
                __fish_complete_directories (string replace -r -- '^--[^=]*=' '' $current)
            case \t.
                __fish_complete_path (string replace -r -- '^--[^=]*=' '' $current)
            case \t.\*
                for suffix in (string split '|' (string sub -s 3 $word))
                    __fish_complete_suffix (string replace -r -- '^--[^=]*=' '' $current) .$suffix
                end
            case '*'
                echo "$option$word"
        end
    end
end

complete -c btctl -f -a '(__btctl_complete)'
