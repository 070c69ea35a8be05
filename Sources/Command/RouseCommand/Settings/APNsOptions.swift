// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The options of commands that send requests to APNs for an app.
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
