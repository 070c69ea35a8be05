// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Glibc

extension ListenerFailure {
    /// The cause and the fix, as the continuation of "cannot listen:".
    var advice: String {
        switch code {
        case EADDRINUSE:
            "another program listens there. Stop it, or listen elsewhere (--listen)."
        case EADDRNOTAVAIL:
            "this machine has no such address. Listen on one that it has (--listen)."
        case EACCES:
            "this user may not. Listen on a port above 1023, or where the user may write."
        case EPERM:
            "this user may not give the socket that group. Name one that it is in."
        case ENOENT:
            "there is no such folder. Make it, or listen elsewhere (--listen)."
        case ENOTSOCK:
            "what is there is no socket. Move it away, or name another path (--listen)."
        case ENAMETOOLONG:
            "the path of a socket is too long. Name one of at most 107 bytes (--listen)."
        default:
            String(cString: strerror(code)) + "."
        }
    }
}
