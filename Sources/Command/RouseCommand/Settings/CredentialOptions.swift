// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The credential for APNs, from the options.
struct CredentialOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The signing key's .p8 file. Or ROUSE_KEY_FILE, or its text in ROUSE_KEY.",
            valueName: "file"), completion: .file())
    var key: String?

    @Option(
        help: ArgumentHelp(
            "The key's id. Taken from the file's name if that is AuthKey_<id>.p8.",
            valueName: "id"))
    var keyID: String?

    @Option(help: ArgumentHelp("The team's id.", valueName: "id"))
    var teamID: String?

    @Option(
        help: ArgumentHelp("A push certificate in PEM, instead of a key.", valueName: "file"),
        completion: .file())
    var cert: String?

    @Option(
        help: ArgumentHelp("The certificate's key in PEM.", valueName: "file"), completion: .file())
    var certKey: String?

    @Option(
        name: .customLong("p12"),
        help: ArgumentHelp(
            "A PKCS#12 archive of both. Its password: ROUSE_CERT_PASSWORD.", valueName: "file"),
        completion: .file())
    var pkcs12: String?

    /// Checks which options go together.
    func validate() throws {
        if cert != nil, certKey == nil {
            throw ValidationError("--cert needs --cert-key, the file of its private key.")
        }
        if certKey != nil, cert == nil {
            throw ValidationError("--cert-key needs --cert, the file of its certificate.")
        }
        if [key, cert, pkcs12].compactMap({ $0 }).count > 1 {
            throw ValidationError("Give one of --key, --cert and --p12.")
        }
    }
}
