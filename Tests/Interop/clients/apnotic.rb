#!/usr/bin/env ruby
# frozen_string_literal: true
# SPDX-License-Identifier: Apache-2.0
# command: ruby
# checkout: APNOTIC
# apnotic on net-http2, which negotiates by NPN alone: APNOTIC names a folder with checkouts of
# apnotic and net-http2, and of what else they need and Ruby has not.
$LOAD_PATH.unshift(*Dir[File.join(ENV.fetch('APNOTIC'), '*', 'lib')])
require 'apnotic'

def check(name, found, wanted)
  abort "#{name}: #{found} instead of #{wanted}" unless found == wanted
end

def open(key)
  connection = Apnotic::Connection.new(
    url: "https://127.0.0.1:#{ENV.fetch('INTEROP_PORT')}", auth_method: :token, cert_path: key,
    team_id: ENV.fetch('INTEROP_TEAM_ID'), key_id: ENV.fetch('INTEROP_KEY_ID')
  )
  connection.on(:error) { |error| abort "the connection failed: #{error}" }
  connection
end

def note(token, payload = nil)
  Apnotic::Notification.new(token).tap do |notification|
    notification.topic = 'com.example.app'
    notification.push_type = 'background'
    notification.priority = 5
    notification.content_available = 1
    notification.custom_payload = payload if payload
  end
end

def push(connection, notification)
  answer = connection.push(notification, timeout: 20) or abort 'no answer within 20 s'
  [answer.status, answer.body && !answer.body.empty? ? answer.body['reason'] : nil].compact.join(' ')
end

good = open(ENV.fetch('INTEROP_KEY'))
check('200', push(good, note('abcdef')), '200')
answers = Queue.new
# http-2 holds its own requests to its own limit of 100 streams, and apnotic waits for the server's
# alone: with more at once it raises StreamLimitExceeded, if it is quicker than the answers.
2.times do |round|
  90.times do |number|
    one = good.prepare_push(note(format('ab%04d', 90 * round + number)))
    one.on(:response) { |answer| answers << answer.status }
    good.push_async(one)
  end
  good.join(timeout: 30)
end
check('90 at once', Array.new(answers.size) { answers.pop }.tally, { '200' => 180 })
check('400', push(good, note('abc')), '400 BadDeviceToken')
check('413', push(good, note('abcdef', { x: 'x' * 5000 })), '413 PayloadTooLarge')
check('403', push(open(ENV.fetch('INTEROP_OTHER_KEY')), note('abcdef')), '403 InvalidProviderToken')
puts "apnotic #{Apnotic::VERSION}, net-http2 #{NetHttp2::VERSION}, http-2 #{HTTP2::VERSION}: " \
     '200, 90 at once, 400, 413, 403'
