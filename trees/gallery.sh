#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes the gallery: pictures and pages of tree files and of run records, and screens of btctl watch, with an index.
# SCREENSHOTS has pictures of the page for Cockpit if the test "web" has run. Without them, the gallery lacks the page.
#
# usage: gallery.sh BTCTL DIRECTORY SCREENSHOTS FILE...
set -eu
# The same pictures wherever they are made.
export TZ=UTC LC_ALL=C.UTF-8

btctl=$1 directory=$2 screenshots=$3
shift 3
rm -rf "$directory"
mkdir -p "$directory"
index=$directory/index.html

cat >"$index" <<'EOF'
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>Examples of btd</title>
<style>
:root { color-scheme: light dark }
body { margin: 24px; font: 14px system-ui, sans-serif }
img { max-width: 100%; border: 1px solid #8886; margin: 4px 0 16px; display: block }
pre { width: max-content; border: 1px solid #8886; margin: 4px 0 16px; padding: 4px; line-height: 1.25 }
</style>
</head>
<body>
<h1>Examples of btd</h1>
<p>The pictures of trees and runs were made by <code>btctl graph</code> and <code>btctl plot</code>. Each links to a page in
which the tree and the timeline can be folded.</p>
EOF

for file; do
        name=$(basename "$file")
        verb=graph
        case $name in
        *.journal)
                name=${name%.journal} verb=plot
                ;;
        *.txt)
                name=${name%.txt}
                {
                        printf '<h2 id="%s">btctl watch: %s</h2>\n<pre>' "$name" "${name#watch-}"
                        sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' "$file"
                        printf '</pre>\n'
                } >>"$index"
                continue
                ;;
        *)
                # A file with trees for others only has nothing to draw.
                grep -q '^  "root"' "$file" || continue
                name=${name%.json}
                ;;
        esac

        ${BTD_WRAPPER:-} "$btctl" "$verb" "$file" >"$directory/$name.svg"
        ${BTD_WRAPPER:-} "$btctl" "$verb" "$file" --format=html >"$directory/$name.html"
        cat >>"$index" <<EOF
<h2 id="$name"><a href="$name.html">$name</a></h2>
<a href="$name.html"><img src="$name.svg" alt="btctl $verb $name"/></a>
EOF
done

for name in lists form run past; do
        [ -e "$screenshots/$name.png" ] || continue
        cp "$screenshots/$name.png" "$directory/page-$name.png"
        cat >>"$index" <<EOF
<h2 id="page-$name">The page for Cockpit: $name</h2>
<img src="page-$name.png" alt="The page for Cockpit: $name"/>
EOF
done

printf '</body>\n</html>\n' >>"$index"
