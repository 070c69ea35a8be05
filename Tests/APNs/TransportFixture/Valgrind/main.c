// SPDX-License-Identifier: Apache-2.0

#include "Checks.h"

int main(int count, char **arguments) {
    if (count != 8) {
        fprintf(stderr, "usage: %s PORT OTHER-PORT AUTHORITY CERTIFICATE KEY LOCKED-KEY ARCHIVE\n",
                arguments[0]);
        return 64;
    }
    const Place place = {.port = (uint16_t)atoi(arguments[1]),
                         .otherPort = (uint16_t)atoi(arguments[2]),
                         .authority = arguments[3],
                         .stranger = arguments[4],
                         .key = arguments[5],
                         .lockedKey = arguments[6],
                         .archive = arguments[7]};
    use_scarce_memory();
    check_sessions();
    check_failures();
    check_crypto(&place);
    check_connections(&place);
    check_channels(&place);
    check_curl(&place);
    return EXIT_SUCCESS;
}
