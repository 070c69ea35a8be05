// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What commands take that ask APNs for an app.
struct APNsOptions: ParsableArguments {
    @Flag(help: "Write the result as JSON.")
    var json = false

    @OptionGroup(title: "App")
    var app: AppOptions

    @Flag
    var environment: EnvironmentFlag?

    @OptionGroup(title: "Credential")
    var credential: CredentialOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions
}
