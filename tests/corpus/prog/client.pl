#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# Load for the servers of the corpus: client.pl PROTOCOL THINK BATCH KEYS
# A batch of requests goes to 127.0.0.1:$port after a think time that is random
# (exponential, THINK seconds on average); keys and sizes are random, from $seed.
use strict;
use warnings;
use IO::Socket::INET;

my ($protocol, $think, $batch, $keys) = @ARGV;
srand $ENV{seed};
$| = 1;
$SIG{PIPE} = "IGNORE";
my $port = $ENV{port};
my ($socket, $done, $failed) = (undef, 0, 0);

sub connected {
	while (!$socket) {
		$socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port,
			Proto => "tcp") and last;
		sleep 3;
	}
	return $socket;
}

# Sizes as they are in stores: most small, some large.
sub size { int(400 * 80**(rand)**1.5) }
my $pool = join "", map { chr(97 + int rand 26) } 1 .. 65536;
sub text { my $n = shift; substr $pool, int rand(65536 - $n), $n }
# Some keys are asked for more often than others.
sub key { "key:" . int($keys * (rand)**1.5) }

# Each reads what answers its own requests.
my %talk = (
	redis => sub {
		my $s = shift;
		my ($out, $n) = ("", 0);
		for (1 .. $batch) {
			my ($k, $x) = (key(), rand);
			my @c = $x < .55 ? ("SET", $k, text(size()))
				: $x < .65 ? ("SET", "t$k", text(size()), "EX", 60 + int rand 3600)
				: $x < .75 ? ("GET", $k) : $x < .85 ? ("DEL", $k)
				: $x < .9 ? ("HSET", "h" . int rand 500, "f" . int rand 30, text(200))
				: $x < .95 ? ("LPUSH", "l" . int rand 200, text(300))
				: ("LTRIM", "l" . int rand 200, 0, 50);
			$out .= "*" . @c . "\r\n" . join "", map { "\$" . length() . "\r\n$_\r\n" } @c;
			$n++;
		}
		print $s $out;
		while ($n--) {
			my $line = <$s> // return 0;
			read $s, my $value, $1 + 2 if $line =~ /^\$(\d+)/;
		}
		return 1;
	},
	memcached => sub {
		my $s = shift;
		for (1 .. $batch) {
			my ($k, $x) = (key(), rand);
			if ($x < .6) {
				my $v = text(size());
				print $s "set $k 0 " . int(rand 7200) . " " . length($v) . "\r\n$v\r\n";
				<$s> // return 0;
			} elsif ($x < .9) {
				print $s "get $k\r\n";
				while (1) {
					my $line = <$s> // return 0;
					last if $line =~ /^END/;
					read $s, my $value, $1 + 2 if $line =~ /^VALUE \S+ \d+ (\d+)/;
				}
			} else {
				print $s "delete $k\r\n";
				<$s> // return 0;
			}
		}
		# What an exporter asks for.
		for my $what ("", " items", " slabs", " settings", " conns") {
			print $s "stats$what\r\n";
			while (1) {
				my $line = <$s> // return 0;
				last if $line =~ /^END/;
			}
		}
		return 1;
	},
	http => sub {
		my $s = shift;
		for (1 .. $batch) {
			my ($k, $x) = (key(), rand);
			my $body = $x < .4 ? '{"key": "' . $k . '", "items": [' .
				join(", ", map { '{"id": ' . int(rand 1e6) . ', "text": "' . text(int rand 3000) . '"}' } 1 .. 1 + int rand 30) .
				"]}" : "";
			my $path = $body ? "/items" : $ENV{files} ? "/file" . int(rand $ENV{files}) . ".html" : "/items/$k";
			print $s ($body && !$ENV{files} ? "POST $path" : "GET $path") . " HTTP/1.1\r\nHost: a\r\n" .
				"Accept-Encoding: gzip\r\nConnection: keep-alive\r\n" .
				($body && !$ENV{files} ? "Content-Length: " . length($body) . "\r\n\r\n$body" : "\r\n");
			my ($length, $chunked, $close) = (0, 0, 0);
			my $line = <$s> // return 0;
			while (1) {
				$line = <$s> // return 0;
				last if $line eq "\r\n";
				$length = $1 if $line =~ /^content-length: (\d+)/i;
				$chunked = 1 if $line =~ /^transfer-encoding: chunked/i;
				$close = 1 if $line =~ /^connection: close/i;
			}
			while ($chunked) {
				$line = <$s> // return 0;
				$length = hex $line =~ s/\s+//r;
				read $s, my $value, $length + 2;
				last unless $length;
			}
			read $s, my $value, $length if $length && !$chunked;
			return 0 if $close;
		}
		return $ENV{stay} ? 1 : 0;
	},
	line => sub {
		my $s = shift;
		for (1 .. $batch) {
			my $x = rand;
			print $s $x < .5 ? "put " . key() . " " . text(size()) . "\n" : "get " . key() . "\n";
			<$s> // return 0;
		}
		return 1;
	},
);

while (1) {
	my $s = connected();
	$s->autoflush(1);
	if ($talk{$protocol}->($s)) {
		$done += $batch;
	} else {
		close $s;
		undef $socket;
	}
	select undef, undef, undef, -$think * log(1 - rand);
}
