#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# A build that never ends: compile.pl THINK FUNCTIONS STUCK
# Of the compilers a share of STUCK per mille never gets the end of its input,
# and waits for it for ever: a leak of processes.
use strict;
use warnings;
my ($think, $functions, $stuck) = @ARGV;
srand $ENV{seed};
my @held;
while (1) {
	my $text = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";
	for my $i (1 .. int($functions * (.5 + rand))) {
		my ($a, $b) = (int rand 100, 1 + int rand 100);
		$text .= "int f$i(int x)\n{\n\tint s = $a;\n\tfor (int i = 0; i < x; i++) {\n" .
			"\t\ts += i * $b ^ x;\n\t\tif (s % $b == 3) s -= (int)strlen(getenv(\"A$a\") ? : \"\");\n\t}\n" .
			"\tprintf(\"%d\\n\", s);\n\treturn s;\n}\n";
	}
	my $hangs = rand() * 1000 < $stuck;
	open my $cc, "|-", "gcc -O1 -c -x c -o out.o -" or die "gcc: $!";
	print $cc $text;
	if ($hangs) {
		$cc->flush;
		push @held, $cc;
	} else {
		close $cc;
	}
	select undef, undef, undef, -$think * log(1 - rand);
}
