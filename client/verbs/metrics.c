/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl metrics: prints the counters of btd in the OpenMetrics format, also as the answer to an HTTP request, for a
 * unit that systemd starts for each connection. */

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "client/verbs/verbs.h"

#define OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
/* Limits of a request: the bytes of its head, and the seconds it may take to come. */
#define REQUEST_MAX 8192u
#define REQUEST_SECONDS 3u

static int get_metrics(Client *client, char **ret_text) {
        g_autoptr(sd_bus_message) reply = NULL;
        int status;

        status = client_call(client, &reply, BTD_PATH, BTD_MANAGER, "GetMetrics", NULL);
        return status != EXIT_SUCCESS ? status : client_read_string(reply, ret_text);
}

/* Reads up to the empty line that ends the head of a request. If a client sends nothing, SIGALRM ends the process. */
static bool read_request(GString *request) {
        char piece[1024];

        alarm(REQUEST_SECONDS);
        while (!strstr(request->str, "\r\n\r\n") && !strstr(request->str, "\n\n")) {
                ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));

                if (n <= 0 || request->len > REQUEST_MAX)
                        return false;
                g_string_append_len(request, piece, n);
        }

        alarm(0);
        return true;
}

static int answer(const char *status, const char *type, const char *body, bool head) {
        printf("HTTP/1.0 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", status, type,
               strlen(body), head ? "" : body);
        return EXIT_SUCCESS;
}

static int refuse(const char *status, const char *body, bool head) {
        return answer(status, "text/plain; charset=utf-8", body, head);
}

/* A page of the web can make a browser of this machine send requests to this machine, under a host name of its own. So
 * requests over the loopback device must name an address or "localhost". */
static bool is_for_this_host(const char *request) {
        struct sockaddr_storage own = {};
        const struct sockaddr_in *in = (const struct sockaddr_in *) &own;
        const struct in6_addr *in6 = &((const struct sockaddr_in6 *) &own)->sin6_addr;
        g_auto(GStrv) lines = g_strsplit(request, "\n", -1);
        bool loopback = false;

        if (getsockname(STDIN_FILENO, (struct sockaddr *) &own, &(socklen_t){ sizeof(own) }) < 0)
                return true;
        if (own.ss_family == AF_INET)
                loopback = ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
        /* A socket of all addresses gets IPv4 as a part of IPv6. */
        else if (own.ss_family == AF_INET6)
                loopback =
                        IN6_IS_ADDR_LOOPBACK(in6) || (IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == IN_LOOPBACKNET);
        if (!loopback)
                return true;

        for (char **line = lines; *line; line++) {
                char *host = *line + strlen("Host:");

                if (g_ascii_strncasecmp(*line, "Host:", strlen("Host:")) != 0)
                        continue;

                host = g_strstrip(host);
                host += *host == '[';
                host[*line < host && host[-1] == '[' ? strcspn(host, "]") : strcspn(host, ":")] = '\0';
                return g_hostname_is_ip_address(host) || g_ascii_strcasecmp(host, "localhost") == 0;
        }

        return true;
}

static int serve(Client *client) {
        g_autoptr(GString) request = g_string_new(NULL);
        g_autofree char *text = NULL;
        g_auto(GStrv) words = NULL;
        bool head;

        if (!read_request(request))
                return refuse("400 Bad Request", "The request is incomplete or too long.\n", false);

        if (!is_for_this_host(request->str))
                return refuse("403 Forbidden", "The host must be an address or localhost.\n", false);

        g_string_truncate(request, strcspn(request->str, "\r\n"));
        words = g_strsplit(request->str, " ", 4);
        if (g_strv_length(words) != 3 || !g_str_has_prefix(words[2], "HTTP/"))
                return refuse("400 Bad Request", "This is no HTTP request.\n", false);

        head = g_str_equal(words[0], "HEAD");
        if (!head && !g_str_equal(words[0], "GET"))
                return refuse("405 Method Not Allowed", "Only GET and HEAD are allowed.\n", false);

        words[1][strcspn(words[1], "?")] = '\0';
        if (!g_str_equal(words[1], "/") && !g_str_equal(words[1], "/metrics"))
                return refuse("404 Not Found", "The metrics are at /metrics.\n", head);
        if (get_metrics(client, &text) != EXIT_SUCCESS || !text)
                return refuse("503 Service Unavailable", "btd does not answer.\n", head);

        return answer("200 OK", OPENMETRICS, text, head);
}

int verb_metrics(Client *client, char **operands) {
        const char *format = client->options.values[OPTION_FORMAT];
        g_autofree char *text = NULL;
        int status;

        if (format && !g_str_equal(format, "openmetrics") && !g_str_equal(format, "http"))
                return report_usage("--format: '%s' is neither 'openmetrics' nor 'http'", format);
        if (client->output.json)
                return report_usage("'metrics' has no JSON form; 'stats --json' shows numbers about past runs");
        if (format && g_str_equal(format, "http"))
                return serve(client);

        status = get_metrics(client, &text);
        if (text)
                fputs(text, stdout);
        return status;
}
