// SPDX-License-Identifier: Apache-2.0

import Testing

/// Everything that runs against a real server. One after the other, because many of these tests are
/// about time, and a server and a client at once keep a small machine busy.
@Suite("Against real servers", .serialized)
enum ServerTests {}
