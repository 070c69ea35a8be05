#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# file: /usr/sbin/apache2
# Apache httpd with mod_http2. What it does not refuse itself goes through mod_proxy_http2 to the
# simulator, which answers.
import os
import signal
import subprocess

import sending

CONFIGURATION = """
ServerRoot {work}
ServerName localhost
PidFile {work}/pid
ErrorLog {work}/error.log
Mutex file:{work}
{modules}
Listen 127.0.0.1:{port}
ServerLimit 2
StartServers 1
ThreadsPerChild 25
Protocols h2
SSLEngine on
SSLCertificateFile {certificate}
SSLCertificateKeyFile {key}
SSLProxyEngine on
SSLProxyCACertificateFile {authority}
SSLProxyVerify require
RewriteEngine on
RewriteRule ^/3/device/bad0 - [R=400]
RewriteRule ^/3/device/dead - [R=410]
ErrorDocument 400 '{{"reason":"BadDeviceToken"}}'
ErrorDocument 410 '{{"reason":"Unregistered","timestamp":1700000000000}}'
ProxyPass / h2://localhost:{simulator}/
LogFormat "%{{apns-id}}i %>s" pushes
CustomLog {log} pushes
"""
MODULES = ["mpm_event", "authz_core", "socache_shmcb", "ssl", "http2", "rewrite", "proxy",
           "proxy_http2"]
FOLDER = "/usr/lib/apache2/modules"


class Apache(sending.Server):
    stop_signal = signal.SIGWINCH  # once its connections are drained
    # Its clients share its connections to the simulator, which takes two tokens on each.
    keeps_tokens = True

    def command(self):
        return ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", self.file(
            "apache.conf", CONFIGURATION.format(
                work=self.work, port=self.port, certificate=sending.CERTIFICATE, key=sending.KEY,
                authority=os.environ["INTEROP_CA"], simulator=os.environ["INTEROP_PORT"],
                log=self.log, modules="\n".join(
                    f"LoadModule {name}_module {FOLDER}/mod_{name}.so" for name in MODULES)))]


version = subprocess.run(["/usr/sbin/apache2", "-v"], capture_output=True, text=True).stdout
sending.main(version.split()[2], Apache)
