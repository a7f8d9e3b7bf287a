#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0
# Statements for psql or sqlite3, on stdout: sql.pl DIALECT THINK BATCH
use strict;
use warnings;
my ($dialect, $think, $batch) = @ARGV;
srand $ENV{seed};
$| = 1;
my $pool = join "", map { chr(97 + int rand 26) } 1 .. 8192;
sub text { my $n = int(20 * 40**rand); "'" . substr($pool, int rand(8192 - $n), $n) . "'" }
my $pg = $dialect eq "postgres";
print "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, v TEXT);\nCREATE INDEX tk ON t (k);\n";
my $id = 0;
while (1) {
	my $out = "BEGIN;\n";
	for (1 .. $batch) {
		my $x = rand;
		my $k = int rand 1000;
		$out .= $x < .5 ? "INSERT INTO t VALUES (" . ++$id . ", $k, " . text() . ");\n"
			: $x < .65 ? "UPDATE t SET v = " . text() . " WHERE k = $k AND id > " . ($id - 2000) . ";\n"
			: $x < .85 ? "SELECT k, count(*), max(v) FROM t WHERE k < $k GROUP BY k ORDER BY 3 LIMIT 5;\n"
			: $x < .95 ? "SELECT a.v FROM t a JOIN t b ON a.k = b.k WHERE a.id = " . int(1 + rand($id + 1)) . " ORDER BY b.v LIMIT 10;\n"
			: "SELECT v FROM t ORDER BY v DESC LIMIT 3;\n";
	}
	$out .= "DELETE FROM t WHERE id < " . ($id - 5000) . ";\nCOMMIT;\n";
	print $out;
	select undef, undef, undef, -$think * log(1 - rand);
}
