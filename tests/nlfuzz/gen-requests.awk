# SPDX-License-Identifier: GPL-2.0
# From the manual at the head of include/uapi/linux/seepage.h to requests.h:
# what each request may hold.

function close_request()
{
	if (open)
		print " 0 } },"
	open = 0
}

function words(text,   _n, _w, _i)
{
	sub(/\(.*/, "", text)
	gsub(/[][,{}.;]/, " ", text)
	_n = split(text, _w, / +/)
	for (_i = 1; _i <= _n; _i++)
		if (_w[_i] ~ /^[A-Z][A-Z_]+$/)
			printf " SEEPAGE_A_%s,", _w[_i]
}

BEGIN { print "static const struct request requests[] = {" }
/^ \*\// { exit }
/^ \* [A-Z_]+ +(do|dump) +request:/ { cmd = $2; how = $3 }
/^ \* +dump +request:/ { how = $2 }
/request: / {
	close_request()
	printf "\t{ \"%s %s\", SEEPAGE_CMD_%s, %s, (const int []){", cmd, how, cmd,
	       how == "dump" ? "NLM_F_DUMP" : "0"
	open = 1
	count++
	sub(/.*request: +/, "")
	words($0)
	next
}
/reply: / { close_request() }
open { words($0) }
END {
	close_request()
	print "};"
	if (count < 7) {
		print "manual: " count + 0 " requests found" >"/dev/stderr"
		exit 1
	}
}
