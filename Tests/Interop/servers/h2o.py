#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# command: h2o
# h2o, whose HTTP/2 is its own, with answers in mruby.
import getpass
import subprocess

import sending

CONFIGURATION = """
user: {user}
num-threads: 1
pid-file: {work}/pid
error-log: {work}/error.log
access-log: {{ path: {log}, format: "%{{apns-id}}i %s" }}
hosts:
  default:
    listen:
      host: 127.0.0.1
      port: {port}
      ssl: {{ certificate-file: {certificate}, key-file: {key} }}
    paths:
      "/":
        mruby.handler: |
          Proc.new do |env|
            case env["PATH_INFO"]
            when /bad0[0-9a-f]+\\z/
              [400, {{}}, ['{{"reason":"BadDeviceToken"}}']]
            when /dead[0-9a-f]+\\z/
              [410, {{}}, ['{{"reason":"Unregistered","timestamp":1700000000000}}']]
            else
              [200, {{}}, []]
            end
          end
"""


class H2O(sending.Server):
    def command(self):
        return ["h2o", "-m", "worker", "-c", self.file("h2o.yaml", CONFIGURATION.format(
            user=getpass.getuser(), work=self.work, log=self.log, port=self.port,
            certificate=sending.CERTIFICATE, key=sending.KEY))]


version = subprocess.run(["h2o", "--version"], capture_output=True, text=True).stdout
sending.main(" ".join(version.split()[:3]), H2O)
