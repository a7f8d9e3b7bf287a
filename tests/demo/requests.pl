#!/usr/bin/perl
# A small request handler: five requests a second, each building a document
# whose nodes point to their parent. With the argument "leak" the references
# are strong, so parent and children keep each other alive for ever, which is
# the most common leak of perl programs; without it they are weakened, as they
# should be. About 20 MB a minute either way: lost, or given back.
use strict;
use warnings;
use Scalar::Util qw(weaken);
use Time::HiRes qw(sleep);

my $leak = ($ARGV[0] // '') eq 'leak';
my $seconds = $ARGV[1] // 86400;

sub request {
	my ($n) = @_;
	my $doc = { id => $n, children => [] };

	for my $i (1 .. 20) {
		my $node = { name => "node $i", text => 'x' x 3000, parent => $doc };

		weaken($node->{parent}) unless $leak;
		push @{ $doc->{children} }, $node;
	}
	return scalar @{ $doc->{children} };
}

for my $n (1 .. $seconds * 5) {
	request($n);
	sleep 0.2;
}
