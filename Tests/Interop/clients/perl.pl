#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# command: perl
# perl: Protocol::HTTP2 IO::Socket::SSL
# Protocol::HTTP2, with ALPN and without.
use strict;
use warnings;
use IO::Socket::SSL;
use Protocol::HTTP2;
use Protocol::HTTP2::Client;

# The answers to these pushes, sent one after the other over one connection; each is [token, path].
sub push_all {
    my ($protocols, @pushes) = @_;
    my $socket = IO::Socket::SSL->new(
        PeerHost => 'localhost', PeerPort => $ENV{INTEROP_PORT}, SSL_ca_file => $ENV{INTEROP_CA},
        Timeout => 10, ($protocols ? (SSL_alpn_protocols => $protocols) : ()),
    ) or die "no connection: $SSL_ERROR";
    my @answers;
    my $client;
    my $next;
    $next = sub {
        my ($token, $path) = @{shift @pushes // return};
        $client->request(
            ':scheme' => 'https', ':authority' => 'localhost', ':path' => "/3/device/$path",
            ':method' => 'POST',
            headers => [
                authorization => "bearer $token", 'apns-topic' => 'com.example.app',
                'apns-push-type' => 'background', 'apns-priority' => '5',
            ],
            data => '{"aps":{"content-available":1}}',
            on_done => sub {
                my ($headers, $data) = @_;
                my %headers = @$headers;
                push @answers, "$headers{':status'} " . ($data // '');
                $next->();
            },
        );
    };
    my $count = @pushes;
    # Without it, the client goes away after the first answer.
    $client = Protocol::HTTP2::Client->new(keepalive => 1);
    $next->();
    while (1) {
        while (my $frame = $client->next_frame) { print {$socket} $frame }
        last if @answers == $count;
        sysread($socket, my $data, 65536) or die "the server closed the connection\n";
        $client->feed($data);
    }
    return @answers;
}

alarm 20;
my @good = ($ENV{INTEROP_TOKEN}, 'abcdef');
for my $protocols (['h2'], undef) {
    my @answers = push_all($protocols, \@good, [$ENV{INTEROP_TOKEN}, 'no-token'], \@good);
    my $found = join '|', @answers;
    my $wanted = '200 |400 {"reason":"BadDeviceToken"}|200 ';
    die(($protocols ? 'with' : 'without') . " ALPN: $found instead of $wanted\n")
        if $found ne $wanted;
}
my ($answer) = push_all(['h2'], [$ENV{INTEROP_FORGED_TOKEN}, 'abcdef']);
die "another key: $answer\n" if $answer ne '403 {"reason":"InvalidProviderToken"}';
print "Protocol::HTTP2 $Protocol::HTTP2::VERSION: 200, 400, no ALPN, 403\n";
