// SPDX-License-Identifier: Apache-2.0

/// The version of Rouse: of the program, of what it calls itself over HTTP, and of its OpenAPI
/// document. The version of the HTTP API is in its paths.
package enum RouseVersion {
    /// As `rouse --version` prints it (Semantic Versioning 2.0).
    package static let current = "0.1.0"
}
