#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# Text processing in perl: every few seconds a document of random words is
# taken apart, counted, sorted and put into an index that keeps the newest.
use strict;
use warnings;
my ($think, $words, $keep) = @ARGV;
srand $ENV{seed};
my @vocabulary = map { join "", map { chr(97 + int rand 26) } 1 .. 3 + int rand 10 } 1 .. 5000;
my (@index, %total);
while (1) {
	my $n = int($words * (.2 + 1.6 * rand));
	my $document = join " ", map { $vocabulary[5000 * (rand)**2] . (rand() < .05 ? "." : "") } 1 .. $n;
	my %count;
	$count{lc $1}++ while $document =~ /(\w+)/g;
	my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
	my @sentences = map { { text => $_, length => length } } split /\.\s*/, $document;
	$total{$_} += $count{$_} for @top;
	push @index, { text => $document, top => [@top[0 .. ($#top < 20 ? $#top : 20)]], sentences => \@sentences };
	shift @index if @index > $keep;
	select undef, undef, undef, -$think * log(1 - rand);
}
