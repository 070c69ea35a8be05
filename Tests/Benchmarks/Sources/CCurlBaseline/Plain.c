// SPDX-License-Identifier: Apache-2.0

#include "Programs.h"

/// How long a wait may last at most, in milliseconds; libcurl's own timers shorten it.
enum { LONGEST_WAIT = 1000 };

/// Books what is finished, and puts the next request in each one's place. Returns how many.
static int collect(Connection *connection) {
    CURLMsg *message;
    int left = 0, count = 0;
    while ((message = curl_multi_info_read(connection->multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;
        curl_multi_remove_handle(connection->multi, easy);
        Connection_settle(connection, easy, code);
        Connection_fill(connection);
        count++;
    }
    return count;
}

void Plain_run(Connection *connection) {
    int running = 0;
    Connection_fill(connection);
    while (connection->finished < connection->wanted) {
        curl_multi_perform(connection->multi, &running);
        // What was just started is written before anything is waited for.
        if (collect(connection) == 0)
            curl_multi_poll(connection->multi, NULL, 0, LONGEST_WAIT, NULL);
    }
}
