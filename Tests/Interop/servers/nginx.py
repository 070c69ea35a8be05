#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# file: /usr/sbin/nginx
# nginx, which answers before the body has come and ends each connection after 50 requests.
import signal
import subprocess

import sending

CONFIGURATION = """
daemon off;
pid {work}/pid;
error_log {work}/error.log;
worker_processes 1;
worker_shutdown_timeout 5s;
events {{ worker_connections 512; }}
http {{
    log_format pushes '$http_apns_id $status';
    access_log {log} pushes;
    client_body_temp_path {work}/body;
    proxy_temp_path {work}/proxy;
    fastcgi_temp_path {work}/fastcgi;
    uwsgi_temp_path {work}/uwsgi;
    scgi_temp_path {work}/scgi;
    server {{
        listen 127.0.0.1:{port} ssl http2;
        ssl_certificate {certificate};
        ssl_certificate_key {key};
        keepalive_requests 50;
        location /3/device/bad0 {{ return 400 '{{"reason":"BadDeviceToken"}}'; }}
        location /3/device/dead {{
            return 410 '{{"reason":"Unregistered","timestamp":1700000000000}}';
        }}
        location / {{ return 200; }}
    }}
}}
"""


class Nginx(sending.Server):
    stop_signal = signal.SIGQUIT  # the graceful one

    def command(self):
        return ["/usr/sbin/nginx", "-e", "stderr", "-p", str(self.work), "-c", self.file(
            "nginx.conf", CONFIGURATION.format(
                work=self.work, port=self.port, log=self.log, certificate=sending.CERTIFICATE,
                key=sending.KEY))]


version = subprocess.run(["/usr/sbin/nginx", "-v"], capture_output=True, text=True).stderr
sending.main(version.split()[2], Nginx)
