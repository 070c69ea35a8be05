#!/usr/bin/env ruby
# frozen_string_literal: true
# SPDX-License-Identifier: Apache-2.0
# command: ruby
# ruby: http/2
# http-2, on which apnotic stands, with ALPN and without, as apnotic's net-http2 has it; and a
# provider token whose signature is DER, as apnotic's JWT library once wrote it.
require 'http/2'
require 'json'
require 'openssl'
require 'socket'

def base64url(text) = [text].pack('m0').tr('+/', '-_').delete('=')

def der_token
  key = OpenSSL::PKey.read(File.read(ENV.fetch('INTEROP_KEY')))
  signed = [{ alg: 'ES256', kid: ENV.fetch('INTEROP_KEY_ID') },
            { iss: ENV.fetch('INTEROP_TEAM_ID'), iat: Time.now.to_i }].map { |part| base64url(part.to_json) }.join('.')
  "#{signed}.#{base64url(key.sign('SHA256', signed))}"
end

# The answers to these pushes, sent one after the other over one connection; each is [token, path].
def push_all(protocols, pushes)
  context = OpenSSL::SSL::SSLContext.new
  context.set_params(ca_file: ENV.fetch('INTEROP_CA'))
  context.alpn_protocols = protocols if protocols
  tcp = TCPSocket.new('localhost', ENV.fetch('INTEROP_PORT'))
  socket = OpenSSL::SSL::SSLSocket.new(tcp, context)
  socket.hostname = 'localhost'
  socket.connect
  connection = HTTP2::Client.new
  connection.on(:frame) { |bytes| socket.write(bytes) }
  pushes.map do |token, path|
    answer = +''
    closed = false
    stream = connection.new_stream
    stream.on(:headers) { |headers| answer << headers.to_h[':status'] << ' ' }
    stream.on(:data) { |data| answer << data }
    stream.on(:close) { closed = true }
    stream.headers(
      { ':scheme' => 'https', ':method' => 'POST', ':authority' => 'localhost', ':path' => "/3/device/#{path}",
        'authorization' => "bearer #{token}", 'apns-topic' => 'com.example.app',
        'apns-push-type' => 'background', 'apns-priority' => '5' }, end_stream: false
    )
    stream.data('{"aps":{"content-available":1}}')
    connection << socket.readpartial(65_536) until closed
    answer
  end
end

def check(name, found, wanted)
  abort "#{name}: #{found} instead of #{wanted}" unless found == wanted
end

Thread.new { sleep 20; abort 'no answer within 20 s' }
good = [ENV.fetch('INTEROP_TOKEN'), 'abcdef']
bad = [ENV.fetch('INTEROP_TOKEN'), 'no-token']
[['h2'], nil].each do |protocols|
  check(protocols ? 'ALPN' : 'no ALPN', push_all(protocols, [good, bad, good]),
        ['200 ', '400 {"reason":"BadDeviceToken"}', '200 '])
end
check('DER', push_all(nil, [[der_token, 'abcdef']]), ['200 '])
check('403', push_all(['h2'], [[ENV.fetch('INTEROP_FORGED_TOKEN'), 'abcdef']]),
      ['403 {"reason":"InvalidProviderToken"}'])
puts "http-2 #{HTTP2::VERSION}: 200, 400, no ALPN, DER, 403"
