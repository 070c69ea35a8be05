// SPDX-License-Identifier: Apache-2.0

#include "Checks.h"

int main(int count, char **arguments) {
    if (count != 7) {
        fprintf(stderr, "usage: %s PORT AUTHORITY CERTIFICATE KEY LOCKED-KEY ARCHIVE\n",
                arguments[0]);
        return 64;
    }
    const Place place = {.port = (uint16_t)atoi(arguments[1]),
                         .authority = arguments[2],
                         .stranger = arguments[3],
                         .key = arguments[4],
                         .lockedKey = arguments[5],
                         .archive = arguments[6]};
    check_sessions();
    check_failures();
    check_channels(&place);
    check_curl(&place);
    return EXIT_SUCCESS;
}
