# SPDX-License-Identifier: GPL-2.0
# A perl program without a leak; inject.so adds one to it.
use strict;
use warnings;

my (@live, $n);
$| = 1;
print "ready\n";
for ($n = 0; ; $n++) {
	for (1 .. 20) {
		my %h = (name => "name $_ " x 10, list => [1 .. 5]);
		my $s = join(",", map { $_ * 2 } @{$h{list}});
		$live[($n * 20 + $_) % 64] = { %h, text => $s };
	}
	select(undef, undef, undef, 0.002);
}
